"""The fixtures hand out servers that answer, and nothing of one test is seen by the next."""

from __future__ import annotations

import asyncpg
import pytest
import redis.asyncio as redis

from deploy.local.postgres import PostgresServer
from libs.chassis.events import ensure_topics
from tests.backing import FreshDatabases


@pytest.mark.parametrize("run", [1, 2])
async def test_valkey_is_empty_at_the_start_of_each_test(valkey_url: str, run: int) -> None:
    async with redis.from_url(valkey_url) as client:
        assert await client.dbsize() == 0
        await client.set("seen", run)
        assert await client.dbsize() == 1


@pytest.mark.parametrize("run", [1, 2])
async def test_the_broker_is_empty_at_the_start_of_each_test(kafka_bootstrap: str, run: int) -> None:
    assert await ensure_topics([kafka_bootstrap], {"seen": run}, timeout_s=15) == {"seen"}


@pytest.mark.parametrize("run", [1, 2])
async def test_a_database_is_empty_at_the_start_of_each_test(postgres_url: str, run: int) -> None:
    connection = await asyncpg.connect(postgres_url)
    try:
        await connection.execute("CREATE TABLE seen (run integer)")
        await connection.execute("INSERT INTO seen VALUES ($1)", run)
        assert await connection.fetchval("SELECT run FROM seen") == run
    finally:
        await connection.close()


async def test_fresh_databases_are_apart_and_may_copy_one_another(fresh_database: FreshDatabases) -> None:
    first, second = await fresh_database(), await fresh_database()
    assert first != second
    connection = await asyncpg.connect(first)
    await connection.execute("CREATE TABLE kept (n integer)")
    await connection.close()
    copy = await asyncpg.connect(await fresh_database(template=first.rsplit("/", 1)[1]))
    assert await copy.fetchval("SELECT count(*) FROM kept") == 0
    await copy.close()


async def test_databases_are_dropped_even_with_connections_open(postgres_server: PostgresServer) -> None:
    databases = FreshDatabases(postgres_server)
    url = await databases()
    connection = await asyncpg.connect(url)
    await databases.drop_all()
    with pytest.raises(asyncpg.InvalidCatalogNameError):
        await asyncpg.connect(url)
    connection.terminate()
