"""Redis and PostgreSQL as Debian packages them. The programs are started by us, never the services of the machine."""

from __future__ import annotations

from pathlib import Path

from deploy.local.postgres import PostgresServer
from deploy.local.programs import debian_postgres_folder, redis_program
from deploy.local.valkey import ValkeyServer


class RedisServer(ValkeyServer):
    """Redis, from the package `redis-server`, with an append-only file as `ValkeyServer` has one."""

    name = "redis"
    title = "Redis"

    def _program(self) -> Path:
        return redis_program()


class DebianPostgresServer(PostgresServer):
    """The newest PostgreSQL that the package `postgresql` has brought."""

    name = "debian-postgres"

    @property
    def major(self) -> str:
        """The major version of this server's programs and data."""
        return debian_postgres_folder().name

    def _program(self, name: str) -> Path:
        return debian_postgres_folder() / "bin" / name

    def _locale(self) -> list[str]:
        # The builtin provider begins with PostgreSQL 17.
        return ["--locale=C.UTF-8", "--locale-provider=libc"]
