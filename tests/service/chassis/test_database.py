"""Engine, migrations and the notes on consumed events, with a real PostgreSQL."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from libs.chassis.database import engine, is_retriable, migrate, require_schema
from libs.chassis.errors import Unavailable
from libs.chassis.events import consumed_events, forget_consumed, once
from services.cli.main import main
from services.cli.migrate import DATABASES

_ENV = "from libs.chassis.database import run_migrations\n\nrun_migrations()\n"
_FIRST = '''"""First."""
from alembic import op
from libs.chassis.events import consumed_events

revision = "0001"
down_revision = None


def upgrade():
    consumed_events.create(op.get_bind())
    op.execute("create table marks (mark int)")
    op.execute("insert into marks values (1)")
'''


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    (tmp_path / "versions").mkdir()
    (tmp_path / "env.py").write_text(_ENV)
    (tmp_path / "versions" / "first.py").write_text(_FIRST)
    return tmp_path


async def test_replicas_that_start_together_migrate_once(postgres_url: str, scripts: Path) -> None:
    await asyncio.gather(*(migrate(postgres_url, scripts, version_table="example_version") for _ in range(3)))
    database = engine(postgres_url)
    async with database.connect() as connection:
        assert (await connection.execute(sa.text("select count(*) from marks"))).scalar() == 1
        assert (await connection.execute(sa.text("select version_num from example_version"))).scalar() == "0001"
    await database.dispose()


async def test_c085_once_says_yes_once_even_to_two_at_the_same_time(postgres_url: str) -> None:
    database = engine(postgres_url)
    async with database.begin() as connection:
        await connection.run_sync(consumed_events.create)

    async def consume(event_id: str, consumer: str) -> bool:
        async with database.begin() as connection:
            return await once(connection, event_id, consumer=consumer)

    answers = await asyncio.gather(*(consume("e-1", "ratings") for _ in range(8)))
    assert sorted(answers) == [False] * 7 + [True]
    assert await consume("e-1", "history")

    async def rolled_back() -> None:
        async with database.begin() as connection:
            assert await once(connection, "e-2", consumer="ratings")
            raise ConnectionError

    with pytest.raises(ConnectionError):
        await rolled_back()
    assert await consume("e-2", "ratings")
    async with database.begin() as connection:
        assert await forget_consumed(connection, older_than=timedelta(days=1)) == 0
        assert await forget_consumed(connection, older_than=timedelta(seconds=-60)) == 3
    await database.dispose()


async def test_a_database_that_is_away_is_retriable_and_a_wrong_statement_is_not(postgres_url: str) -> None:
    away = engine("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(OSError) as refused:
        async with away.connect():
            pass
    assert is_retriable(refused.value)
    database = engine(postgres_url, command_timeout_s=0.2)
    async with database.connect() as connection:
        with pytest.raises(sa.exc.DBAPIError) as wrong:
            await connection.execute(sa.text("select nonsense"))
    assert not is_retriable(wrong.value)
    async with database.connect() as connection:
        with pytest.raises((sa.exc.DBAPIError, TimeoutError)) as slow:
            await connection.execute(sa.text("select pg_sleep(5)"))
    assert is_retriable(slow.value)
    await database.dispose()
    await away.dispose()


async def test_a_migration_without_a_database_is_unavailable(scripts: Path) -> None:
    with pytest.raises(Unavailable):
        await migrate("postgresql://nobody@127.0.0.1:1/nothing", scripts, version_table="v", timeout_s=3)


async def test_c124_the_pool_recovers_after_its_connections_were_cut(postgres_url: str) -> None:
    database = engine(postgres_url, pool_size=2, overflow=0)
    async with database.connect() as one, database.connect() as two:
        pids = [(await each.execute(sa.text("select pg_backend_pid()"))).scalar_one() for each in (one, two)]
    other = engine(postgres_url)
    async with other.connect() as connection:
        for pid in pids:
            await connection.execute(sa.text("select pg_terminate_backend(:pid)"), {"pid": pid})
    async with database.connect() as connection:
        assert (await connection.execute(sa.text("select 1"))).scalar() == 1
    await database.dispose()
    await other.dispose()


_SECOND = '''"""Second."""
revision = "0002"
down_revision = "0001"


def upgrade():
    pass
'''


async def test_a_service_that_does_not_migrate_waits_for_the_schema(postgres_url: str, scripts: Path) -> None:
    check = partial(require_schema, postgres_url, scripts, version_table="example_version")
    with pytest.raises(Unavailable, match="has not run yet"):
        await check()
    await migrate(postgres_url, scripts, version_table="example_version")
    await check()
    (scripts / "versions" / "second.py").write_text(_SECOND)
    with pytest.raises(Unavailable, match="has not run yet"):
        await check()


async def test_after_a_roll_back_an_older_version_goes_on_with_the_newer_schema(
    postgres_url: str, scripts: Path
) -> None:
    newer = scripts / "versions" / "second.py"
    newer.write_text(_SECOND)
    await migrate(postgres_url, scripts, version_table="example_version")
    newer.unlink()
    await require_schema(postgres_url, scripts, version_table="example_version")


@pytest.mark.parametrize("service", DATABASES)
async def test_the_command_migrates_and_may_be_repeated(postgres_url: str, service: str) -> None:
    for _ in range(2):
        ran = await asyncio.to_thread(
            CliRunner().invoke, main, ["migrate", service], env={"EASTWIND_DATABASE_URL": postgres_url}
        )
        assert ran.exit_code == 0, ran.output
        assert f"The database of {service} is up to date." in ran.output
    await require_schema(postgres_url, Path(f"services/{service}/migrations"), version_table=f"{service}_version")
