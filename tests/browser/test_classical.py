"""Chinese Classical through the page: an Original Call, the settlement of four hands, the score sheet, looking on."""

from __future__ import annotations

import re
from typing import Final

import pytest
from playwright.async_api import expect

from tests.browser.conftest import NewPlayer
from tests.browser.ready_walls import CHOOSE_NONCE, give_ready_hands
from tests.browser.table_page import TablePage

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

MAY_BE_DISCARDED: Final = '.own-hand .own-tile:not([aria-disabled="true"])'


async def test_a_hand_with_an_original_call(new_player: NewPlayer, monkeypatch: pytest.MonkeyPatch) -> None:
    give_ready_hands(monkeypatch, "classical")
    player = await new_player(script=CHOOSE_NONCE)
    page = player.page
    await player.play_with_computers(rules="classical", level="easy")
    await expect(page.locator(".kong-box")).to_have_text("16 in the kong box")
    await player.own_turn()

    allowed = page.locator(MAY_BE_DISCARDED)
    await expect(allowed).to_have_count(14)
    call = player.actions.filter(has_text="Original Call")
    await call.click()
    await expect(call).to_have_attribute("aria-pressed", "true")
    assert 0 < await allowed.count() < 14
    await page.keyboard.press("o")
    await expect(allowed).to_have_count(14)
    await page.keyboard.press("o")
    await expect(call).to_have_attribute("aria-pressed", "true")
    await allowed.first.click()

    await expect(page.locator(".plate.at-0 .called")).to_be_visible()
    await expect(page.locator(".river.at-0 .called")).to_have_count(1)
    await expect(page.locator(".own-hand.frozen")).to_be_visible()
    await expect(page.locator(".log").get_by_text("with an Original Call")).to_be_visible()
    frozen = await _kept(player)
    while (moment := await player.next_moment()) != "settled":
        win = player.actions.filter(has_text="Win")
        if await win.count():
            await player.press("Win")
        elif moment == "turn":
            # Nothing but the tile that was drawn can leave the hand.
            await expect(allowed).to_have_count(1)
            await expect(page.locator(".own-hand .drawn")).to_have_attribute("aria-disabled", "false")
            await page.locator(".own-hand .own-tile").first.click(force=True)
            await player.discard()
            assert await _kept(player) == frozen
        else:
            raise AssertionError("after an Original Call no claim but a win may be offered")
    await expect(player.settlement.get_by_text("✓ wall verified")).to_be_visible()
    if "You win" in await player.settlement.get_by_role("heading").inner_text():
        await expect(
            player.settlement.locator(".win").get_by_role("row", name="Original Call 1 double")
        ).to_be_visible()


async def test_a_settlement_tells_four_hands_and_every_payment(new_player: NewPlayer) -> None:
    player = await new_player()
    page = player.page
    await player.play_with_computers(rules="classical")
    await player.play_to_a_win()

    settlement = player.settlement
    await expect(settlement.get_by_text("✓ wall verified")).to_be_visible()
    worths = await settlement.locator(".other-hand .whose strong, .win tr.sum th").all_inner_texts()
    assert len(worths) == 4
    assert all(worth.endswith(" points") for worth in worths)
    others = settlement.locator(".other-hand")
    for place in range(3):
        assert await others.nth(place).locator(".win-tiles .tile").count() >= 13
    changes = [_figure(text) for text in await settlement.locator(".change").all_inner_texts()]
    paid = [_figure(text) for text in await settlement.locator(".payments strong").all_inner_texts()]
    assert sum(changes) == 0
    assert 3 <= len(paid) <= 6
    doubled = await settlement.locator(".payments").get_by_text("doubled for East").count()
    assert 1 <= doubled <= 3
    moved = [row.split(" → ") for row in await settlement.locator(".settled .row span:last-child").all_inner_texts()]
    assert [_figure(after) - _figure(before) for before, after in moved] == changes

    # The sheet has the hand, and after a reload all of it again, with the winds of the finished hand.
    hands = page.locator(".sheet tbody tr:has(td + td)")
    lines = await hands.all_inner_texts()
    before = await _plates(player)
    await page.reload()
    await expect(settlement).to_be_visible()
    await expect(hands).to_have_count(len(lines))
    assert await hands.all_inner_texts() == lines
    assert await _plates(player) == before


async def test_somebody_looks_on_at_an_open_table(new_player: NewPlayer) -> None:
    player = await new_player()
    await player.page.get_by_label("Rules of the table").select_option("classical")
    await player.page.get_by_label("Speed").select_option("untimed")
    await player.page.get_by_label("Name of the table").fill("Open to all")
    await player.page.get_by_role("button", name="Open table").click()
    await expect(player.page.get_by_role("heading", name="Waiting for 3 players")).to_be_visible()

    guest = await new_player()
    listed = guest.page.get_by_role("listitem").filter(has_text="Open to all")
    while not await listed.count():
        await guest.page.get_by_role("button", name="Refresh").click()
        await expect(guest.page.get_by_role("button", name="Quick play")).to_be_enabled()
    await listed.get_by_role("button", name="Watch").click()
    await expect(guest.page.get_by_text("You are watching")).to_be_visible()

    await player.page.get_by_role("button", name="Fill with computers").click()
    await player.say_ready()
    await player.own_turn()
    await player.discard()
    # The looker-on sees the rivers and nobody's tiles.
    await expect(guest.page.locator(".river .tile").first).to_be_visible()
    await expect(guest.page.locator(".hidden-hand .own-tile").first).to_be_visible()
    await expect(guest.page.locator(".own-hand [data-tile]")).to_have_count(0)
    await expect(guest.page.get_by_role("heading", name="Your hand")).to_have_count(0)
    await guest.page.get_by_role("button", name="Leave").click()
    await expect(guest.page.get_by_role("button", name="Quick play")).to_be_visible()
    await player.own_turn()


async def _kept(player: TablePage) -> list[str]:
    """The own tiles without the one that was drawn."""
    kept: list[str] = await player.page.locator(".own-hand .own-tile:not(.drawn)").evaluate_all(
        "tiles => tiles.map((tile) => tile.dataset.tile)"
    )
    return sorted(kept)


async def _plates(player: TablePage) -> list[str]:
    return await player.page.locator(".plate .wind, .plate .points").all_inner_texts()


def _figure(text: str) -> int:
    return int(re.sub(r"[+,\s]", "", text).replace("−", "-"))
