"""Hands under ``classical``: the opening, Original Calls, the kong box and the live wall, and what they are worth."""

from __future__ import annotations

import pytest

from libs.mahjong.engine.actions import Action, ActionType, Reason
from libs.mahjong.engine.events import DecisionKind, DrawnHandCause, HandDrawn
from libs.mahjong.scores import Circumstance, Unit
from libs.mahjong.tiles import format_tiles
from libs.mahjong.variants import classical
from tests.unit.mahjong.engine.builders import Table, dealt, playing

CC = classical.RULESET
ORPHANS = "1m9m1p9p1s1234567z1z"
READY = "234m567m345p67s99p"
"""Thirteen tiles that wait for 5s and 8s."""


def paid(table: Table) -> dict[str, int]:
    """What each wind got or gave, once the hand is settled."""
    table.settle()
    settlement = table.state.settlement
    assert settlement is not None
    return {wind: settlement.changes[table.seat(wind)] for wind in "ESWN"}


def value(table: Table, wind: str) -> int:
    """What a win at the open decision would be worth."""
    score = table.score(wind)
    assert score is not None
    return score.value


def doubles(table: Table, wind: str) -> list[str]:
    score = table.score(wind)
    assert score is not None
    return [item.pattern for item in score.items if item.unit is Unit.DOUBLES]


def limit(table: Table, wind: str) -> str | None:
    score = table.score(wind)
    assert score is not None
    return score.limit


def test_the_live_wall_has_75_tiles_after_the_deal_and_the_box_16() -> None:
    table = dealt({"E": READY}, front="1z", ruleset=CC)
    assert (table.state.live_left, table.state.kong_box_left) == (75, 16)


def test_c045_opening_kongs_go_round_from_east_and_take_the_box() -> None:
    hands = {"E": "1111m4p7p1s4s7s1z2z3z4z", "S": "2222p3g2m5m8m1s4s7s5z6z", "N": "9999s3m6m9m1p4p7p5z6z7z"}
    table = dealt(hands, front="8m8p5m", box="5s1f6s", ruleset=CC)
    assert table.state.live_left == 74
    asked = []
    for wind, quad in (("E", "1111m"), ("S", "2222p"), ("N", "9999s")):
        asked.append((table.asked, table.asking))
        table.take(wind, "concealed_kong", quad)
    assert asked == [(wind, DecisionKind.OPENING_KONG) for wind in "ESN"]
    # South's replacement was a flower: the box lost one tile for it, the live wall the next.
    assert (table.state.kong_box_left, table.state.live_left) == (13, 73)
    assert format_tiles(table.state.seats[1].tiles) == "25588m147s56z"
    assert (table.asked, table.asking) == ("E", DecisionKind.TURN)


def test_c045_a_timeout_goes_on_without_a_kong() -> None:
    table = dealt({"E": "1111m4p7p1s4s7s1z2z3z4z"}, front="8m", ruleset=CC)
    table.expire()
    assert (table.asked, table.asking, table.state.seats[0].melds) == ("E", DecisionKind.TURN, ())


def test_c045_east_wins_before_the_first_discard_with_a_kong() -> None:
    table = dealt({"E": "1111m234567p23s9s"}, front="4s", box="9s", ruleset=CC)
    table.take("E", "concealed_kong", "1111m")
    assert limit(table, "E") == "before-first-discard"
    table.win("E")
    assert paid(table) == {"E": 6000, "S": -2000, "W": -2000, "N": -2000}


def test_east_with_the_tiles_of_the_deal_is_asked_before_and_with_the_first_discard() -> None:
    table = dealt({"E": READY}, front="8s", ruleset=CC)
    assert (table.asking, table.offers("E")) == (DecisionKind.OPENING_KONG, ["win", "pass"])
    table.passes("E")
    assert (table.asking, limit(table, "E")) == (DecisionKind.TURN, "before-first-discard")


def test_a_win_on_easts_first_discard_is_a_limit_after_an_opening_kong_too() -> None:
    table = dealt({"E": "1111m8s", "S": READY}, front="5z", box="7z", ruleset=CC)
    table.take("E", "concealed_kong", "1111m")
    table.discard("E", "8s")
    assert limit(table, "S") == "on-first-discard"


