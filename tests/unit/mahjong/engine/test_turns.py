"""Turns, kongs of the hand and refused actions (hkos-3-v1 §1.3, §1.5)."""

from libs.mahjong.engine.actions import PASS, WIN, Action, ActionType, Reason
from libs.mahjong.engine.events import DecisionKind, KongCompleted, TileDrawn
from libs.mahjong.melds import MeldKind
from libs.mahjong.tiles import format_tiles
from tests.unit.mahjong.engine.builders import Table, playing
from tests.unit.mahjong.engine.rulesets import BOXED, PLAIN, STRICT


def kong(table: Table, wind: str, text: str) -> Action:
    return Action(ActionType.CONCEALED_KONG, table.held(wind, text))


def test_the_next_seat_draws_when_nobody_can_use_the_discard() -> None:
    table = playing({}, turn="N", drawn="5s")
    table.discard("N", "5s")
    assert (table.asked, table.asking) == ("E", DecisionKind.TURN)
    assert table.state.seats[0].count == 14


def test_equal_tiles_are_one_discard_and_any_of_them_may_go() -> None:
    table = playing({"E": "1122334455678m"}, turn="E", drawn="9m")
    assert table.discards("E") == "123456789m"
    other = table.held("E", "11m")[1]
    table.act("E", Action(ActionType.DISCARD, (other,)))
    assert table.state.seats[0].river[-1].tile == other


def test_c039_no_kong_when_nothing_is_left_to_replace_it() -> None:
    table = playing({"S": "1111z222z3m6m9m2p5p8p"}, turn="E", front="9s", back="2z", live=2)
    table.discard_drawn()
    assert table.offers("S") == ["concealed_kong 1111z"]
    table.take("S", "concealed_kong", "1111z")
    assert table.state.live_left == 0
    assert table.offers("S") == []
    table.refused(Reason.NO_REPLACEMENT_TILE, "S", kong(table, "S", "2222z"))
    table.discard("S", "9s")
    assert table.state.is_over
    assert table.winner is None


def test_c039_with_a_kong_box_both_kongs_are_allowed() -> None:
    table = playing({"S": "1111z222z3m6m9m2p5p8p"}, turn="E", front="9s", box="2z4s", live=1, ruleset=BOXED)
    table.discard_drawn()
    table.take("S", "concealed_kong", "1111z")
    assert table.offers("S") == ["concealed_kong 2222z"]
    table.take("S", "concealed_kong", "2222z")
    assert (table.state.live_left, table.state.kong_box_left) == (0, 14)


def test_an_empty_kong_box_forbids_kongs_and_play_goes_on() -> None:
    table = playing({"S": "1111z3m6m9m2p6p9p2z3z4z", "W": "555p"}, turn="E", drawn="5p", box_left=0, ruleset=BOXED)
    table.discard("E", "5p")
    assert table.offers("W") == ["pung 55p", "pass"]
    table.passes("W")
    assert table.offers("S") == []
    table.refused(Reason.NO_REPLACEMENT_TILE, "S", kong(table, "S", "1111z"))
    table.discard_drawn()
    assert table.asked == "W"


def test_c041_no_kong_right_after_a_pung_but_on_the_next_draw_and_after_a_replacement() -> None:
    table = playing({"S": "777p3333s1m4m9m1z2z3z", "W": "1z"}, turn="E", drawn="7p", front="5z", back="6z")
    table.discard("E", "7p")
    table.take("S", "pung", "77p")
    assert table.offers("S") == []
    table.refused(Reason.ACTION_NOT_OFFERED, "S", kong(table, "S", "3333s"))
    table.refused(Reason.ACTION_NOT_OFFERED, "S", Action(ActionType.ADDED_KONG, table.held("S", "7p")))
    table.refused(Reason.ACTION_NOT_OFFERED, "S", WIN)
    table.discard("S", "9m")
    for _ in range(3):
        table.discard_drawn()
    assert table.asked == "S"
    assert table.offers("S") == ["concealed_kong 3333s", "added_kong 7p"]
    table.take("S", "concealed_kong", "3333s")
    assert table.offers("S") == ["added_kong 7p"]
    table.take("S", "added_kong", "7p")
    assert [meld.kind for meld in table.state.seats[1].melds] == [MeldKind.ADDED_KONG, MeldKind.CONCEALED_KONG]


