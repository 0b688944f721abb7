"""What each suit lacks for every number of groups, with or without a pair; and the sums of that over suits.

The profile of some concealed tiles is their number and, for each number of groups 0..``MOST_GROUPS`` without and with a
pair, how many tiles must be added so that those groups (and the pair) are among the tiles. No kind is used more than
four times. Profiles are interned: a profile is named by a small integer and its values stand in ``VALUES``, so that
adding up suits is a look-up of two names. There are few: 187 for the suit codes of up to 14 tiles, 676 with all sums.

Profiles of codes are worked out when they are first asked for, from two tables of the lower four and the upper five
ranks, and kept.
"""

from array import array
from functools import lru_cache
from typing import Final, TypeAlias

from libs.mahjong.shapes.encoding import BASE, HONOUR_CODES, HONOUR_RANKS, SUIT_CODES, SUIT_RANKS
from libs.mahjong.shapes.tables import MOST_GROUPS
from libs.mahjong.tiles import COPIES

Needs: TypeAlias = tuple[int, ...]
"""Tiles lacking: index ``groups`` without a pair, ``MOST_GROUPS + 1 + groups`` with one. ``NEVER`` when impossible."""

NEVER: Final = 99
WIDTH: Final = MOST_GROUPS + 1
"""Entries of needs without a pair; as many with one follow."""
_NOTHING: Final[Needs] = (NEVER,) * (2 * WIDTH)
_LOW_RANKS: Final = 4
_LOW_CODES: Final = BASE**_LOW_RANKS
_HIGH_CODES: Final = SUIT_CODES // _LOW_CODES

Profile: TypeAlias = tuple[int, Needs]
"""Number of tiles, and needs."""

VALUES: list[Profile] = [(0, _NOTHING)]
"""The profile of each name. Name 0 is no profile: it marks codes that were not asked for yet."""

_NAMES: dict[Profile, int] = {}
_SUIT_PROFILES = array("H", bytes(2 * SUIT_CODES))
_HONOUR_PROFILES = array("H", bytes(2 * HONOUR_CODES))

_SUMS_KEPT: Final = 1 << 17

_Crossing: TypeAlias = tuple[int, int]
"""Chows that start two ranks and one rank below a boundary and go on above it."""

_NO_CROSSING: Final[_Crossing] = (0, 0)


def suit_profile(code: int) -> int:
    """The name of the profile of a suit code."""
    name = _SUIT_PROFILES[code]
    if not name:
        name = _SUIT_PROFILES[code] = _work_out_suit(code)
    return name


def honour_profile(code: int) -> int:
    """The name of the profile of an honours code."""
    name = _HONOUR_PROFILES[code]
    if not name:
        name = _HONOUR_PROFILES[code] = _work_out_honours(code)
    return name


def chows_profile(code: int, honours: bool) -> int:
    """The name of the profile of a code when only chows count as groups; honours then give the pair alone."""
    key = code << 1 | honours
    name = _CHOWS_PROFILES.get(key)
    if name is None:
        if len(_CHOWS_PROFILES) >= _SUMS_KEPT:
            _CHOWS_PROFILES.clear()
        if honours:
            needs = _walk(code, 0, HONOUR_RANKS, _NO_CROSSING, runs=False, pungs=False)[_NO_CROSSING]
            name = _name_of((_size(code), needs))
        else:
            name = _work_out_suit(code, pungs=False)
        _CHOWS_PROFILES[key] = name
    return name


def sum_of(first: int, second: int) -> int:
    """The name of the profile of two suits together, each given by its name."""
    key = first << 16 | second
    name = _SUMS.get(key)
    if name is None:
        tiles, needs = VALUES[first]
        other_tiles, other_needs = VALUES[second]
        if len(_SUMS) >= _SUMS_KEPT:
            _SUMS.clear()
        name = _SUMS[key] = _name_of((tiles + other_tiles, _add(needs, other_needs)))
    return name


def _name_of(profile: Profile) -> int:
    """The name of a profile, a new one if it has none yet."""
    name = _NAMES.get(profile)
    if name is None:
        name = _NAMES[profile] = len(VALUES)
        VALUES.append(profile)
    return name


