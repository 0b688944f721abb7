"""What went wrong at other people's tables, at the page of ours (field cases, area J)."""

from __future__ import annotations

import json
import re
from typing import Final

import pytest
from playwright.async_api import expect

from eastwind.edge.v1 import frames_pb2
from eastwind.type.v1 import action_pb2
from tests.browser.conftest import House, NewPlayer
from tests.browser.wire import Wire

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

TIME_OUT_MS: Final = 20_000
"""Longer than the base and the reserve of a bullet table, 7 s."""
MARKUP: Final = "<img src=x onerror=>"
HIDE: Final = """(state) => {
  Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
KINDS: Final = [
    *(f"{rank}{suit}" for suit in "mps" for rank in range(1, 10)),
    *(f"{rank}z" for rank in range(1, 8)),
    *(f"{rank}{row}" for row in "fg" for rank in range(1, 5)),
]


async def test_c099_a_double_click_is_one_discard(new_player: NewPlayer) -> None:
    wire = Wire()
    player = await new_player(wire=wire)
    await player.play_with_computers()
    await player.own_turn()
    before = len(wire.chosen())
    count = await player.own_tiles.count()
    wire.hold_updates()  # the answer is under way while the second click and the others arrive
    await player.own_tiles.first.dblclick(delay=30)
    await player.own_tiles.nth(3).click(force=True)
    await expect(player.own_tiles).to_have_count(count - 1)
    assert len(wire.chosen()) == before + 1
    wire.release()
    await player.own_turn()
    sent = [command.command for command in wire.chosen()[before:]]
    assert len({command.command_id for command in sent}) == len(sent)
    assert len({command.choose.decision for command in sent}) == len(sent)


async def test_c101_a_hidden_tab_shows_the_true_time_at_once(new_player: NewPlayer) -> None:
    wire = Wire()
    player = await new_player(wire=wire)
    await player.page.clock.install()
    await player.page.reload()  # so that no measurement begins by one clock and ends by the other
    await player.play_with_computers(speed="relaxed")
    await player.own_turn()
    clock = player.own_clock
    await expect(clock).to_have_class(re.compile(r"\bbase\b"))
    await player.page.evaluate(HIDE, "hidden")
    wire.hold_updates()  # so that what is seen comes from the deadline, not from a new measurement
    await player.page.clock.fast_forward(40_000)
    await player.page.evaluate(HIDE, "visible")
    await expect(clock).to_have_class(re.compile(r"\breserve\b"))
    seconds = int(await clock.locator(".seconds").inner_text())
    assert 15 <= seconds <= 35  # 15 s + 60 s, less 40 s, and less what the turn had used before
    # This computer's clock has jumped, the server's has not: the next measurement puts that right.
    wire.release()
    await expect(clock).to_have_class(re.compile(r"\bbase\b"))


async def test_c103_all_actions_fit_a_narrow_phone_in_long_words(new_player: NewPlayer) -> None:
    wire = Wire(_offer_everything)
    player = await new_player(wire=wire, viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True)
    await player.play_with_computers()
    while await player.next_moment() != "claim":
        await player.discard_by_finger()
    assert await player.actions.count() == 7
    passing = player.actions.filter(has_text="Pass")
    place = await passing.bounding_box()
    await player.page.locator(".actions .verb").evaluate_all(
        "verbs => verbs.forEach((verb) => { verb.textContent = `${verb.textContent}überspringenwollen`; })"
    )
    assert await passing.bounding_box() == place
    boxes = [await button.bounding_box() for button in await player.actions.all()]
    for box in boxes:
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 640
        assert min(box["width"], box["height"]) >= 44
    wire.hold_commands()  # so that the actions are still there when they are looked at
    await passing.tap()
    await expect(passing).to_be_disabled()
    wire.release()


async def test_c104_a_lost_connection_is_said_and_comes_back(new_player: NewPlayer) -> None:
    player = await new_player()
    player.expected_errors = ("ERR_INTERNET_DISCONNECTED",)
    await player.play_with_computers(speed="relaxed")
    await player.own_turn()
    await expect(player.own_clock).not_to_have_class(re.compile(r"\bstopped\b"))
    tiles = await player.own_tile_ids()
    await player.page.context.set_offline(True)
    await expect(player.banner).to_contain_text("Connection lost")
    await expect(player.own_clock).to_have_class(re.compile(r"\bstopped\b"))
    await expect(player.own_clock.locator(".seconds")).to_have_text("–")
    await player.page.context.set_offline(False)
    await expect(player.banner).to_have_count(0)
    await player.own_turn()
    assert await player.own_tile_ids() == tiles
    await expect(player.own_clock.locator(".seconds")).to_have_text(re.compile(r"\d"))
    await player.discard()


async def test_c105_a_discard_that_comes_too_late_is_taken_back(new_player: NewPlayer) -> None:
    wire = Wire()
    player = await new_player(wire=wire)
    await player.play_with_computers(speed="bullet")
    await player.own_turn()
    wire.hold_commands()
    first = await player.own_tiles.first.get_attribute("data-tile")
    drawn = await player.own_tiles.last.get_attribute("data-tile")
    await player.own_tiles.first.click()
    await expect(player.tile(first)).to_have_count(0)
    # The time runs out at the table, which discards the drawn tile.
    await expect(player.tile(drawn)).to_have_count(0, timeout=TIME_OUT_MS)
    await expect(player.tile(first)).to_be_visible()
    wire.release()
    await expect(player.notice).to_contain_text("Too late")
    await expect(player.tile(first)).to_be_visible()


async def test_c072_another_window_takes_the_seat_and_the_first_one_says_so(
    new_player: NewPlayer, house: House
) -> None:
    player = await new_player()
    await player.play_with_computers()
    await player.own_turn()
    tiles = await player.own_tile_ids()
    second = await player.page.context.new_page()
    await second.goto(house.url)
    await expect(second.locator(".own-hand.open")).to_be_visible()
    await expect(player.banner).to_contain_text("another window")
    shown: list[str] = await second.locator(".own-tile").evaluate_all("all => all.map((tile) => tile.dataset.tile)")
    assert sorted(shown) == tiles
    await player.banner.get_by_role("button", name="Play here").click()
    await expect(player.banner).to_have_count(0)
    await player.discard()


async def test_c135_names_are_text_wherever_they_are_shown(new_player: NewPlayer) -> None:
    host = await new_player()
    await host.page.get_by_label("Name of the table").fill(MARKUP)
    await host.page.get_by_role("button", name="Open table").click()
    await expect(host.page.get_by_role("dialog")).to_contain_text("Waiting for 3 players")

    player = await new_player(wire=Wire(_rename_everybody))
    await player.page.get_by_role("button", name="Refresh").click()
    await expect(player.page.get_by_text(MARKUP)).to_be_visible()
    await player.play_with_computers()
    await player.play_hand()
    await expect(player.page.locator(".plate").get_by_text(MARKUP)).to_have_count(3)
    await expect(player.settlement.get_by_text(MARKUP).first).to_be_visible()
    await expect(player.page.locator(".log").get_by_text(MARKUP).first).to_be_attached()
    await expect(player.page.locator("img, script:not([src])")).to_have_count(0)


async def test_c135_ones_own_name_is_text_and_an_invisible_one_is_refused(new_player: NewPlayer, house: House) -> None:
    player = await new_player(MARKUP)
    player.expected_errors = (r"status of 400",)
    page = player.page
    await expect(page.get_by_role("banner").get_by_text(MARKUP)).to_be_visible()
    await page.get_by_role("button", name="Log out").click()
    await page.get_by_label("Your name").fill("\u202etsaE\u200b")
    await page.get_by_role("button", name="Play now").click()
    await expect(page.get_by_role("alert")).to_contain_text("A name has 2 to 20 characters")
    await expect(page.locator("img, script:not([src])")).to_have_count(0)
    answer = await page.request.get(house.url)
    assert "default-src 'self'" in answer.headers["content-security-policy"]


async def test_c102_every_kind_is_a_drawing_that_differs_without_its_colour(new_player: NewPlayer) -> None:
    player = await new_player()
    drawn = await player.page.evaluate(
        """(kinds) => kinds.map((kind) => {
          const symbol = document.getElementById(kind).cloneNode(true);
          for (const each of symbol.querySelectorAll("*"))
            for (const name of ["fill", "stroke", "color"]) each.removeAttribute(name);
          const uses = [...symbol.querySelectorAll("use")].map((use) => use.getAttribute("href"));
          return { kind, shape: symbol.innerHTML, uses, fonts: symbol.querySelectorAll("text").length };
        })""",
        KINDS,
    )
    shapes = json.loads(json.dumps(drawn))
    assert len({each["shape"] for each in shapes}) == len(KINDS) == 42
    assert all(each["fonts"] == 0 for each in shapes)
    # Flowers and seasons carry the outline of their number: g31 to g34 are the figures 1 to 4.
    for each in shapes:
        if each["kind"][1] in "fg":
            assert f"#g{ord(each['kind'][0]):x}" in each["uses"]


async def test_a_screen_reader_hears_tiles_actions_and_what_happens(new_player: NewPlayer) -> None:
    player = await new_player()
    page = player.page
    await player.play_with_computers()
    await player.own_turn()
    tree = await page.locator("body").aria_snapshot()
    tile = r"(\d of (characters|dots|bamboo)|(east|south|west|north) wind|(red|green|white) dragon)"
    assert len(re.findall(rf'- button "{tile}(, drawn)?"', tree)) == await player.own_tiles.count()
    assert re.search(r'img "River of \S+', tree)
    assert re.search(r'img "\S+ holds \d+ tiles"', tree)
    unnamed = re.findall(r"^\s*- (button|img|switch|combobox|textbox|link)(?: \[|:|$)", tree, re.MULTILINE)
    assert unnamed == []
    await expect(page.locator("[aria-live=assertive]")).to_contain_text("Your turn")
    heard = page.get_by_role("log")
    await expect(heard).not_to_be_empty()
    await player.discard()
    await expect(heard).to_contain_text(re.compile(r"discards?|chow|pung|kong|wins?"))


def _rename_everybody(frame: frames_pb2.ServerFrame) -> None:
    """Give the computers a name that no server would let through."""
    if frame.WhichOneof("frame") != "table":
        return
    for seat in frame.table.view.seats:
        if seat.player.bot_level:
            seat.player.name = MARKUP
    for event in frame.table.events:
        if event.WhichOneof("event") == "seat_taken" and event.seat_taken.player.bot_level:
            event.seat_taken.player.name = MARKUP


def _offer_everything(frame: frames_pb2.ServerFrame) -> None:
    """Offer a win, a kong, a pung, three chows and a pass wherever a claim is offered or the own turn is waited for."""
    if frame.WhichOneof("frame") != "table" or not frame.table.HasField("decision"):
        return
    options = frame.table.decision.options
    if not any(option.action.type == action_pb2.ACTION_TYPE_PASS for option in options):
        return
    del options[:]
    for kind, tiles in (
        (action_pb2.ACTION_TYPE_WIN, ()),
        (action_pb2.ACTION_TYPE_CLAIMED_KONG, (4, 5, 6)),
        (action_pb2.ACTION_TYPE_PUNG, (4, 5)),
        (action_pb2.ACTION_TYPE_CHOW, (0, 8)),
        (action_pb2.ACTION_TYPE_CHOW, (8, 12)),
        (action_pb2.ACTION_TYPE_CHOW, (12, 16)),
        (action_pb2.ACTION_TYPE_PASS, ()),
    ):
        options.add().action.CopyFrom(action_pb2.Action(type=kind, tiles=tiles))
