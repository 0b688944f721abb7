"""A table: the way in for everybody who keeps one.

``decide`` answers a command with the log entry and the state after it, and leaves the state that it is given untouched.
It takes time and randomness as arguments and refuses with ``RuleViolation``; then nothing has changed. Whatever follows
by itself (the start of the hand once all are ready, the next ready step, rated units, closing) is in the same entry.
"""

from __future__ import annotations

from typing import Final

from libs.mahjong.clocks import WaitKind, common_wait, wait_for
from libs.mahjong.engine import commands as hand_commands
from libs.mahjong.engine import hand as hands
from libs.mahjong.engine.actions import Reason, RuleViolation
from libs.mahjong.engine.events import DecisionKind, DecisionOpened
from libs.mahjong.engine.ruleset import RatedUnit, UnknownRuleset
from libs.mahjong.engine.table_applying import HAND_EVENTS, apply, note, remember
from libs.mahjong.engine.table_commands import (
    Act,
    CloseTable,
    CommitNonce,
    ConfirmReady,
    Entry,
    GrantOutage,
    LeaveSeat,
    OpenTable,
    ReturnToSeat,
    SettleHand,
    TableCommand,
    TableTransition,
    TakeSeat,
    Tick,
)
from libs.mahjong.engine.table_events import (
    CloseCause,
    DecisionClock,
    MatchEnded,
    NonceCommitted,
    Occupant,
    OutageGranted,
    OwnTableEvent,
    RatedUnitEnded,
    ReadyStepOpened,
    ReleaseCause,
    SeatAnswered,
    SeatLeaving,
    SeatReady,
    SeatReleased,
    SeatReturned,
    SeatTaken,
    SeatTimedOut,
    TableClosed,
    TableEvent,
    TableOpened,
    places,
)
from libs.mahjong.engine.table_state import BOT_GRACE_MS, SEATS, SETTLEMENT_GRACE_MS, TablePhase, TableState
from libs.mahjong.fairness import ALGORITHM, NO_COMMITMENT, SECRET_BYTES, build_wall, commit, public_nonce
from libs.mahjong.tiles import Seat

_WAIT_KINDS: Final = {
    DecisionKind.TURN: WaitKind.OWN_TURN,
    DecisionKind.CLAIM: WaitKind.CLAIM_WINDOW,
    DecisionKind.ROB: WaitKind.CLAIM_WINDOW,
    DecisionKind.OPENING_KONG: WaitKind.OPENING_CHOICE,
}


def open_table(command: OpenTable) -> TableTransition:
    """Return the first entry of a new table and its state.

    Raises ``RuleViolation`` (``INVALID_ARGUMENT``) for an unknown ruleset, a dealer that is no seat, one account on two
    seats, a commitment of a wrong length or bots without a human.
    """
    if not 0 <= command.first_dealer < SEATS:
        raise _invalid(f"there is no seat {command.first_dealer} to deal first")
    accounts = [occupant.account_id for occupant in command.occupants if occupant is not None]
    if len(set(accounts)) != len(accounts):
        raise _invalid("an account holds one seat")
    if accounts and not any(occupant is not None and occupant.is_human for occupant in command.occupants):
        raise _invalid("a table needs a human")
    opened = TableOpened(command.table_id, command.settings, command.first_dealer, command.now_ms)
    try:
        state = TableState(opened)
    except UnknownRuleset as unknown:
        raise _invalid(str(unknown)) from None
    play = _Play(state, command.now_ms)
    play.emit(opened)
    for seat, occupant in enumerate(command.occupants):
        if occupant is not None:
            play.seat(seat, occupant, command.commitments[seat])
    play.go_on_if_full(command.server_seed)
    return play.transition(command.id)


def decide(state: TableState, command: TableCommand) -> TableTransition:
    """Return what comes of a command. ``state`` is left as it is. Raises ``RuleViolation``.

    The repeat of an accepted command, by its id, changes nothing and is answered with ``repeated``. A closed table
    accepts nothing, but a tick of it is no error.
    """
    match command:
        case OpenTable():
            raise _invalid("the table is open")
        case Tick():
            play = _Play(state, command.now_ms)
            _tick(play, command)
            return play.transition("")
        case GrantOutage():
            play = _Play(state, command.now_ms)
            if command.outage_ms > 0 and state.phase is not TablePhase.CLOSED:
                play.emit(OutageGranted(command.outage_ms))
            return play.transition("")
    if command.id and command.id in state.recent_commands:
        return TableTransition(Entry(state.now_ms, command.id, ()), state, repeated=True)
    if state.phase is TablePhase.CLOSED:
        raise RuleViolation(Reason.TABLE_CLOSED, "the table is closed")
    play = _Play(state, command.now_ms)
    match command:
        case Act():
            _act(play, command)
        case ConfirmReady():
            _confirm_ready(play, command)
        case SettleHand():
            _settle(play, command)
        case TakeSeat():
            _take_seat(play, command)
        case LeaveSeat():
            _leave_seat(play, command)
        case ReturnToSeat():
            _held_by_somebody(state, command.seat)
            play.emit(SeatReturned(command.seat))
        case CommitNonce():
            _commit_nonce(play, command)
        case CloseTable():
            play.emit(TableClosed(command.cause))
    return play.transition(command.id)


