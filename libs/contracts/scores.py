"""Win situations, scores and settlements between protobuf and the game's own types."""

from __future__ import annotations

from collections.abc import Iterable

from eastwind.scoring.v1 import score_pb2
from libs.contracts.tiles import InvalidMessage, meld_from_proto, meld_to_proto
from libs.mahjong.scores import (
    Circumstance,
    HandScore,
    Holding,
    Payment,
    ScoreItem,
    Unit,
    WindSettlement,
    WinMethod,
    WinSituation,
)
from libs.mahjong.tiles import KIND_COUNT, REGULAR_KINDS, Kind, Wind

# The proto enumerates circumstances from 1 in the order of the flag's bits.
_CIRCUMSTANCES: tuple[tuple[Circumstance, score_pb2.Circumstance.ValueType], ...] = tuple(
    (flag, score_pb2.Circumstance.ValueType(position)) for position, flag in enumerate(Circumstance, start=1)
)


def _kinds(values: Iterable[int], field: str, first: int, end: int) -> tuple[Kind, ...]:
    kinds = tuple(values)
    for kind in kinds:
        if not first <= kind < end:
            raise InvalidMessage(field, f"{kind} is not from {first} to {end - 1}")
    return kinds


def _wind(value: int, field: str) -> Wind:
    if value > 3:
        raise InvalidMessage(field, f"{value} is no wind; winds are 0 to 3")
    return value


def holding_to_proto(holding: Holding) -> score_pb2.Holding:
    """Return the message of a holding."""
    return score_pb2.Holding(
        concealed=holding.concealed, melds=[meld_to_proto(meld) for meld in holding.melds], bonus=holding.bonus
    )


def holding_from_proto(message: score_pb2.Holding, field: str = "holding") -> Holding:
    """Return the holding, its concealed kinds sorted. Raises ``InvalidMessage``."""
    return Holding(
        tuple(sorted(_kinds(message.concealed, f"{field}.concealed", 0, REGULAR_KINDS))),
        tuple(meld_from_proto(meld, f"{field}.melds[{index}]") for index, meld in enumerate(message.melds)),
        _kinds(message.bonus, f"{field}.bonus", REGULAR_KINDS, KIND_COUNT),
    )


def situation_to_proto(situation: WinSituation) -> score_pb2.WinSituation:
    """Return the message of a win situation."""
    return score_pb2.WinSituation(
        seat_wind=situation.seat_wind,
        prevailing_wind=situation.prevailing_wind,
        holding=holding_to_proto(situation.holding),
        winning=situation.winning,
        method=score_pb2.WinMethod.ValueType(situation.method),
        source=situation.source,
        circumstances=[value for flag, value in _CIRCUMSTANCES if situation.circumstances & flag],
        exhausted=sorted(situation.exhausted),
        others=[
            score_pb2.OtherHolding(wind=wind, holding=holding_to_proto(holding)) for wind, holding in situation.others
        ],
    )


def situation_from_proto(message: score_pb2.WinSituation, field: str = "situation") -> WinSituation:
    """Return the win situation. Raises ``InvalidMessage`` naming the field that is wrong."""
    try:
        method = WinMethod(message.method)
    except ValueError as error:
        raise InvalidMessage(f"{field}.method", f"{message.method} is no way to win") from error
    circumstances = Circumstance.NONE
    for value in message.circumstances:
        flag = next((flag for flag, known in _CIRCUMSTANCES if known == value), None)
        if flag is None:
            raise InvalidMessage(f"{field}.circumstances", f"{value} is not known")
        circumstances |= flag
    winning = (
        _kinds((message.winning,), f"{field}.winning", 0, REGULAR_KINDS)[0] if message.HasField("winning") else None
    )
    return WinSituation(
        seat_wind=_wind(message.seat_wind, f"{field}.seat_wind"),
        prevailing_wind=_wind(message.prevailing_wind, f"{field}.prevailing_wind"),
        holding=holding_from_proto(message.holding, f"{field}.holding"),
        winning=winning,
        method=method,
        source=_wind(message.source, f"{field}.source") if message.HasField("source") else None,
        circumstances=circumstances,
        exhausted=frozenset(_kinds(message.exhausted, f"{field}.exhausted", 0, REGULAR_KINDS)),
        others=tuple(
            (
                _wind(other.wind, f"{field}.others[{index}].wind"),
                holding_from_proto(other.holding, f"{field}.others[{index}].holding"),
            )
            for index, other in enumerate(message.others)
        ),
    )


def score_item_to_proto(item: ScoreItem) -> score_pb2.ScoreItem:
    """Return the message of one line of a score."""
    return score_pb2.ScoreItem(
        pattern=item.pattern, name=item.name, amount=item.amount, unit=score_pb2.Unit.ValueType(item.unit)
    )


def hand_score_to_proto(score: HandScore) -> score_pb2.HandScore:
    """Return the message of a score."""
    return score_pb2.HandScore(
        legal=score.legal,
        total=score.total,
        value=score.value,
        items=[score_item_to_proto(item) for item in score.items],
        limit=score.limit,
        complete=score.complete,
    )


def hand_score_from_proto(message: score_pb2.HandScore) -> HandScore:
    """Return the score. Raises ``InvalidMessage`` for an unknown unit."""
    try:
        items = tuple(ScoreItem(item.pattern, item.name, item.amount, Unit(item.unit)) for item in message.items)
    except ValueError as error:
        raise InvalidMessage("score.items.unit", str(error)) from error
    limit = message.limit if message.HasField("limit") else None
    return HandScore(message.legal, message.total, message.value, items, limit, message.complete)


def seat_scores_to_proto(scores: Iterable[HandScore | None]) -> list[score_pb2.SeatScore]:
    """Return one entry a seat or wind, with absent scores left out."""
    return [score_pb2.SeatScore(score=None if score is None else hand_score_to_proto(score)) for score in scores]


def seat_scores_from_proto(messages: Iterable[score_pb2.SeatScore]) -> tuple[HandScore | None, ...]:
    """Return one entry a seat or wind; ``None`` where there is no score."""
    return tuple(hand_score_from_proto(entry.score) if entry.HasField("score") else None for entry in messages)


def settlement_to_proto(settlement: WindSettlement) -> score_pb2.Settlement:
    """Return the message of a settlement by wind."""
    return score_pb2.Settlement(
        winner=settlement.winner,
        scores=seat_scores_to_proto(settlement.scores),
        payments=[
            score_pb2.Payment(payer=payment.payer, payee=payment.payee, amount=payment.amount)
            for payment in settlement.payments
        ],
        changes=settlement.changes,
    )


def settlement_from_proto(message: score_pb2.Settlement) -> WindSettlement:
    """Return the settlement. Raises ``InvalidMessage`` when it is not one of four winds that sums to zero."""
    changes = tuple(message.changes)
    if len(changes) != 4 or sum(changes) != 0:
        raise InvalidMessage("settlement.changes", f"{changes} are not four changes that add to zero")
    if len(message.scores) != 4:
        raise InvalidMessage("settlement.scores", f"{len(message.scores)} scores instead of four")
    return WindSettlement(
        winner=_wind(message.winner, "settlement.winner"),
        scores=seat_scores_from_proto(message.scores),
        payments=tuple(
            Payment(
                _wind(payment.payer, "settlement.payments.payer"),
                _wind(payment.payee, "settlement.payments.payee"),
                payment.amount,
            )
            for payment in message.payments
        ),
        changes=changes,
    )
