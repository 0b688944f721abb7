"""Events of a hand between protobuf and the engine's own types.

Both directions are by allow-list, one function an event type: a field that is not written here does not leave the
process. Hidden fields are sent only when the event holds them; ``libs.mahjong.engine.views`` takes them out for a seat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from eastwind.scoring.v1 import score_pb2
from eastwind.table.v1 import event_pb2
from eastwind.type.v1 import tile_pb2
from libs.contracts.scores import seat_scores_from_proto, seat_scores_to_proto
from libs.contracts.tiles import (
    InvalidMessage,
    action_from_proto,
    action_to_proto,
    meld_from_proto,
    meld_to_proto,
    tiles_from_proto,
)
from libs.mahjong.engine.events import (
    BonusExposed,
    ChoiceHeld,
    DecisionKind,
    DecisionOpened,
    DrawnHandCause,
    DrawSource,
    HandDrawn,
    HandEvent,
    HandSettled,
    HandStarted,
    HandWon,
    KongCompleted,
    KongDeclared,
    MeldClaimed,
    SeatPayment,
    TileDiscarded,
    TileDrawn,
    TilesDealt,
)
from libs.mahjong.scores import WinMethod
from libs.mahjong.tiles import Tile

_DEAL_SIZES = (13, 13, 13, 13)


def _tile_lists(lists: tuple[tuple[Tile, ...] | None, ...]) -> list[tile_pb2.Tiles]:
    return [tile_pb2.Tiles(tiles=tiles or ()) for tiles in lists]


def _started(event: HandStarted) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        hand_started=event_pb2.HandStarted(
            hand=event.hand,
            dealer=event.dealer,
            prevailing_wind=event.prevailing_wind,
            commitment=event.commitment,
            wall=event.wall or (),
        )
    )


def _dealt(event: TilesDealt) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(tiles_dealt=event_pb2.TilesDealt(hands=_tile_lists(event.hands), counts=_DEAL_SIZES))


def _drawn_tile(event: TileDrawn) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        tile_drawn=event_pb2.TileDrawn(
            seat=event.seat, tile=event.tile, source=event_pb2.DrawSource.ValueType(event.source)
        )
    )


def _bonus(event: BonusExposed) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(bonus_exposed=event_pb2.BonusExposed(seat=event.seat, tile=event.tile))


def _decision(event: DecisionOpened) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        decision_opened=event_pb2.DecisionOpened(
            decision=event.decision, kind=event_pb2.DecisionKind.ValueType(event.kind), seats=event.seats
        )
    )


def _held(event: ChoiceHeld) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        choice_held=event_pb2.ChoiceHeld(seat=event.seat, decision=event.decision, action=action_to_proto(event.action))
    )


def _discarded(event: TileDiscarded) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        tile_discarded=event_pb2.TileDiscarded(seat=event.seat, tile=event.tile, original_call=event.original_call)
    )


def _claimed(event: MeldClaimed) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(meld_claimed=event_pb2.MeldClaimed(seat=event.seat, meld=meld_to_proto(event.meld)))


def _kong_declared(event: KongDeclared) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(kong_declared=event_pb2.KongDeclared(seat=event.seat, meld=meld_to_proto(event.meld)))


def _kong_completed(event: KongCompleted) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(kong_completed=event_pb2.KongCompleted(seat=event.seat, meld=meld_to_proto(event.meld)))


def _won(event: HandWon) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        hand_won=event_pb2.HandWon(
            seat=event.seat,
            tile=event.tile,
            method=score_pb2.WinMethod.ValueType(event.method),
            source=event.source,
            concealed=event.concealed,
        )
    )


def _hand_drawn(event: HandDrawn) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(hand_drawn=event_pb2.HandDrawn(cause=event_pb2.DrawnHandCause.ValueType(event.cause)))


def _settled(event: HandSettled) -> event_pb2.TableEvent:
    return event_pb2.TableEvent(
        hand_settled=event_pb2.HandSettled(
            winner=event.winner,
            scores=seat_scores_to_proto(event.scores),
            payments=[
                score_pb2.Payment(payer=payment.payer, payee=payment.payee, amount=payment.amount)
                for payment in event.payments
            ],
            changes=event.changes,
            revealed=_tile_lists(event.revealed),
        )
    )


_TO_PROTO: dict[type, Callable[[Any], event_pb2.TableEvent]] = {
    HandStarted: _started,
    TilesDealt: _dealt,
    TileDrawn: _drawn_tile,
    BonusExposed: _bonus,
    DecisionOpened: _decision,
    ChoiceHeld: _held,
    TileDiscarded: _discarded,
    MeldClaimed: _claimed,
    KongDeclared: _kong_declared,
    KongCompleted: _kong_completed,
    HandWon: _won,
    HandDrawn: _hand_drawn,
    HandSettled: _settled,
}


HAND_EVENT_TYPES: Final = frozenset(_TO_PROTO)
"""The types of all events of a hand."""


def hand_event_to_proto(event: HandEvent) -> event_pb2.TableEvent:
    """Return the message of a hand's event, hidden fields included when the event holds them."""
    return _TO_PROTO[type(event)](event)


