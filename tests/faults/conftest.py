"""A whole platform of processes for the tests of faults, started once per test process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from deploy.local.processes import ProcessFleet
from deploy.local.stack import BackingStack
from tests.backing import BACKING, Keeper
from tests.faults.figures import Figures
from tests.faults.loaded import LoadedPlatform
from tests.faults.platform import SETTINGS, Platform
from tests.faults.players import Four

_FIGURES = pytest.StashKey[Figures]()


@pytest.fixture(scope="module")
def _platform(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    stack = BackingStack(tmp_path_factory.mktemp("faults"), backing=BACKING, appendfsync="always", fsync=False)
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


@pytest.fixture(scope="session")
def figures(pytestconfig: pytest.Config) -> Figures:
    """What this run measures."""
    return pytestconfig.stash.setdefault(_FIGURES, Figures())


@pytest.fixture(scope="module")
def unloaded(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory, figures: Figures) -> Iterator[LoadedPlatform]:
    """A platform for the load, where nobody plays yet."""
    platform = LoadedPlatform.make(tmp_path_factory.mktemp("loaded"), figures)
    keeper.run(platform.stack.start())
    try:
        keeper.run(platform.keep_everything())
        keeper.run(platform.fleet.start())
        yield platform
    finally:
        keeper.run(platform.fleet.stop(10.0))
        keeper.run(platform.stack.stop())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def _loaded(unloaded: LoadedPlatform) -> AsyncIterator[LoadedPlatform]:
    try:
        await unloaded.play()
        yield unloaded
    finally:
        await unloaded.stop_playing()


@pytest_asyncio.fixture(loop_scope="module")
async def loaded(_loaded: LoadedPlatform) -> LoadedPlatform:
    """A platform under load, whole again whatever the test before did."""
    await _loaded.restore()
    return _loaded


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what was measured, and keep it when asked."""
    figures = config.stash.get(_FIGURES, None)
    if figures is not None and figures.lines:
        terminalreporter.section("figures")
        terminalreporter.write_line(figures.table())
        figures.keep()
