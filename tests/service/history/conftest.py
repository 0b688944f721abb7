"""Fixtures of the history tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio
from sqlalchemy.ext.asyncio import AsyncEngine

from libs.chassis import database
from libs.chassis.events import ensure_topics
from libs.chassis.telemetry import Telemetry
from services.history.app import HistoryService
from services.history.storing import Store
from tests.service.history.running import Running
from tests.service.ratings.publishing import Publisher


@pytest_asyncio.fixture
async def running(postgres_url: str) -> AsyncIterator[Running]:
    """Starts history services and stops them after the test, while the database is still there."""
    running = Running()
    try:
        yield running
    finally:
        await running.stop_all()


@pytest_asyncio.fixture
async def service(running: Running, postgres_url: str) -> HistoryService:
    """A service on an empty database, without a broker."""
    return await running.start(postgres_url)


@pytest_asyncio.fixture
async def engine(postgres_url: str) -> AsyncIterator[AsyncEngine]:
    """The test's own way to the database."""
    engine = database.engine(postgres_url)
    yield engine
    await engine.dispose()


@pytest_asyncio.fixture
async def handler(service: HistoryService, engine: AsyncEngine) -> Store:
    """The part of the service that stores, to be fed by the test."""
    return Store(engine, Telemetry("history").metrics)


@pytest_asyncio.fixture
async def publisher(kafka_bootstrap: str) -> AsyncIterator[Publisher]:
    """A broker with our topics, and a way to send to it."""
    await ensure_topics([kafka_bootstrap], timeout_s=15)
    async with Publisher(kafka_bootstrap) as publisher:
        yield publisher
