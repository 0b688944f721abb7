"""A winning hand split in one way, as the patterns of hkos-3-v1 look at it.

What decides a score is packed in one integer, the *outline*: fields that add up over the suits, the declared melds and
the circumstances of the win. Groupings that no pattern tells apart have equal outlines, so that few outlines exist and
what is said about one can be kept. ``GroupedHand`` is an outline with its fields named.
"""

from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Final

from libs.mahjong.melds import MeldKind
from libs.mahjong.memo import Memo
from libs.mahjong.scores import WinMethod
from libs.mahjong.shapes import CHOW_GROUP, encode, group_kind, groupings
from libs.mahjong.tiles import (
    EAST,
    FLOWER_KINDS,
    HONOURS,
    IS_SIMPLE,
    KIND_OF,
    MAJOR_KINDS,
    REGULAR_TILES,
    SEASON_KINDS,
    SUIT_OF_KIND,
    Kind,
    Wind,
    is_dragon,
    is_wind,
)

Outline = int

_PARTS: Final = 5
"""Four groups and a pair."""


class _Field:
    """Some bits of an outline."""

    def __init__(self, shift: int, bits: int) -> None:
        self.shift = shift
        self.one = 1 << shift
        self._mask = (1 << bits) - 1

    def of(self, outline: Outline) -> int:
        return outline >> self.shift & self._mask


_SUITS: Final = tuple(_Field(shift, 3) for shift in (0, 3, 6, 9))
"""Groups and pairs in characters, dots, bamboo, honours."""
_SIMPLES: Final = _Field(12, 3)
"""Groups and pairs that hold a simple."""
_PAIRS: Final = _Field(15, 4)
"""Pairs, and two more for every suit that cannot be split, which is too many."""
_CHOWS: Final = _Field(19, 3)
_KONGS: Final = _Field(22, 3)
_DRAGON_PUNGS: Final = _Field(25, 2)
_DRAGON_PAIR: Final = _Field(27, 1)
_WIND_PUNGS: Final = tuple(_Field(shift, 1) for shift in (28, 29, 30, 31))
_WIND_PAIR: Final = _Field(32, 1)
_GATES: Final = _Field(33, 1)
_MAJORS: Final = _Field(34, 6)
"""For every suit that may belong to Thirteen Orphans eight, and one if it has the second tile of a kind."""
_OWN_FLOWER: Final = _Field(40, 1)
_OWN_SEASON: Final = _Field(41, 1)
_FLOWERS: Final = _Field(42, 1)
_SEASONS: Final = _Field(43, 1)
_NO_BONUS: Final = _Field(44, 1)
_SEAT_WIND: Final = _Field(45, 2)
_PREVAILING_WIND: Final = _Field(47, 2)
_METHOD: Final = _Field(49, 3)
_SOURCE: Final = _Field(52, 3)
_CIRCUMSTANCES: Final = _Field(55, 9)
_CHOICES: Final = tuple(_Field(shift, 16) for shift in (64, 80, 96, 112))
"""For each suit that can be split in several ways, which ways these are, as the place in ``_ways``; otherwise 0."""

PREVAILING_WIND_SHIFT: Final = _PREVAILING_WIND.shift
METHOD_SHIFT: Final = _METHOD.shift
CIRCUMSTANCES_SHIFT: Final = _CIRCUMSTANCES.shift
SOURCES: Final[dict[Wind | None, Outline]] = {None: 0, **{wind: (wind + 1) * _SOURCE.one for wind in range(4)}}
"""The outline of the seat from which the winning tile came, by its wind."""

_NO_SPLIT: Final[Outline] = 2 * _PAIRS.one
_ORPHANS: Final = 4 * 8 + 1
_CHOICES_SHIFT: Final = _CHOICES[0].shift
_ways: Final[dict[tuple[Outline, ...], int]] = {(): 0}
_ways_by_number: Final[list[tuple[Outline, ...]]] = [()]

_NINE_GATES_CODE: Final = encode((0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8))[0]
_NINE_GATES: Final = frozenset(_NINE_GATES_CODE + encode((rank,))[0] for rank in range(9))
"""The codes of 1112345678999 with any tile of the suit."""


@dataclass(frozen=True, slots=True)
class GroupedHand:
    """One grouping of a hand with the circumstances of the win."""

    suits: tuple[int, int, int]
    """How many groups and pairs are of characters, dots, bamboo."""
    honours: int
    """How many groups and pairs are of honours."""
    simples: int
    """How many groups and pairs hold a simple."""
    pairs: int
    chows: int
    kongs: int
    dragon_pungs: int
    """Pungs and kongs of dragons."""
    dragon_pair: bool
    wind_pungs: tuple[int, int, int, int]
    """Pungs and kongs of each wind."""
    wind_pair: bool
    gates: bool
    """The concealed tiles are 1112345678999 and one more of the suit."""
    orphans: bool
    """The hand is Thirteen Orphans, which has no groups."""
    own_flower: bool
    own_season: bool
    all_flowers: bool
    all_seasons: bool
    no_bonus: bool
    seat_wind: Wind
    prevailing_wind: Wind
    method: WinMethod
    source: Wind | None
    circumstances: int

    @property
    def complete(self) -> bool:
        """Whether this is a winning shape (§1.6); a concealed kong yields to Thirteen Orphans only (§1.5)."""
        if self.orphans:
            return True
        whole = sum(self.suits) + self.honours == _PARTS and self.pairs == 1
        return whole and self.method is not WinMethod.ROBBED_CONCEALED_KONG


