"""What the tests of the chassis share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from libs.chassis.events import ensure_topics
from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store import TableStore
from tests.service.chassis.bus import Bus


@pytest_asyncio.fixture
async def client(valkey_url: str) -> AsyncIterator[RedisClient]:
    """A client of an empty store."""
    async with RedisClient(valkey_url) as client:
        yield client


@pytest_asyncio.fixture
async def store(client: RedisClient) -> TableStore:
    """An empty table store."""
    return TableStore(client)


@pytest_asyncio.fixture
async def bus(kafka_bootstrap: str) -> AsyncIterator[Bus]:
    """Producers, relays and consumers at a broker that has the topics, and nothing in them."""
    await ensure_topics([kafka_bootstrap], timeout_s=15)
    bus = Bus([kafka_bootstrap])
    yield bus
    await bus.close()
