"""A table's clocks: own turns, claim windows, timeouts, outages, expiry (common §3.1 to §3.3)."""

from __future__ import annotations

import pytest

from libs.mahjong.clocks import BLITZ, BULLET, LAG_START_MS, RELAXED, STANDARD, UNTIMED, SeatClock, TimeControl, Wait
from libs.mahjong.engine.actions import PASS, Action, ActionType, Reason
from libs.mahjong.engine.events import DecisionKind, DecisionOpened, MeldClaimed, TileDiscarded
from libs.mahjong.engine.table_commands import Act, ConfirmReady, GrantOutage, LeaveSeat, ReturnToSeat, Tick
from libs.mahjong.engine.table_events import (
    CloseCause,
    DecisionClock,
    OutageGranted,
    SeatAnswered,
    SeatTimedOut,
    TableClosed,
)
from libs.mahjong.engine.table_state import BOT_GRACE_MS, EXPIRY_MS, TablePhase
from libs.mahjong.engine.table_views import SPECTATOR, table_view, table_visible
from libs.mahjong.simulation import seeded_policy
from tests.unit.mahjong.engine import builders
from tests.unit.mahjong.engine.tables import HKOS, CheckedTable, bot, human, open_table, seed, silent

DAY_MS = 24 * 3_600_000


def playing(control: TimeControl = STANDARD, rated: bool = False) -> CheckedTable:
    table = open_table(control=control, rated=rated)
    table.get_ready()
    return table


def clock_of(table: CheckedTable) -> DecisionClock:
    assert table.state.clock is not None
    return table.state.clock


def discard(table: CheckedTable, at_ms: int, round_trip_ms: int = 0, hold_ms: int = 0) -> None:
    """The seat to act discards the tile it drew, at that moment."""
    hand = table.state.hand
    assert hand is not None
    assert hand.decision is not None
    seat = hand.decision.seats[0]
    action = Action(ActionType.DISCARD, hand.seats[seat].tiles[-1:])
    table.send(Act(f"act/{at_ms}", at_ms, seat, hand.decision.decision, action, round_trip_ms, hold_ms))


def with_claim(control: TimeControl = STANDARD) -> CheckedTable:
    """South may claim East's discard, with a pung or a chow; nobody else is asked."""
    table = playing(control)
    laid_out = builders.playing({"S": "55m46m"}, turn="E", drawn="5m", ruleset=table.state.rules)
    table.put_hand(laid_out.state)
    action = Action(ActionType.DISCARD, laid_out.held("E", "5m"))
    table.send(Act("claimable", table.now_ms + 10, 0, laid_out.state.moment, action))
    assert table.state.awaited == (1,)
    return table


def test_c063_base_and_reserve_at_the_table() -> None:
    table = playing()
    seat = table.state.dealer
    reserves = []
    for taken in (9_000, 3_000, 6_000):
        while table.state.awaited != (seat,) or clock_of(table).kind is not DecisionKind.TURN:
            table.answer()
        assert clock_of(table).wait.reserve_ms == table.state.clocks[seat].reserve_ms
        discard(table, clock_of(table).wait.opened_ms + taken)
        reserves.append(table.state.clocks[seat].reserve_ms)
    assert reserves == [16_000, 16_000, 15_000]
    while table.state.awaited != (seat,) or clock_of(table).kind is not DecisionKind.TURN:
        table.answer()
    opened = clock_of(table).wait.opened_ms
    table.send(Tick(opened + 20_000, seed(1)))
    assert table.last == ()
    table.send(Tick(opened + 20_001, seed(1)))
    assert len(table.happened(SeatTimedOut)) == 1
    assert len(table.happened(TileDiscarded)) == 1
    assert table.state.clocks[seat].reserve_ms == 0
    table.end_hand(None)
    table.settle(None)
    table.get_ready()
    assert [clock.reserve_ms for clock in table.state.clocks] == [20_000] * 4