def test_c057_an_opening_kong_is_robbed_by_thirteen_orphans_and_three_concealed_tiles_stay() -> None:
    table = dealt({"E": "9999s", "W": ORPHANS}, front="5m", ruleset=CC)
    table.take("E", "concealed_kong", "9999s")
    assert (table.asked, limit(table, "W")) == ("W", "thirteen-orphans")
    table.win("W")
    table.settle()
    settlement = table.state.settlement
    assert settlement is not None
    east = settlement.scores[0]
    assert east is not None
    # East held fourteen tiles; three 9s are a concealed pung (B41).
    assert ("concealed pung 9s", 8) in [(item.name, item.amount) for item in east.items]
    assert settlement.changes[table.seat("W")] == 4000
    assert table.state.kong_box_left == 16


def test_c057_other_hands_cannot_rob_a_concealed_kong() -> None:
    table = playing({"S": "9999s", "E": "234m567m345p22z78s"}, turn="S", drawn="1m", ruleset=CC)
    table.take("S", "concealed_kong", "9999s")
    assert (table.asked, table.asking) == ("S", DecisionKind.TURN)


def test_c033_an_original_call_wins_on_a_later_discard() -> None:
    # East calls 1z; South, West and North draw 2p, 6z and 7z, and North has the 8s.
    table = dealt({"E": "9s", "S": READY, "N": "8s"}, front="6z1z2p7z", ruleset=CC)
    table.discard("E", "9s")
    table.call("S", "1z")
    table.discard_drawn()
    table.discard("N", "8s")
    assert table.asked == "S"
    assert sorted(doubles(table, "S")) == ["all-chows", "original-call"]
    table.win("S")
    table.settle()
    assert table.state.settlement is not None
    score = table.state.settlement.scores[1]
    assert score is not None
    assert score.value == 40


def test_c033_a_call_of_a_hand_that_is_not_ready_is_refused_and_the_discard_stays_legal() -> None:
    table = dealt({"E": "9s", "S": "234m567m345p6s99p1z"}, front="6z3z", ruleset=CC)
    table.discard("E", "9s")
    table.refused(Reason.ACTION_NOT_OFFERED, "S", Action(ActionType.ORIGINAL_CALL, table.held("S", "1z")))
    table.discard("S", "1z")
    assert not table.state.seats[1].original_call


def test_c033_a_frozen_hand_discards_what_it_drew_also_when_the_time_is_up() -> None:
    table = dealt({"E": READY, "S": "9p", "W": "78p"}, front="1z6z7z5z1p", ruleset=CC)
    table.call("E", "1z")
    # East's pair would make a pung, but after the call nobody asks.
    table.discard("S", "9p")
    assert table.asked == "W"
    table.passes("W")
    table.discard_drawn()
    table.discard_drawn()
    east = table.state.seats[0]
    drawn = east.drawn
    assert drawn is not None
    assert table.discards("E") == format_tiles((drawn,)) == "1p"
    assert table.offers("E") == []
    table.expire()
    assert table.state.seats[0].river[-1].tile == drawn


def test_c033_a_bonus_tile_is_replaced_for_a_frozen_hand() -> None:
    table = dealt({"E": READY}, front="1z6z7z5z2g8s", ruleset=CC)
    table.call("E", "1z")
    for _ in range(3):
        table.discard_drawn()
    assert format_tiles(table.state.seats[0].bonus) == "2g"
    assert (table.offers("E"), value(table, "E")) == (["win"], (10 + 2 + 4) * 8)


def test_ready_for_a_fifth_copy_alone_may_call_by_shape() -> None:
    table = dealt({"E": "1111m234p567p789s"}, front="5z", ruleset=CC)
    table.passes("E")
    assert "original_call 5z" in table.offers("E")


def test_a_seat_may_call_with_its_first_discard_after_a_claim() -> None:
    table = dealt({"E": "9s", "S": "99s234m567m345p67p"}, front="9s", ruleset=CC)
    table.discard("E", "9s")
    table.take("S", "pung", "99s")
    assert "original_call 7p" in table.offers("S")


def test_c038_a_flower_from_the_box_is_replaced_from_the_live_wall_without_a_kong_replacement() -> None:
    table = playing(
        {"S": "1111p234m567m34s9s"}, turn="S", drawn="9s", box="2g", front="5s", spare_bonus="W", ruleset=CC
    )
    table.take("S", "concealed_kong", "1111p")
    assert (table.state.kong_box_left, table.state.live_left) == (15, 39)
    assert doubles(table, "S") == ["concealed-self-draw"]


