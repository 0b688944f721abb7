"""Who sees an event of a table: everybody, or one seat alone."""

from __future__ import annotations

from typing import Final

from libs.mahjong.engine.events import ChoiceHeld, DecisionKind, DecisionOpened
from libs.mahjong.engine.table_events import DecisionClock, SeatAnswered, SeatTimedOut, TableEvent
from libs.mahjong.tiles import Seat

EVERYBODY: Final = (True, True, True, True, True)


def audience(event: TableEvent) -> tuple[bool, ...]:
    """Return for seats 0..3 and, last, the spectators whether they see the event (in whatever form)."""
    kind = type(event)
    if kind is DecisionOpened or kind is DecisionClock:
        assert isinstance(event, DecisionOpened | DecisionClock)
        return EVERYBODY if event.kind is DecisionKind.TURN else _only(event.seats)
    if kind is SeatAnswered or kind is SeatTimedOut:
        assert isinstance(event, SeatAnswered | SeatTimedOut)
        return EVERYBODY if event.kind is DecisionKind.TURN else _only((event.seat,))
    if kind is ChoiceHeld:
        assert isinstance(event, ChoiceHeld)
        return _only((event.seat,))
    return EVERYBODY


def _only(seats: tuple[Seat, ...]) -> tuple[bool, ...]:
    return (0 in seats, 1 in seats, 2 in seats, 3 in seats, False)
