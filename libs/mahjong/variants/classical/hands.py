"""A hand as the points, doubles and limits of classical look at it: groups, pairs, bonus tiles and the win.

``Counted`` is what everybody's tiles count for, whether they win or not; ``Win`` is one arrangement of the winner's
tiles with one place for the winning tile. The arrangements differ in what they are worth (§2.6, B8), so a scorer looks
at all of them.
"""

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from libs.mahjong.melds import Meld, MeldKind
from libs.mahjong.scores import Circumstance, WinMethod
from libs.mahjong.shapes import (
    CHOW_GROUP,
    KindMask,
    encode,
    group_kind,
    group_kinds,
    groupings,
    is_thirteen_orphans,
    mask_of,
)
from libs.mahjong.tiles import (
    DRAGON_KINDS,
    EAST,
    HONOUR_KINDS,
    KIND_OF,
    MAJOR_KINDS,
    REGULAR_KINDS,
    REGULAR_TILES,
    WIND_KINDS,
    Kind,
    Wind,
)

GROUPS: Final = 4

SUITS: Final = tuple(mask_of(range(9 * suit, 9 * suit + 9)) for suit in range(3))
"""The kinds of each of the three suits."""
HONOURS: Final = mask_of(HONOUR_KINDS)
MAJORS: Final = mask_of(MAJOR_KINDS)
DRAGONS: Final = mask_of(DRAGON_KINDS)
WINDS: Final = mask_of(WIND_KINDS)


class Sort(enum.IntEnum):
    """The sorts of groups."""

    CHOW = 0
    PUNG = 1
    KONG = 2


@dataclass(frozen=True, slots=True)
class Group:
    """A group as scored; ``kind`` is the lowest of its kinds.

    ``is_open`` decides the points, ``is_concealed`` whether it counts as concealed for doubles and limits. Only a
    claimed kong is both (B5).
    """

    sort: Sort
    kind: Kind
    is_open: bool
    is_concealed: bool


@dataclass(frozen=True, slots=True)
class Counted:
    """What a seat has that counts: its groups, the kinds of the pungs and kongs among them, and its ``pairs``: the
    winner's, or all concealed pairs of honours of a seat that did not win."""

    seat_wind: Wind
    prevailing_wind: Wind
    groups: tuple[Group, ...]
    pungs: KindMask
    pairs: tuple[Kind, ...]
    bonus: tuple[Kind, ...]

    def has_pung(self, kind: Kind) -> bool:
        """Whether there is a pung or kong of that kind."""
        return self.pungs >> kind & 1 == 1

    def pungs_of(self, kinds: KindMask) -> int:
        """How many of these kinds have a pung or kong."""
        return (self.pungs & kinds).bit_count()

    @property
    def concealed_pungs(self) -> int:
        """Pungs and kongs that count as concealed."""
        return sum(group.is_concealed and group.sort is not Sort.CHOW for group in self.groups)

    def scoring_winds(self) -> tuple[Kind, Kind]:
        """The kinds of the seat's wind and of the round's, which may be the same."""
        return EAST + self.seat_wind, EAST + self.prevailing_wind

    def is_scoring_pair(self, kind: Kind) -> bool:
        """Whether a pair of that kind is worth points (§2.6)."""
        return kind in DRAGON_KINDS or kind in self.scoring_winds()


@dataclass(frozen=True, slots=True)
class Win:
    """A winner's tiles arranged in one way.

    ``kinds`` has all kinds of the hand; ``orphans`` tells that it is Thirteen Orphans, which has no groups; ``gates``
    that it is Nine Gates by shape (B27). ``completes_pair`` tells that the winning tile stands in the pair.
    """

    counted: Counted
    kinds: KindMask
    winning: Kind | None
    method: WinMethod
    circumstances: Circumstance
    one_chance: bool
    completes_pair: bool = False
    orphans: bool = False
    gates: bool = False

    @property
    def self_drawn(self) -> bool:
        """Whether the winner drew the winning tile."""
        return self.method is WinMethod.SELF_DRAW

    @property
    def fully_concealed(self) -> bool:
        """Whether no chow, pung or promoted kong is exposed; claimed kongs are allowed."""
        return all(group.is_concealed for group in self.counted.groups)

    def under(self, circumstance: Circumstance) -> bool:
        """Whether that circumstance goes with the win."""
        return bool(self.circumstances & circumstance)


@dataclass(frozen=True, slots=True)
class WonTiles:
    """All that decides what a winner's tiles are worth; ``melds`` are groups already."""

    concealed: tuple[Kind, ...]
    melds: tuple[Group, ...]
    bonus: tuple[Kind, ...]
    seat_wind: Wind
    prevailing_wind: Wind
    winning: Kind | None
    method: WinMethod
    circumstances: Circumstance
    one_chance: bool


_NINE_GATES_CODE: Final = encode((0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8))[0]
_NINE_GATES: Final = frozenset(_NINE_GATES_CODE + encode((rank,))[0] for rank in range(9))
"""The codes of 1112345678999 with any tile of the suit."""


