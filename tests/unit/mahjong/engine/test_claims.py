"""Claim windows (hkos-3-v1 §1.4; classical §2.4)."""

from itertools import permutations

import pytest

from libs.mahjong.engine.actions import PASS, WIN, Action, ActionType, Reason, RuleViolation
from libs.mahjong.engine.events import ChoiceHeld, DecisionKind, DecisionOpened, HandWon, MeldClaimed
from libs.mahjong.engine.hand import Act, decide, legal_actions
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.melds import MeldKind
from libs.mahjong.scores import Circumstance, WinMethod
from libs.mahjong.tiles import format_tiles
from tests.unit.mahjong.engine.builders import WINDS, Table, playing
from tests.unit.mahjong.engine.rulesets import BOXED, PLAIN, STRICT

READY_ON_5M = ("34m567m234p678s22s", "34m567m345p678s33s", "34m567p345p678s44s")
"""Three hands that wait on 2m and 5m."""


@pytest.mark.parametrize("ruleset", [PLAIN, BOXED])
def test_c040_claims_on_the_last_discard(ruleset: Ruleset) -> None:
    table = playing({"S": "46p", "W": "55p9s"}, turn="E", drawn="5p", live=0, ruleset=ruleset)
    table.discard("E", "5p")
    assert table.offers("S") == ["chow 46p", "pass"]
    assert table.offers("W") == ["pung 55p", "pass"]
    table.take("S", "chow", "46p")
    table.take("W", "pung", "55p")
    assert table.asked == "W"
    table.discard("W", "9s")
    assert table.state.is_over
    assert table.winner is None


def test_c040_no_kong_of_the_last_discard_without_a_replacement() -> None:
    table = playing({"W": "555p"}, turn="E", drawn="5p", live=0)
    table.discard("E", "5p")
    assert table.offers("W") == ["pung 55p", "pass"]
    table.refused(Reason.NO_REPLACEMENT_TILE, "W", Action(ActionType.CLAIMED_KONG, table.held("W", "555p")))
    boxed = playing({"W": "555p"}, turn="E", drawn="5p", live=0, ruleset=BOXED)
    boxed.discard("E", "5p")
    assert boxed.offers("W") == ["claimed_kong 555p", "pung 55p", "pass"]
    boxed.take("W", "claimed_kong", "555p")
    assert boxed.asked == "W"
    assert boxed.state.kong_box_left == 15


def test_c050_the_nearest_of_three_winners_takes_the_discard() -> None:
    hands = dict(zip("NES", READY_ON_5M, strict=True))
    table = playing(hands, turn="W", drawn="5m", spare_bonus="W")
    table.discard("W", "5m")
    assert table.asked == "NES"
    table.win("S")
    table.win("E")
    assert all(isinstance(event, ChoiceHeld) for event in table.events)
    table.win("N")
    assert table.winner == "N"
    result = table.state.result
    assert isinstance(result, HandWon)
    assert (result.method, result.source) == (WinMethod.DISCARD, table.seat("W"))
    # The others' held claims lost: the hand knows of one winner, and the discard lies in no river any more.
    assert table.state.seats[table.seat("W")].river[-1].claimed_by == table.seat("N")


def test_c050_a_claim_after_the_window_has_closed_is_stale() -> None:
    hands = dict(zip("NES", READY_ON_5M, strict=True))
    table = playing(hands, turn="W", drawn="5m")
    table.discard("W", "5m")
    decision = table.state.decision
    assert decision is not None
    table.win("N")
    assert table.winner == "N"
    table.refused(Reason.HAND_IS_OVER, "S", WIN, decision.decision)


def test_c051_only_the_next_seat_may_chow_but_any_may_win_with_a_chow() -> None:
    ready = "35p234m678m99s123s"
    table = playing({"S": ready}, turn="W", drawn="4p")
    table.discard("W", "4p")
    assert table.offers("S") == ["win", "pass"]
    table.win("S")
    assert table.winner == "S"
    table = playing({"S": ready}, turn="W", drawn="4p", ruleset=STRICT)
    table.discard("W", "4p")
    assert table.asking is DecisionKind.TURN
    assert table.asked == "N"


def test_c052_a_late_pung_beats_an_early_chow() -> None:
    table = playing({"S": "46p", "N": "55p"}, turn="E", drawn="5p")
    table.discard("E", "5p")
    table.take("S", "chow", "46p")
    assert table.asking is DecisionKind.CLAIM
    table.take("N", "pung", "55p")
    assert table.asked == "N"
    assert [meld.kind for meld in table.state.seats[3].melds] == [MeldKind.PUNG]
    assert table.state.seats[1].melds == ()


def test_c052_a_pass_of_the_stronger_claim_resolves_the_chow_at_once() -> None:
    table = playing({"S": "46p", "N": "55p"}, turn="E", drawn="5p")
    table.discard("E", "5p")
    table.take("S", "chow", "46p")
    table.passes("N")
    assert table.asked == "S"
    assert [type(event) for event in table.events] == [ChoiceHeld, MeldClaimed, DecisionOpened]


def test_a_claim_that_nobody_can_beat_does_not_wait_for_the_others() -> None:
    table = playing({"S": "46p", "N": "55p"}, turn="E", drawn="5p")
    table.discard("E", "5p")
    table.take("N", "pung", "55p")
    assert table.asked == "N"