def _act(play: _Play, command: Act) -> None:
    state = play.state
    if state.phase is not TablePhase.PLAYING or state.hand is None:
        raise RuleViolation(Reason.HAND_IS_OVER, "no hand is being played")
    seat = command.seat
    clock = state.clock
    timed = clock is not None and clock.decision == command.decision and seat in clock.seats
    if clock is not None and timed and not clock.wait.accepts(play.now_ms, clock.allowance_of(seat)):
        raise RuleViolation(Reason.STALE_DECISION, f"the time for decision {command.decision} is up")
    decision = state.hand.decision
    result = hands.decide(state.hand, hand_commands.Act(seat, command.decision, command.action))
    assert decision is not None
    own_turn = decision.kind is DecisionKind.TURN
    left = state.clocks[seat]
    if command.round_trip_ms > 0:
        left = left.measured(command.round_trip_ms)
    if clock is not None and timed:
        left = left.answered(clock.wait.charge(play.now_ms, clock.allowance_of(seat)), own_turn=own_turn)
    elif own_turn:
        left = left.returned()
    play.emit(SeatAnswered(seat, command.decision, decision.kind, left))
    play.adopt(result, command.hold_ms)


def _confirm_ready(play: _Play, command: ConfirmReady) -> None:
    state, seat, nonce = play.state, command.seat, command.nonce
    occupant = _held_by_somebody(state, seat)
    if state.phase is not TablePhase.READY:
        raise RuleViolation(Reason.NOT_READY_STEP, "nobody is asked to be ready")
    if state.ready[seat]:
        raise RuleViolation(Reason.ALREADY_READY, "the seat is ready")
    if nonce is not None and (len(nonce) != SECRET_BYTES or commit(nonce) != state.commitments[seat]):
        raise RuleViolation(Reason.COMMITMENT_MISMATCH, "the nonce is not the one that the seat committed to")
    _check_commitment(command.next_commitment)
    play.emit(SeatReady(seat, nonce, command.next_commitment, by_player=occupant.is_human))
    play.start_if_ready()


def _settle(play: _Play, command: SettleHand) -> None:
    state = play.state
    if state.phase is not TablePhase.PLAYING or state.hand is None:
        raise RuleViolation(Reason.HAND_IS_OVER, "no hand waits for its settlement")
    result = hands.decide(state.hand, hand_commands.Settle(command.settlement))
    play.adopt(result, 0)
    play.after_settlement(command.server_seed)


def _take_seat(play: _Play, command: TakeSeat) -> None:
    state, seat = play.state, command.seat
    if not 0 <= seat < SEATS:
        raise _invalid(f"there is no seat {seat}")
    if state.seat_of(command.occupant.account_id) is not None:
        raise RuleViolation(Reason.ALREADY_SEATED, "the account holds a seat here")
    if state.is_full:
        raise RuleViolation(Reason.TABLE_FULL, "all seats are taken")
    if state.occupants[seat] is not None:
        raise RuleViolation(Reason.SEAT_TAKEN, f"seat {seat} is taken")
    if not state.any_human and not command.occupant.is_human:
        raise _invalid("a table needs a human before its bots")
    play.seat(seat, command.occupant, command.commitment)
    play.go_on_if_full(command.server_seed)


def _leave_seat(play: _Play, command: LeaveSeat) -> None:
    state, seat = play.state, command.seat
    _held_by_somebody(state, seat)
    if state.phase is TablePhase.PLAYING or state.in_match:
        if not state.leaving[seat]:
            play.emit(SeatLeaving(seat))
            play.pass_over_leaving()
    else:
        play.release((seat,), ReleaseCause.LEFT)


def _commit_nonce(play: _Play, command: CommitNonce) -> None:
    state, seat = play.state, command.seat
    _held_by_somebody(state, seat)
    if state.commitments[seat] != NO_COMMITMENT:
        raise RuleViolation(Reason.INVALID_ARGUMENT, "the seat has committed already")
    if state.ready[seat]:
        raise RuleViolation(Reason.ALREADY_READY, "the seat is ready")
    if _somebody_revealed(state):
        # Whoever knows the others' nonces must not choose his own any more: with the server's help he could steer.
        raise RuleViolation(Reason.NOT_READY_STEP, "others have revealed; seal the next nonce with the ready")
    if command.commitment == NO_COMMITMENT:
        raise _invalid("a commitment has 32 bytes")
    _check_commitment(command.commitment)
    play.emit(NonceCommitted(seat, command.commitment))


