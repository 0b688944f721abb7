"""All of Eastwind with quick computers, a Chromium, and players at pages of it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright, expect

from deploy.local.fleet import Fleet
from deploy.local.stack import BackingStack
from tests.backing import Keeper
from tests.browser.chromium import WEB, chromium_executable
from tests.browser.table_page import TablePage
from tests.browser.wire import Wire

_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "table": {"bot_think_least_ms": 0, "bot_think_most_ms": 20, "pacing_least_ms": 0, "pacing_most_ms": 20},
    "matchmaking": {"queue_fill_after_s": 1.5},
    # All pages come from one address.
    "gateway": {"call_rate": 1_000.0, "call_burst": 1_000},
}
_STOP_S: Final = 1.0
_WAIT_MS: Final = 30_000
_TEST_S: Final = 400
"""Whole hands, on a machine that others load as well."""
expect.set_options(timeout=_WAIT_MS)
_numbers = count(1)

# The page reports here what its content security policy kept it from doing.
_REPORT_VIOLATIONS: Final = """
  addEventListener("securitypolicyviolation", (event) =>
    console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI}`));
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give browser tests their time."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.timeout(_TEST_S))


NewPlayer = Callable[..., Awaitable[TablePage]]


class House:
    """The servers of this module, and where players find the page."""

    def __init__(self, data_dir: Path) -> None:
        # A copy, so that the page stays the same when somebody builds it anew meanwhile.
        page = shutil.copytree(os.environ.get("EASTWIND_WEB_DIST", WEB / "dist"), data_dir / "page")
        self._stack = BackingStack(data_dir / "servers", fsync=False)
        self._fleet = Fleet(self._stack, settings={**_SETTINGS, "gateway": {**_SETTINGS["gateway"], "web_dist": page}})

    @property
    def url(self) -> str:
        """The address of the page."""
        return self._fleet.edge_url

    async def open(self) -> None:
        """Start everything; when something cannot start, nothing is left running."""
        await self._stack.start()
        try:
            await self._fleet.start()
        except BaseException:
            await self._stack.stop()
            raise

    async def close(self) -> None:
        """Stop everything."""
        try:
            await self._fleet.stop(_STOP_S)
        finally:
            await self._stack.stop()


@pytest.fixture(scope="module")
def house(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A running Eastwind. It runs in the keeper's thread, so that it goes on whatever loop a test uses."""
    house = House(tmp_path_factory.mktemp("house"))
    keeper.run(house.open())
    yield house
    keeper.run(house.close())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """A headless Chromium."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**chromium_executable().launch_options())
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def new_player(browser: Browser, house: House) -> AsyncIterator[NewPlayer]:
    """`await new_player(...)` signs a guest in, in a browser profile of his own, and gives his page in the lobby.

    `wire` is told the frames of his socket, `script` runs in every page before its own; the other keywords are those of
    Playwright's `new_context`. A test fails when a page reports an error that the test does not name in the player's
    `expected_errors`.
    """
    players: list[TablePage] = []

    async def sign_in(name: str = "", *, wire: Wire | None = None, script: str = "", **options: Any) -> TablePage:
        context = await browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        context.set_default_timeout(_WAIT_MS)
        await context.add_init_script(_REPORT_VIOLATIONS + script)
        page = await context.new_page()
        player = TablePage(page)
        players.append(player)
        collect_errors(page, player.errors)
        if wire is not None:
            await wire.attach(page)
        await player.sign_in(house.url, name or f"Guest {next(_numbers)}")
        return player

    yield sign_in
    for player in players:
        await player.page.context.close()
        unexpected = [
            error for error in player.errors if not any(re.search(known, error) for known in player.expected_errors)
        ]
        assert unexpected == []


def collect_errors(page: Page, errors: list[str]) -> None:
    """Note every error that a page reports or throws."""

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            errors.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: errors.append(str(error)))
