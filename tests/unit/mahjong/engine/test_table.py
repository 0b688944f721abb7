"""Tables around their hands: seats, ready steps, the deal, units, matches (common §3.3, §3.4; hkos-3-v1 §1.10)."""

import pytest

from libs.mahjong.clocks import UNTIMED
from libs.mahjong.engine.actions import WIN, Action, ActionType, Reason, RuleViolation
from libs.mahjong.engine.events import HandStarted
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.engine.table import decide
from libs.mahjong.engine.table_commands import (
    Act,
    CloseTable,
    CommitNonce,
    ConfirmReady,
    LeaveSeat,
    ReturnToSeat,
    TakeSeat,
    Tick,
)
from libs.mahjong.engine.table_events import (
    CloseCause,
    MatchEnded,
    RatedUnitEnded,
    ReadyStepOpened,
    ReleaseCause,
    SeatReady,
    SeatReleased,
    TableClosed,
    TableSettings,
    places,
)
from libs.mahjong.engine.table_state import TablePhase
from libs.mahjong.fairness import NO_COMMITMENT, commit
from libs.mahjong.simulation import seeded_policy
from tests.unit.mahjong.engine import builders
from tests.unit.mahjong.engine.tables import (
    MATCH,
    CheckedTable,
    bot,
    human,
    open_table,
    seed,
    silent,
    toy_match,
)

__all__ = ["toy_match"]

TO_EAST = ((1, 0, 4), (2, 0, 4), (3, 0, 4))


def sit(table: CheckedTable, seat: int, name: str = "newcomer") -> None:
    table.send(TakeSeat(f"take/{seat}/{name}", table.now_ms, seat, human(9), table.fresh_seed(), commit(seed(9))))


def ready_time(table: CheckedTable) -> int:
    assert table.state.ready_deadline_ms is not None
    return table.state.ready_deadline_ms


def test_a_full_table_asks_everybody_to_be_ready_and_then_deals() -> None:
    table = open_table()
    assert table.state.phase is TablePhase.READY
    (step,) = table.happened(ReadyStepOpened)
    assert isinstance(step, ReadyStepOpened)
    assert step.commitment == commit(table.state.server_seed)
    assert ready_time(table) == table.now_ms + 30_000
    table.get_ready()
    assert table.state.phase is TablePhase.PLAYING
    assert len(table.happened(HandStarted)) == 1


def test_a_table_waits_until_all_seats_are_taken() -> None:
    table = open_table(players=(human(0), None, human(2), human(3)))
    assert (table.state.phase, table.state.open_seats) == (TablePhase.WAITING, (1,))
    with table.refused(Reason.NOT_READY_STEP):
        table.send(ConfirmReady("early", table.now_ms, 0))
    sit(table, 1)
    assert table.state.phase is TablePhase.READY


def test_what_cannot_be_a_table_is_refused() -> None:
    with pytest.raises(RuleViolation, match="unknown ruleset"):
        open_table(ruleset_id="nothing-v1")
    with pytest.raises(RuleViolation, match="one seat"):
        open_table(players=(human(0), human(0), None, None))
    with pytest.raises(RuleViolation, match="no seat 4"):
        open_table(first_dealer=4)
    with pytest.raises(RuleViolation, match="needs a human"):
        open_table(players=(bot(0), bot(1), bot(2), bot(3)))
    with pytest.raises(ValueError, match="cannot be rated"):
        TableSettings("hkos-3-v1", UNTIMED, rated=True, uniform_pacing=False)


def test_seats_are_taken_once() -> None:
    table = open_table(players=(human(0), None, None, human(3)))
    with table.refused(Reason.ALREADY_SEATED):
        table.send(TakeSeat("a", table.now_ms, 1, human(3), seed(1)))
    with table.refused(Reason.SEAT_TAKEN):
        sit(table, 0)
    with table.refused(Reason.INVALID_ARGUMENT):
        sit(table, 4)
    with table.refused(Reason.INVALID_ARGUMENT):
        table.send(TakeSeat("b", table.now_ms, 1, human(8), seed(1), b"no commitment"))
    with table.refused(Reason.SEAT_EMPTY):
        table.send(LeaveSeat("c", table.now_ms, 1))
    full = open_table()
    with full.refused(Reason.TABLE_FULL):
        sit(full, 1)


