"""What happens when time is up (common §3.2), and what needs no player at all."""

import pytest

from libs.mahjong.engine.actions import Reason, RuleViolation
from libs.mahjong.engine.events import BonusExposed, DecisionKind, TileDiscarded
from libs.mahjong.engine.hand import Expire, decide, timeout_action
from libs.mahjong.tiles import format_tiles
from tests.unit.mahjong.engine.builders import Table, playing
from tests.unit.mahjong.engine.rulesets import BOXED, STRICT

READY = "34m567m345p678s33s"


def last_discard(table: Table) -> str:
    discarded = [event for event in table.history if isinstance(event, TileDiscarded)]
    return format_tiles([discarded[-1].tile])


def test_c065_a_claimable_win_is_claimed() -> None:
    table = playing({"S": READY}, turn="E", drawn="5m")
    table.discard("E", "5m")
    table.expire()
    assert table.winner == "S"


def test_c065_a_win_by_self_draw_is_declared() -> None:
    table = playing({"S": READY}, turn="S", drawn="5m")
    table.expire()
    assert table.winner == "S"


def test_c065_a_complete_hand_below_the_minimum_is_not() -> None:
    table = playing({"S": READY}, turn="S", drawn="5m", ruleset=STRICT)
    table.expire()
    assert not table.state.is_over
    assert last_discard(table) == "5m"
    table = playing({"S": READY}, turn="W", drawn="5m", ruleset=STRICT)
    table.discard("W", "5m")
    assert table.asked == "N"


def test_c065_other_claims_are_passed() -> None:
    table = playing({"S": "46p", "N": "555p"}, turn="E", drawn="5p")
    table.discard("E", "5p")
    table.expire()
    assert (table.asked, table.asking) == ("S", DecisionKind.TURN)


def test_c065_the_drawn_tile_is_discarded() -> None:
    table = playing({"E": "8s", "W": "7s"}, turn="E", drawn="8s")
    drawn = table.state.seats[0].drawn
    table.expire()
    assert table.state.seats[0].river[-1].tile == drawn


def test_c065_after_a_claim_the_last_tile_of_the_sorted_hand_is_discarded() -> None:
    table = playing({"S": "77p1m3m9p5z9s"}, melds={"S": "pung 2z, pung 3z"}, turn="E", drawn="7p")
    table.discard("E", "7p")
    table.take("S", "pung", "77p")
    table.expire()
    assert last_discard(table) == "5z"


def test_c065_a_drawn_bonus_tile_is_replaced_and_the_replacement_counts_as_drawn() -> None:
    table = playing({}, turn="E", front="2g", back="8s")
    table.discard_drawn()
    assert table.asked == "S"
    table.expire()
    assert last_discard(table) == "8s"


def test_c065_the_replacement_of_a_kong_counts_as_drawn() -> None:
    table = playing({"E": "1111z"}, turn="E", back="6s")
    table.take("E", "concealed_kong", "1111z")
    table.expire()
    assert last_discard(table) == "6s"


def test_c065_an_available_rob_is_taken() -> None:
    table = playing({"E": "34m66m345p678s123p"}, turn="N", drawn="5m", melds={"N": "pung 5m"})
    table.take("N", "added_kong", "5m")
    table.expire()
    assert table.winner == "E"


def test_c065_kongs_are_not_declared() -> None:
    table = playing({"E": "1111z"}, turn="E", drawn="6s")
    table.expire()
    assert table.state.seats[0].melds == ()
    assert last_discard(table) == "6s"


def test_only_missing_answers_are_those_of_the_timeout() -> None:
    table = playing({"S": "46p", "N": "55p", "W": ""}, turn="E", drawn="5p")
    table.discard("E", "5p")
    table.take("S", "chow", "46p")
    table.expire()
    assert table.asked == "S"
    assert len(table.state.seats[1].melds) == 1


def test_an_expiry_that_comes_late_is_stale() -> None:
    table = playing({}, turn="E")
    assert table.state.decision is not None
    decision = table.state.decision.decision
    table.discard_drawn()
    with pytest.raises(RuleViolation) as refusal:
        decide(table.state, Expire(decision))
    assert refusal.value.reason is Reason.STALE_DECISION


def test_who_is_not_asked_has_no_timeout() -> None:
    table = playing({}, turn="E")
    with pytest.raises(ValueError, match="not asked"):
        timeout_action(table.state, 1)


def test_c078_bonus_tiles_are_replaced_without_a_player() -> None:
    table = playing({}, turn="E", front="2g", back="8s")
    before = table.state.decision
    assert before is not None
    table.discard_drawn()
    # One transition: the draw, the exposed tile, its replacement and the next decision; nothing waits for a client.
    assert sum(isinstance(event, BonusExposed) for event in table.events) == 1
    assert (table.asked, table.asking) == ("S", DecisionKind.TURN)
    assert table.discards("S") != ""
    assert all(tile < 136 for tile in table.state.seats[1].tiles)


def test_after_an_original_call_the_drawn_tile_goes() -> None:
    table = playing({"S": READY}, turn="S", drawn="9p", ruleset=BOXED)
    table.state.seats[1].original_call = True
    assert table.state.seats[1].drawn == timeout_action(table.state, 1).tiles[0]