def _somebody_revealed(state: TableState) -> bool:
    """True once a person's nonce lies open in this ready step; those of computers are public from the start."""
    return any(
        nonce is not None and occupant is not None and occupant.is_human
        for nonce, occupant in zip(state.nonces, state.occupants, strict=True)
    )


def _tick(play: _Play, command: Tick) -> None:
    state = play.state
    due, now = state.next_due_ms, play.now_ms
    if due is None or now < due:
        return
    if now >= state.expires_ms:
        play.emit(TableClosed(CloseCause.EXPIRED))
    elif state.phase is TablePhase.READY:
        play.end_ready_step()
    elif state.clock is not None:
        play.expire_decision(state.clock, command.hold_ms)
    elif state.needs_settlement:
        assert state.hand is not None
        assert now >= state.hand_over_ms + SETTLEMENT_GRACE_MS
        play.adopt(hands.decide(state.hand, hand_commands.Settle(hands.settlement_of(state.hand))), 0)
        play.after_settlement(command.server_seed)
    else:
        assert now >= state.decision_opened_ms + BOT_GRACE_MS
        play.answer_for_bots(command.hold_ms)


class _Play:
    """An entry in the making: every event is applied at once, and what follows is read from the state."""

    __slots__ = ("before", "events", "now_ms", "state")

    def __init__(self, before: TableState, now_ms: int) -> None:
        """``before`` is left as it is. Time never runs backwards, whatever the caller's clock says."""
        self.before = before
        self.state = before.shallow_copy()
        self.now_ms = max(now_ms, before.now_ms)
        self.events: list[TableEvent] = []

    def transition(self, command_id: str) -> TableTransition:
        entry = Entry(self.now_ms, command_id, tuple(self.events))
        if not self.events:
            return TableTransition(entry, self.before)
        remember(self.state, command_id)
        return TableTransition(entry, self.state)

    def emit(self, event: OwnTableEvent) -> None:
        self.events.append(event)
        apply(self.state, event, self.now_ms)

    def adopt(self, transition: hands.Transition, hold_ms: int) -> None:
        """Take over what happened in the hand, and start the clock of the decision that opened, if one did."""
        self.state.hand = transition.state
        for event in transition.events:
            assert type(event) in HAND_EVENTS
            self.events.append(event)
            note(self.state, event, self.now_ms)
        opened = transition.state.decision
        if opened is not None and opened in transition.events:
            self._start_clock(opened, hold_ms)

    def _start_clock(self, opened: DecisionOpened, hold_ms: int) -> None:
        state = self.state
        kind = _WAIT_KINDS[opened.kind]
        opened_ms = self.now_ms + (max(0, hold_ms) if opened.kind is DecisionKind.TURN else 0)
        waits = tuple(
            wait
            for seat in opened.seats
            if (wait := wait_for(state.settings.time_control, kind, state.clocks[seat], opened_ms)) is not None
        )
        if waits:
            allowances = tuple(state.clocks[seat].allowance_ms for seat in opened.seats)
            self.emit(DecisionClock(opened.decision, opened.kind, opened.seats, common_wait(waits), allowances))

    def seat(self, seat: Seat, occupant: Occupant, commitment: bytes) -> None:
        """Somebody sits down."""
        _check_commitment(commitment)
        self.emit(SeatTaken(seat, occupant))
        if commitment != NO_COMMITMENT and occupant.is_human:
            self.emit(NonceCommitted(seat, commitment))

    def release(self, seats: tuple[Seat, ...], cause: ReleaseCause) -> None:
        """Seats open between two hands; a rated table that lost a player, and one without humans, closes."""
        if self.state.settings.rated and self.state.is_full:
            left = CloseCause.PLAYER_LEFT if cause is ReleaseCause.LEFT else CloseCause.NOT_READY
            self.emit(TableClosed(left))
            return
        for seat in seats:
            self.emit(SeatReleased(seat, cause))
        if not self.state.any_human:
            self.emit(TableClosed(CloseCause.NO_PLAYERS))

    def go_on_if_full(self, server_seed: bytes) -> None:
        """Open the ready step of the next hand once all seats are taken; bots are ready at once."""
        state = self.state
        if not state.is_full or state.phase is not TablePhase.WAITING:
            return
        if len(server_seed) != SECRET_BYTES:
            raise _invalid(f"a server seed has {SECRET_BYTES} bytes")
        step = state.rules.ready_step
        deadline = self.now_ms + 1000 * step.seconds if state.settings.time_control.timed else None
        self.emit(ReadyStepOpened(state.hand_number, commit(server_seed), server_seed, deadline))
        for seat, occupant in enumerate(state.occupants):
            if occupant is not None and not occupant.is_human:
                nonce = public_nonce(state.table_id, state.hand_number, seat)
                self.emit(SeatReady(seat, nonce, NO_COMMITMENT, by_player=False))
        self.pass_over_leaving()

    def pass_over_leaving(self) -> None:
        """In a match nobody waits at the ready step for a player who asked to leave; start the hand if he was the
        last."""
        state = self.state
        if state.phase is not TablePhase.READY:
            return
        for seat in range(SEATS):
            if state.leaving[seat] and not state.ready[seat]:
                self.emit(SeatReady(seat, None, NO_COMMITMENT, by_player=False))
        self.start_if_ready()

    def end_ready_step(self) -> None:
        """The ready step is over: whoever is missing is ready by the rules, or loses the seat (common C14)."""
        state = self.state
        missing = tuple(seat for seat in range(SEATS) if not state.ready[seat])
        if state.rules.ready_step.automatic:
            for seat in missing:
                self.emit(SeatReady(seat, None, NO_COMMITMENT, by_player=False))
            self.start_if_ready()
        else:
            self.release(missing, ReleaseCause.NOT_READY)

    def start_if_ready(self) -> None:
        """Start the hand when all seats are ready."""
        state = self.state
        if not all(state.ready):
            return
        wall = build_wall(
            ALGORITHM,
            state.table_id,
            state.hand_number,
            state.settings.ruleset_id,
            state.server_seed,
            state.wall_parts(),
        )
        self.adopt(
            hands.start_hand(
                state.rules,
                state.hand_number,
                state.dealer,
                state.prevailing_wind,
                wall,
                state.commitment,
                state.moment,
                state.dealer_wins,
            ),
            0,
        )

    def after_settlement(self, server_seed: bytes) -> None:
        """Close rated units and the match, let those go who asked to leave, and prepare the next hand."""
        state = self.state
        over = state.rules.match_over(state.dealer_changes)
        if state.rules.rated_unit is RatedUnit.HAND:
            assert state.settled is not None
            self._end_unit(f"{state.table_id}-{state.hand_number - 1}", state.settled.changes)
        elif over:
            self._end_unit(state.table_id, state.points)
        if over:
            self.emit(MatchEnded(state.points, places(state.points)))
            self.emit(TableClosed(CloseCause.MATCH_OVER))
            return
        leaving = tuple(seat for seat in range(SEATS) if state.leaving[seat])
        if leaving and not state.in_match:
            self.release(leaving, ReleaseCause.LEFT)
        self.go_on_if_full(server_seed)

    def _end_unit(self, unit_id: str, points: tuple[int, ...]) -> None:
        if self.state.unit_rated:
            accounts = tuple(occupant.account_id if occupant else "" for occupant in self.state.occupants)
            self.emit(RatedUnitEnded(unit_id, accounts, points, places(points)))

    def expire_decision(self, clock: DecisionClock, hold_ms: int) -> None:
        """The time is up for everybody who has not answered (common §3.2)."""
        state = self.state
        assert state.hand is not None
        result = hands.decide(state.hand, hand_commands.Expire(clock.decision))
        own_turn = clock.kind is DecisionKind.TURN
        for seat, allowance in zip(clock.seats, clock.allowances, strict=True):
            left = state.clocks[seat].timed_out(clock.wait.charge(self.now_ms, allowance), own_turn=own_turn)
            self.emit(SeatTimedOut(seat, clock.decision, clock.kind, left))
        self.adopt(result, hold_ms)

    def answer_for_bots(self, hold_ms: int) -> None:
        """Bots that did not answer at an untimed table take the action of a timeout."""
        state = self.state
        assert state.hand is not None
        opened = state.hand.decision
        assert opened is not None
        for seat in state.awaited_bots:
            if state.hand.decision != opened:
                return
            action = hands.timeout_action(state.hand, seat)
            result = hands.decide(state.hand, hand_commands.Act(seat, opened.decision, action))
            self.emit(SeatTimedOut(seat, opened.decision, opened.kind, state.clocks[seat]))
            self.adopt(result, hold_ms)


def _held_by_somebody(state: TableState, seat: Seat) -> Occupant:
    occupant = state.occupants[seat] if 0 <= seat < SEATS else None
    if occupant is None:
        raise RuleViolation(Reason.SEAT_EMPTY, f"nobody holds seat {seat}")
    return occupant


def _check_commitment(commitment: bytes) -> None:
    if len(commitment) not in (0, SECRET_BYTES):
        raise _invalid(f"a commitment has {SECRET_BYTES} bytes, not {len(commitment)}")


def _invalid(detail: str) -> RuleViolation:
    return RuleViolation(Reason.INVALID_ARGUMENT, detail)
