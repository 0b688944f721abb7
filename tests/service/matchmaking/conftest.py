"""What the tests of matchmaking share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.service.matchmaking.running import Running


@pytest_asyncio.fixture
async def services(valkey_url: str, kafka_bootstrap: str) -> AsyncIterator[Running]:
    """The services of one test; it starts as many as it needs."""
    running = Running(valkey_url, kafka_bootstrap)
    try:
        yield running
    finally:
        await running.stop()