def test_several_kongs_are_declared_in_the_order_in_which_the_player_wants_them() -> None:
    table = playing({"E": "1111m9999s2p5p8p1z3z"}, turn="E", back="6m7m")
    assert table.offers("E") == ["concealed_kong 1111m", "concealed_kong 9999s"]
    table.take("E", "concealed_kong", "9999s")
    table.take("E", "concealed_kong", "1111m")
    melds = [format_tiles(meld.tiles) for meld in table.state.seats[0].melds]
    assert melds == ["9999s", "1111m"]
    drawn = [format_tiles([event.tile]) for event in table.history if isinstance(event, TileDrawn) and event.tile]
    assert drawn == ["6m", "7m"]


def test_a_kong_held_back_may_be_declared_on_any_later_draw() -> None:
    table = playing({"E": "1111m2p5p8p1s4s7s1z3z5z"}, turn="E")
    for _ in range(4):
        table.discard_drawn()
    assert table.offers("E") == ["concealed_kong 1111m"]


def test_c042_after_a_pung_the_turn_goes_on_from_the_claimer() -> None:
    table = playing({"N": "55p9s"}, turn="E", drawn="5p")
    table.discard("E", "5p")
    table.take("N", "pung", "55p")
    assert table.asked == "N"
    table.discard("N", "9s")
    assert table.asked == "E"
    assert table.state.seats[0].count == 14
    assert [table.state.seats[seat].count for seat in (1, 2, 3)] == [13, 13, 10]


def test_c043_the_claimed_tile_may_be_mirrored_by_the_discard() -> None:
    table = playing({"S": "456p1m4m7m1s4s7s1z2z3z4z"}, turn="E", drawn="5p")
    table.discard("E", "5p")
    table.take("S", "chow", "46p")
    table.discard("S", "5p")
    assert format_tiles([table.state.seats[1].river[-1].tile]) == "5p"


def test_c043_four_consecutive_tiles_are_no_dead_end() -> None:
    table = playing({"S": "3456m"}, melds={"S": "pung 1z, pung 2z, pung 3z"}, turn="E", drawn="6m")
    table.discard("E", "6m")
    table.take("S", "chow", "45m")
    assert table.discards("S") == "36m"
    table.discard("S", "3m")


def test_c048_illegal_actions_are_refused_and_change_nothing() -> None:
    hands = {"E": "8m9m1z2z5p5p5p", "S": "8m9m6z7z", "W": "46p99s", "N": "33s"}
    table = playing(hands, turn="E", drawn="1m", ruleset=PLAIN)
    own = table.held("E", "5p")
    table.refused(Reason.TILE_NOT_HELD, "E", Action(ActionType.DISCARD, table.held("S", "8m")))
    table.refused(Reason.NOT_YOUR_DECISION, "S", Action(ActionType.DISCARD, table.held("S", "8m")))
    table.refused(Reason.NOT_A_WINNING_HAND, "E", WIN)
    table.refused(
        Reason.TILE_NOT_HELD, "E", Action(ActionType.CONCEALED_KONG, (*table.held("E", "555p"), *table.held("S", "6z")))
    )
    table.refused(Reason.INVALID_ARGUMENT, "E", Action(ActionType.CONCEALED_KONG, table.held("E", "555p")))
    four = table.held("E", "555p1z")
    table.refused(Reason.ACTION_NOT_OFFERED, "E", Action(ActionType.CONCEALED_KONG, four))
    table.refused(Reason.ACTION_NOT_OFFERED, "E", Action(ActionType.ADDED_KONG, own))
    table.refused(Reason.ACTION_NOT_OFFERED, "E", PASS)
    table.refused(Reason.ACTION_NOT_OFFERED, "E", Action(ActionType.ORIGINAL_CALL, own))
    table.refused(Reason.INVALID_ARGUMENT, "E", Action(ActionType.DISCARD, ()))
    table.refused(Reason.INVALID_ARGUMENT, "E", Action(ActionType.PUNG, own * 2))
    table.refused(Reason.STALE_DECISION, "E", Action(ActionType.DISCARD, own), decision=1)