def grouped_hand(outline: Outline) -> GroupedHand:
    """The hand of an outline without choices."""
    characters, dots, bamboo, honours = (field.of(outline) for field in _SUITS)
    east, south, west, north = (field.of(outline) for field in _WIND_PUNGS)
    return GroupedHand(
        suits=(characters, dots, bamboo),
        honours=honours,
        simples=_SIMPLES.of(outline),
        pairs=_PAIRS.of(outline),
        chows=_CHOWS.of(outline),
        kongs=_KONGS.of(outline),
        dragon_pungs=_DRAGON_PUNGS.of(outline),
        dragon_pair=_DRAGON_PAIR.of(outline) > 0,
        wind_pungs=(east, south, west, north),
        wind_pair=_WIND_PAIR.of(outline) > 0,
        gates=_GATES.of(outline) > 0,
        orphans=_MAJORS.of(outline) == _ORPHANS,
        own_flower=_OWN_FLOWER.of(outline) > 0,
        own_season=_OWN_SEASON.of(outline) > 0,
        all_flowers=_FLOWERS.of(outline) > 0,
        all_seasons=_SEASONS.of(outline) > 0,
        no_bonus=_NO_BONUS.of(outline) > 0,
        seat_wind=_SEAT_WIND.of(outline),
        prevailing_wind=_PREVAILING_WIND.of(outline),
        method=WinMethod(_METHOD.of(outline)),
        source=_SOURCE.of(outline) - 1 if _SOURCE.of(outline) else None,
        circumstances=_CIRCUMSTANCES.of(outline),
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
        second = len(kinds) - len(majors)
        return _NO_SPLIT + ((8 + second) * _MAJORS.one if majors == set(kinds) and second <= 1 else 0)
    number = _ways.setdefault(ways, len(_ways))
    if number == len(_ways_by_number):
        _ways_by_number.append(ways)
    return number * _CHOICES[suit].one


def _splits(kinds: tuple[Kind, ...], suit: int) -> tuple[Outline, ...]:
    """The outlines of all ways to split tiles of one suit."""
    codes = encode(kinds)
    if len(kinds) % 3 == 2:
        gates = _GATES.one if suit != HONOURS and codes[suit] in _NINE_GATES else 0
        found = {_pair(split.pair) + sum(map(_group, split.groups)) + gates for split in groupings(*codes)}
    else:
        # A pair of another suit makes a whole hand of groups alone; it is not counted.
        other = EAST if suit != HONOURS else 0
        found = {sum(map(_group, split.groups)) for split in groupings(*encode((*kinds, other, other)))}
    return tuple(sorted(found))


def choices(outline: Outline) -> tuple[Outline, ...]:
    """The outlines without choices among which this one chooses; itself alone when there is nothing to choose."""
    if outline >> _CHOICES_SHIFT == 0:
        return (outline,)
    rest = outline & (1 << _CHOICES_SHIFT) - 1
    numbers = [field.of(outline) for field in _CHOICES]
    return tuple(rest + sum(ways) for ways in product(*(_ways_by_number[number] for number in numbers if number)))


def _part(kind: Kind) -> Outline:
    return _SUITS[SUIT_OF_KIND[kind]].one


def _pair(kind: Kind) -> Outline:
    outline = _part(kind) + _PAIRS.one
    if is_dragon(kind):
        return outline + _DRAGON_PAIR.one
    if is_wind(kind):
        return outline + _WIND_PAIR.one
    return outline + (_SIMPLES.one if IS_SIMPLE[kind] else 0)


def _pung(kind: Kind) -> Outline:
    outline = _part(kind)
    if is_dragon(kind):
        return outline + _DRAGON_PUNGS.one
    if is_wind(kind):
        return outline + _WIND_PUNGS[kind - EAST].one
    return outline + (_SIMPLES.one if IS_SIMPLE[kind] else 0)


def _group(group: int) -> Outline:
    kind = group_kind(group)
    return _part(kind) + _CHOWS.one + _SIMPLES.one if group >= CHOW_GROUP else _pung(kind)


def _meld(kind: MeldKind, first: Kind) -> Outline:
    if kind is MeldKind.CHOW:
        return _part(first) + _CHOWS.one + _SIMPLES.one
    return _pung(first) + (0 if kind is MeldKind.PUNG else _KONGS.one)


def _bonus(seat_wind: Wind, bonus: tuple[Kind, ...]) -> Outline:
    flowers, seasons = set(FLOWER_KINDS), set(SEASON_KINDS)
    outline = _SEAT_WIND.one * seat_wind
    if FLOWER_KINDS[seat_wind] in bonus:
        outline += _OWN_FLOWER.one
    if SEASON_KINDS[seat_wind] in bonus:
        outline += _OWN_SEASON.one
    if flowers <= set(bonus):
        outline += _FLOWERS.one
    if seasons <= set(bonus):
        outline += _SEASONS.one
    return outline if bonus else outline + _NO_BONUS.one


MELDS: Final[tuple[tuple[Outline, ...], ...]] = (
    (),
    *(tuple(_meld(kind, KIND_OF[tile]) for tile in range(REGULAR_TILES)) for kind in MeldKind),
)
"""The outline of a declared meld by its ``MeldKind`` and its first tile."""

_BONUS_KEPT: Final = 1 << 10
SEAT_AND_BONUS: Final[tuple[Memo[tuple[Kind, ...], Outline], ...]] = tuple(
    Memo(partial(_bonus, wind), _BONUS_KEPT) for wind in range(4)
)
"""The outline of a seat wind with its exposed bonus tiles, by wind and tiles."""