def test_a_pung_waits_for_a_possible_win_and_loses_to_it() -> None:
    table = playing({"S": "55m1z", "N": READY_ON_5M[0]}, turn="E", drawn="5m")
    table.discard("E", "5m")
    table.take("S", "pung", "55m")
    assert table.asking is DecisionKind.CLAIM
    table.win("N")
    assert table.winner == "N"


def test_c053_every_chow_is_offered_once() -> None:
    table = playing({"S": "34467p1z2z3z4z1s4s7s"}, turn="E", drawn="5p")
    table.discard("E", "5p")
    assert table.offers("S") == ["chow 34p", "chow 46p", "chow 67p", "pass"]
    table.expire()
    assert table.asking is DecisionKind.TURN
    assert table.asked == "S"
    assert table.state.seats[1].melds == ()


def test_any_equal_own_tiles_make_the_claim() -> None:
    table = playing({"S": "444p6p", "W": ""}, turn="E", drawn="5p")
    table.discard("E", "5p")
    tiles = (table.held("S", "444p")[2], table.held("S", "6p")[0])
    table.act("S", Action(ActionType.CHOW, tiles[::-1]))
    assert set(table.state.seats[1].melds[0].tiles) >= set(tiles)


def test_c054_a_passed_win_has_no_consequence() -> None:
    ready = "34m678m345p678s33s"
    table = playing({"S": ready, "N": "5m"}, turn="W", drawn="5m", front="9s1z5m", river={"S": "5m"})
    table.discard("W", "5m")
    assert table.offers("S") == ["win", "pass"]
    table.passes("S")
    table.discard("N", "5m")
    assert "win" in table.offers("S")
    table.passes("S")
    table.discard_drawn()
    assert table.asked == "S"
    assert table.offers("S") == ["win"]


def test_a_seat_answers_once_and_only_when_asked() -> None:
    table = playing({"S": "46p", "N": "55p"}, turn="E", drawn="5p")
    table.discard("E", "5p")
    table.take("S", "chow", "46p")
    table.refused(Reason.ALREADY_ANSWERED, "S", PASS)
    assert table.offers("S") == []
    # A seat that is not asked learns nothing about the window.
    table.refused(Reason.STALE_DECISION, "W", PASS)


def test_a_claimed_kong_is_replaced_and_then_is_a_turn_after_a_draw() -> None:
    table = playing({"W": "555p3333s"}, turn="E", drawn="5p", back="9m")
    table.discard("E", "5p")
    table.take("W", "claimed_kong", "555p")
    west = table.state.seats[2]
    assert west.melds[0].kind is MeldKind.CLAIMED_KONG
    assert west.drawn is not None
    assert format_tiles([west.drawn]) == "9m"
    assert table.offers("W") == ["concealed_kong 3333s"]


def test_a_discard_on_an_empty_wall_wins_as_last_discard() -> None:
    table = playing({"S": READY_ON_5M[0]}, turn="E", drawn="5m", live=0)
    table.discard("E", "5m")
    assert table.situation("S").circumstances is Circumstance.LAST_DISCARD
    table.win("S")
    assert table.situation("S").circumstances is Circumstance.LAST_DISCARD


def _outcome(table: Table, order: tuple[str, ...], answers: dict[str, Action]) -> tuple[object, ...]:
    """The state's public facts after answers in that order; late ones are refused as stale."""
    assert table.state.decision is not None
    decision = table.state.decision.decision
    state = table.state
    for wind in order:
        if state.decision is not None and state.decision.decision == decision:
            state = decide(state, Act(table.seat(wind), decision, answers[wind])).state
        else:
            with pytest.raises(RuleViolation, match=r"STALE_DECISION|HAND_IS_OVER"):
                decide(state, Act(table.seat(wind), decision, answers[wind]))
    return (state.result, state.decision, [seat.melds for seat in state.seats], state.moment, state.wall.front)


@pytest.mark.parametrize(
    "hands",
    [
        {"N": READY_ON_5M[0], "E": "55m46m1z2z3z4z1p4p7p1s4s", "S": "34m567p345p678s44s"},
        {"N": "46m1z2z3z4z1p4p7p1s4s7s9s", "E": "55m1z2z3z5z1p4p7p1s4s9s7z", "S": "34m567p345p678s44s"},
        {"N": "46m1z2z3z4z1p4p7p1s4s7s9s", "E": "46m5z6z1z2z3z1p4p7p1s4s9s", "S": "55m1z2z3z5z1p4p7p1s4s9s7z"},
    ],
)
def test_p6_the_outcome_does_not_depend_on_the_order_of_the_answers(hands: dict[str, str]) -> None:
    table = playing(hands, turn="W", drawn="5m", spare_bonus="W")
    table.discard("W", "5m")
    asked = tuple(table.asked)
    choices = [legal_actions(table.state, table.seat(wind)) for wind in asked]
    assert len(asked) >= 2
    combinations: list[tuple[Action, ...]] = [()]
    for options in choices:
        combinations = [(*chosen, option) for chosen in combinations for option in options]
    for chosen in combinations:
        answers = dict(zip(asked, chosen, strict=True))
        outcomes = [_outcome(table, order, answers) for order in permutations(asked)]
        assert all(found == outcomes[0] for found in outcomes), answers


def test_winds_follow_the_dealer() -> None:
    table = playing({"S": "46p"}, turn="E", drawn="5p", dealer=3)
    table.discard("E", "5p")
    assert table.asked == "S"
    assert table.seat("S") == 0
    assert WINDS[table.state.seat_wind(0)] == "S"