def test_c048_illegal_claims_are_refused() -> None:
    # West may not chow the tile of the seat opposite. It has no other claim: it is not asked, nor told that South is.
    table = playing({"S": "55s", "W": "46s"}, turn="E", drawn="5s")
    table.discard("E", "5s")
    assert table.asked == "S"
    table.refused(Reason.STALE_DECISION, "W", Action(ActionType.CHOW, table.held("W", "46s")))
    table = playing({"S": "89p11z"}, turn="E", drawn="1z")
    table.discard("E", "1z")
    assert table.offers("S") == ["pung 11z", "pass"]
    table.refused(Reason.NOT_A_WINNING_HAND, "S", WIN)
    table.refused(Reason.ACTION_NOT_OFFERED, "S", Action(ActionType.CHOW, table.held("S", "89p")))
    table.refused(Reason.INVALID_ARGUMENT, "S", Action(ActionType.CLAIMED_KONG, table.held("S", "11z")))
    table.refused(Reason.ACTION_NOT_OFFERED, "S", Action(ActionType.DISCARD, table.held("S", "8p")))


def test_c048_no_chow_around_the_corner_nor_of_honours() -> None:
    table = playing({"S": "89m", "W": "1m"}, turn="E", drawn="1m")
    table.discard("E", "1m")
    assert table.asking is DecisionKind.TURN
    table = playing({"S": "12z"}, turn="E", drawn="3z")
    table.discard("E", "3z")
    assert table.asking is DecisionKind.TURN


def test_c048_a_win_below_the_minimum_is_neither_offered_nor_accepted() -> None:
    hand = "234p678m45s99p123m"
    table = playing({"E": hand}, turn="E", drawn="3s", ruleset=STRICT)
    assert table.offers("E") == []
    table.refused(Reason.BELOW_MINIMUM, "E", WIN)
    table = playing({"S": hand}, turn="E", drawn="6s", ruleset=STRICT)
    table.discard("E", "6s")
    assert table.offers("S") == ["chow 45s", "pass"]
    table.refused(Reason.BELOW_MINIMUM, "S", WIN)


def test_c048_two_discards_in_one_turn_and_actions_after_the_end() -> None:
    table = playing({"E": "234567m234567p5s"}, turn="E", drawn="9s", front="5z")
    decision = table.state.decision
    assert decision is not None
    table.discard("E", "9s")
    again = Action(ActionType.DISCARD, table.held("E", "2m"))
    table.refused(Reason.STALE_DECISION, "E", again, decision.decision)
    table.refused(Reason.NOT_YOUR_DECISION, "E", again)
    table = playing({"E": "234567m234567p5s"}, turn="E", drawn="5s")
    decision = table.state.decision
    assert decision is not None
    table.win("E")
    table.refused(Reason.HAND_IS_OVER, "S", PASS, decision.decision)


def test_the_concealed_kong_is_complete_before_its_replacement_is_drawn() -> None:
    table = playing({"E": "1111m2p5p8p1s4s7s1z3z5z"}, turn="E", back="6m")
    table.take("E", "concealed_kong", "1111m")
    kinds = [type(event).__name__ for event in table.events]
    assert kinds == ["KongDeclared", "KongCompleted", "TileDrawn", "DecisionOpened"]
    completed = table.events[1]
    assert isinstance(completed, KongCompleted)
    assert format_tiles(completed.meld.tiles) == "1111m"