def test_a_repeated_command_gets_the_first_answer() -> None:
    table = open_table()
    command = ConfirmReady("same", table.now_ms, 1)
    table.send(command)
    before = table.state
    repeat = decide(before, command)
    assert (repeat.repeated, repeat.entry.events, repeat.state) == (True, (), before)
    with table.refused(Reason.ALREADY_READY):
        table.send(ConfirmReady("another", table.now_ms, 1))


def test_the_nonce_must_be_the_one_that_was_committed_to() -> None:
    table = open_table()
    with table.refused(Reason.COMMITMENT_MISMATCH):
        table.send(ConfirmReady("wrong", table.now_ms, 0, seed(77)))
    with table.refused(Reason.COMMITMENT_MISMATCH):
        table.send(ConfirmReady("short", table.now_ms, 0, b"short"))
    table.send(ConfirmReady("right", table.now_ms, 0, table.nonce(0, 1), commit(seed(2))))
    assert table.state.nonces[0] == table.nonce(0, 1)
    with table.refused(Reason.ALREADY_READY):
        table.send(ConfirmReady("again", table.now_ms, 0, table.nonce(0, 1), commit(seed(2))))


def test_a_seat_without_a_commitment_may_commit_before_it_is_ready() -> None:
    table = open_table()
    table.send(LeaveSeat("leave", table.now_ms, 1))
    table.send(TakeSeat("take", table.now_ms, 1, human(9), table.fresh_seed()))
    assert table.state.commitments[1] == NO_COMMITMENT
    with table.refused(Reason.INVALID_ARGUMENT):
        table.send(CommitNonce("late", table.now_ms, 0, commit(seed(4))))
    table.send(CommitNonce("now", table.now_ms, 1, commit(seed(4))))
    table.send(ConfirmReady("ready", table.now_ms, 1, seed(4)))
    assert table.state.wall_parts()[1].contribution == seed(4)


def test_no_nonce_is_sealed_any_more_once_a_person_has_revealed_one() -> None:
    table = open_table()
    table.send(LeaveSeat("leave", table.now_ms, 1))
    table.send(TakeSeat("take", table.now_ms, 1, human(9), table.fresh_seed()))
    table.send(ConfirmReady("ready", table.now_ms, 0, table.nonce(0, 1)))
    assert table.state.nonces[0] is not None
    with table.refused(Reason.NOT_READY_STEP):
        table.send(CommitNonce("late", table.now_ms, 1, commit(seed(4))))
    table.send(ConfirmReady("without", table.now_ms, 1))
    assert table.state.nonces[1] is None


def test_a_missing_reveal_is_replaced_by_the_commitment_and_shows_in_the_record() -> None:
    table = open_table()
    table.send(ConfirmReady("silent", table.now_ms, 2))
    record = table.play_hand()
    assert record.nonces[2].nonce is None
    assert record.nonces[2].contribution == record.nonces[2].commitment
    assert record.nonces[0].nonce == table.nonce(0, 1)


def test_no_seed_is_used_after_a_nonce_for_it_was_revealed() -> None:
    table = open_table()
    first = table.state.commitment
    table.send(ConfirmReady("ready", table.now_ms, 0, table.nonce(0, 1), commit(table.nonce(0, 2))))
    table.send(LeaveSeat("leave", table.now_ms, 1))
    assert table.state.phase is TablePhase.WAITING
    assert table.state.server_seed == b""
    assert table.state.commitments[0] == commit(table.nonce(0, 2))
    assert table.state.commitments[2] == commit(table.nonce(2, 1))
    sit(table, 1)
    assert table.state.commitment != first
    assert table.state.nonces == (None, None, None, None)
    with table.refused(Reason.COMMITMENT_MISMATCH):
        table.send(ConfirmReady("spent", table.now_ms, 0, table.nonce(0, 1)))


