"""From a win to its faan and payments (hkos-3-v1 §1.6, §1.8, §1.10)."""

from functools import lru_cache
from typing import Final

from libs.mahjong.scores import (
    HandScore,
    Holding,
    ScoreItem,
    Unit,
    WindSettlement,
    WinMethod,
    WinSituation,
    sum_payments,
)
from libs.mahjong.tiles import Wind
from libs.mahjong.variants.hkos.grouped import declared_hand, grouped_hands
from libs.mahjong.variants.hkos.patterns import PATTERNS, SECURED, SUPERSEDES, PatternClass
from libs.mahjong.variants.hkos.payments import CAP, MINIMUM, payments

NO_WIN: Final = HandScore(legal=False, total=0, value=0, items=(), complete=False)
"""The score of tiles that are no winning shape."""

_DIGIT: Final = 2
"""Bits in a tally for the count of one pattern, 0..3."""
_NO_TALLY: Final = -1
_COUNTS: Final = tuple((place * _DIGIT, pattern.count) for place, pattern in enumerate(PATTERNS))


def score(situation: WinSituation) -> HandScore:
    """The score of the grouping with the highest total; groupings are never mixed [A35].

    Not ``legal`` below 3 faan, counted before the cap and with every bonus; not ``complete`` when the tiles are no
    winning shape.
    """
    return _score_of_tally(_best_tally(situation))


def certain(seat_wind: Wind, prevailing_wind: Wind, holding: Holding) -> tuple[ScoreItem, ...]:
    """The patterns that declared melds and bonus tiles secure; §1.8 is applied among them."""
    hand = declared_hand(WinSituation(seat_wind, prevailing_wind, holding, None, WinMethod.DISCARD))
    tally = 0
    for place, pattern in enumerate(PATTERNS):
        if pattern.id in SECURED:
            tally |= pattern.count(hand) << place * _DIGIT
    return _score_of_tally(tally).items


def settle(situation: WinSituation) -> WindSettlement:
    """The payments of a win. Raises ``ValueError`` when the win is not legal or its source does not fit the method."""
    tally = _best_tally(situation)
    worth = _score_of_tally(tally)
    if not worth.legal:
        raise ValueError(f"no legal win: {worth.total} faan, {MINIMUM} are needed")
    winner, source = situation.seat_wind, situation.source
    if (source is None) is not (situation.method is WinMethod.SELF_DRAW) or source == winner:
        raise ValueError(f"a win by {situation.method.name} cannot have the source {source}")
    return _settlement(winner, source, tally)


def _best_tally(situation: WinSituation) -> int:
    """The counts of all patterns in the grouping that is worth most; ``_NO_TALLY`` when there is none."""
    best, best_total = _NO_TALLY, -1
    for hand in grouped_hands(situation):
        tally = 0
        for shift, count in _COUNTS:
            tally |= count(hand) << shift
        total = _score_of_tally(tally).total
        if total > best_total:
            best, best_total = tally, total
    return best


@lru_cache(maxsize=1 << 12)
def _score_of_tally(tally: int) -> HandScore:
    """The score for the counts of all patterns, after one pattern has superseded another (§1.8)."""
    if tally == _NO_TALLY:
        return NO_WIN
    counts = {
        pattern.id: tally >> place * _DIGIT & (1 << _DIGIT) - 1
        for place, pattern in enumerate(PATTERNS)
        if tally >> place * _DIGIT & (1 << _DIGIT) - 1
    }
    removed: frozenset[str] = frozenset()
    limit: str | None = None
    for pattern in PATTERNS:
        if pattern.id in counts and pattern.id not in removed:
            removed |= SUPERSEDES.get(pattern.id, frozenset())
            if pattern.cls is PatternClass.LIMIT:
                limit = pattern.id
    items = tuple(
        ScoreItem(pattern.id, pattern.name, pattern.faan, Unit.FAAN)
        for pattern in PATTERNS
        if pattern.id not in removed
        for _ in range(counts.get(pattern.id, 0))
    )
    total = sum(item.amount for item in items)
    return HandScore(total >= MINIMUM, total, min(total, CAP), items, limit, complete=True)


@lru_cache(maxsize=1 << 12)
def _settlement(winner: Wind, source: Wind | None, tally: int) -> WindSettlement:
    worth = _score_of_tally(tally)
    paid = payments(winner, source, worth.value)
    scores = tuple(worth if wind == winner else None for wind in range(4))
    return WindSettlement(winner, scores, paid, sum_payments(paid))
