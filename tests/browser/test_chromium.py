"""The browsers that the other browser tests stand on really start, whichever of them a machine has."""

import shutil

import pytest
from playwright.async_api import async_playwright

from tests.browser.chromium import Chromium, chromium_executable, packaged_chromium

PAGE = "data:text/html,<title>East</title><button onclick='document.title=\"South\"'>turn</button>"

pytestmark = pytest.mark.browser


async def title_after_a_click(chromium: Chromium) -> str:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(**chromium.launch_options())
        page = await browser.new_page()
        await page.goto(PAGE)
        await page.click("button")
        title = await page.title()
        await browser.close()
        return title


async def test_the_chosen_chromium_runs_a_page() -> None:
    assert await title_after_a_click(chromium_executable()) == "South"


async def test_the_packaged_chromium_runs_a_page() -> None:
    assert await title_after_a_click(packaged_chromium()) == "South"


def test_a_machine_without_chromium_gets_the_packaged_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert chromium_executable.__wrapped__() == packaged_chromium()
