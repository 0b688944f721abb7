"""Opening round of kongs and Original Calls (classical §2.3, §2.5)."""

from libs.mahjong.engine.actions import PASS, WIN, Action, ActionType, Reason
from libs.mahjong.engine.events import DecisionKind, DecisionOpened
from libs.mahjong.scores import Circumstance
from libs.mahjong.tiles import format_tiles
from tests.unit.mahjong.engine.builders import dealt, playing
from tests.unit.mahjong.engine.rulesets import BOXED, PLAIN

QUADS = {
    "E": "1111m4p7p1s4s7s1z2z3z4z",
    "S": "2222p3g2m5m8m1s4s7s5z6z",
    "N": "9999s3m6m9m1p4p7p5z6z7z",
}
ORPHANS = "1m9m1p9p1s1234567z1z"


def test_c045_prompts_go_round_once_from_east_and_repeat_while_there_are_kongs() -> None:
    # South's 3g is replaced from the live wall, East draws 8p, and South's first replacement is a flower.
    table = dealt(QUADS, front="8m8p5m", box="5s1f6s", ruleset=BOXED)
    assert (table.asked, table.asking) == ("E", DecisionKind.OPENING_KONG)
    assert table.offers("E") == ["concealed_kong 1111m", "pass"]
    table.take("E", "concealed_kong", "1111m")
    assert (table.asked, table.asking) == ("S", DecisionKind.OPENING_KONG)
    table.take("S", "concealed_kong", "2222p")
    south = table.state.seats[1]
    assert "1f" in format_tiles(south.bonus)
    assert format_tiles(south.tiles) == "25588m147s56z"
    # West has nothing to declare and is not asked.
    assert (table.asked, table.asking) == ("N", DecisionKind.OPENING_KONG)
    assert table.state.seats[3].count == 13
    table.take("N", "concealed_kong", "9999s")
    assert (table.asked, table.asking) == ("E", DecisionKind.TURN)
    assert [seat.count for seat in table.state.seats] == [11, 10, 13, 10]
    assert table.state.kong_box_left == 13


def test_c045_a_timeout_continues_without_a_kong_and_the_turn_offers_none_before_the_first_discard() -> None:
    table = dealt(QUADS, front="8m8p", ruleset=BOXED)
    table.expire()
    assert table.asked == "S"
    table.passes("S")
    table.expire()
    assert (table.asked, table.asking) == ("E", DecisionKind.TURN)
    assert table.offers("E") == []
    assert [seat.melds for seat in table.state.seats] == [(), (), (), ()]


def test_c045_a_kong_made_possible_by_a_replacement_may_be_declared_at_once() -> None:
    table = dealt({"S": "2222p333s1m4m7m5z6z7z"}, box="3s", ruleset=BOXED)
    table.take("S", "concealed_kong", "2222p")
    assert table.offers("S") == ["concealed_kong 3333s", "pass"]


def test_c045_east_may_win_before_the_first_discard_with_kongs_declared() -> None:
    table = dealt({"E": "1111m234567p23s9s"}, front="4s", box="9s", ruleset=BOXED)
    table.take("E", "concealed_kong", "1111m")
    assert table.offers("E") == ["win", "pass"]
    assert table.situation("E").circumstances & Circumstance.BEFORE_FIRST_DISCARD
    table.passes("E")
    assert table.asking is DecisionKind.TURN
    assert table.offers("E")[0] == "win"
    table.win("E")
    assert table.situation("E").circumstances & Circumstance.KONGS_DECLARED


def test_a_timeout_takes_the_win_that_the_opening_round_offers() -> None:
    table = dealt({"E": "234m567m345p678s2z"}, front="2z", ruleset=BOXED)
    assert (table.asking, table.offers("E")) == (DecisionKind.OPENING_KONG, ["win", "pass"])
    table.expire()
    assert table.winner == "E"


