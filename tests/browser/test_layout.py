"""Everything at the table lies on its board at every size of a screen, and nothing there can be scrolled."""

from __future__ import annotations

from typing import Any, Final

import pytest
from playwright.async_api import expect

from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import view_pb2
from eastwind.type.v1 import tile_pb2
from tests.browser.conftest import NewPlayer
from tests.browser.wire import Wire

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

SCREENS: Final[list[dict[str, Any]]] = [
    {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True},
    {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True},
    {"viewport": {"width": 844, "height": 390}, "has_touch": True, "is_mobile": True},
    {"viewport": {"width": 1280, "height": 800}},
]
LONG_NAME: Final = "W" * 20
ROWS: Final = 4

# What is wrong with the page now. Inside the settlement a long list may scroll, as may the panel.
FAULTS: Final = """() => {
  const faults = [];
  const board = document.querySelector(".board");
  if (!board) return faults;
  const { left, top, right, bottom } = board.getBoundingClientRect();
  for (const each of board.querySelectorAll("*")) {
    if (each.ownerSVGElement || each.closest(".settlement-layer *")) continue;
    const box = each.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    const over = Math.max(left - box.left, top - box.top, box.right - right, box.bottom - bottom);
    const part = each.closest(".felt > *")?.className;
    if (over > 1) faults.push(`${each.getAttribute("class")} of ${part}: ${over} px outside`);
  }
  for (const each of document.querySelectorAll("html, body, #app, .table, .board, .felt, .felt *")) {
    const name = each.getAttribute("class") ?? each.tagName;
    if (each.scrollLeft || each.scrollTop) faults.push(`${name} is scrolled`);
  }
  for (const each of [document.documentElement, board]) {
    if (each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight)
      faults.push(`${each.getAttribute("class") ?? each.tagName} overflows`);
  }
  const { scale, offsetLeft, offsetTop } = visualViewport;
  if (scale !== 1 || offsetLeft || offsetTop) faults.push(`zoomed by ${scale} to ${offsetLeft}, ${offsetTop}`);
  return faults;
}"""
# Looks after every change of the page, in the frame that shows it, and keeps what was wrong and how often it looked.
WATCH: Final = """(look) => {
  window.watched = { looks: 0, faults: new Set() };
  let due = false;
  const changed = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      window.watched.looks += 1;
      for (const fault of look()) window.watched.faults.add(fault);
    });
  };
  new MutationObserver(changed).observe(document.body, { childList: true, subtree: true, attributes: true });
  changed();
}"""
WATCHED: Final = "() => ({ looks: window.watched.looks, faults: [...window.watched.faults] })"
# What a focus or a screen reader may ask for.
SCROLL: Final = """() => {
  for (const each of document.querySelectorAll(".board, .board *")) {
    each.scrollIntoView({ block: "end", inline: "end" });
    each.scrollIntoView({ block: "start", inline: "start" });
  }
  for (const each of document.querySelectorAll("html, body, #app, .table, .board, .felt")) each.scrollTo(50, 50);
}"""


def screen_name(screen: dict[str, Any]) -> str:
    return "{width}x{height}".format(**screen["viewport"])


@pytest.mark.parametrize("screen", SCREENS, ids=screen_name)
async def test_a_played_hand_stays_on_its_board(new_player: NewPlayer, screen: dict[str, Any]) -> None:
    player = await new_player(wire=Wire(_give_long_names), **screen)
    await player.play_with_computers(level="easy")
    await player.page.evaluate(f"() => ({WATCH})({FAULTS})")
    await player.play_hand()
    watched = await player.page.evaluate(WATCHED)
    assert watched["faults"] == []
    assert watched["looks"] > ROWS


@pytest.mark.parametrize("screen", SCREENS, ids=screen_name)
async def test_the_fullest_table_stays_on_its_board_and_cannot_be_scrolled(
    new_player: NewPlayer, screen: dict[str, Any]
) -> None:
    richest = 0
    player = await new_player(wire=Wire(lambda frame: _fill(frame, richest)), **screen)
    player.expected_errors = (r"status of 400",)  # nobody can say what such a hand is worth
    await player.play_with_computers(level="easy", speed="relaxed")
    await player.own_turn()
    for richest in range(4):  # noqa: B007 (the wire reads it)
        await player.page.reload()
        await expect(player.page.locator(".river .cell")).to_have_count(4 * 6 * ROWS)
        await expect(player.page.locator(".bonus .tile")).to_have_count(8)
        assert await player.page.evaluate(FAULTS) == []
        await player.page.evaluate(SCROLL)
        assert await player.page.evaluate(FAULTS) == []


def _give_long_names(frame: frames_pb2.ServerFrame) -> None:
    """The computers have the longest names that a player may have, in the widest letter."""
    if frame.WhichOneof("frame") == "table":
        for seat in frame.table.view.seats:
            if seat.player.bot_level:
                seat.player.name = LONG_NAME


def _fill(frame: frames_pb2.ServerFrame, richest: int) -> None:
    """Give a whole view of a running hand all that can lie on a table: four kongs and a long river at every seat, and
    all eight bonus tiles at one, counted from the viewer."""
    _give_long_names(frame)
    if frame.WhichOneof("frame") != "table" or frame.table.view.phase != view_pb2.TABLE_PHASE_PLAYING:
        return
    view = frame.table.view
    tiles = iter(range(34 * 4))
    for seat in view.seats:
        place = (seat.seat - view.viewer) % 4
        del seat.melds[:], seat.river[:], seat.bonus[:], seat.tiles[2:]
        seat.points = -1_234
        seat.original_call = place != 0
        for number in range(4):
            kong = [next(tiles) for _ in range(4)]
            kind = (tile_pb2.MELD_KIND_CLAIMED_KONG, tile_pb2.MELD_KIND_ADDED_KONG)[number % 2]
            seat.melds.add(kind=kind, tiles=kong, claimed=kong[0], source=(seat.seat + 1 + number % 3) % 4)
        seat.bonus.extend(range(136, 144) if place == richest else ())
        seat.river.extend(view_pb2.RiverTile(tile=tile) for tile in range(place * 24, place * 24 + 6 * ROWS))
        if place != 0:
            seat.tile_count = 2 if seat.seat == view.decision.seat else 1
