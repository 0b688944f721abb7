"""From a win to its faan and payments (hkos-3-v1 §1.6, §1.8, §1.10).

The hot path turns a situation into an outline with lookups and additions only. What an outline is worth, and what is
paid for it, is worked out from the patterns once and kept.
"""

from bisect import bisect_left
from typing import Final

from libs.mahjong.memo import Memo
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
from libs.mahjong.variants.hkos.grouped import (
    CIRCUMSTANCES_SHIFT,
    MELDS,
    METHOD_SHIFT,
    PREVAILING_WIND_SHIFT,
    SEAT_AND_BONUS,
    SOURCES,
    GroupedHand,
    Outline,
    choices,
    grouped_hand,
    suit_outline,
)
from libs.mahjong.variants.hkos.patterns import PATTERNS, SECURED, SUPERSEDES, Pattern, PatternClass
from libs.mahjong.variants.hkos.payments import CAP, MINIMUM, payments

NO_WIN: Final = HandScore(legal=False, total=0, value=0, items=(), complete=False)
"""The score of tiles that are no winning shape."""

_ITEMS: Final = {pattern.id: ScoreItem(pattern.id, pattern.name, pattern.faan, Unit.FAAN) for pattern in PATTERNS}
_SUITS_KEPT: Final = 1 << 14
_OUTLINES_KEPT: Final = 1 << 13


def score(situation: WinSituation) -> HandScore:
    """The score of the grouping with the highest total; groupings are never mixed [A35].

    Not ``legal`` below 3 faan, counted before the cap and with every bonus; not ``complete`` when the tiles are no
    winning shape. ``ValueError`` when the concealed kinds are not sorted.
    """
    return _SCORES[_outline(situation)]


def settle(situation: WinSituation) -> WindSettlement:
    """The payments of a win. Raises ``ValueError`` when the win is not legal or its source does not fit the method."""
    return _SETTLEMENTS[_outline(situation)]


def certain(seat_wind: Wind, prevailing_wind: Wind, holding: Holding) -> tuple[ScoreItem, ...]:
    """The patterns that declared melds and bonus tiles secure; §1.8 is applied among them."""
    outline = SEAT_AND_BONUS[seat_wind][holding.bonus] + (prevailing_wind << PREVAILING_WIND_SHIFT)
    outline += sum(MELDS[meld.kind][meld.tiles[0]] for meld in holding.melds)
    hand = grouped_hand(outline + (WinMethod.DISCARD << METHOD_SHIFT))
    return _itemised(hand, tuple(pattern for pattern in PATTERNS if pattern.id in SECURED))[0]


def clear_memory() -> None:
    """Forget everything that was worked out, for measuring from a cold start."""
    for memo in (_SUITS, _SCORES, _SETTLEMENTS):
        memo.clear()


def _outline(situation: WinSituation) -> Outline:
    """The outline of the winner's tiles and of the win."""
    holding = situation.holding
    concealed = holding.concealed
    dots, bamboo, honours = bisect_left(concealed, 9), bisect_left(concealed, 18), bisect_left(concealed, 27)
    m, p, s, z = concealed[:dots], concealed[dots:bamboo], concealed[bamboo:honours], concealed[honours:]
    winning = situation.winning
    if winning is not None:
        if winning < 9:
            m += (winning,)
        elif winning < 18:
            p += (winning,)
        elif winning < 27:
            s += (winning,)
        else:
            z += (winning,)
    outline = (
        _SUITS[m]
        + _SUITS[p]
        + _SUITS[s]
        + _SUITS[z]
        + SEAT_AND_BONUS[situation.seat_wind][holding.bonus]
        + SOURCES[situation.source]
        + (situation.prevailing_wind << PREVAILING_WIND_SHIFT)
        + (situation.method << METHOD_SHIFT)
        + (situation.circumstances << CIRCUMSTANCES_SHIFT)
    )
    for meld in holding.melds:
        outline += MELDS[meld.kind][meld.tiles[0]]
    return outline


def _score_of(outline: Outline) -> HandScore:
    splits = choices(outline)
    if len(splits) > 1:
        return max((_SCORES[split] for split in splits), key=lambda worth: worth.total)
    hand = grouped_hand(outline)
    if not hand.complete:
        return NO_WIN
    items, limit = _itemised(hand, PATTERNS)
    total = sum(item.amount for item in items)
    return HandScore(total >= MINIMUM, total, min(total, CAP), items, limit, complete=True)


def _itemised(hand: GroupedHand, patterns: tuple[Pattern, ...]) -> tuple[tuple[ScoreItem, ...], str | None]:
    """The patterns of a hand after one has superseded another (§1.8), and the id of the limit that decides."""
    counts = {pattern.id: count for pattern in patterns if (count := int(pattern.count(hand)))}
    removed: set[str] = set()
    limit: str | None = None
    for pattern in patterns:
        if pattern.id in counts and pattern.id not in removed:
            removed |= SUPERSEDES.get(pattern.id, frozenset())
            if pattern.cls is PatternClass.LIMIT:
                limit = pattern.id
    items = tuple(_ITEMS[name] for name, count in counts.items() if name not in removed for _ in range(count))
    return items, limit


def _settlement_of(outline: Outline) -> WindSettlement:
    worth, hand = _SCORES[outline], grouped_hand(choices(outline)[0])
    if not worth.legal:
        raise ValueError(f"no legal win: {worth.total} faan, {MINIMUM} are needed")
    winner, source = hand.seat_wind, hand.source
    if (source is None) is not (hand.method is WinMethod.SELF_DRAW) or source == winner:
        raise ValueError(f"a win by {hand.method.name} cannot have the source {source}")
    paid = payments(winner, source, worth.value)
    scores = tuple(worth if wind == winner else None for wind in range(4))
    return WindSettlement(winner, scores, paid, sum_payments(paid))


_SUITS: Final = Memo(suit_outline, _SUITS_KEPT)
_SCORES: Final = Memo(_score_of, _OUTLINES_KEPT)
_SETTLEMENTS: Final = Memo(_settlement_of, _OUTLINES_KEPT)
