"""From tiles to points and doubles (classical §2.6 to §2.9).

What decides a score is packed in a key that is quick to build and to compare; what was worked out for one is kept, as
the engine, the settlement and the players ask for the same hands again and again.
"""

from collections.abc import Iterable
from typing import Final

from libs.mahjong.memo import Memo
from libs.mahjong.scores import Circumstance, HandScore, Holding, ScoreItem, Unit, WinMethod, WinSituation
from libs.mahjong.shapes import KindMask, encode, mask_of, shape_waits
from libs.mahjong.tiles import Kind, Wind
from libs.mahjong.variants.classical import doubles, points
from libs.mahjong.variants.classical.hands import MELD_NUMBERS, Win, WonTiles, counted, group_of, wins
from libs.mahjong.variants.classical.limits import LIMIT, LIMITS, limit_of

NO_WIN: Final = HandScore(legal=False, total=0, value=0, items=(), complete=False)
"""The score of tiles that are no winning hand."""

_PREVAILING_SHIFT: Final = 3
_SEAT_SHIFT: Final = 5
_ONE_CHANCE: Final = 1 << 7
_CIRCUMSTANCES_SHIFT: Final = 8
_KEPT: Final = 1 << 13

_WonKey = tuple[tuple[Kind, ...], tuple[int, ...], tuple[Kind, ...], Kind | None, int]
"""The concealed tiles, the numbers of the melds, the bonus tiles, the winning tile, and how the hand was won."""
_OtherKey = tuple[tuple[Kind, ...], tuple[int, ...], tuple[Kind, ...], Wind, Wind]
"""The concealed tiles, the numbers of the melds, the bonus tiles, the seat wind and the prevailing wind."""


def score(situation: WinSituation) -> HandScore:
    """The score of the arrangement with the highest total, the winning tile standing where it is worth most (B8).

    Every winning hand is legal. ``total`` is what points and doubles make before the cap; a limit hand has one item,
    its limit.
    """
    return _SCORES[_key(situation)]


def other_score(holding: Holding, seat_wind: Wind, prevailing_wind: Wind) -> HandScore:
    """The score of a seat that did not win: points and doubles for everybody, no limit pattern, the same cap (B25)."""
    melds = tuple([MELD_NUMBERS[meld.kind][meld.tiles[0]] for meld in holding.melds])
    return _OTHERS[holding.concealed, melds, holding.bonus, seat_wind, prevailing_wind]


def certain(seat_wind: Wind, prevailing_wind: Wind, holding: Holding) -> tuple[ScoreItem, ...]:
    """The points and doubles that declared melds and bonus tiles have by themselves."""
    return other_score(Holding((), holding.melds, holding.bonus), seat_wind, prevailing_wind).items


def clear_memory() -> None:
    """Forget everything that was worked out, for measuring from a cold start."""
    for memo in (_WAITS, _SCORES, _OTHERS):
        memo.clear()


def _key(situation: WinSituation) -> _WonKey:
    holding, winning, exhausted = situation.holding, situation.winning, situation.exhausted
    concealed = holding.concealed
    how = (
        situation.method
        | situation.prevailing_wind << _PREVAILING_SHIFT
        | situation.seat_wind << _SEAT_SHIFT
        | situation.circumstances << _CIRCUMSTANCES_SHIFT
    )
    if winning is not None:
        waits = _WAITS[concealed]
        if exhausted:
            waits = waits & ~mask_of(exhausted) | 1 << winning
        if waits & (waits - 1) == 0:
            how |= _ONE_CHANCE
    melds = tuple([MELD_NUMBERS[meld.kind][meld.tiles[0]] for meld in holding.melds])
    return concealed, melds, holding.bonus, winning, how


def _waits(concealed: tuple[Kind, ...]) -> KindMask:
    """The kinds that complete the tiles by shape, a fifth copy of an own kind among them (B9)."""
    return shape_waits(*encode(concealed))


def _score_of(key: _WonKey) -> HandScore:
    concealed, melds, bonus, winning, how = key
    won = WonTiles(
        concealed,
        tuple(map(group_of, melds)),
        bonus,
        seat_wind=how >> _SEAT_SHIFT & 0b11,
        prevailing_wind=how >> _PREVAILING_SHIFT & 0b11,
        winning=winning,
        method=WinMethod(how & 0b111),
        circumstances=Circumstance(how >> _CIRCUMSTANCES_SHIFT),
        one_chance=bool(how & _ONE_CHANCE),
    )
    arrangements = tuple(wins(won))
    if not arrangements:
        return NO_WIN
    return _limit_score(arrangements) or max(map(_arranged_score, arrangements), key=_total)


def _limit_score(arrangements: tuple[Win, ...]) -> HandScore | None:
    """The score of the first limit in the table that an arrangement has, if one has any."""
    found = {limit for win in arrangements if (limit := limit_of(win))}
    if not found:
        return None
    limit = min(found, key=LIMITS.index)
    item = ScoreItem(limit.id, limit.name, LIMIT, Unit.LIMIT)
    return HandScore(legal=True, total=LIMIT, value=LIMIT, items=(item,), limit=limit.id, complete=True)


def _arranged_score(win: Win) -> HandScore:
    return _worth(points.winner(win), doubles.winner(win), won=True)


def _other_score(key: _OtherKey) -> HandScore:
    concealed, melds, bonus, seat_wind, prevailing_wind = key
    tiles = counted(concealed, tuple(map(group_of, melds)), bonus, seat_wind, prevailing_wind)
    return _worth(points.non_winner(tiles), doubles.non_winner(tiles), won=False)


def _worth(base: Iterable[ScoreItem], doubled: tuple[ScoreItem, ...], won: bool) -> HandScore:
    """Base × 2^doubles, at most the limit (§2.7)."""
    items = (*base, *doubled)
    total = sum(item.amount for item in items if item.unit is Unit.POINTS) << sum(item.amount for item in doubled)
    return HandScore(legal=won, total=total, value=min(total, LIMIT), items=items, complete=won)


def _total(score_: HandScore) -> int:
    return score_.total


_WAITS: Final[Memo[tuple[Kind, ...], KindMask]] = Memo(_waits, _KEPT)
_SCORES: Final[Memo[_WonKey, HandScore]] = Memo(_score_of, _KEPT)
_OTHERS: Final[Memo[_OtherKey, HandScore]] = Memo(_other_score, _KEPT)
