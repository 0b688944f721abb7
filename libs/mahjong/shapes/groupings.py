"""All ways to split a complete holding into groups and a pair.

A group is a small integer: the kind for a pung, the lowest kind plus ``CHOW_GROUP`` for a chow. Scorers test
``group >= CHOW_GROUP`` and take ``group & (CHOW_GROUP - 1)`` for the lowest kind.
"""

from functools import lru_cache, partial
from typing import Final, NamedTuple, TypeAlias

from libs.mahjong.shapes.encoding import BASE, SUIT_RANKS, UNITS
from libs.mahjong.shapes.tables import GROUPS, GROUPS_AND_PAIR, HONOUR, SUIT
from libs.mahjong.tiles import HONOURS, Kind

CHOW_GROUP: Final = 64
"""Added to the lowest kind of a chow."""


class Grouping(NamedTuple):
    """One way to split a complete holding: the kind of the pair, and the groups.

    The groups are ordered by suit (m p s z), within a suit pungs by kind before chows by kind. Two groupings of one
    holding always differ in the pair or in the groups.
    """

    pair: Kind
    groups: tuple[int, ...]


_Split: TypeAlias = tuple[Kind, tuple[int, ...]]
_NO_PAIR: Final = 0
"""Stands for the pair of a suit without one. As one suit has the pair, the sum over the suits is its kind."""
_SPLITS_KEPT: Final = 1 << 14


def is_chow_group(group: int) -> bool:
    """True for a chow, False for a pung."""
    return group >= CHOW_GROUP


def group_kind(group: int) -> Kind:
    """The kind of a pung, the lowest kind of a chow."""
    return group & (CHOW_GROUP - 1)


def group_kinds(group: int) -> tuple[Kind, Kind, Kind]:
    """The three kinds of a group, ascending."""
    kind = group & (CHOW_GROUP - 1)
    return (kind, kind + 1, kind + 2) if group >= CHOW_GROUP else (kind, kind, kind)


def groupings(m: int, p: int, s: int, z: int) -> tuple[Grouping, ...]:
    """All distinct ways to split the concealed tiles into groups and exactly one pair, in a fixed order.

    Empty when there is none; in particular for Thirteen Orphans and for seven pairs that are nothing else.
    """
    if SUIT[m] * SUIT[p] * SUIT[s] * HONOUR[z] != GROUPS_AND_PAIR:
        return ()
    characters, dots, bamboo, honours = _characters(m), _dots(p), _bamboo(s), _honours(z)
    if len(characters) == len(dots) == len(bamboo) == len(honours) == 1:
        ((pair_m, groups_m),), ((pair_p, groups_p),) = characters, dots
        ((pair_s, groups_s),), ((pair_z, groups_z),) = bamboo, honours
        return (Grouping(pair_m + pair_p + pair_s + pair_z, groups_m + groups_p + groups_s + groups_z),)
    return tuple(
        Grouping(pair_m + pair_p + pair_s + pair_z, groups_m + groups_p + groups_s + groups_z)
        for pair_m, groups_m in characters
        for pair_p, groups_p in dots
        for pair_s, groups_s in bamboo
        for pair_z, groups_z in honours
    )


def _splits(suit: int, code: int) -> tuple[_Split, ...]:
    """The ways to split one suit whose status is ``GROUPS`` or ``GROUPS_AND_PAIR``."""
    status = HONOUR if suit == HONOURS else SUIT
    found: set[_Split] = set()
    _split(code, suit * SUIT_RANKS, suit != HONOURS, status[code] == GROUPS, _NO_PAIR, (), found)
    return tuple(sorted(found))


_characters = lru_cache(_SPLITS_KEPT)(partial(_splits, 0))
_dots = lru_cache(_SPLITS_KEPT)(partial(_splits, 1))
_bamboo = lru_cache(_SPLITS_KEPT)(partial(_splits, 2))
_honours = lru_cache(_SPLITS_KEPT)(partial(_splits, 3))


def _split(
    code: int, first_kind: Kind, runs: bool, paired: bool, pair: Kind, groups: tuple[int, ...], found: set[_Split]
) -> None:
    """Take the lowest tile in every way it can be used; ``paired`` when no (other) pair is wanted."""
    if code == 0:
        found.add((pair, tuple(sorted(groups))))
        return
    rank = next(rank for rank in range(SUIT_RANKS) if code // UNITS[rank] % BASE)
    unit, kind = UNITS[rank], first_kind + rank
    copies = code // unit % BASE
    if copies >= 3:
        _split(code - 3 * unit, first_kind, runs, paired, pair, (*groups, kind), found)
    if copies >= 2 and not paired:
        _split(code - 2 * unit, first_kind, runs, True, kind, groups, found)
    if runs and rank <= SUIT_RANKS - 3 and code // UNITS[rank + 1] % BASE and code // UNITS[rank + 2] % BASE:
        run = unit + UNITS[rank + 1] + UNITS[rank + 2]
        _split(code - run, first_kind, runs, paired, pair, (*groups, kind + CHOW_GROUP), found)
