"""Hands under ``hkos-3-v1``: where the flow of the hand decides what a win is worth."""

import random

import pytest

from libs.mahjong.engine.actions import WIN, Reason
from libs.mahjong.engine.events import DecisionKind, HandWon
from libs.mahjong.engine.hand import fold
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.shapes import discards_by_distance
from libs.mahjong.tiles import kind_name
from libs.mahjong.variants import hkos
from tests.unit.mahjong.engine.builders import WINDS, Table, dealt, playing
from tests.unit.mahjong.engine.test_random_play import start, step

HK = ruleset(hkos.RULESET.id)


def paid(table: Table) -> dict[str, int]:
    """What each wind got or gave, once the hand is settled."""
    table.settle()
    settlement = table.state.settlement
    assert settlement is not None
    return {wind: settlement.changes[table.seat(wind)] for wind in "ESWN"}


def faan(table: Table, wind: str) -> int:
    score = table.score(wind)
    assert score is not None
    return score.value


def test_c008b_a_hand_below_three_faan_is_neither_offered_nor_claimed_by_the_timeout() -> None:
    hand = "234p678m45s99p"
    north = playing({"N": hand}, turn="N", drawn="3s", melds={"N": "pung 4z"}, spare_bonus="W", ruleset=HK)
    assert faan(north, "N") == 3
    north.win("N")
    assert paid(north) == {"E": -4, "S": -4, "W": -4, "N": 12}
    west = playing({"W": hand}, turn="W", drawn="3s", melds={"W": "pung 4z"}, dealer=1, ruleset=HK)
    assert west.offers("W") == []
    west.refused(Reason.BELOW_MINIMUM, "W", WIN)
    west.expire()
    assert not west.state.is_over


def test_c011_the_eighth_bonus_tile_is_only_replaced() -> None:
    table = playing({}, turn="E", front="4g", back="9s", bonus={"S": "1f2f3f4f1g2g3g"}, ruleset=HK)
    table.discard_drawn()
    assert len(table.state.seats[1].bonus) == 8
    assert (table.asked, table.offers("S")) == ("S", [])


def test_c015_draw_bonuses_alone_reach_the_minimum() -> None:
    table = playing(
        {"S": "23467m99m"},
        turn="S",
        drawn="5p",
        melds={"S": "pung 5p, chow 345s"},
        bonus={"S": "1f"},
        back="8m",
        live=1,
        ruleset=HK,
    )
    table.take("S", "added_kong", "5p")
    score = table.score("S")
    assert score is not None
    assert sorted(item.pattern for item in score.items) == ["KR", "LT", "SD"]
    table.win("S")
    assert paid(table) == {"E": -4, "S": 12, "W": -4, "N": -4}


def test_c017_the_robbed_seat_pays_alone() -> None:
    hands = {"E": "234m67m345p678s22s", "S": "34m99m345s123p678p"}
    table = playing(hands, turn="N", drawn="5m", melds={"N": "pung 5m"}, spare_bonus="W", ruleset=HK)
    table.take("N", "added_kong", "5m")
    assert table.asking is DecisionKind.ROB
    assert faan(table, "E") == 3
    table.win("E")
    assert paid(table) == {"E": 8, "S": 0, "W": 0, "N": -8}


@pytest.mark.parametrize(("flower", "back"), [("2z", "8s"), ("1f", "2z8s")])
def test_c018_east_wins_as_dealt(flower: str, back: str) -> None:
    table = dealt({"E": f"234m567m345p678s{flower}"}, front="2z", back=back, ruleset=HK)
    assert faan(table, "E") == 13
    table.win("E")
    assert paid(table) == {"E": 576, "S": -192, "W": -192, "N": -192}


def test_c018_a_kong_first_is_no_heavenly_hand() -> None:
    table = dealt({"E": "9999p234m567m345p"}, front="2z", back="2z", ruleset=HK)
    table.take("E", "concealed_kong", "9999p")
    assert faan(table, "E") == 3
    table.win("E")
    assert paid(table) == {"E": 12, "S": -4, "W": -4, "N": -4}