def _optional_lists(messages: Any, field: str) -> tuple[tuple[Tile, ...] | None, ...]:
    return tuple(tiles_from_proto(entry.tiles, field) or None for entry in messages)


def _started_back(message: event_pb2.HandStarted) -> HandStarted:
    return HandStarted(
        message.hand,
        message.dealer,
        message.prevailing_wind,
        message.commitment,
        tiles_from_proto(message.wall, "hand_started.wall") or None,
    )


def _settled_back(message: event_pb2.HandSettled) -> HandSettled:
    return HandSettled(
        message.winner if message.HasField("winner") else None,
        seat_scores_from_proto(message.scores),
        tuple(SeatPayment(payment.payer, payment.payee, payment.amount) for payment in message.payments),
        tuple(message.changes),
        _optional_lists(message.revealed, "hand_settled.revealed"),
    )


def _won_back(message: event_pb2.HandWon) -> HandWon:
    return HandWon(
        message.seat,
        message.tile,
        WinMethod(message.method),
        message.source if message.HasField("source") else None,
        tiles_from_proto(message.concealed, "hand_won.concealed"),
    )


_FROM_PROTO: dict[str, Callable[[Any], HandEvent]] = {
    "hand_started": _started_back,
    "tiles_dealt": lambda m: TilesDealt(_optional_lists(m.hands, "tiles_dealt.hands")),
    "tile_drawn": lambda m: TileDrawn(m.seat, m.tile if m.HasField("tile") else None, DrawSource(m.source)),
    "bonus_exposed": lambda m: BonusExposed(m.seat, m.tile),
    "decision_opened": lambda m: DecisionOpened(m.decision, DecisionKind(m.kind), tuple(m.seats)),
    "choice_held": lambda m: ChoiceHeld(m.seat, m.decision, action_from_proto(m.action)),
    "tile_discarded": lambda m: TileDiscarded(m.seat, m.tile, m.original_call),
    "meld_claimed": lambda m: MeldClaimed(m.seat, meld_from_proto(m.meld)),
    "kong_declared": lambda m: KongDeclared(m.seat, meld_from_proto(m.meld)),
    "kong_completed": lambda m: KongCompleted(m.seat, meld_from_proto(m.meld)),
    "hand_won": _won_back,
    "hand_drawn": lambda m: HandDrawn(DrawnHandCause(m.cause)),
    "hand_settled": _settled_back,
}


def hand_event_from_proto(message: event_pb2.TableEvent) -> HandEvent | None:
    """Return the hand's event, or ``None`` when the message tells of the table around the hand.

    Raises ``InvalidMessage`` for an empty message, a kind newer than this contract, or values that make no event.
    """
    name = message.WhichOneof("event")
    if name is None:
        raise InvalidMessage("event", "no event, or one of a newer kind")
    convert = _FROM_PROTO.get(name)
    if convert is None:
        return None
    try:
        return convert(getattr(message, name))
    except InvalidMessage:
        raise
    except ValueError as error:
        raise InvalidMessage(name, str(error)) from error
