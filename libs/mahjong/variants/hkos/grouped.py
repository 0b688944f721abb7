"""A winning hand split in one way, as the patterns of hkos-3-v1 look at it.

What decides a score is packed in two small integers. The *outline* says what the tiles are: flags that are joined by
``|`` over the suits and the declared melds. The *occasion* says how the hand was won. Groupings that no pattern tells
apart have equal outlines, so few outlines and occasions exist, and what is said about one can be kept. ``GroupedTiles``
and ``Win`` are outline and occasion with their flags named.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Final, TypeAlias

from libs.mahjong.melds import MeldKind
from libs.mahjong.memo import Memo
from libs.mahjong.scores import Circumstance, WinMethod
from libs.mahjong.shapes import CHOW_GROUP, encode, group_kind, groupings
from libs.mahjong.tiles import (
    EAST,
    FLOWER_KINDS,
    HONOURS,
    IS_SIMPLE,
    KIND_OF,
    MAJOR_KINDS,
    RED,
    REGULAR_TILES,
    SEASON_KINDS,
    SUIT_OF_KIND,
    Kind,
    Wind,
    is_dragon,
    is_wind,
)

Outline: TypeAlias = int
Occasion: TypeAlias = int

WIND_PUNGS: Final[Outline] = 0b1111
"""The pungs and kongs of the four winds; ``KNOWN_WINDS`` puts what they are to the winner in their place."""
_THREE_WINDS, _FOUR_WINDS, _SEAT_WIND, _PREVAILING_WIND = (1 << bit for bit in range(4))

_SUIT = tuple(1 << bit for bit in range(4, 8))
"""There are tiles of characters, dots, bamboo, honours."""
_PAIR = tuple(1 << bit for bit in range(8, 12))
"""There is a pair of that suit; a winning hand has one such flag."""
_MAJORS = tuple(1 << bit for bit in range(12, 16))
"""The suit's tiles are such that they may belong to Thirteen Orphans."""
_DRAGON_PUNG = tuple(1 << bit for bit in range(16, 19))
_SIMPLE, _CHOW, _PUNG, _NO_KONG, _DRAGON_PAIR, _WIND_PAIR, _GATES = (1 << bit for bit in range(19, 26))
INCOMPLETE: Final[Outline] = 1 << 26
"""Some tiles cannot be split."""
_FLAG_BITS: Final = 27
_CHOICE_BITS: Final = 16
"""Above the flags each suit has the place of its ways in ``_ways`` when it can be split in several; otherwise 0."""

_ways: Final[dict[tuple[Outline, ...], int]] = {(): 0}
_ways_by_number: Final[list[tuple[Outline, ...]]] = [()]

METHOD: Final[Occasion] = 0b111
"""The ``WinMethod``."""
_OWN_FLOWER, _OWN_SEASON, _FLOWERS, _SEASONS, _NO_BONUS = (1 << bit for bit in range(3, 8))
SEAT_WIND_SHIFT: Final = 8
SOURCE_SHIFT: Final = 10
"""Where a settlement, not a score, has the seat that the winning tile came from: its wind + 1; 0 for none."""
SOURCE: Final = 0b111 << SOURCE_SHIFT
CIRCUMSTANCES_SHIFT: Final = 13
OCCASION_BITS: Final = CIRCUMSTANCES_SHIFT + max(Circumstance).bit_length()

_NINE_GATES_CODE: Final = encode((0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8))[0]
_NINE_GATES: Final = frozenset(_NINE_GATES_CODE + encode((rank,))[0] for rank in range(9))
"""The codes of 1112345678999 with any tile of the suit."""


@dataclass(frozen=True, slots=True)
class GroupedTiles:
    """The tiles of a hand in one grouping. A kong is a pung, too."""

    suits: int
    """How many of the three suits there are."""
    honours: bool
    simples: bool
    chows: bool
    pungs: bool
    only_kongs: bool
    """Every group is a declared kong."""
    dragon_pungs: int
    dragon_pair: bool
    seat_wind: bool
    """There is a pung of the winner's wind."""
    prevailing_wind: bool
    """There is a pung of the round's wind."""
    wind_pungs: int
    """How many pungs of winds there are, if at least three; otherwise 0."""
    wind_pair: bool
    gates: bool
    """The tiles are 1112345678999 and one more of the suit, all concealed."""
    orphans: bool
    """The hand is Thirteen Orphans, which has no groups."""
    complete: bool
    """The hand is a winning shape (§1.6)."""