def test_c060_answer_and_timeout_never_both() -> None:
    for late, counts in ((-1, True), (0, True), (1, False)):
        table = playing()
        deadline = clock_of(table).wait.deadline_ms
        if counts:
            table.send(Tick(deadline + late, seed(1)))
            assert table.last == ()
            discard(table, deadline + late)
            assert len(table.happened(SeatAnswered)) == 1
        else:
            with table.refused(Reason.STALE_DECISION):
                discard(table, deadline + late)
        stale = table.state.hand.decision if table.state.hand else None
        table.send(Tick(deadline + 1, seed(1)))
        assert len(table.happened(SeatTimedOut)) == (0 if counts else 1)
        discards = [event for entry in table.entries for event in entry.events if isinstance(event, TileDiscarded)]
        assert len(discards) == 1
        assert stale is not None


def test_c060_an_answer_to_a_decision_that_timed_out_is_told_so() -> None:
    table = playing()
    hand = table.state.hand
    assert hand is not None
    assert hand.decision is not None
    table.send(Tick(clock_of(table).closes_ms + 1, seed(1)))
    with table.refused(Reason.STALE_DECISION):
        table.send(Act("late", table.now_ms, 0, hand.decision.decision, Action(ActionType.DISCARD, (0,))))


@pytest.mark.parametrize(("control", "base"), [(BULLET, 2_000), (BLITZ, 3_000), (STANDARD, 5_000), (RELAXED, 15_000)])
def test_c064_a_claim_window_closes_at_its_base_and_leaves_the_reserve(control: TimeControl, base: int) -> None:
    table = with_claim(control)
    wait = clock_of(table).wait
    assert (clock_of(table).kind, wait.deadline_ms) == (DecisionKind.CLAIM, table.now_ms + base)
    table.send(Tick(wait.deadline_ms, seed(1)))
    assert table.last == ()
    table.send(Tick(wait.deadline_ms + 1, seed(1)))
    assert not table.happened(MeldClaimed)
    assert table.state.clocks[1].reserve_ms == control.reserve_ms
    assert clock_of(table).kind is DecisionKind.TURN


def test_c066_a_rated_hand_of_four_silent_players_runs_to_its_end_by_ticks_alone() -> None:
    table = open_table(rated=True)
    table.get_ready()
    opened = table.now_ms
    while not table.state.needs_settlement:
        due = table.state.next_due_ms
        assert due is not None
        assert due < opened + EXPIRY_MS
        table.send(Tick(due, seed(1)))
        assert table.last
    due = table.state.next_due_ms
    assert due is not None
    table.send(Tick(due, seed(2)))
    assert len(table.records) == 1
    due = table.state.next_due_ms
    assert due is not None
    table.send(Tick(due, seed(3)))
    assert table.last == (TableClosed(CloseCause.NOT_READY),)


def test_c066_nothing_fires_at_an_untimed_table() -> None:
    table = playing(UNTIMED)
    assert table.state.clock is None
    assert table.state.next_due_ms == table.state.last_action_ms + EXPIRY_MS
    table.send(Tick(table.now_ms + 3_600_000, seed(1)))
    assert table.last == ()
    assert table.state.awaited == (0,)


def test_a_tick_resolves_each_decision_once() -> None:
    table = playing()
    tick = Tick(clock_of(table).closes_ms + 1, seed(1))
    table.send(tick)
    assert table.happened(SeatTimedOut)
    table.send(tick)
    assert table.last == ()


def test_three_missed_turns_shorten_the_wait_and_any_sign_of_life_restores_it() -> None:
    table = open_table(policies=(silent, *[seeded_policy(seed(5))] * 3))
    table.get_ready()
    seen: list[int] = []
    while len(seen) < 4 and table.state.awaited:
        clock = clock_of(table)
        if clock.kind is DecisionKind.TURN and clock.seats == (0,):
            seen.append(clock.wait.deadline_ms - clock.wait.opened_ms)
        table.answer()
    assert seen == [25_000, 5_000, 5_000, 1_000]
    assert table.state.clocks[0].waits_short
    table.send(ReturnToSeat("back", table.now_ms, 0))
    assert not table.state.clocks[0].waits_short


def test_a_confirmed_ready_ends_the_short_wait() -> None:
    table = playing()
    for _ in range(3):
        while clock_of(table).kind is not DecisionKind.TURN or clock_of(table).seats != (0,):
            table.answer()
        table.send(Tick(clock_of(table).closes_ms + 1, seed(1)))
    assert table.state.clocks[0].waits_short
    table.end_hand(None)
    table.settle(None)
    assert table.state.clocks[0].waits_short
    table.send(ConfirmReady("back", table.now_ms, 0))
    assert not table.state.clocks[0].waits_short