def _add(first: Needs, second: Needs) -> Needs:
    """The needs of two sets of tiles together: the cheapest way to share out the groups and the pair."""
    a0, a1, a2, a3, a4, a5, c0, c1, c2, c3, c4, c5 = first
    b0, b1, b2, b3, b4, b5, d0, d1, d2, d3, d4, d5 = second
    return (
        a0 + b0,
        min(a0 + b1, a1 + b0),
        min(a0 + b2, a1 + b1, a2 + b0),
        min(a0 + b3, a1 + b2, a2 + b1, a3 + b0),
        min(a0 + b4, a1 + b3, a2 + b2, a3 + b1, a4 + b0),
        min(a0 + b5, a1 + b4, a2 + b3, a3 + b2, a4 + b1, a5 + b0),
        min(a0 + d0, c0 + b0),
        min(a0 + d1, a1 + d0, c0 + b1, c1 + b0),
        min(a0 + d2, a1 + d1, a2 + d0, c0 + b2, c1 + b1, c2 + b0),
        min(a0 + d3, a1 + d2, a2 + d1, a3 + d0, c0 + b3, c1 + b2, c2 + b1, c3 + b0),
        min(a0 + d4, a1 + d3, a2 + d2, a3 + d1, a4 + d0, c0 + b4, c1 + b3, c2 + b2, c3 + b1, c4 + b0),
        min(
            a0 + d5,
            a1 + d4,
            a2 + d3,
            a3 + d2,
            a4 + d1,
            a5 + d0,
            c0 + b5,
            c1 + b4,
            c2 + b3,
            c3 + b2,
            c4 + b1,
            c5 + b0,
        ),
    )


def _work_out_suit(code: int, pungs: bool = True) -> int:
    low, high = code % _LOW_CODES, code // _LOW_CODES
    candidates = [_add(needs, _high_needs(high, crossing, pungs)) for crossing, needs in _low_needs(low, pungs)]
    return _name_of((_size(code), tuple(map(min, *candidates))))


def _work_out_honours(code: int) -> int:
    needs = _walk(code, 0, HONOUR_RANKS, _NO_CROSSING, runs=False, pungs=True)[_NO_CROSSING]
    return _name_of((_size(code), needs))


@lru_cache(maxsize=2 * _LOW_CODES)
def _low_needs(code: int, pungs: bool) -> tuple[tuple[_Crossing, Needs], ...]:
    """The needs of the lower ranks for every way in which chows may leave them upwards."""
    return tuple(_walk(code, 0, _LOW_RANKS, _NO_CROSSING, runs=True, pungs=pungs).items())


@lru_cache(maxsize=18 * _HIGH_CODES)
def _high_needs(code: int, crossing: _Crossing, pungs: bool) -> Needs:
    """The needs of the upper ranks when such chows come in from below."""
    return _walk(code, _LOW_RANKS, SUIT_RANKS, crossing, runs=True, pungs=pungs)[_NO_CROSSING]


def _walk(
    code: int, first_rank: int, end_rank: int, crossing: _Crossing, runs: bool, pungs: bool
) -> dict[_Crossing, Needs]:
    """The needs of some ranks, by the chows that are still open at the end; ``crossing`` are open at the start.

    A chow counts as a group at its lowest rank. At most two chows start at a rank: three equal ones are three pungs.
    Without ``pungs`` only chows count as groups.
    """
    states = {(*crossing, 0, 0): 0}
    for rank in range(first_rank, end_rank):
        code, have = divmod(code, BASE)
        starts = range(3) if runs and rank <= SUIT_RANKS - 3 else range(1)
        after: dict[tuple[int, int, int, int], int] = {}
        for (older, old, groups, pairs), lacking in states.items():
            for new in starts:
                for pung in range(1 + pungs):
                    for pair in range(2 - pairs):
                        copies = older + old + new + 3 * pung + 2 * pair
                        total = groups + new + pung
                        if copies <= COPIES and total <= MOST_GROUPS:
                            key = (old, new, total, pairs + pair)
                            cost = lacking + max(0, copies - have)
                            if cost < after.get(key, NEVER):
                                after[key] = cost
        states = after
    needs: dict[_Crossing, list[int]] = {}
    for (older, old, groups, pairs), lacking in states.items():
        needs.setdefault((older, old), list(_NOTHING))[WIDTH * pairs + groups] = lacking
    return {open_chows: tuple(values) for open_chows, values in needs.items()}


def _size(code: int) -> int:
    tiles = 0
    while code:
        code, copies = divmod(code, BASE)
        tiles += copies
    return tiles


_SUMS: dict[int, int] = {}
_CHOWS_PROFILES: dict[int, int] = {}