def test_an_opening_kong_may_be_robbed_but_not_by_east_who_holds_fourteen() -> None:
    table = dealt({"E": ORPHANS, "S": "9999s", "W": ORPHANS.replace("1z1z", "2z1z")}, front="5m", ruleset=BOXED)
    assert table.asked == "S"
    table.take("S", "concealed_kong", "9999s")
    assert (table.asked, table.asking) == ("W", DecisionKind.ROB)
    table.passes("W")
    assert table.state.seats[1].count == 10
    assert (table.asked, table.asking) == ("E", DecisionKind.TURN)


def test_decision_ids_of_the_opening_round_are_unique_and_tell_nobody_who_was_asked() -> None:
    turn_ids = []
    for hands in (QUADS, {"N": QUADS["N"]}, {}):
        table = dealt(hands, front="8m8p5m" if "S" in hands else "8p", ruleset=BOXED)
        while table.asking is DecisionKind.OPENING_KONG:
            table.passes(table.asked)
        opened = [event.decision for event in table.history if isinstance(event, DecisionOpened)]
        assert len(set(opened)) == len(opened)
        turn_ids.append(opened[-1] - (2 if "S" in hands else 0))
    assert len(set(turn_ids)) == 1


def test_without_an_opening_round_a_kong_is_part_of_the_first_turn() -> None:
    table = dealt(QUADS, ruleset=PLAIN, back="8s")
    assert (table.asked, table.asking) == ("E", DecisionKind.TURN)
    assert table.offers("E") == ["concealed_kong 1111m"]


def test_c033_an_original_call_needs_a_ready_hand_and_the_first_discard() -> None:
    table = dealt({"E": "234m567m345p67s99p"}, front="1z5m", ruleset=BOXED)
    assert table.offers("E") == ["original_call 1z"]
    other = Action(ActionType.ORIGINAL_CALL, table.held("E", "9p"))
    table.refused(Reason.ACTION_NOT_OFFERED, "E", other)
    table.call("E", "1z")
    east = table.state.seats[0]
    assert east.original_call
    assert east.river[0].original_call
    # The discard that could not carry the call stays legal.
    table = dealt({"E": "234m567m345p67s99p"}, front="1z5m", ruleset=BOXED)
    table.discard("E", "9p")
    assert not table.state.seats[0].original_call


def test_c033_after_an_original_call_the_hand_is_frozen_but_may_win() -> None:
    hands = {"E": "234m567m345p67s99p", "S": "9p5s1z2z3z4z5z1m4m7m1s4s9s", "W": "", "N": ""}
    table = dealt(hands, front="1z2p3z6z7z8s", ruleset=BOXED)
    table.call("E", "1z")
    table.discard("S", "9p")
    # East could take the 9p for a pung; after the call nobody asks.
    assert table.asked == "W"
    table.discard_drawn()
    table.discard_drawn()
    assert table.discards("E") == "7z"
    table.refused(Reason.ACTION_NOT_OFFERED, "E", Action(ActionType.DISCARD, table.held("E", "9p")))
    table.discard("E", "7z")
    table.refused(Reason.NOT_YOUR_DECISION, "E", WIN)
    drawn = table.held("S", "8s")
    table.act("S", Action(ActionType.DISCARD, drawn))
    assert table.offers("E") == ["win", "pass"]
    assert table.situation("E").circumstances is Circumstance.ORIGINAL_CALL
    table.act("E", PASS)
    assert not table.state.is_over


def test_an_earlier_meld_does_not_prevent_an_original_call_but_an_earlier_discard_does() -> None:
    table = dealt({"E": "9s", "S": "99s234m567m345p67p"}, front="9s", ruleset=BOXED)
    table.discard("E", "9s")
    table.take("S", "pung", "99s")
    assert "original_call 7p" in table.offers("S")
    table = playing({"S": "234m567m345p67s99p"}, turn="S", ruleset=BOXED)
    assert table.offers("S") == []
