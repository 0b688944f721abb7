"""A stack of its own for each module: its servers are taken away and come back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from deploy.local.stack import BackingStack
from tests.backing import BACKING, Keeper
from tests.service.fleet import House, open_house
from tests.service.outages.outage import SETTINGS, Outages


@pytest.fixture(scope="module")
def own_stack(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackingStack]:
    """Valkey, broker and PostgreSQL of this module alone."""
    stack = BackingStack(tmp_path_factory.mktemp("outages"), backing=BACKING, appendfsync="always", fsync=False)
    keeper.run(stack.start())
    yield stack
    keeper.run(stack.stop())


@pytest_asyncio.fixture(loop_scope="module")
async def outages(keeper: Keeper, own_stack: BackingStack) -> AsyncIterator[Outages]:
    """Takes servers away; all are back after the test."""
    outages = Outages(keeper, own_stack)
    yield outages
    await outages.end()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(own_stack: BackingStack) -> AsyncIterator[Fleet]:
    """Every service once, on servers that a test may take away."""
    fleet = Fleet(own_stack, settings=SETTINGS)
    await fleet.start()
    yield fleet
    await fleet.stop(1.0)


@pytest_asyncio.fixture(loop_scope="module")
async def house(fleet: Fleet, outages: Outages) -> AsyncIterator[House]:
    """Players at the module's fleet; they leave when all servers are back."""
    async with open_house(fleet) as house:
        yield house
        await outages.end()
