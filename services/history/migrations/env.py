"""Alembic's entry: the connection comes from the service that starts."""

from libs.chassis.database import run_migrations

run_migrations()
