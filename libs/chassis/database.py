"""PostgreSQL: an engine with bounds on every wait, migrations that replicas may start at once, errors that pass."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from libs.chassis.errors import Unavailable

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATION_LOCK = 0x65617374


def engine(
    url: str,
    *,
    pool_size: int = 5,
    overflow: int = 5,
    connect_timeout_s: float = 5.0,
    command_timeout_s: float = 10.0,
    pool_timeout_s: float = 5.0,
    abandoned_after_s: float = 15.0,
) -> AsyncEngine:
    """An engine for `postgresql://…`. Nothing is connected before the first use.

    Waiting for a connection, for the server and for a statement each have a bound. A transaction that the server has
    not heard of for `abandoned_after_s` is rolled back there: its client may have been cut off, and the locks that it
    holds would keep the client's next try out. A connection is tried before it is
    used, so the pool recovers by itself after an outage. Errors do not show the values of a statement: they may be
    secrets.
    """
    return create_async_engine(
        async_url(url),
        pool_size=pool_size,
        max_overflow=overflow,
        pool_timeout=pool_timeout_s,
        pool_pre_ping=True,
        hide_parameters=True,
        pool_recycle=1800,
        connect_args={
            "timeout": connect_timeout_s,
            "command_timeout": command_timeout_s,
            "server_settings": {"idle_in_transaction_session_timeout": str(round(abandoned_after_s * 1000))},
        },
    )


def async_url(url: str) -> str:
    """The URL as SQLAlchemy wants it, with the asyncpg driver. Raises ValueError for another kind of database."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme not in ("postgresql", "postgres", "postgresql+asyncpg"):
        raise ValueError("a database URL begins with postgresql://")
    return f"postgresql+asyncpg://{rest}"


def is_retriable(error: BaseException) -> bool:
    """Whether the same transaction may succeed later: the server was away or overloaded, or two collided."""
    if isinstance(error, PoolTimeoutError | OSError | TimeoutError):
        return True
    if isinstance(error, DBAPIError):
        if error.connection_invalidated:
            return True
        cause = error.orig.__cause__ if error.orig is not None else None
        return cause is not None and is_retriable(cause)
    return isinstance(
        error,
        asyncpg.PostgresConnectionError
        | asyncpg.InterfaceError
        | asyncpg.OperatorInterventionError
        | asyncpg.InsufficientResourcesError
        | asyncpg.SerializationError
        | asyncpg.DeadlockDetectedError
        | asyncpg.LockNotAvailableError
        | asyncpg.ReadOnlySQLTransactionError,
    )


async def migrate(url: str, script_location: Path | str, *, version_table: str, timeout_s: float = 60.0) -> None:
    """Bring the schema up to the newest revision of the Alembic scripts in `script_location`.

    `version_table` is the service's own ("ratings_version"), as several services may share a database. Replicas that
    start together wait for each other. `env.py` there takes its connection from
    `context.config.attributes["connection"]` (`run_migrations` does that). Raises `Unavailable` when the database
    cannot be reached in time.
    """
    from alembic import command

    database = engine(url, pool_size=1, overflow=0, command_timeout_s=timeout_s)
    try:
        async with asyncio.timeout(timeout_s), database.begin() as connection:
            await connection.execute(sa.text("select pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})

            def upgrade(sync_connection: sa.Connection) -> None:
                config = _scripts(script_location)
                config.attributes["connection"] = sync_connection
                config.attributes["version_table"] = version_table
                command.upgrade(config, "head")

            await connection.run_sync(upgrade)
    except Exception as error:
        if is_retriable(error):
            raise Unavailable(f"the database cannot be reached: {type(error).__name__}") from error
        raise
    finally:
        await database.dispose()


async def require_schema(url: str, script_location: Path | str, *, version_table: str, timeout_s: float = 10.0) -> None:
    """Return when the schema is that of the newest script in `script_location`, or one that these scripts do not know:
    a newer version has migrated, and this one, older, goes on with it.

    Raises `Unavailable` while the schema is older, and when the database cannot be reached.
    """
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(_scripts(script_location))
    older = {script.revision for script in scripts.walk_revisions()} - set(scripts.get_heads())
    database = engine(url, pool_size=1, overflow=0, command_timeout_s=timeout_s)
    try:
        async with asyncio.timeout(timeout_s), database.connect() as connection:
            there = await connection.scalar(sa.text("select to_regclass(:name)"), {"name": version_table})
            table = sa.table(version_table, sa.column("version_num"))
            versions = set(await connection.scalars(sa.select(table.c.version_num))) if there else set()
    except Exception as error:
        if is_retriable(error):
            raise Unavailable(f"the database cannot be reached: {type(error).__name__}") from error
        raise
    finally:
        await database.dispose()
    if not versions or versions & older:
        raise Unavailable("the schema of the database is older than this version; `eastwind migrate` has not run yet")


def _scripts(script_location: Path | str) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(script_location).replace("%", "%%"))
    return config


def run_migrations(target_metadata: sa.MetaData | None = None) -> None:
    """The whole of an `env.py`: `from libs.chassis.database import run_migrations; run_migrations()`."""
    from alembic import context

    attributes = context.config.attributes
    context.configure(
        connection=attributes["connection"],
        target_metadata=target_metadata,
        version_table=attributes["version_table"],
    )
    context.run_migrations()
