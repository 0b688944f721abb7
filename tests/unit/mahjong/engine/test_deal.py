"""Deal and replacement of bonus tiles (hkos-3-v1 §1.2; classical §2.2)."""

import pytest

from libs.mahjong.engine.events import BonusExposed, DecisionKind, DrawSource, HandStarted, TileDrawn, TilesDealt
from libs.mahjong.engine.hand import start_hand
from libs.mahjong.tiles import format_tiles
from tests.unit.mahjong.engine.builders import dealt, playing, wall
from tests.unit.mahjong.engine.rulesets import BOXED, PLAIN


def test_thirteen_tiles_each_and_the_dealer_draws_the_fourteenth() -> None:
    table = dealt(front="5m")
    assert table.state.live_left == 144 - 53
    assert [seat.count for seat in table.state.seats] == [14, 13, 13, 13]
    assert table.asked == "E"
    assert table.asking is DecisionKind.TURN
    dealer = table.state.seats[0]
    assert dealer.drawn is not None
    assert format_tiles([dealer.drawn]) == "5m"


def test_the_deal_starts_at_the_dealer() -> None:
    table = dealt({"E": "1112223334445m"}, front="9s", dealer=2)
    assert table.state.decision is not None
    assert table.state.decision.seats == (2,)
    assert format_tiles(table.state.seats[2].tiles) == "1112223334445m9s"
    assert [table.state.seat_wind(seat) for seat in range(4)] == [2, 3, 0, 1]


def test_c037_bonus_tiles_of_the_deal_are_replaced_from_the_back() -> None:
    table = dealt({"E": "1f2f", "S": "1g"}, front="5m6m", back="4g1s2s3s9s")
    east, south = table.state.seats[0], table.state.seats[1]
    assert format_tiles(east.bonus) == "12f4g"
    assert format_tiles(south.bonus) == "1g"
    assert east.count == 14
    assert south.count == 13
    assert all(tile < 136 for seat in table.state.seats for tile in seat.tiles)
    # East is done (4g, 1s, 2s) before South gets 3s, and the fourteenth tile comes last, from the front.
    drawn = [(event.seat, format_tiles([event.tile])) for event in table.history if isinstance(event, TileDrawn)]
    assert drawn == [(0, "4g"), (0, "1s"), (0, "2s"), (1, "3s"), (0, "5m")]


def test_c037_a_drawn_bonus_tile_is_replaced_from_the_back_and_the_next_draw_is_from_the_front() -> None:
    table = playing({}, turn="E", front="1g7m", back="9s")
    table.discard_drawn()
    assert [type(event) for event in table.events[1:4]] == [TileDrawn, BonusExposed, TileDrawn]
    south = table.state.seats[1]
    assert south.drawn is not None
    assert format_tiles([south.drawn]) == "9s"
    table.discard_drawn()
    west = table.state.seats[2]
    assert west.drawn is not None
    assert format_tiles([west.drawn]) == "7m"


def test_the_fourteenth_tile_may_be_a_bonus_tile_too() -> None:
    table = dealt(front="3f", back="3g6p")
    east = table.state.seats[0]
    assert format_tiles(east.bonus) == "3f3g"
    assert east.drawn is not None
    assert format_tiles([east.drawn]) == "6p"


def test_with_a_kong_box_seventy_five_live_tiles_remain_and_bonus_tiles_are_replaced_from_the_front() -> None:
    table = dealt(front="5m", ruleset=BOXED)
    assert (table.state.live_left, table.state.kong_box_left) == (75, 16)
    table = dealt({"W": "1f"}, front="9s5m", ruleset=BOXED)
    drawn = [event for event in table.history if isinstance(event, TileDrawn)]
    assert [(event.seat, event.source) for event in drawn] == [(2, DrawSource.BONUS), (0, DrawSource.WALL)]
    assert "9s" in format_tiles(table.state.seats[2].tiles)
    assert (table.state.live_left, table.state.kong_box_left) == (74, 16)


def test_a_hand_starts_with_the_wall_and_the_dealt_tiles() -> None:
    tiles = wall()
    events = start_hand(PLAIN, 7, 1, 2, tiles, b"seal", 30).events
    assert events[0] == HandStarted(7, 1, 2, b"seal", tiles)
    assert isinstance(events[1], TilesDealt)


def test_a_wall_that_is_not_the_set_is_refused() -> None:
    with pytest.raises(ValueError, match="144"):
        start_hand(PLAIN, 1, 0, 0, tuple(range(143)))
    with pytest.raises(ValueError, match="144"):
        start_hand(PLAIN, 1, 0, 0, (*range(143), 0))