@dataclass(frozen=True, slots=True)
class Win:
    """How a hand was won, and the exposed bonus tiles."""

    method: WinMethod
    circumstances: Circumstance
    seat_wind: Wind
    own_flower: bool
    own_season: bool
    all_flowers: bool
    all_seasons: bool
    no_bonus: bool


def grouped_tiles(outline: Outline) -> GroupedTiles:
    """The tiles of an outline that has known winds and leaves no choice."""

    def has(flag: int) -> bool:
        return outline & flag > 0

    orphans = all(map(has, _MAJORS))
    return GroupedTiles(
        suits=sum(map(has, _SUIT[:HONOURS])),
        honours=has(_SUIT[HONOURS]),
        simples=has(_SIMPLE),
        chows=has(_CHOW),
        pungs=has(_PUNG),
        only_kongs=not orphans and not has(_NO_KONG),
        dragon_pungs=sum(map(has, _DRAGON_PUNG)),
        dragon_pair=has(_DRAGON_PAIR),
        seat_wind=has(_SEAT_WIND),
        prevailing_wind=has(_PREVAILING_WIND),
        wind_pungs=4 if has(_FOUR_WINDS) else 3 if has(_THREE_WINDS) else 0,
        wind_pair=has(_WIND_PAIR),
        gates=has(_GATES),
        orphans=orphans,
        complete=orphans or (not has(INCOMPLETE) and sum(map(has, _PAIR)) == 1),
    )


def win_of(occasion: Occasion) -> Win:
    """The win of an occasion."""
    return Win(
        method=WinMethod(occasion & METHOD),
        circumstances=Circumstance(occasion >> CIRCUMSTANCES_SHIFT),
        seat_wind=occasion >> SEAT_WIND_SHIFT & 0b11,
        own_flower=occasion & _OWN_FLOWER > 0,
        own_season=occasion & _OWN_SEASON > 0,
        all_flowers=occasion & _FLOWERS > 0,
        all_seasons=occasion & _SEASONS > 0,
        no_bonus=occasion & _NO_BONUS > 0,
    )


def suit_outline(kinds: tuple[Kind, ...]) -> Outline:
    """The outline of the concealed tiles of one suit, in any order; of tiles that can be split in several ways the
    choice between them.

    Raises ``ValueError`` when they are of several suits, or more than the set has.
    """
    if not kinds:
        return 0
    suit = SUIT_OF_KIND[kinds[0]]
    if any(SUIT_OF_KIND[kind] != suit for kind in kinds):
        raise ValueError(f"the concealed kinds {kinds} are not sorted")
    ways = _splits(kinds, suit)
    if len(ways) == 1:
        return ways[0]
    if not ways:
        majors = {kind for kind in MAJOR_KINDS if SUIT_OF_KIND[kind] == suit}
        return INCOMPLETE | (_MAJORS[suit] if majors == set(kinds) else 0)
    number = _ways.setdefault(ways, len(_ways))
    if number == len(_ways_by_number):
        _ways_by_number.append(ways)
    return number << _FLAG_BITS + _CHOICE_BITS * suit


def choices(outline: Outline) -> tuple[Outline, ...]:
    """The outlines without choices among which this one chooses; itself alone when there is nothing to choose."""
    if outline >> _FLAG_BITS == 0:
        return (outline,)
    flags = outline & (1 << _FLAG_BITS) - 1
    numbers = [outline >> _FLAG_BITS + _CHOICE_BITS * suit & (1 << _CHOICE_BITS) - 1 for suit in range(4)]
    ways = product(*(_ways_by_number[number] for number in numbers if number))
    return tuple(_joined((flags, *way)) for way in ways)


