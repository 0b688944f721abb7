"""What one viewer may know of a table, its hand included (field cases C069, C130; promise P5).

A viewer is a seat, or ``SPECTATOR``. The law of this module: applying the visible copies of a table's events gives the
same ``TableView`` as ``table_view`` makes from the table's state, with the same sequence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from libs.mahjong.clocks import SeatClock
from libs.mahjong.engine.applying import apply as apply_to_hand
from libs.mahjong.engine.events import DecisionKind, HandStarted
from libs.mahjong.engine.table_applying import HAND_EVENTS, note_public
from libs.mahjong.engine.table_events import (
    DecisionClock,
    MatchEnded,
    NonceCommitted,
    OutageGranted,
    OwnTableEvent,
    RatedUnitEnded,
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
from libs.mahjong.engine.table_state import TablePicture, TableState
from libs.mahjong.engine.views import SPECTATOR, SeatView, view_of, visible, visible_copies
from libs.mahjong.tiles import Seat

__all__ = ["SPECTATOR", "TableView", "apply_table_visible", "table_view", "table_visible", "table_visible_copies"]


class TableView(TablePicture):
    """A table as ``viewer`` sees it. ``sequence`` counts the events that the viewer has seen.

    ``clock`` is that of the public turn, or of what the viewer itself is asked and has not answered. ``clocks`` show
    the reserve and the missed turns of every seat, no lag.
    """

    __slots__ = ("sequence", "viewer")

    hand: SeatView | None

    def __init__(self, opened: TableOpened, viewer: Seat) -> None:
        """The view before anybody sat down and before the first event was seen."""
        super().__init__(opened)
        self.viewer = viewer
        self.sequence = 0
        self.clocks = tuple(_public_clock(clock) for clock in self.clocks)

    @classmethod
    def fields(cls) -> tuple[str, ...]:
        return TablePicture.__slots__ + TableView.__slots__


def table_visible(event: TableEvent, viewer: Seat) -> TableEvent | None:
    """Return the viewer's copy of an event: the event itself when all of it is public, ``None`` when none of it is."""
    if type(event) in HAND_EVENTS:
        return visible(event, viewer)  # type: ignore[arg-type]
    see = _VISIBLE.get(type(event))
    return None if see is None else see(event, viewer)


def table_visible_copies(event: TableEvent) -> tuple[TableEvent | None, ...]:
    """Return every viewer's copy at once: those of the seats 0..3, then the spectator's.

    The same as ``table_visible`` of each; viewers who see the same get the same object.
    """
    kind = type(event)
    if kind in HAND_EVENTS:
        return visible_copies(event)  # type: ignore[arg-type]
    see = _VISIBLE.get(kind)
    if see is _public:
        return (event, event, event, event, event)
    if see is None:
        return (None, None, None, None, None)
    if kind is ReadyStepOpened or event.kind is DecisionKind.TURN:  # type: ignore[union-attr]
        copy = see(event, SPECTATOR)
        return (copy, copy, copy, copy, copy)
    return tuple([see(event, viewer) for viewer in _VIEWERS])


def apply_table_visible(view: TableView, event: TableEvent) -> None:
    """Change ``view`` by the viewer's copy of an event."""
    if type(event) in HAND_EVENTS:
        if type(event) is HandStarted:
            view.hand = SeatView(view.rules, view.viewer, view.moment, view.dealer_wins)
        assert view.hand is not None
        apply_to_hand(view.hand, event)  # type: ignore[arg-type]
    note_public(view, event)
    if type(event) is SeatTaken:
        view.clocks = tuple(_public_clock(clock) for clock in view.clocks)
    view.sequence += 1


def table_view(state: TableState, viewer: Seat) -> TableView:
    """Return what the viewer knows about the table."""
    view = TableView.__new__(TableView)
    for name in TablePicture.__slots__:
        setattr(view, name, getattr(state, name))
    view.viewer = viewer
    view.sequence = state.stream_sequence[viewer]
    view.hand = None if state.hand is None else view_of(state.hand, viewer)
    view.clock = None if state.clock is None else _decision_clock(state.clock, viewer)
    view.clocks = tuple(_public_clock(clock) for clock in state.clocks)
    return view


def _public_clock(clock: SeatClock) -> SeatClock:
    return SeatClock(clock.reserve_ms, 0, 0, clock.timeouts)


def _public(event: OwnTableEvent, viewer: Seat) -> OwnTableEvent:
    return event


def _ready_step_opened(event: ReadyStepOpened, viewer: Seat) -> ReadyStepOpened:
    return ReadyStepOpened(event.hand, event.commitment, None, event.deadline_ms)


def _decision_clock(event: DecisionClock, viewer: Seat) -> DecisionClock | None:
    if event.kind is DecisionKind.TURN:
        return DecisionClock(event.decision, event.kind, event.seats, event.wait, ())
    if viewer in event.seats:
        return DecisionClock(event.decision, event.kind, (viewer,), event.wait, ())
    return None


def _seat_answered(event: SeatAnswered, viewer: Seat) -> SeatAnswered | None:
    if event.kind is not DecisionKind.TURN and viewer != event.seat:
        return None
    return SeatAnswered(event.seat, event.decision, event.kind, _public_clock(event.clock))


def _seat_timed_out(event: SeatTimedOut, viewer: Seat) -> SeatTimedOut | None:
    if event.kind is not DecisionKind.TURN and viewer != event.seat:
        return None
    return SeatTimedOut(event.seat, event.decision, event.kind, _public_clock(event.clock))


_VISIBLE: Final[dict[type, Callable[[Any, Seat], OwnTableEvent | None]]] = {
    TableOpened: _public,
    SeatTaken: _public,
    SeatReleased: _public,
    SeatLeaving: _public,
    SeatReturned: _public,
    NonceCommitted: _public,
    ReadyStepOpened: _ready_step_opened,
    SeatReady: _public,
    DecisionClock: _decision_clock,
    SeatAnswered: _seat_answered,
    SeatTimedOut: _seat_timed_out,
    OutageGranted: _public,
    RatedUnitEnded: _public,
    MatchEnded: _public,
    TableClosed: _public,
}
_VIEWERS: Final = (0, 1, 2, 3, SPECTATOR)
