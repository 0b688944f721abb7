"""Matches of ``classical`` at a table: who deals, when it ends, what is rated, and one of computer players."""

from __future__ import annotations

import pytest

from libs.mahjong.bots import choose
from libs.mahjong.clocks import STANDARD, TimeControl
from libs.mahjong.engine.actions import PASS, Action
from libs.mahjong.engine.events import DecisionKind, HandWon
from libs.mahjong.engine.table_commands import Act, Tick
from libs.mahjong.engine.table_events import CloseCause, DecisionClock, MatchEnded, RatedUnitEnded, TableClosed
from libs.mahjong.engine.table_snapshot import decode_state, encode_state
from libs.mahjong.engine.table_state import TablePhase
from libs.mahjong.engine.views import SeatView
from libs.mahjong.scores import Circumstance
from libs.mahjong.simulation import Policy, SimulatedTable
from libs.mahjong.variants import classical
from libs.mahjong.verification import verify
from tests.unit.mahjong.engine.builders import dealt
from tests.unit.mahjong.engine.tables import open_table, seed

CC = classical.RULESET.id
ALL_POINTS = 4 * 2_000


def test_everybody_begins_with_two_thousand_points() -> None:
    assert open_table(CC).state.points == (2_000,) * 4


def test_c035_a_drawn_hand_keeps_deal_round_and_count_and_east_stays_after_a_win() -> None:
    table = open_table(CC)
    for winner in (None, 0, None, 0):
        table.hand(winner)
        assert (table.state.dealer, table.state.dealer_changes, table.state.prevailing_wind) == (0, 0, 0)
    table.hand(2)
    assert (table.state.dealer, table.state.dealer_changes) == (1, 1)


@pytest.mark.parametrize("last", [3, None])
def test_c047_the_last_dealer_goes_on_after_a_win_or_a_drawn_hand_and_the_sixteenth_change_ends_it(
    last: int | None,
) -> None:
    table = open_table(CC, rated=True)
    winds = []
    for change in range(15):
        winds.append(table.state.prevailing_wind)
        table.hand((change + 1) % 4)
    assert (table.state.dealer, table.state.dealer_changes, table.state.prevailing_wind) == (3, 15, 3)
    assert winds == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 3
    table.hand(last)
    assert (table.state.phase, table.state.dealer, table.state.dealer_changes) == (TablePhase.READY, 3, 15)
    assert table.happened(RatedUnitEnded) == []
    table.hand(1, (3, 1, 5_000))
    points = (2_000, 7_000, 2_000, -3_000)
    accounts = tuple(f"account-{seat}" for seat in range(4))
    assert table.last[1:] == (
        RatedUnitEnded("table", accounts, points, (2, 1, 2, 4)),
        MatchEnded(points, (2, 1, 2, 4)),
        TableClosed(CloseCause.MATCH_OVER),
    )


def test_points_below_zero_end_nothing() -> None:
    table = open_table(CC)
    table.hand(0, (1, 0, 2_500))
    assert (table.state.phase, table.state.points[1]) == (TablePhase.READY, -500)


def test_c034_the_run_of_east_survives_a_crash_between_hands_and_ends_with_a_drawn_hand() -> None:
    table = open_table(CC)
    for _ in range(12):
        table.hand(0)
    kept = decode_state(encode_state(table.state))
    assert kept.dealer_wins == 12
    table.get_ready()
    assert table.state.hand is not None
    assert table.state.hand.dealer_wins == 12
    table.end_hand(None)
    table.settle(None)
    assert table.state.dealer_wins == 0
    thirteenth = dealt({"E": "234m567m345p67s99p"}, front="8s", dealer_wins=12, ruleset=classical.RULESET)
    assert thirteenth.situation("E").circumstances & Circumstance.THIRTEENTH_WIN


def test_the_next_hand_begins_by_itself_after_fifteen_seconds() -> None:
    table = open_table(CC)
    deadline = table.state.ready_deadline_ms
    assert deadline == table.now_ms + 15_000
    assert deadline is not None
    table.send(Tick(deadline + 1, seed(1)))
    assert table.state.phase is TablePhase.PLAYING


@pytest.mark.parametrize("control", [STANDARD, TimeControl(30_000, 60_000)])
def test_c045_the_question_for_an_opening_kong_has_fifteen_seconds_or_the_base(control: TimeControl) -> None:
    table = open_table(CC, control=control)
    table.get_ready()
    hand = dealt({"E": "1111m4p7p1s4s7s1z2z3z4z", "S": "2222p"}, front="8m", ruleset=classical.RULESET).state
    table.put_hand(hand)
    # East answers; the question to South is the one that the table times.
    east = hand.decision
    assert east is not None
    table.send(Act("pass", table.now_ms, 0, east.decision, PASS))
    clock = table.state.clock
    assert isinstance(clock, DecisionClock)
    assert (clock.kind, clock.seats) == (DecisionKind.OPENING_KONG, (1,))
    assert clock.closes_ms - table.now_ms == max(15_000, control.base_ms)
    reserve = table.state.clocks[1]
    table.send(Tick(clock.closes_ms + 1, seed(2)))
    assert table.state.clocks[1].reserve_ms == reserve.reserve_ms
    assert table.state.hand is not None
    assert table.state.hand.seats[1].melds == ()


def player(level: int, number: int) -> Policy:
    """A computer player of that level."""

    def act(view: SeatView) -> Action:
        return choose(view, level, seed=number << 20 | view.moment)

    return act


@pytest.mark.timeout(300)
def test_a_whole_match_of_computer_players_keeps_all_points() -> None:
    number = 2
    policies = [player(1 + (seat + number) % 3, 4 * number + seat) for seat in range(4)]
    table = SimulatedTable.open(CC, policies, seed(number), table_id=f"match-{number}", rated=True)
    deals = []
    for record in table.play_match():
        deals.append((record.dealer, record.prevailing_wind))
        assert sum(record.points_before) == sum(record.points_after) == sum(table.state.points) == ALL_POINTS
        report = verify(record)
        assert report.passed, report
        hand = table.state.hand
        assert hand is not None
        if isinstance(hand.result, HandWon):
            assert hand.settlement is not None
            assert all(score is not None and score.value <= 1_000 for score in hand.settlement.scores)
    assert (table.state.phase, table.state.close_cause) == (TablePhase.CLOSED, CloseCause.MATCH_OVER)
    assert table.state.dealer_changes == 16
    assert list(dict.fromkeys(deals)) == [(change % 4, change // 4) for change in range(16)]
    units = [event for entry in table.entries for event in entry.events if isinstance(event, RatedUnitEnded)]
    assert [unit.points for unit in units] == [table.state.points]
