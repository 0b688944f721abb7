"""A database goes back to a moment by the commands of ``deploy/docs/backup-and-restore.md``."""

from __future__ import annotations

import shutil
from pathlib import Path

import asyncpg
import pytest

from deploy.local.postgres import PostgresServer
from tests.backing import BACKING
from tests.documented import Operator, libpq

pytestmark = pytest.mark.timeout(300)


async def query(server: PostgresServer, statement: str) -> object:
    connection = await asyncpg.connect(server.url(), timeout=10)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


async def test_a_database_goes_back_to_the_moment_before_a_mistake(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("archive", "backup")}
    for folder in folders.values():
        folder.mkdir()
        # The server may run as another account than the operator.
        folder.chmod(0o777)
    server = BACKING.database(tmp_path / "first")
    restored = BACKING.database(tmp_path / "second")
    try:
        await server.start()
        environment = {
            **libpq(server.url()),
            "ARCHIVE": str(folders["archive"]),
            "BACKUP": str(folders["backup"]),
        }
        operator = Operator("backup-and-restore.md", environment, [server.programs])
        await operator.do("archive")
        await server.stop()
        await server.start()
        await query(server, "CREATE TABLE hands AS SELECT 1 AS hand")
        await operator.do("base copy")
        if BACKING.name == "production":
            # The wheel's pg_verifybackup crashes whatever it is asked.
            await operator.do("check base copy")
        await query(server, "INSERT INTO hands VALUES (2)")
        moment = await query(server, "SELECT clock_timestamp()::text")
        await query(server, "DROP TABLE hands")
        # The segment that holds all this is archived when the next one begins, at the latest after archive_timeout.
        await query(server, "SELECT pg_switch_wal()")
        await server.stop()

        password = server.folder / "password"
        restored.folder.mkdir(parents=True)
        shutil.copy(password, restored.folder / "password")
        shutil.copytree(folders["backup"] / "base", restored.folder / "data")
        (restored.folder / "data").chmod(0o700)
        shutil.rmtree(server.folder)
        operator.know(PGDATA=str(restored.folder / "data"), UNTIL=str(moment))
        await operator.do("recover to a moment")
        await restored.start()
        assert await query(restored, "SELECT array_agg(hand ORDER BY hand) FROM hands") == [1, 2]
        await query(restored, "INSERT INTO hands VALUES (3)")
    finally:
        await restored.stop()
        await server.stop()
