"""Fixtures of the ratings tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from sqlalchemy.ext.asyncio import AsyncEngine

from libs.chassis import database
from libs.chassis.events import ensure_topics
from tests.service.ratings.publishing import Publisher
from tests.service.ratings.running import Bench, Running, rater, settings_for


@pytest_asyncio.fixture
async def running(postgres_url: str) -> AsyncIterator[Running]:
    """Starts ratings services and stops them after the test, while the database is still there."""
    running = Running()
    try:
        yield running
    finally:
        await running.stop_all()


@pytest_asyncio.fixture
async def engine(postgres_url: str) -> AsyncIterator[AsyncEngine]:
    """The test's own way to the database."""
    engine = database.engine(postgres_url)
    yield engine
    await engine.dispose()


@pytest_asyncio.fixture
async def bench(running: Running, postgres_url: str, engine: AsyncEngine) -> Bench:
    """A service to read from, and its handler to feed."""
    service = await running.start(postgres_url)
    return Bench(rater(settings_for(postgres_url), engine), running.stub(service), engine)


@pytest_asyncio.fixture
async def publisher(kafka_bootstrap: str) -> AsyncIterator[Publisher]:
    """A broker with our topics, and a way to send to it."""
    await ensure_topics([kafka_bootstrap], timeout_s=15)
    async with Publisher(kafka_bootstrap) as publisher:
        yield publisher