def _splits(kinds: tuple[Kind, ...], suit: int) -> tuple[Outline, ...]:
    """The outlines of all ways to split tiles of one suit."""
    codes = encode(kinds)
    if len(kinds) % 3 == 2:
        gates = _GATES if suit != HONOURS and codes[suit] in _NINE_GATES else 0
        found = {_joined((_pair(split.pair), gates, *map(_group, split.groups))) for split in groupings(*codes)}
    else:
        # A pair of another suit makes a whole hand of groups alone; it is not counted.
        other = EAST if suit != HONOURS else 0
        found = {_joined(map(_group, split.groups)) for split in groupings(*encode((*kinds, other, other)))}
    return tuple(sorted(found))


def _joined(outlines: Iterable[Outline]) -> Outline:
    whole = 0
    for outline in outlines:
        whole |= outline
    return whole


def _pair(kind: Kind) -> Outline:
    suit = SUIT_OF_KIND[kind]
    outline = _SUIT[suit] | _PAIR[suit]
    if suit != HONOURS:
        return outline | (_SIMPLE if IS_SIMPLE[kind] else 0)
    return outline | (_DRAGON_PAIR if is_dragon(kind) else _WIND_PAIR)


def _pung(kind: Kind) -> Outline:
    outline = _SUIT[SUIT_OF_KIND[kind]] | _PUNG
    if is_wind(kind):
        return outline | 1 << kind - EAST
    if is_dragon(kind):
        return outline | _DRAGON_PUNG[kind - RED]
    return outline | (_SIMPLE if IS_SIMPLE[kind] else 0)


def _chow(first: Kind) -> Outline:
    return _SUIT[SUIT_OF_KIND[first]] | _CHOW | _SIMPLE


def _group(group: int) -> Outline:
    kind = group_kind(group)
    return _NO_KONG | (_chow(kind) if group >= CHOW_GROUP else _pung(kind))


def _meld(sort: MeldKind, first: Kind) -> Outline:
    if sort is MeldKind.CHOW:
        return _NO_KONG | _chow(first) if SUIT_OF_KIND[first] != HONOURS else 0
    return _pung(first) | (_NO_KONG if sort is MeldKind.PUNG else 0)


def _known_winds(seat_wind: Wind, prevailing_wind: Wind, pungs: Outline) -> Outline:
    return (
        (_SEAT_WIND if pungs >> seat_wind & 1 else 0)
        | (_PREVAILING_WIND if pungs >> prevailing_wind & 1 else 0)
        | {3: _THREE_WINDS, 4: _FOUR_WINDS}.get(pungs.bit_count(), 0)
    )


def _seat_and_bonus(seat_wind: Wind, bonus: tuple[Kind, ...]) -> Occasion:
    held = set(bonus)
    flags = {
        _OWN_FLOWER: FLOWER_KINDS[seat_wind] in held,
        _OWN_SEASON: SEASON_KINDS[seat_wind] in held,
        _FLOWERS: held.issuperset(FLOWER_KINDS),
        _SEASONS: held.issuperset(SEASON_KINDS),
        _NO_BONUS: not held,
    }
    return seat_wind << SEAT_WIND_SHIFT | _joined(flag for flag, is_set in flags.items() if is_set)


MELDS: Final[tuple[tuple[Outline, ...], ...]] = (
    (),
    *(tuple(_meld(sort, KIND_OF[tile]) for tile in range(REGULAR_TILES)) for sort in MeldKind),
)
"""The outline of a declared meld by its ``MeldKind`` and its first tile."""

KNOWN_WINDS: Final = tuple(
    tuple(tuple(_known_winds(seat, prevailing, pungs) for pungs in range(16)) for prevailing in range(4))
    for seat in range(4)
)
"""What to put in the place of ``WIND_PUNGS``, by seat wind, prevailing wind and those pungs."""

_BONUS_KEPT: Final = 1 << 10
SEAT_AND_BONUS: Final[tuple[Memo[tuple[Kind, ...], Occasion], ...]] = tuple(
    Memo(partial(_seat_and_bonus, wind), _BONUS_KEPT) for wind in range(4)
)
"""The part of an occasion that the seat wind and the exposed bonus tiles make, by wind and tiles."""