def test_c039_kongs_are_possible_while_the_box_has_tiles_be_the_live_wall_empty() -> None:
    table = playing({"S": "1111z222z"}, turn="S", box="2z5s", live=0, ruleset=CC)
    table.take("S", "concealed_kong", "1111z")
    table.take("S", "concealed_kong", "2222z")
    assert table.state.kong_box_left == 14
    table = playing({"S": "1111z222z", "W": "333z"}, turn="S", drawn="3z", box_left=0, ruleset=CC)
    table.refused(Reason.NO_REPLACEMENT_TILE, "S", Action(ActionType.CONCEALED_KONG, table.held("S", "1111z")))
    table.discard("S", "3z")
    assert table.offers("W") == ["pung 33z", "pass"]


def test_c040_the_last_discard_may_be_claimed_and_the_hand_ends_when_a_live_tile_is_needed() -> None:
    table = playing({"E": "5p", "S": "46p", "W": "55p"}, live=0, ruleset=CC)
    table.discard("E", "5p")
    assert (table.offers("S"), table.offers("W")) == (["chow 46p", "pass"], ["pung 55p", "pass"])
    table.act("S", Action(ActionType.CHOW, table.held("S", "46p")))
    table.take("W", "pung", "55p")
    table.expire()
    assert table.state.result == HandDrawn(DrawnHandCause.WALL_EXHAUSTED)
    assert paid(table) == dict.fromkeys("ESWN", 0)


def test_a_kong_of_the_last_discard_wins_as_a_replacement_only() -> None:
    table = playing({"E": "5p", "W": "555p234m567m789s9p"}, box="9p", live=0, ruleset=CC)
    table.discard("E", "5p")
    table.take("W", "claimed_kong", "555p")
    assert table.situation("W").circumstances is Circumstance.KONG_REPLACEMENT
    assert doubles(table, "W") == ["concealed-self-draw", "kong-replacement"]
    # 10, self-draw 2, kong 8, the pair 2 + 2 and one-chance 2.
    assert value(table, "W") == (10 + 2 + 8 + 2 + 2 + 2) * 4


def test_1_circle_from_the_kong_box_is_no_last_live_tile() -> None:
    table = playing({"S": "9999m23p789s234s5z"}, turn="S", drawn="5z", box="1p", live=0, ruleset=CC)
    table.take("S", "concealed_kong", "9999m")
    assert limit(table, "S") is None
    assert "kong-replacement" in doubles(table, "S")


def test_1_circle_as_the_last_live_tile_or_a_last_discard_is_the_limit() -> None:
    hand = "23p789s99s"
    melds = {"S": "pung 3m, chow 234s"}
    table = playing({"S": hand}, turn="S", drawn="1p", melds=melds, live=0, ruleset=CC)
    assert limit(table, "S") == "moon-from-the-sea"
    table = playing({"S": hand, "W": "1p"}, turn="W", melds=melds, live=0, ruleset=CC)
    table.discard("W", "1p")
    assert limit(table, "S") == "moon-from-the-sea"
    table = playing({"S": hand, "W": "1p"}, turn="W", melds=melds, live=1, ruleset=CC)
    table.discard("W", "1p")
    assert limit(table, "S") is None


def test_c026_the_last_live_tile_is_a_double_instead_of_the_self_draw() -> None:
    melds = {"S": "pung 3m, chow 234s"}
    table = playing({"S": "45p789s99s", "E": "3p"}, turn="S", drawn="6p", melds=melds, live=0, ruleset=CC)
    assert (value(table, "S"), doubles(table, "S")) == (24, ["last-live-tile"])


def test_the_last_live_tile_may_be_the_replacement_of_a_flower() -> None:
    melds = {"S": "pung 3m, chow 234s"}
    table = playing({"S": "45p789s99s"}, turn="E", melds=melds, front="1g6p", live=2, spare_bonus="N", ruleset=CC)
    table.discard_drawn()
    assert table.asked == "S"
    assert doubles(table, "S") == ["last-live-tile"]


def test_a_flower_as_the_last_live_tile_ends_the_hand() -> None:
    table = playing({}, turn="E", front="1g", live=1, ruleset=CC)
    table.discard_drawn()
    assert table.state.result == HandDrawn(DrawnHandCause.REPLACEMENT_EXHAUSTED)