def test_a_seat_that_is_not_ready_in_time_is_released_at_a_casual_table() -> None:
    table = open_table()
    for seat in (0, 1, 3):
        table.send(ConfirmReady(f"ready/{seat}", table.now_ms, seat))
    table.send(Tick(ready_time(table), seed(1)))
    assert table.last == ()
    table.send(Tick(ready_time(table) + 1, seed(1)))
    assert table.last == (SeatReleased(2, ReleaseCause.NOT_READY),)
    assert (table.state.phase, table.state.open_seats) == (TablePhase.WAITING, (2,))
    sit(table, 2)
    assert table.state.ready == (False, False, False, False)


def test_a_rated_table_closes_when_a_seat_is_not_ready_in_time() -> None:
    table = open_table(rated=True)
    table.send(Tick(ready_time(table) + 1, seed(1)))
    assert table.last == (TableClosed(CloseCause.NOT_READY),)
    assert table.state.next_due_ms is None
    with table.refused(Reason.TABLE_CLOSED):
        table.send(ConfirmReady("late", table.now_ms, 0))


def test_an_untimed_table_waits_for_everybody_to_be_ready() -> None:
    table = open_table(control=UNTIMED)
    assert table.state.ready_deadline_ms is None
    table.send(Tick(table.now_ms + 3_600_000, seed(1)))
    assert table.last == ()


def test_a_table_without_humans_closes() -> None:
    table = open_table(players=(human(0), bot(1), bot(2), bot(3)))
    table.send(Tick(ready_time(table) + 1, seed(1)))
    assert table.last == (SeatReleased(0, ReleaseCause.NOT_READY), TableClosed(CloseCause.NO_PLAYERS))


def test_bots_are_ready_at_once_and_play() -> None:
    table = open_table(players=(human(0), bot(1), bot(2), bot(3)))
    assert table.state.ready == (False, True, True, True)
    assert all(not event.by_player for event in table.happened(SeatReady) if isinstance(event, SeatReady))
    record = table.play_hand()
    assert [player.is_human for player in record.players] == [True, False, False, False]


def test_c035_a_drawn_hand_keeps_the_deal_and_moves_nothing() -> None:
    table = open_table()
    table.hand(None)
    assert (table.state.dealer, table.state.dealer_changes, table.state.prevailing_wind) == (0, 0, 0)
    assert table.state.points == (0, 0, 0, 0)
    assert table.state.hand_number == 2