def test_c069_every_announced_deadline_is_enforced_and_seen_by_those_concerned_alone() -> None:
    table = open_table(policies=[seeded_policy(seed(seat)) for seat in range(4)])
    table.get_ready()
    while table.state.awaited:
        clock = clock_of(table)
        opened = [event for event in table.last if isinstance(event, DecisionOpened)]
        if opened:
            assert (clock.decision, clock.kind, clock.seats) == (opened[0].decision, opened[0].kind, opened[0].seats)
        for viewer in (0, 1, 2, 3, SPECTATOR):
            seen = table_view(table.state, viewer).clock
            if clock.kind is DecisionKind.TURN or viewer in clock.seats:
                assert seen is not None
                assert seen.wait == clock.wait
                assert seen.allowances == ()
            else:
                assert seen is None
        assert table.state.next_due_ms == clock.closes_ms + 1
        table.answer()


def test_lag_is_credited_from_the_servers_own_measurements() -> None:
    table = playing()
    discard(table, table.now_ms + 100, round_trip_ms=400)
    assert table.state.clocks[0] == SeatClock(20_000, LAG_START_MS + 150, 400)
    while clock_of(table).seats != (0,) or clock_of(table).kind is not DecisionKind.TURN:
        table.answer()
    clock = clock_of(table)
    assert clock.allowances == (400,)
    assert clock.wait.deadline_ms == clock.wait.opened_ms + 25_000
    assert table.state.next_due_ms == clock.wait.deadline_ms + 401
    with table.refused(Reason.STALE_DECISION):
        discard(table, clock.wait.deadline_ms + 401)
    discard(table, clock.wait.deadline_ms + 400)
    assert table.state.clocks[0].reserve_ms == 0


def test_the_next_turn_starts_when_the_held_back_events_leave() -> None:
    table = playing()
    while clock_of(table).kind is not DecisionKind.TURN:
        table.answer()
    discard(table, table.now_ms + 100, hold_ms=700)
    clock = clock_of(table)
    expected = table.now_ms + (700 if clock.kind is DecisionKind.TURN else 0)
    assert clock.wait.opened_ms == expected


def test_a_claim_window_opens_at_once_whatever_is_held_back() -> None:
    table = playing()
    laid_out = builders.playing({"S": "55m46m"}, turn="E", drawn="5m", ruleset=table.state.rules)
    table.put_hand(laid_out.state)
    action = Action(ActionType.DISCARD, laid_out.held("E", "5m"))
    table.send(Act("claimable", table.now_ms + 10, 0, laid_out.state.moment, action, hold_ms=700))
    assert clock_of(table).wait.opened_ms == table.now_ms


def test_the_time_of_an_outage_is_given_back() -> None:
    table = playing()
    before = clock_of(table).wait.deadline_ms
    expires = table.state.expires_ms
    table.send(GrantOutage(table.now_ms + 60_000, 59_000))
    assert table.last == (OutageGranted(59_000),)
    assert clock_of(table).wait.deadline_ms == before + 59_000
    assert table.state.expires_ms == expires + 59_000
    discard(table, table.now_ms + 3_000)
    assert table.state.clocks[0].reserve_ms == 20_000
    table.send(GrantOutage(table.now_ms, 0))
    assert table.last == ()


def test_an_outage_moves_the_ready_step() -> None:
    table = open_table()
    before = table.state.ready_deadline_ms
    assert before is not None
    table.send(GrantOutage(table.now_ms + 40_000, 40_000))
    assert table.state.ready_deadline_ms == before + 40_000


def test_c070_a_clock_that_is_set_back_changes_nothing() -> None:
    table = playing()
    opened = clock_of(table).wait.opened_ms
    discard(table, opened - 30_000)
    assert table.state.clocks[0].reserve_ms == 20_000
    assert table.now_ms == opened
    assert clock_of(table).wait.opened_ms == opened


def test_bots_at_an_untimed_table_are_not_waited_for_for_ever() -> None:
    table = open_table(control=UNTIMED, players=(bot(0), human(1), bot(2), bot(3)))
    table.get_ready()
    assert table.state.awaited_bots == (0,)
    due = table.state.next_due_ms
    assert due == table.now_ms + BOT_GRACE_MS
    table.send(Tick(due, seed(1)))
    assert len(table.happened(TileDiscarded)) == 1


