"""A whole platform of processes for the tests of faults, started once per test process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from deploy.local.processes import ProcessFleet
from deploy.local.stack import BackingStack
from tests.backing import Keeper
from tests.faults.platform import SETTINGS, Platform
from tests.faults.players import Four


@pytest.fixture(scope="session")
def _platform(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    stack = BackingStack(tmp_path_factory.mktemp("faults"), appendfsync="always", fsync=False)
    keeper.run(stack.start())
    fleet = ProcessFleet(stack, settings=SETTINGS)
    try:
        keeper.run(fleet.start())
        yield Platform(stack, fleet)
    finally:
        keeper.run(fleet.stop(10.0))
        keeper.run(stack.stop())


@pytest.fixture
def platform(keeper: Keeper, _platform: Platform) -> Iterator[Platform]:
    """Every service as a process of its own. What a test has ended is started again after it."""
    yield _platform
    keeper.run(_platform.restore())


@pytest_asyncio.fixture
async def four(platform: Platform) -> AsyncIterator[Four]:
    """Four players who play at a table of the platform."""
    async with Four(platform.fleet.edge_urls) as players:
        yield players
