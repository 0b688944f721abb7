"""Events of a table around its hands as messages, by allow-list like ``libs.contracts.events``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from eastwind.table.v1 import event_pb2
from eastwind.type.v1 import reason_pb2
from libs.contracts.events import HAND_EVENT_TYPES, hand_event_to_proto
from libs.contracts.settings import player_to_proto, settings_to_proto
from libs.mahjong.engine.events import DecisionKind
from libs.mahjong.engine.table_events import (
    CloseCause,
    DecisionClock,
    MatchEnded,
    NonceCommitted,
    OutageGranted,
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
)

_CLOSED: Final = {
    CloseCause.MATCH_OVER: reason_pb2.REASON_MATCH_OVER,
    CloseCause.EXPIRED: reason_pb2.REASON_EXPIRED,
    CloseCause.NOT_READY: reason_pb2.REASON_NOT_READY,
    CloseCause.PLAYER_LEFT: reason_pb2.REASON_LEFT,
    CloseCause.NO_PLAYERS: reason_pb2.REASON_LEFT,
    CloseCause.OPERATOR: reason_pb2.REASON_GOING_AWAY,
    CloseCause.UNRECOVERABLE: reason_pb2.REASON_INTERNAL,
}
_RELEASED: Final = {
    ReleaseCause.LEFT: reason_pb2.REASON_LEFT,
    ReleaseCause.NOT_READY: reason_pb2.REASON_NOT_READY,
}


def close_reason(cause: CloseCause | None) -> reason_pb2.Reason.ValueType:
    """Return the reason that stands for a table's closing; unspecified while it is open."""
    return reason_pb2.REASON_UNSPECIFIED if cause is None else _CLOSED[cause]


def decision_kind(kind: DecisionKind) -> event_pb2.DecisionKind.ValueType:
    """Return the enum value of a kind of decision."""
    return event_pb2.DecisionKind.ValueType(kind)


def _opened(event: TableOpened) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        table_opened=event_pb2.TableOpened(settings=settings_to_proto(event.settings), first_dealer=event.first_dealer)
    )


def _taken(event: SeatTaken) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(seat_taken=event_pb2.SeatTaken(seat=event.seat, player=player_to_proto(event.occupant)))


def _released(event: SeatReleased) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(seat_released=event_pb2.SeatReleased(seat=event.seat, reason=_RELEASED[event.cause]))


def _leaving(event: SeatLeaving) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(seat_leaving=event_pb2.SeatLeaving(seat=event.seat))


def _returned(event: SeatReturned) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(seat_returned=event_pb2.SeatReturned(seat=event.seat))


def _committed(event: NonceCommitted) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(nonce_committed=event_pb2.NonceCommitted(seat=event.seat, commitment=event.commitment))


def _step_opened(event: ReadyStepOpened) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        ready_step_opened=event_pb2.ReadyStepOpened(
            hand=event.hand, commitment=event.commitment, deadline_ms=event.deadline_ms
        )
    )


def _ready(event: SeatReady) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        seat_ready=event_pb2.SeatReady(
            seat=event.seat,
            nonce=event.nonce or b"",
            next_commitment=event.next_commitment,
            by_player=event.by_player,
        )
    )


def _clock(event: DecisionClock) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        clock_set=event_pb2.ClockSet(
            decision=event.decision,
            kind=decision_kind(event.kind),
            seats=event.seats,
            opened_ms=event.wait.opened_ms,
            base_ms=event.wait.base_ms + event.wait.granted_ms,
            reserve_ms=event.wait.reserve_ms,
            deadline_ms=event.wait.deadline_ms,
        )
    )


def _answered(event: SeatAnswered) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        seat_answered=event_pb2.SeatAnswered(
            seat=event.seat,
            decision=event.decision,
            kind=decision_kind(event.kind),
            reserve_ms=event.clock.reserve_ms,
        )
    )


def _timed_out(event: SeatTimedOut) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        seat_timed_out=event_pb2.SeatTimedOut(
            seat=event.seat,
            decision=event.decision,
            kind=decision_kind(event.kind),
            reserve_ms=event.clock.reserve_ms,
        )
    )


def _granted(event: OutageGranted) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(outage_granted=event_pb2.OutageGranted(outage_ms=event.outage_ms))


def _unit(event: RatedUnitEnded) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        rated_unit_ended=event_pb2.RatedUnitEnded(unit_id=event.unit_id, points=event.points, places=event.places)
    )


def _match(event: MatchEnded) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(match_ended=event_pb2.MatchEnded(points=event.points, places=event.places))


def _closed(event: TableClosed) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(table_closed=event_pb2.TableClosed(reason=_CLOSED[event.cause]))


_TO_PROTO: Final[dict[type, Callable[[Any], event_pb2.TableEvent]]] = {
    TableOpened: _opened,
    SeatTaken: _taken,
    SeatReleased: _released,
    SeatLeaving: _leaving,
    SeatReturned: _returned,
    NonceCommitted: _committed,
    ReadyStepOpened: _step_opened,
    SeatReady: _ready,
    DecisionClock: _clock,
    SeatAnswered: _answered,
    SeatTimedOut: _timed_out,
    OutageGranted: _granted,
    RatedUnitEnded: _unit,
    MatchEnded: _match,
    TableClosed: _closed,
}


def table_event_to_proto(event: TableEvent) -> event_pb2.TableEvent:
    """Return the message of any event of a table. Server seeds, lag and quotas have no field and never leave."""
    convert = _TO_PROTO.get(type(event))
    if convert is None:
        assert type(event) in HAND_EVENT_TYPES
        return hand_event_to_proto(event)  # type: ignore[arg-type]
    return convert(event)
