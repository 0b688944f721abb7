"""What the tests of the chassis share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store import TableStore


@pytest_asyncio.fixture
async def client(valkey_url: str) -> AsyncIterator[RedisClient]:
    """A client of an empty store."""
    async with RedisClient(valkey_url) as client:
        yield client


@pytest_asyncio.fixture
async def store(client: RedisClient) -> TableStore:
    """An empty table store."""
    return TableStore(client)
