"""Whole hands through the page, as a player sees them."""

from __future__ import annotations

import asyncio
import re

import pytest
from playwright.async_api import TimeoutError as TooSlow
from playwright.async_api import expect

from tests.browser.conftest import NewPlayer
from tests.browser.table_page import RULES, TablePage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

NO_DIALOG = "() => !document.querySelector('[role=dialog]')"


async def test_a_hand_from_the_sign_in_to_the_next_one(new_player: NewPlayer) -> None:
    player = await new_player()
    await player.play_with_computers()
    await player.play_to_a_win()

    settlement = player.settlement
    faan = [int(value) for value in await settlement.locator("tr:not(.sum) td").all_inner_texts()]
    total, payment = await settlement.locator("tr.sum").locator("th, td").all_inner_texts()
    assert faan
    assert total == f"{sum(faan)} faan" or "limit" in total.lower()
    assert re.search(r"points? from", payment)
    changes = [_figure(text) for text in await settlement.locator(".change").all_inner_texts()]
    assert sum(changes) == 0
    assert max(changes) > 0
    await expect(settlement.locator(".settled").filter(has_text=re.compile(r"\d → "))).to_have_count(4)
    await expect(settlement.get_by_text("✓ wall verified")).to_be_visible()
    points = sorted(await settlement.locator(".settled .row span:last-child").all_inner_texts())

    hand = await _hand_number(player)
    await player.say_ready()
    assert await _hand_number(player) == hand + 1
    shown = await player.page.locator(".plate .points").all_inner_texts()
    assert sorted(map(_figure, shown)) == sorted(_figure(text.split("→")[1]) for text in points)


async def test_the_replay_of_a_hand_steps_through_it(new_player: NewPlayer) -> None:
    player = await new_player()
    page = player.page
    await player.play_with_computers(level="easy")
    await player.play_hand()
    sentence = await player.heading.inner_text()
    await page.get_by_role("button", name="Leave").click()

    replay = page.get_by_role("button", name="Replay").first
    async with asyncio.timeout(60):  # the record is written behind the game
        while not await replay.is_visible():
            await page.get_by_role("button", name="Refresh").click()
            await expect(page.get_by_role("button", name="Quick play")).to_be_enabled()
    await replay.click()

    line = page.get_by_role("status")
    bar = page.get_by_label("Step of the hand")
    await expect(page.get_by_role("button", name="Back").last).to_be_disabled()
    seen = [await line.inner_text()]
    for step in (1, 3, 5):
        await page.get_by_role("button", name="Next").click()
        await expect(bar).to_have_value(str(step))
        await page.keyboard.press("ArrowRight")
        await expect(bar).to_have_value(str(step + 1))
        seen.append(await line.inner_text())
    assert len(set(seen)) > 1
    await page.keyboard.press("ArrowLeft")
    await expect(bar).to_have_value("5")
    # All tiles are open.
    await expect(page.locator(".standing.shown")).to_have_count(3)
    await page.keyboard.press("End")
    await expect(player.heading).to_have_text(sentence)
    await expect(player.settlement.get_by_text("✓ wall verified")).to_be_visible()
    await page.get_by_role("button", name="Look at the hand").click()
    await expect(player.settlement).to_have_count(0)


async def test_a_reload_in_the_middle_of_a_hand_comes_back_to_the_same_question(new_player: NewPlayer) -> None:
    player = await new_player()
    await player.play_with_computers(level="easy")
    for _ in range(2):
        await player.own_turn()
        await player.discard()
    await player.own_turn()
    before = await _table(player)
    await player.page.reload()
    await player.own_turn()
    assert await _table(player) == before
    await player.discard()


async def test_a_hand_by_the_keyboard_alone(new_player: NewPlayer) -> None:
    player = await new_player()
    page = player.page
    await page.get_by_label("Rules of the table").select_option(RULES)
    await page.get_by_label("Speed").select_option("untimed")
    await page.get_by_role("button", name="Play with computers").press("Enter")
    await expect(player.ready).to_be_visible()
    await _press_until(player, " ", NO_DIALOG)
    turns = 0
    while (moment := await player.next_moment()) != "settled":
        if moment == "claim":
            await page.keyboard.press(" ")
            continue
        turns += 1
        await page.keyboard.press("1" if turns == 1 else "ArrowLeft")
        chosen = await page.locator(".own-tile.selected").get_attribute("data-tile")
        await _press_until(player, "Enter", f"() => !document.querySelector('.own-hand [data-tile=\"{chosen}\"]')")
    assert turns > 0
    await expect(player.heading).to_be_focused()
    await _press_until(player, " ", NO_DIALOG)


async def test_quick_play_seats_two_players_with_computers(new_player: NewPlayer) -> None:
    pair = await asyncio.gather(new_player(), new_player())
    for player in pair:
        await player.page.locator(".quick select").select_option(RULES)
        await player.page.get_by_role("button", name="Quick play").click()
    await asyncio.gather(*(player.say_ready() for player in pair))
    await asyncio.gather(*(player.play_hand() for player in pair))

    walls = [player.settlement.get_by_text("✓ wall verified") for player in pair]
    await asyncio.gather(*(expect(wall).to_be_visible() for wall in walls))
    ordered = [await player.settlement.locator(".change").all_inner_texts() for player in pair]
    assert sorted(ordered[0]) == sorted(ordered[1])
    # Each sits at the bottom of his own table and sees the other elsewhere.
    for player in pair:
        names = await player.page.locator(".plate bdi").all_inner_texts()
        assert names[0] == "You"
        assert sum(name.startswith("Guest") for name in names[1:]) == 1
        await expect(player.page.locator(".plate").get_by_text("computer")).to_have_count(2)


async def _press_until(player: TablePage, key: str, condition: str) -> None:
    """Press a key until a condition holds: a fresh question ignores keys for a moment, so that none falls through."""
    async with asyncio.timeout(60):
        while True:
            await player.page.keyboard.press(key)
            try:
                await player.page.wait_for_function(condition, timeout=400)
            except TooSlow:
                continue
            return


async def _table(player: TablePage) -> dict[str, object]:
    page = player.page
    return {
        "hand": await _hand_number(player),
        "wall": await page.locator(".centre .wall").inner_text(),
        "tiles": await player.own_tile_ids(),
        "rivers": await page.locator(".river").evaluate_all("all => all.map((river) => river.ariaLabel)"),
        "melds": await page.locator(".meld").evaluate_all("all => all.map((meld) => meld.ariaLabel)"),
        "plates": await page.locator(".plate .wind, .plate .points").all_inner_texts(),
    }


async def _hand_number(player: TablePage) -> int:
    words = await player.page.locator(".centre").inner_text()
    found = re.search(r"hand (\d+)", words)
    assert found is not None
    return int(found[1])


def _figure(text: str) -> int:
    return int(text.strip().replace("−", "-").replace("+", "").replace(",", ""))
