"""From a win to its faan and payments (hkos-3-v1 §1.6, §1.8, §1.10).

The hot path turns a situation into an outline and an occasion with lookups alone. Which patterns these have, and what
is paid for the two together, is worked out once and kept.
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
)
from libs.mahjong.tiles import Kind, Wind
from libs.mahjong.variants.hkos.grouped import (
    CIRCUMSTANCES_SHIFT,
    INCOMPLETE,
    KNOWN_WINDS,
    MELDS,
    METHOD,
    OCCASION_BITS,
    SEAT_AND_BONUS,
    SEAT_WIND_SHIFT,
    SOURCE,
    SOURCE_SHIFT,
    WIND_PUNGS,
    Occasion,
    Outline,
    choices,
    grouped_tiles,
    suit_outline,
    win_of,
)
from libs.mahjong.variants.hkos.patterns import (
    PATTERNS,
    SECURED,
    SECURED_BY_FOUR_MELDS,
    SUPERSEDES,
    TILE_PATTERNS,
    WIN_PATTERNS,
    PatternClass,
)
from libs.mahjong.variants.hkos.payments import CAP, MINIMUM, payments_and_changes

NO_WIN: Final = HandScore(legal=False, total=0, value=0, items=(), complete=False)
"""The score of tiles that are no winning shape."""

_ITEMS: Final = {pattern.id: ScoreItem(pattern.id, pattern.name, pattern.faan, Unit.FAAN) for pattern in PATTERNS}
_LIMITS: Final = frozenset(pattern.id for pattern in PATTERNS if pattern.cls is PatternClass.LIMIT)
_OCCASION: Final = (1 << OCCASION_BITS) - 1
_SOURCES: Final[dict[Wind | None, Occasion]] = {
    None: 0,
    **{wind: wind + 1 << SOURCE_SHIFT for wind in range(4)},
}
_SUITS_KEPT: Final = 1 << 15
_KEPT: Final = 1 << 13

_NOTHING: Final[frozenset[str]] = frozenset()

_Present = tuple[ScoreItem, ...]
"""The items of all patterns that are there, before one supersedes another."""


def score(situation: WinSituation) -> HandScore:
    """The score of the grouping with the highest total; groupings are never mixed [A35].

    Not ``legal`` below 3 faan, counted before the cap and with every bonus; not ``complete`` when the tiles are no
    winning shape. ``ValueError`` when the concealed kinds are not sorted.
    """
    return _SCORES[_key(situation)]


def settle(situation: WinSituation) -> WindSettlement:
    """The payments of a win. Raises ``ValueError`` when the win is not legal or its source does not fit the method."""
    return _SETTLEMENTS[_key(situation) | _SOURCES[situation.source]]


def certain(seat_wind: Wind, prevailing_wind: Wind, holding: Holding) -> tuple[ScoreItem, ...]:
    """The patterns that declared melds and bonus tiles secure; §1.8 is applied among them."""
    outline = 0
    for meld in holding.melds:
        outline |= MELDS[meld.kind][meld.tiles[0]]
    outline = outline & ~WIND_PUNGS | KNOWN_WINDS[seat_wind][prevailing_wind][outline & WIND_PUNGS]
    secured = SECURED_BY_FOUR_MELDS if len(holding.melds) == 4 else SECURED
    tiles, win = grouped_tiles(outline), win_of(SEAT_AND_BONUS[seat_wind][holding.bonus] | WinMethod.DISCARD)
    present = [_ITEMS[row.id] for row in TILE_PATTERNS if row.id in secured for _ in range(row.count(tiles))]
    present += [_ITEMS[row.id] for row in WIN_PATTERNS if row.id in secured for _ in range(row.count(win))]
    return _remaining(tuple(present))


def clear_memory() -> None:
    """Forget everything that was worked out, for measuring from a cold start."""
    for memo in (_SORTED_SUITS, _SUITS, _TILES, _WINS, _SCORES, _SETTLEMENTS):
        memo.clear()


def _key(situation: WinSituation) -> int:
    """The outline of the winner's tiles above the occasion of the win."""
    holding = situation.holding
    concealed, melds, winning = holding.concealed, holding.melds, situation.winning
    dots, bamboo, honours = bisect_left(concealed, 9), bisect_left(concealed, 18), bisect_left(concealed, 27)
    m = concealed[:dots] if dots else ()
    p = concealed[dots:bamboo] if dots != bamboo else ()
    s = concealed[bamboo:honours] if bamboo != honours else ()
    z = concealed[honours:]
    wanted = 14 - 3 * len(melds)
    if winning is not None:
        wanted -= 1
        if winning < 9:
            m += (winning,)
        elif winning < 18:
            p += (winning,)
        elif winning < 27:
            s += (winning,)
        else:
            z += (winning,)
    outline = _SUITS[m] if m else 0
    if p:
        outline |= _SUITS[p]
    if s:
        outline |= _SUITS[s]
    if z:
        outline |= _SUITS[z]
    for meld in melds:
        outline |= MELDS[meld.kind][meld.tiles[0]]
    if len(concealed) != wanted:
        outline = INCOMPLETE
    seat_wind = situation.seat_wind
    # Of tiles with a choice, no wind is involved: honours are split in one way.
    pungs = outline & WIND_PUNGS
    if pungs:
        outline ^= pungs ^ KNOWN_WINDS[seat_wind][situation.prevailing_wind][pungs]
    return (
        outline << OCCASION_BITS
        | SEAT_AND_BONUS[seat_wind][holding.bonus]
        | situation.method
        | situation.circumstances << CIRCUMSTANCES_SHIFT
    )