def meld_group(meld: Meld) -> Group:
    """The group that a declared meld is."""
    return group_of(MELD_NUMBERS[meld.kind][meld.tiles[0]])


def _meld_group(kind: MeldKind, first: Kind) -> Group:
    concealed_kong, claimed_kong = kind is MeldKind.CONCEALED_KONG, kind is MeldKind.CLAIMED_KONG
    if kind is MeldKind.CHOW:
        sort = Sort.CHOW
    else:
        sort = Sort.PUNG if kind is MeldKind.PUNG else Sort.KONG
    return Group(sort, first, is_open=not concealed_kong, is_concealed=concealed_kong or claimed_kong)


_GROUPS: Final = [_meld_group(kind, first) for kind in MeldKind for first in range(REGULAR_KINDS)]
"""The group of every declared meld that there can be."""

MELD_NUMBERS: Final = (
    (),
    *(tuple((kind - 1) * REGULAR_KINDS + KIND_OF[tile] for tile in range(REGULAR_TILES)) for kind in MeldKind),
)
"""A small number for a declared meld by its ``MeldKind`` and its first tile, quick to compare; see ``group_of``."""


def group_of(number: int) -> Group:
    """The group of the meld with that number."""
    return _GROUPS[number]


def wins(tiles: WonTiles) -> Iterator[Win]:
    """Every arrangement of a winner's tiles with every place of the winning tile; none when they are no winning hand.

    A group completed by another seat's tile is open (B3, B4); a chow or the pair that takes the tile leaves the pungs
    concealed. A concealed kong yields to Thirteen Orphans only.
    """
    concealed, winning = tiles.concealed, tiles.winning
    codes = encode(concealed if winning is None else (*concealed, winning))
    kinds = mask_of(concealed) | (0 if winning is None else 1 << winning)
    for meld in tiles.melds:
        kinds |= (0b111 if meld.sort is Sort.CHOW else 1) << meld.kind
    if not tiles.melds and is_thirteen_orphans(*codes):
        yield _win(tiles, kinds, (), (), False, orphans=True)
        return
    if tiles.method is WinMethod.ROBBED_CONCEALED_KONG:
        return
    gates = not tiles.melds and any(code in _NINE_GATES and sum(codes) == code for code in codes[:3])
    self_drawn = tiles.method is WinMethod.SELF_DRAW
    for grouping in groupings(*codes):
        if len(grouping.groups) + len(tiles.melds) != GROUPS:
            continue
        own = [_own_group(number, is_open=False) for number in grouping.groups]
        if self_drawn or grouping.pair == winning:
            yield _win(tiles, kinds, own, (grouping.pair,), grouping.pair == winning, gates=gates)
        if self_drawn:
            continue
        for place, number in enumerate(grouping.groups):
            if winning in group_kinds(number):
                completed = [*own[:place], _own_group(number, is_open=True), *own[place + 1 :]]
                yield _win(tiles, kinds, completed, (grouping.pair,), False, gates=gates)


def counted(
    concealed: tuple[Kind, ...],
    melds: tuple[Group, ...],
    bonus: tuple[Kind, ...],
    seat_wind: Wind,
    prevailing_wind: Wind,
) -> Counted:
    """What a seat that did not win has: melds, concealed pungs of three or four equal tiles, concealed scoring pairs
    and bonus tiles; incomplete groups are nothing, and no tile counts twice (§2.6, B24)."""
    groups = list(melds)
    pairs: list[Kind] = []
    # Pairs of other winds have no points, but may be that of Small Four Winds: every pair of honours is kept.
    for kind in sorted(set(concealed)):
        copies = concealed.count(kind)
        if copies >= 3:
            groups.append(Group(Sort.PUNG, kind, is_open=False, is_concealed=True))
        elif copies == 2 and kind >= EAST:
            pairs.append(kind)
    found = tuple(groups)
    return Counted(seat_wind, prevailing_wind, found, _pungs(found), tuple(pairs), bonus)


def _win(
    tiles: WonTiles,
    kinds: KindMask,
    own: list[Group] | tuple[Group, ...],
    pairs: tuple[Kind, ...],
    completes_pair: bool,
    *,
    orphans: bool = False,
    gates: bool = False,
) -> Win:
    groups = (*tiles.melds, *own)
    return Win(
        Counted(tiles.seat_wind, tiles.prevailing_wind, groups, _pungs(groups), pairs, tiles.bonus),
        kinds,
        tiles.winning,
        tiles.method,
        tiles.circumstances,
        tiles.one_chance,
        completes_pair,
        orphans,
        gates,
    )


@cache
def _own_group(number: int, is_open: bool) -> Group:
    sort = Sort.CHOW if number >= CHOW_GROUP else Sort.PUNG
    return Group(sort, group_kind(number), is_open, not is_open)


def _pungs(groups: tuple[Group, ...]) -> KindMask:
    mask = 0
    for group in groups:
        if group.sort is not Sort.CHOW:
            mask |= 1 << group.kind
    return mask
