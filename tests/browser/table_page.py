"""A player at the page: does what a person does, and waits for what a person would see."""

from __future__ import annotations

import asyncio
import re
from typing import Final, Literal

from playwright.async_api import Locator, Page, expect
from playwright.async_api import TimeoutError as TooSlow

Moment = Literal["turn", "claim", "settled"]

# What the page asks of the player now, "" for nothing: a discard, a claim, or to look at the settlement.
_ASKED: Final = """() => {
  if (document.querySelector("[role=dialog][aria-label=Settlement]")) return "settled";
  if (document.querySelector(".own-hand.open")) return "turn";
  return document.querySelector(".actions button:not([disabled])") ? "claim" : "";
}"""
# "Pass" at a claim, "Continue" where a kong is offered before the first discard.
_DECLINE: Final = re.compile("^(Pass|Continue)")
_OFFERED: Final = ".actions button:not([disabled])"
_GLANCE_MS: Final = 1_000
_PATIENCE_S: Final = 60
RULES: Final = "Hong Kong Old Style"


class TablePage:
    """The page of one player, from the sign-in to the table."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.errors: list[str] = []
        """What the page has reported or thrown."""
        self.expected_errors: tuple[str, ...] = ()
        """Patterns of errors that belong to what a test does."""
        self.settlement = page.get_by_role("dialog", name="Settlement")
        self.heading = self.settlement.get_by_role("heading", level=1)
        self.own_tiles = page.locator(".own-hand .own-tile")
        self.actions = page.get_by_role("group", name="Actions").get_by_role("button")
        self.own_river = page.locator(".river.at-0 .cell")
        self.own_clock = page.locator(".plate.at-0").get_by_role("timer")
        self.banner = page.locator(".banner")
        self.notice = page.locator(".notice")
        self.ready = page.get_by_role("button", name=re.compile("^Ready"))

    async def sign_in(self, url: str, name: str) -> None:
        """Open the page and play as a guest; returns in the lobby."""
        await self.page.goto(url)
        await self.page.get_by_label("Your name").fill(name)
        await self.page.get_by_role("button", name="Play now").click()
        await expect(self.page.get_by_role("button", name="Play with computers")).to_be_enabled()

    async def play_with_computers(self, *, rules: str = RULES, speed: str = "untimed", level: str = "hard") -> None:
        """From the lobby to a table with three computers; returns when the first hand is dealt."""
        await self.page.get_by_label("Rules of the table").select_option(rules)
        await self.page.get_by_label("Speed").select_option(speed)
        await self.page.get_by_label("Computers").select_option(level)
        await self.page.get_by_role("button", name="Play with computers").click()
        await self.say_ready()

    async def say_ready(self) -> None:
        """Press Ready and return when the tiles are dealt."""
        await self.ready.click()
        await expect(self.page.get_by_role("dialog")).to_have_count(0)
        await expect(self.own_tiles.nth(12)).to_be_visible()

    async def next_moment(self) -> Moment:
        """Wait until the page asks for something."""
        asked = await self.page.wait_for_function(_ASKED)
        moment: Moment = await asked.json_value()
        return moment

    async def press(self, label: str | re.Pattern[str]) -> None:
        """Press the first action of this label. Another seat's claim may take it away: then it is not pressed."""
        offered = self.page.locator(_OFFERED).filter(has_text=label).first
        async with asyncio.timeout(_PATIENCE_S):
            while await offered.count():
                try:
                    await offered.click(timeout=_GLANCE_MS)
                except TooSlow:  # it has gone, or the machine is busy
                    continue
                return

    async def own_turn(self) -> None:
        """Pass every claim until it is one's own turn, in the next hand when this one ends before."""
        while (moment := await self.next_moment()) != "turn":
            if moment == "claim":
                await self.press(_DECLINE)
            else:
                await self.say_ready()

    async def discard(self, tile: Locator | None = None) -> None:
        """Click a tile, by default the last, and return when it has left the own tiles."""
        # Held by its number: what is the last tile may change meanwhile.
        chosen = self.tile(await (tile or self.own_tiles.last).get_attribute("data-tile"))
        await chosen.click()
        await expect(chosen).to_have_count(0)

    async def discard_by_finger(self) -> None:
        """Tap the last tile, which raises it, and again, and return when it has left the own tiles."""
        chosen = self.tile(await self.own_tiles.last.get_attribute("data-tile"))
        await chosen.tap()
        await expect(chosen).to_have_class(re.compile(r"\bselected\b"))
        await chosen.tap()
        await expect(chosen).to_have_count(0)

    async def play_hand(self) -> None:
        """Play the hand to its settlement: win where possible, else claim nothing and discard the last tile."""
        while (moment := await self.next_moment()) != "settled":
            if await self.actions.filter(has_text="Win").count():
                await self.press("Win")
            elif moment == "turn":
                await self.discard()
            else:
                await self.press(_DECLINE)

    async def play_to_a_win(self) -> None:
        """Play hands until one ends with somebody's win, and stay at its settlement."""
        await self.play_hand()
        while "wins" not in (heading := await self.heading.inner_text()) and ("You win" not in heading):
            await self.say_ready()
            await self.play_hand()

    def tile(self, number: str | None) -> Locator:
        """One of the own tiles by its id."""
        return self.page.locator(f'.own-hand [data-tile="{number}"]')

    async def own_tile_ids(self) -> list[str]:
        """The ids of the own tiles, in ascending order."""
        ids: list[str] = await self.own_tiles.evaluate_all("tiles => tiles.map((tile) => tile.dataset.tile)")
        return sorted(ids)