@pytest.mark.parametrize(("winner", "dealer", "changes"), [("W", 1, 1), ("E", 0, 0)])
def test_c035_a_win_on_the_last_discard_decides_the_deal_not_the_empty_wall(
    winner: str, dealer: int, changes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import libs.mahjong.engine.ruleset as registry
    from tests.unit.mahjong.engine.rulesets import PLAIN

    monkeypatch.setitem(registry._registered, PLAIN.id, PLAIN)
    table = open_table(PLAIN.id)
    table.get_ready()
    laid_out = builders.playing({winner: "234m678m345p67s22s"}, turn="S", drawn="8s", live=0)
    table.put_hand(laid_out.state)
    decision = laid_out.state.moment
    table.send(Act("last", table.now_ms, 1, decision, Action(ActionType.DISCARD, laid_out.held("S", "8s"))))
    seat = "ESWN".index(winner)
    assert table.state.awaited == (seat,)
    assert table.state.hand is not None
    assert table.state.hand.decision is not None
    table.send(Act("win", table.now_ms, seat, table.state.hand.decision.decision, WIN))
    table.settle(seat)
    assert (table.state.dealer, table.state.dealer_changes) == (dealer, changes)


def test_the_prevailing_wind_moves_after_four_changes_and_the_deal_goes_round() -> None:
    table = open_table(first_dealer=2)
    winds, dealers = [], []
    for _ in range(17):
        winds.append(table.state.prevailing_wind)
        dealers.append(table.state.dealer)
        table.hand((table.state.dealer + 1) % 4)
    assert winds == [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4 + [0]
    assert dealers == [(2 + hand) % 4 for hand in range(17)]


def test_the_dealers_run_of_wins_is_broken_by_anything_else() -> None:
    table = open_table()
    runs = []
    for winner in (0, 0, None, 0, 1, 1):
        table.hand(winner)
        runs.append(table.state.dealer_wins)
    assert runs == [1, 2, 0, 1, 0, 1]


def test_points_are_carried_on_and_a_new_player_starts_afresh() -> None:
    table = open_table()
    table.hand(0, *TO_EAST)
    assert table.state.points == (12, -4, -4, -4)
    table.send(LeaveSeat("leave", table.now_ms, 0))
    sit(table, 0)
    assert table.state.points == (0, -4, -4, -4)
    assert (table.state.dealer, table.state.dealer_wins, table.state.hand_number) == (0, 0, 2)


def test_c093_placement_uses_the_hand_and_not_the_session() -> None:
    table = open_table(rated=True)
    table.hand(0, (1, 0, 8), (2, 0, 16), (3, 0, 16))
    assert table.state.points == (40, -8, -16, -16)
    table.hand(1, (0, 1, 8))
    assert table.happened(RatedUnitEnded) == [
        RatedUnitEnded("table-2", tuple(f"account-{seat}" for seat in range(4)), (-8, 8, 0, 0), (4, 1, 2, 2))
    ]
    assert table.state.points == (32, 0, -16, -16)


def test_ties_share_the_best_place_and_a_drawn_hand_is_a_tie_of_four() -> None:
    assert places((8, 0, 0, -8)) == (1, 2, 2, 4)
    assert places((5, 5, -5, -5)) == (1, 1, 3, 3)
    table = open_table(rated=True)
    table.hand(None)
    (unit,) = table.happened(RatedUnitEnded)
    assert isinstance(unit, RatedUnitEnded)
    assert unit.places == (1, 1, 1, 1)


def test_only_four_humans_make_a_rated_unit() -> None:
    table = open_table(rated=True, players=(human(0), human(1), human(2), bot(3)))
    table.hand(0, *TO_EAST)
    assert table.happened(RatedUnitEnded) == []
    casual = open_table()
    casual.hand(0, *TO_EAST)
    assert casual.happened(RatedUnitEnded) == []


def test_c089_an_unfinished_hand_is_no_unit_and_those_before_it_stay() -> None:
    table = open_table(rated=True)
    table.hand(0, *TO_EAST)
    assert len(table.happened(RatedUnitEnded)) == 1
    table.get_ready()
    table.answer()
    table.send(CloseTable("close", table.now_ms, CloseCause.UNRECOVERABLE))
    assert table.last == (TableClosed(CloseCause.UNRECOVERABLE),)
    units = [event for entry in table.entries for event in entry.events if isinstance(event, RatedUnitEnded)]
    assert [unit.unit_id for unit in units] == ["table-1"]
    assert table.state.points == (12, -4, -4, -4)


def test_c089_a_match_killed_in_its_seventh_hand_is_no_unit(toy_match: Ruleset) -> None:
    table = open_table(MATCH, rated=True)
    for _ in range(6):
        table.hand(None)
    table.get_ready()
    table.send(CloseTable("close", table.now_ms, CloseCause.OPERATOR))
    assert not any(isinstance(event, RatedUnitEnded) for entry in table.entries for event in entry.events)


def test_a_match_ends_right_after_the_change_that_ends_it(toy_match: Ruleset) -> None:
    table = open_table(MATCH, rated=True)
    for hand in range(3):
        table.hand((hand + 1) % 4, (hand, (hand + 1) % 4, 10))
        assert table.happened(RatedUnitEnded) == []
    assert table.state.dealer_changes == 3
    table.hand(3)
    table.hand(None)
    assert table.state.phase is TablePhase.READY
    table.hand(1)
    points = (90, 100, 100, 110)
    assert table.last[1:] == (
        RatedUnitEnded("table", tuple(f"account-{seat}" for seat in range(4)), points, (4, 2, 2, 1)),
        MatchEnded(points, (4, 2, 2, 1)),
        TableClosed(CloseCause.MATCH_OVER),
    )
    assert table.records[-1].match_places == (4, 2, 2, 1)
    assert table.records[-2].match_places == ()


def test_a_match_goes_on_by_itself_after_fifteen_seconds(toy_match: Ruleset) -> None:
    table = open_table(MATCH)
    table.send(ConfirmReady("one", table.now_ms, 0, table.nonce(0, 1)))
    table.send(Tick(ready_time(table) + 1, seed(1)))
    assert table.state.phase is TablePhase.PLAYING
    assert [part.nonce is None for part in table.state.hand_nonces] == [False, True, True, True]


def test_nobody_leaves_a_match_but_it_does_not_wait_for_him(toy_match: Ruleset) -> None:
    table = open_table(MATCH)
    table.hand(0)
    for seat in (0, 1, 2):
        table.send(ConfirmReady(f"ready/{seat}", table.now_ms, seat))
    table.send(LeaveSeat("leave", table.now_ms, 3))
    assert table.state.phase is TablePhase.PLAYING
    assert table.state.leaving == (False, False, False, True)
    table.hand(0)
    assert table.state.occupants[3] == human(3)
    assert table.state.ready == (False, False, False, True)


def test_leaving_during_a_hand_keeps_the_seat_to_its_end() -> None:
    table = open_table()
    table.get_ready()
    table.send(LeaveSeat("leave", table.now_ms, 2))
    assert table.state.occupants[2] == human(2)
    table.hand(2, (0, 2, 8))
    assert table.happened(SeatReleased) == [SeatReleased(2, ReleaseCause.LEFT)]
    assert table.records[-1].points_after == (-8, 0, 8, 0)
    assert table.state.phase is TablePhase.WAITING


def test_who_acts_again_stays() -> None:
    table = open_table()
    table.get_ready()
    table.send(LeaveSeat("leave", table.now_ms, 0))
    table.answer()
    assert table.state.leaving[0] is False
    table.send(LeaveSeat("leave again", table.now_ms, 1))
    table.send(ReturnToSeat("back", table.now_ms, 1))
    assert table.state.leaving[1] is False


def test_leaving_between_two_hands_opens_the_seat_or_closes_a_rated_table() -> None:
    casual = open_table()
    casual.hand(0, *TO_EAST)
    casual.send(LeaveSeat("leave", casual.now_ms, 1))
    assert casual.last == (SeatReleased(1, ReleaseCause.LEFT),)
    rated = open_table(rated=True)
    rated.hand(0, *TO_EAST)
    rated.send(LeaveSeat("leave", rated.now_ms, 1))
    assert rated.last == (TableClosed(CloseCause.PLAYER_LEFT),)


def test_a_hand_that_nobody_settles_is_settled_by_the_next_tick() -> None:
    table = open_table()
    table.end_hand(None)
    due = table.state.next_due_ms
    assert due == table.now_ms + 5_000
    table.send(Tick(due - 1, seed(1)))
    assert table.last == ()
    table.send(Tick(due, seed(1)))
    assert table.state.phase is TablePhase.READY


def test_a_settlement_of_another_hand_is_refused() -> None:
    table = open_table()
    with table.refused(Reason.HAND_IS_OVER):
        table.settle(0)
    table.get_ready()
    with table.refused(Reason.HAND_NOT_OVER):
        table.settle(0)
    table.end_hand(1)
    with table.refused(Reason.INVALID_ARGUMENT):
        table.settle(2)


def test_actions_outside_a_hand_are_refused() -> None:
    table = open_table()
    with table.refused(Reason.HAND_IS_OVER):
        table.send(Act("early", table.now_ms, 0, 0, WIN))
    table.get_ready()
    assert table.state.hand is not None
    with table.refused(Reason.NOT_YOUR_DECISION):
        table.send(Act("other", table.now_ms, 1, table.state.hand.moment, WIN))
    table.end_hand(None)
    with table.refused(Reason.HAND_IS_OVER):
        table.send(Act("late", table.now_ms, 0, 0, WIN))


@pytest.mark.parametrize("number", range(4))
def test_random_hands_hold_every_law_of_the_table(number: int) -> None:
    table = open_table(policies=[seeded_policy(seed(10 * number + seat)) for seat in range(3)] + [silent])
    record = table.play_hand()
    assert sum(record.settlement.changes) == 0
    assert table.state.points == record.points_after