def test_c046_the_second_kong_in_a_row_is_a_limit_and_a_discard_between_them_is_none() -> None:
    table = playing({"S": "2222m777s34p99p66z"}, turn="S", drawn="6z", box="7s2p", ruleset=CC)
    table.take("S", "concealed_kong", "2222m")
    table.take("S", "concealed_kong", "7777s")
    assert limit(table, "S") == "kong-on-kong"
    hands, melds = {"S": "777s34p99p666z"}, {"S": "ckong 2m"}
    table = playing(hands, turn="S", drawn="7s", melds=melds, box="2p", ruleset=CC)
    table.take("S", "concealed_kong", "7777s")
    assert limit(table, "S") is None
    assert "kong-replacement" in doubles(table, "S")


def test_c046_the_first_of_the_kongs_may_be_claimed() -> None:
    table = playing({"E": "2m", "S": "222m777s34p99p666z"}, box="7s2p", ruleset=CC)
    table.discard("E", "2m")
    table.take("S", "claimed_kong", "222m")
    table.take("S", "concealed_kong", "7777s")
    assert limit(table, "S") == "kong-on-kong"


def test_a_flower_after_the_second_kong_spoils_kong_on_kong_and_one_between_them_does_not() -> None:
    hands = {"S": "2222m777s34p99p66z"}
    table = playing(hands, turn="S", drawn="6z", box="7s1g", front="2p", spare_bonus="N", ruleset=CC)
    table.take("S", "concealed_kong", "2222m")
    table.take("S", "concealed_kong", "7777s")
    assert limit(table, "S") is None
    assert "kong-replacement" not in doubles(table, "S")
    table = playing(hands, turn="S", drawn="6z", box="1g2p", front="7s", spare_bonus="N", ruleset=CC)
    table.take("S", "concealed_kong", "2222m")
    table.take("S", "concealed_kong", "7777s")
    assert limit(table, "S") == "kong-on-kong"


@pytest.mark.parametrize(("before", "expected"), [(12, "thirteenth-win"), (11, None)])
def test_c034_the_thirteenth_win_of_east(before: int, expected: str | None) -> None:
    table = playing({"E": "45s88p456p789s"}, drawn="6s", melds={"E": "chow 123m"}, dealer_wins=before, ruleset=CC)
    assert limit(table, "E") == expected


def test_robbing_a_promoted_kong_leaves_an_open_pung() -> None:
    hands = {"E": "34s678m555p99p111z"}
    table = playing(hands, turn="N", drawn="2s", melds={"N": "pung 2s"}, spare_bonus="W", ruleset=CC)
    table.take("N", "added_kong", "2s")
    assert limit(table, "E") == "carrying-pole"
    table.win("E")
    table.settle()
    assert table.state.settlement is not None
    robbed = table.state.settlement.scores[table.seat("N")]
    assert robbed is not None
    assert ("open pung 2s", 2) in [(item.name, item.amount) for item in robbed.items]


def test_c021_what_lies_open_at_the_table_decides_one_chance() -> None:
    hands = {"S": "23m555p789s345s99p", "E": "4m"}
    open_tiles = {"melds": {"W": "pung 1m"}, "ruleset": CC}
    table = playing(hands, river={"N": "1m"}, **open_tiles)  # type: ignore[arg-type]
    table.discard("E", "4m")
    assert value(table, "S") == 16
    table = playing({**hands, "N": "1m"}, **open_tiles)  # type: ignore[arg-type]
    table.discard("E", "4m")
    assert value(table, "S") == 14


def test_everybodys_tiles_are_laid_open_and_settled() -> None:
    hands = {"S": READY, "W": "8s", "E": "777z", "N": "88s5z5z1m4m"}
    table = playing(hands, turn="W", spare_bonus="N", ruleset=CC)
    table.discard("W", "8s")
    table.win("S")
    table.settle()
    settlement = table.state.settlement
    assert settlement is not None
    assert all(settlement.revealed)
    assert all(score is not None for score in settlement.scores)
    assert sum(settlement.changes) == 0
    assert {(one.payer, one.payee) for one in settlement.payments} >= {(0, 1), (2, 1), (3, 1)}
    for view in table.views:
        assert not any(seat.hidden for seat in view.seats)