def test_bots_and_a_human_in_one_untimed_window() -> None:
    table = open_table(control=UNTIMED, players=(human(0), bot(1), human(2), bot(3)))
    table.get_ready()
    laid_out = builders.playing({"S": "46m", "W": "55m"}, turn="E", drawn="5m", ruleset=table.state.rules)
    table.put_hand(laid_out.state)
    action = Action(ActionType.DISCARD, laid_out.held("E", "5m"))
    table.send(Act("claimable", table.now_ms, 0, laid_out.state.moment, action))
    assert (table.state.awaited, table.state.awaited_bots) == ((1, 2), (1,))
    due = table.state.next_due_ms
    assert due is not None
    table.send(Tick(due, seed(1)))
    assert table.state.awaited == (2,)
    assert table.state.next_due_ms == table.state.expires_ms
    assert table.state.hand is not None
    assert table.state.hand.decision is not None
    table.send(Act("pass", table.now_ms, 2, table.state.hand.decision.decision, PASS))
    assert table.state.awaited_bots == (1,)


def test_c128_a_table_expires_a_day_after_the_last_decision_of_a_human() -> None:
    table = playing(UNTIMED)
    acted = table.now_ms + 5_000
    discard(table, acted)
    # Coming back, leaving and looking are no game actions.
    table.send(ReturnToSeat("back", acted + DAY_MS // 2, 0))
    table.send(LeaveSeat("leave", acted + DAY_MS // 2, 3))
    table_view(table.state, 0)
    table.send(Tick(acted + DAY_MS - 60_000, seed(1)))
    assert table.last == ()
    assert table.state.next_due_ms == acted + DAY_MS
    table.send(Tick(acted + DAY_MS, seed(1)))
    assert table.last == (TableClosed(CloseCause.EXPIRED),)
    assert (table.state.phase, table.state.next_due_ms) == (TablePhase.CLOSED, None)
    table.send(Tick(acted + 2 * DAY_MS, seed(1)))
    assert table.last == ()


def test_c128_a_confirmed_ready_prolongs_and_a_timeout_does_not() -> None:
    table = open_table(control=UNTIMED)
    table.send(ConfirmReady("ready", table.now_ms + DAY_MS - 1, 0))
    assert table.state.expires_ms == table.now_ms + DAY_MS
    timed = playing()
    last = timed.state.last_action_ms
    timed.send(Tick(clock_of(timed).closes_ms + 1, seed(1)))
    assert timed.state.last_action_ms == last


def test_answers_to_hidden_windows_are_seen_by_their_seat_alone() -> None:
    table = with_claim()
    clock = clock_of(table)
    assert table.state.hand is not None
    table.send(Act("pass", table.now_ms + 50, 1, clock.decision, PASS))
    (answered,) = table.happened(SeatAnswered)
    assert [table_visible(answered, viewer) is not None for viewer in (0, 1, 2, 3, SPECTATOR)] == [
        False,
        True,
        False,
        False,
        False,
    ]
    assert table.state.settings.ruleset_id == HKOS


def test_a_common_window_has_one_deadline_for_all() -> None:
    table = playing()
    laid_out = builders.playing({"S": "46m", "W": "55m"}, turn="E", drawn="5m", ruleset=table.state.rules)
    table.put_hand(laid_out.state)
    state = table.state.copy()
    state.clocks = (state.clocks[0], SeatClock(20_000, timeouts=3), *state.clocks[2:])
    table.state = state
    table.folded = state.copy()
    table.views = [table_view(state, viewer) for viewer in (0, 1, 2, 3, SPECTATOR)]
    action = Action(ActionType.DISCARD, laid_out.held("E", "5m"))
    table.send(Act("claimable", table.now_ms, 0, laid_out.state.moment, action))
    assert clock_of(table).seats == (1, 2)
    assert clock_of(table).wait == Wait(table.now_ms, 5_000, 0)
    table.send(Act("chow", table.now_ms + 10, 1, clock_of(table).decision, PASS))
    assert clock_of(table).seats == (2,)
    table.send(Tick(clock_of(table).closes_ms + 1, seed(1)))
    assert [event.seat for event in table.happened(SeatTimedOut) if isinstance(event, SeatTimedOut)] == [2]