def test_c018_a_win_on_easts_first_discard() -> None:
    hands = {"E": "9999p1m4m7m1s4s7s1z2z3z", "S": "34m678m345p678s9s1f"}
    table = dealt(hands, front="5m", back="9s", ruleset=HK)
    table.discard("E", "5m")
    assert faan(table, "S") == 13
    table.win("S")
    assert paid(table) == {"E": -384, "S": 384, "W": 0, "N": 0}
    table = dealt(hands, front="5m", back="9s6z", ruleset=HK)
    table.take("E", "concealed_kong", "9999p")
    table.discard("E", "5m")
    assert "win" not in table.offers("S")


def test_c035_east_wins_on_the_last_tile_and_the_drawn_hand_pays_nothing() -> None:
    table = playing({"E": "234m67m345p678s22s"}, turn="E", drawn="5m", live=0, ruleset=HK)
    assert "LT" in {item.pattern for item in table.view("E").win_score.items}  # type: ignore[union-attr]
    table.discard_drawn()
    table.settle()
    assert table.state.settlement is not None
    assert table.state.settlement.winner is None
    assert table.state.settlement.changes == (0, 0, 0, 0)


def test_c037_and_c038_a_flower_between_kong_and_win() -> None:
    table = playing({"E": "1111z34s678m99m23p"}, turn="E", drawn="4p", back="2g5s", bonus={"E": "1f"}, ruleset=HK)
    table.take("E", "concealed_kong", "1111z")
    score = table.score("E")
    assert score is not None
    # Seat wind, prevailing wind, self-draw and East's own flower; no faan for the replacement of the kong.
    assert sorted(item.pattern for item in score.items) == ["OF", "PW", "SD", "SW"]


def test_c051_a_chow_may_complete_a_win_from_any_seat_if_it_is_worth_three_faan() -> None:
    table = playing({"S": "35p234m678m99s123s"}, turn="W", drawn="4p", bonus={"S": "2f"}, live=0, ruleset=HK)
    table.discard("W", "4p")
    assert table.offers("S") == ["win", "pass"]
    assert faan(table, "S") == 3
    table = playing({"S": "35p234m678m99s123s"}, turn="W", drawn="4p", bonus={"S": "1f"}, ruleset=HK)
    table.discard("W", "4p")
    assert table.asking is DecisionKind.TURN


def test_c054_a_passed_win_is_offered_again() -> None:
    hands = {"S": "34678m111m99m555z", "N": "5m"}
    table = playing(hands, turn="W", drawn="5m", front="9s1z5m", river={"S": "5m"}, ruleset=HK)
    table.discard("W", "5m")
    assert faan(table, "S") == 5
    table.passes("S")
    table.discard("N", "5m")
    assert faan(table, "S") == 5
    table.passes("S")
    table.discard_drawn()
    assert faan(table, "S") == 6


def test_c057_robbing_a_concealed_kong_pays_the_limit() -> None:
    table = playing({"S": "1m9m1p9p1s1234567z1z", "W": "9999s"}, turn="W", ruleset=HK)
    table.take("W", "concealed_kong", "9999s")
    assert table.asked == "S"
    table.win("S")
    assert paid(table) == {"E": 0, "S": 384, "W": -384, "N": 0}


def test_whole_hands_settle_to_zero_and_fold() -> None:
    """Seats that discard for the shortest way to a win and claim at random."""
    rng = random.Random(2)
    won = 0
    for _ in range(15):
        table = start(HK, rng)
        while not table.state.is_over:
            if not _discard_for_distance(table):
                step(table, rng)
        table.settle()
        settlement = table.state.settlement
        assert settlement is not None
        assert sum(settlement.changes) == 0
        result = table.state.result
        if isinstance(result, HandWon):
            won += 1
            score = settlement.scores[result.seat]
            assert score is not None
            assert score.total >= 3
            payers = [seat for seat, change in enumerate(settlement.changes) if change < 0]
            assert payers == [seat for seat in range(4) if seat != result.seat] or payers == [result.source]
        assert fold(HK, table.history, 40, 12) == table.state
    assert won > 0


def _discard_for_distance(table: Table) -> bool:
    decision = table.state.decision
    assert decision is not None
    if decision.kind is not DecisionKind.TURN or table.views[decision.seats[0]].win_score is not None:
        return False
    wind = WINDS[table.state.seat_wind(decision.seats[0])]
    holder = table.state.seats[decision.seats[0]]
    best = discards_by_distance(holder.codes, len(holder.melds))[0]
    table.discard(wind, kind_name(best.kind))
    return True