def _sorted_suit_outline(kinds: tuple[Kind, ...]) -> Outline:
    """Where the winning tile stands among the tiles makes a new key, but no new outline."""
    return _SORTED_SUITS[tuple(sorted(kinds))]


def _tile_items(outline: Outline) -> _Present | None:
    """The patterns of the tiles in the best grouping; ``None`` when they are no winning shape."""
    found: list[_Present] = []
    for split in choices(outline):
        tiles = grouped_tiles(split)
        if tiles.complete:
            found.append(tuple(_ITEMS[row.id] for row in TILE_PATTERNS for _ in range(row.count(tiles))))
    # The patterns of the win add the same to every grouping, and a limit that is in one is in all.
    return max(found, key=lambda present: _total(_remaining(present)), default=None)


def _win_items(occasion: Occasion) -> _Present:
    win = win_of(occasion)
    return tuple(_ITEMS[row.id] for row in WIN_PATTERNS if row.count(win))


def _remaining(present: _Present) -> tuple[ScoreItem, ...]:
    """What is left after one pattern has superseded another (§1.8)."""
    removed = _NOTHING.union(*[SUPERSEDES[item.pattern] for item in present if item.pattern in SUPERSEDES])
    if not removed:
        return present
    return tuple(item for item in present if item.pattern not in removed)


def _total(items: tuple[ScoreItem, ...]) -> int:
    return sum([item.amount for item in items])


def _score_of(key: int) -> HandScore:
    tiles, win = _TILES[key >> OCCASION_BITS], _WINS[key & _OCCASION]
    if tiles is None:
        return NO_WIN
    if key & METHOD == WinMethod.ROBBED_CONCEALED_KONG and _ITEMS["TO"] not in tiles:
        # A concealed kong yields to Thirteen Orphans only (§1.5).
        return NO_WIN
    items = _remaining(tiles + win)
    total = _total(items)
    limit = next((item.pattern for item in items if item.pattern in _LIMITS), None)
    return HandScore(total >= MINIMUM, total, min(total, CAP), items, limit, complete=True)


def _settlement_of(key: int) -> WindSettlement:
    place, key = (key & SOURCE) >> SOURCE_SHIFT, key & ~SOURCE
    worth = _SCORES[key]
    if not worth.legal:
        raise ValueError(f"no legal win: {worth.total} faan, {MINIMUM} are needed")
    winner, source = key >> SEAT_WIND_SHIFT & 0b11, place - 1 if place else None
    if (source is None) is not (key & METHOD == WinMethod.SELF_DRAW) or source == winner:
        raise ValueError(f"a win by {WinMethod(key & METHOD).name} cannot have the source {source}")
    paid, changes = payments_and_changes(winner, source, worth.value)
    scores = tuple([worth if wind == winner else None for wind in range(4)])
    return WindSettlement(winner, scores, paid, changes)


_SORTED_SUITS: Final = Memo(suit_outline, _SUITS_KEPT)
_SUITS: Final = Memo(_sorted_suit_outline, _SUITS_KEPT)
_TILES: Final = Memo(_tile_items, _KEPT)
_WINS: Final = Memo(_win_items, _KEPT)
_SCORES: Final = Memo(_score_of, _KEPT)
_SETTLEMENTS: Final = Memo(_settlement_of, _KEPT)
