"""Fixtures of the accounts tests."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from services.accounts.app import AccountsService
from tests.backing import FreshDatabases
from tests.service.accounts.running import Player, Running


@pytest_asyncio.fixture
async def running(fresh_database: FreshDatabases) -> AsyncIterator[Running]:
    """Starts accounts services and stops them after the test, before their databases are dropped."""
    running = Running()
    try:
        yield running
    finally:
        await running.stop_all()


@pytest_asyncio.fixture
async def service(running: Running, postgres_url: str) -> AccountsService:
    """A service on an empty database."""
    return await running.start(postgres_url)


@pytest_asyncio.fixture
async def player(running: Running, service: AccountsService) -> Player:
    """Somebody at the service."""
    return running.player(service)
