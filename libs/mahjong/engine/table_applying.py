"""What every event does to a picture of a table.

What is public is noted in the same way for the table's state and for a viewer's picture; what only the table keeps is
noted beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

from libs.mahjong.clocks import fresh_clock
from libs.mahjong.engine.applying import apply as apply_to_hand
from libs.mahjong.engine.events import (
    BonusExposed,
    DecisionKind,
    DecisionOpened,
    HandDrawn,
    HandEvent,
    HandSettled,
    HandStarted,
    HandWon,
    KongCompleted,
    KongDeclared,
    MeldClaimed,
    TileDiscarded,
    TileDrawn,
    TilesDealt,
)
from libs.mahjong.engine.ruleset import RatedUnit
from libs.mahjong.engine.state import HandState
from libs.mahjong.engine.table_audience import EVERYBODY, audience
from libs.mahjong.engine.table_commands import Entry
from libs.mahjong.engine.table_events import (
    DecisionClock,
    NonceCommitted,
    OutageGranted,
    ReadyStepOpened,
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
)
from libs.mahjong.engine.table_state import NOBODY, REMEMBERED_COMMANDS, SEATS, TablePhase, TablePicture, TableState
from libs.mahjong.fairness import NO_COMMITMENT
from libs.mahjong.tiles import Seat

T = TypeVar("T")

HAND_EVENTS: Final = frozenset(HandEvent.__args__)
"""The types of the events that belong to a hand."""


class NotATableLog(ValueError):
    """A log does not start with the event that opens a table."""


def apply(state: TableState, event: TableEvent, at_ms: int) -> None:
    """Change ``state`` by what happened at that moment. Total for every event that ``table.decide`` made."""
    if type(event) in HAND_EVENTS:
        if type(event) is HandStarted:
            state.hand = HandState(state.rules, state.moment, state.dealer_wins)
        assert state.hand is not None
        apply_to_hand(state.hand, event)  # type: ignore[arg-type]
    note(state, event, at_ms)


def apply_entry(state: TableState, entry: Entry) -> None:
    """Change ``state`` by one entry of its log, all of it."""
    for event in entry.events:
        apply(state, event, entry.at_ms)
    remember(state, entry.command_id)


def fold(entries: Iterable[Entry], state: TableState | None = None) -> TableState:
    """Return the state after ``entries``: all of a table's log, or those after the given snapshot, which is not
    changed.

    Raises ``NotATableLog`` when there is neither a snapshot nor an opening event.
    """
    state = None if state is None else state.copy()
    for entry in entries:
        if state is None:
            first = entry.events[0] if entry.events else None
            if not isinstance(first, TableOpened):
                raise NotATableLog(f"a table's log starts with its opening, not with {first!r}")
            state = TableState(first)
        apply_entry(state, entry)
    if state is None:
        raise NotATableLog("the log of a table is empty")
    return state


def remember(state: TableState, command_id: str) -> None:
    """Keep the id of an accepted command, the latest few."""
    if command_id:
        state.recent_commands = (*state.recent_commands, command_id)[-REMEMBERED_COMMANDS:]


def note(state: TableState, event: TableEvent, at_ms: int) -> None:
    """Change what the table itself keeps by an event that has changed the hand already."""
    state.now_ms = max(state.now_ms, at_ms)
    hidden = _HIDDEN.get(type(event))
    if hidden is not None:
        hidden(state, event, at_ms)
    note_public(state, event)
    seen = audience(event)
    first, second, third, fourth, spectators = state.stream_sequence
    if seen is EVERYBODY:
        state.stream_sequence = (first + 1, second + 1, third + 1, fourth + 1, spectators + 1)
    else:
        state.stream_sequence = (
            first + seen[0],
            second + seen[1],
            third + seen[2],
            fourth + seen[3],
            spectators + seen[4],
        )


def note_public(picture: TablePicture, event: TableEvent) -> None:
    """Change what everybody (or everybody who sees the event) knows about the table."""
    noting = _PUBLIC.get(type(event))
    if noting is not None:
        noting(picture, event)


def _with(values: tuple[T, ...], seat: Seat, value: T) -> tuple[T, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


def _seat_taken(picture: TablePicture, event: SeatTaken) -> None:
    seat = event.seat
    picture.occupants = _with(picture.occupants, seat, event.occupant)
    picture.points = _with(picture.points, seat, picture.rules.starting_points)
    picture.clocks = _with(picture.clocks, seat, fresh_clock(picture.settings.time_control))
    if seat == picture.dealer:
        # The run of won hands belongs to a player, not to a seat.
        picture.dealer_wins = 0


def _seat_released(picture: TablePicture, event: SeatReleased) -> None:
    seat = event.seat
    if picture.phase is TablePhase.READY:
        # Nonces that were revealed are spent, so that no seed is ever chosen after a nonce is known.
        picture.commitments = tuple(
            picture.next_commitments[other] if picture.ready[other] else picture.commitments[other]
            for other in range(SEATS)
        )
        _clear_ready_step(picture)
        picture.commitment = b""
    picture.phase = TablePhase.WAITING
    picture.occupants = _with(picture.occupants, seat, None)
    picture.points = _with(picture.points, seat, picture.rules.starting_points)
    picture.leaving = _with(picture.leaving, seat, False)
    picture.commitments = _with(picture.commitments, seat, NO_COMMITMENT)


def _clear_ready_step(picture: TablePicture) -> None:
    picture.ready = (False,) * SEATS
    picture.nonces = NOBODY
    picture.next_commitments = (NO_COMMITMENT,) * SEATS
    picture.ready_deadline_ms = None


def _seat_leaving(picture: TablePicture, event: SeatLeaving) -> None:
    picture.leaving = _with(picture.leaving, event.seat, True)


def _seat_returned(picture: TablePicture, event: SeatReturned) -> None:
    _is_back(picture, event.seat)


def _is_back(picture: TablePicture, seat: Seat) -> None:
    picture.clocks = _with(picture.clocks, seat, picture.clocks[seat].returned())
    picture.leaving = _with(picture.leaving, seat, False)


def _nonce_committed(picture: TablePicture, event: NonceCommitted) -> None:
    picture.commitments = _with(picture.commitments, event.seat, event.commitment)


def _ready_step_opened(picture: TablePicture, event: ReadyStepOpened) -> None:
    picture.phase = TablePhase.READY
    _clear_ready_step(picture)
    picture.commitment = event.commitment
    picture.ready_deadline_ms = event.deadline_ms


def _seat_ready(picture: TablePicture, event: SeatReady) -> None:
    seat = event.seat
    picture.ready = _with(picture.ready, seat, True)
    picture.nonces = _with(picture.nonces, seat, event.nonce)
    picture.next_commitments = _with(picture.next_commitments, seat, event.next_commitment)
    if event.by_player:
        _is_back(picture, seat)


def _hand_started(picture: TablePicture, event: HandStarted) -> None:
    if picture.hand_number == 1 or picture.rules.rated_unit is RatedUnit.HAND:
        picture.unit_rated = picture.settings.rated and picture.all_human
    picture.phase = TablePhase.PLAYING
    picture.commitments = picture.next_commitments
    _clear_ready_step(picture)
    control = picture.settings.time_control
    picture.clocks = tuple(clock.refilled(control) for clock in picture.clocks)
    picture.settled = None
    picture.clock = None


def _step(picture: TablePicture, event: HandEvent) -> None:
    """A public step of the hand: it is over with whatever clock was running."""
    picture.clock = None


def _hand_settled(picture: TablePicture, event: HandSettled) -> None:
    picture.points = tuple(points + change for points, change in zip(picture.points, event.changes, strict=True))
    picture.settled = event
    if event.winner == picture.dealer:
        picture.dealer_wins += 1
    else:
        picture.dealer_wins = 0
        if event.winner is not None:
            picture.dealer = (picture.dealer + 1) % SEATS
            picture.dealer_changes += 1
    picture.hand_number += 1
    picture.phase = TablePhase.WAITING
    picture.commitment = b""


def _decision_clock(picture: TablePicture, event: DecisionClock) -> None:
    picture.clock = event


def _seat_answered(picture: TablePicture, event: SeatAnswered) -> None:
    _clock_done(picture, event)
    if event.kind is DecisionKind.TURN:
        picture.leaving = _with(picture.leaving, event.seat, False)


def _clock_done(picture: TablePicture, event: SeatAnswered | SeatTimedOut) -> None:
    picture.clocks = _with(picture.clocks, event.seat, event.clock)
    if picture.clock is not None and picture.clock.decision == event.decision:
        picture.clock = picture.clock.without(event.seat)


def _outage_granted(picture: TablePicture, event: OutageGranted) -> None:
    if picture.clock is not None:
        picture.clock = picture.clock.granted(event.outage_ms)
    if picture.ready_deadline_ms is not None:
        picture.ready_deadline_ms += event.outage_ms


def _table_closed(picture: TablePicture, event: TableClosed) -> None:
    picture.phase = TablePhase.CLOSED
    picture.close_cause = event.cause
    picture.clock = None
    picture.ready_deadline_ms = None


_PUBLIC: Final[dict[type, Callable[[TablePicture, Any], None]]] = {
    SeatTaken: _seat_taken,
    SeatReleased: _seat_released,
    SeatLeaving: _seat_leaving,
    SeatReturned: _seat_returned,
    NonceCommitted: _nonce_committed,
    ReadyStepOpened: _ready_step_opened,
    SeatReady: _seat_ready,
    DecisionClock: _decision_clock,
    SeatAnswered: _seat_answered,
    SeatTimedOut: _clock_done,
    OutageGranted: _outage_granted,
    TableClosed: _table_closed,
    HandStarted: _hand_started,
    TilesDealt: _step,
    TileDrawn: _step,
    BonusExposed: _step,
    TileDiscarded: _step,
    MeldClaimed: _step,
    KongDeclared: _step,
    KongCompleted: _step,
    HandWon: _step,
    HandDrawn: _step,
    HandSettled: _hand_settled,
}
"""Events that are missing here tell others something and leave nothing at the table itself."""


def _human_acted(state: TableState, seat: Seat, at_ms: int) -> None:
    occupant = state.occupants[seat]
    if occupant is not None and occupant.is_human:
        state.last_action_ms = max(state.last_action_ms, at_ms)


def _taken_when(state: TableState, event: SeatTaken, at_ms: int) -> None:
    if event.occupant.is_human:
        state.last_action_ms = max(state.last_action_ms, at_ms)


def _answered_when(state: TableState, event: SeatAnswered, at_ms: int) -> None:
    _human_acted(state, event.seat, at_ms)


def _ready_when(state: TableState, event: SeatReady, at_ms: int) -> None:
    if event.by_player:
        _human_acted(state, event.seat, at_ms)


def _keep_seed(state: TableState, event: ReadyStepOpened, at_ms: int) -> None:
    state.server_seed = event.server_seed or b""


def _drop_seed(state: TableState, event: SeatReleased, at_ms: int) -> None:
    state.server_seed = b""


def _hand_closed(state: TableState, event: HandSettled, at_ms: int) -> None:
    state.server_seed = b""
    state.moment_before = state.moment


def _keep_wall_parts(state: TableState, event: HandStarted, at_ms: int) -> None:
    state.hand_nonces = state.wall_parts()
    state.hand_started_ms = at_ms


def _opened_when(state: TableState, event: DecisionOpened, at_ms: int) -> None:
    state.decision_opened_ms = at_ms


def _over_when(state: TableState, event: HandWon | HandDrawn, at_ms: int) -> None:
    state.hand_over_ms = at_ms


def _expiry_granted(state: TableState, event: OutageGranted, at_ms: int) -> None:
    state.last_action_ms += event.outage_ms
    state.decision_opened_ms += event.outage_ms


_HIDDEN: Final[dict[type, Callable[[TableState, Any, int], None]]] = {
    SeatTaken: _taken_when,
    SeatReleased: _drop_seed,
    ReadyStepOpened: _keep_seed,
    SeatReady: _ready_when,
    SeatAnswered: _answered_when,
    OutageGranted: _expiry_granted,
    HandStarted: _keep_wall_parts,
    DecisionOpened: _opened_when,
    HandWon: _over_when,
    HandDrawn: _over_when,
    HandSettled: _hand_closed,
}
