"""How many tiles a holding is away from a win, and which tiles bring it nearer. Made for bots.

The distance is the least number of draws that could complete the holding when everything else is discarded: 0 waiting,
-1 complete. Only the concealed tiles are looked at; a kind is never used more than four times, but copies that lie in
melds or the river are not known here.
"""

from typing import Final, NamedTuple

from libs.mahjong.shapes.encoding import (
    BASE,
    HONOUR_RANKS,
    SUIT_RANKS,
    UNITS,
    Codes,
    KindMask,
    kinds_in,
    without_tile,
)
from libs.mahjong.shapes.profiles import VALUES, WIDTH, honour_profile, suit_profile, sum_of
from libs.mahjong.tiles import COPIES, MAJOR_KINDS, Kind

_NINE: Final = UNITS[SUIT_RANKS - 1]
_MAJORS: Final = tuple(
    (kind, suit, UNITS[kind % SUIT_RANKS]) for kind, suit in zip(MAJOR_KINDS, (0, 0, 1, 1, 2, 2, *[3] * 7), strict=True)
)
_SHIFTS: Final = (0, SUIT_RANKS, 2 * SUIT_RANKS, 3 * SUIT_RANKS)
_MASKS_KEPT: Final = 1 << 16


class DiscardOption(NamedTuple):
    """What is left after a discard: its distance, and the kinds that would lower it."""

    kind: Kind
    distance: int
    improving: KindMask


def distance(m: int, p: int, s: int, z: int, melds: int) -> int:
    """Tiles away from a win in either shape: 0 waiting, -1 complete.

    ``melds`` is the number of declared melds; with any, Thirteen Orphans is out of reach. Needs 3n + 1 or 3n + 2
    concealed tiles, at most 17; ``ValueError`` for another number.
    """
    standard = standard_distance(m, p, s, z)
    if melds == 0 and standard > -1:
        orphans = _orphans_below(m, p, s, z, standard)
        if orphans < standard:
            return orphans
    return standard


def standard_distance(m: int, p: int, s: int, z: int) -> int:
    """Tiles away from groups and a pair; as ``distance``."""
    both = sum_of(sum_of(suit_profile(m), suit_profile(p)), sum_of(suit_profile(s), honour_profile(z)))
    tiles, needs = VALUES[both]
    groups, remainder = divmod(tiles, 3)
    if not remainder or groups >= WIDTH:
        raise ValueError(f"{tiles} concealed tiles have no distance to a win")
    return needs[WIDTH + groups] - 1


def orphans_distance(m: int, p: int, s: int, z: int) -> int:
    """Tiles away from Thirteen Orphans for 13 or 14 concealed tiles and no meld: 13 for no major at all."""
    codes = (m, p, s, z)
    different = 0
    paired = 0
    for _, suit, unit in _MAJORS:
        copies = codes[suit] // unit % BASE
        if copies:
            different += 1
            if copies > 1:
                paired = 1
    return 13 - different - paired


def improving(m: int, p: int, s: int, z: int, melds: int) -> KindMask:
    """The kinds that lower the distance of 3n + 1 concealed tiles; for distance 0 they are the waits.

    A kind of which the holding has all four copies is never included. ``ValueError`` for another number of tiles.
    """
    names = suit_profile(m), suit_profile(p), suit_profile(s), honour_profile(z)
    low, high = sum_of(names[0], names[1]), sum_of(names[2], names[3])
    tiles, needs = VALUES[sum_of(low, high)]
    groups, remainder = divmod(tiles, 3)
    if remainder != 1 or groups >= WIDTH:
        raise ValueError(f"{tiles} concealed tiles: only 3n + 1 can be improved by one more")
    standard = needs[WIDTH + groups] - 1
    orphans = _orphans_below(m, p, s, z, standard + 1) if melds == 0 and tiles == 13 else standard + 1
    mask = 0
    if standard <= orphans:
        mask = (
            _suit_improving(m, 0, sum_of(names[1], high))
            | _suit_improving(p, 1, sum_of(names[0], high))
            | _suit_improving(s, 2, sum_of(low, names[3]))
            | _suit_improving(z, 3, sum_of(low, names[2]))
        )
    if orphans <= standard:
        mask |= _orphans_improving(m, p, s, z)
    return mask


def discards_by_distance(codes: Codes, melds: int) -> tuple[DiscardOption, ...]:
    """One option for every kind of 3n + 2 concealed tiles: what its discard leaves. Nearest first, then by kind.

    ``ValueError`` for another number of tiles.
    """
    options: list[DiscardOption] = []
    for kind in sorted(set(kinds_in(codes))):
        m, p, s, z = without_tile(codes, kind)
        options.append(DiscardOption(kind, distance(m, p, s, z, melds), improving(m, p, s, z, melds)))
    options.sort(key=_by_distance)
    return tuple(options)


def _by_distance(option: DiscardOption) -> int:
    return option.distance


def _orphans_below(m: int, p: int, s: int, z: int, bound: int) -> int:
    """The distance to Thirteen Orphans, or ``bound`` or more when it cannot be lower than that.

    With few honours it cannot, which is nearly always so and quickly seen.
    """
    tiles = VALUES[honour_profile(z)][0]
    if tiles + 7 <= 13 - bound:
        return bound
    return orphans_distance(m, p, s, z)


_masks: dict[int, KindMask] = {}


def _suit_improving(code: int, suit: int, rest: int) -> KindMask:
    """The kinds of one suit that lower the standard distance when the other suits have the profile ``rest``."""
    key = (rest << 23) | (suit << 21) | code
    mask = _masks.get(key)
    if mask is None:
        if len(_masks) >= _MASKS_KEPT:
            _masks.clear()
        mask = _masks[key] = _work_out_improving(code, suit, rest)
    return mask


def _work_out_improving(code: int, suit: int, rest: int) -> KindMask:
    profile, ranks = (honour_profile, HONOUR_RANKS) if suit == 3 else (suit_profile, SUIT_RANKS)
    tiles, needs = VALUES[sum_of(rest, profile(code))]
    paired = WIDTH + tiles // 3
    mask = 0
    for rank in range(ranks):
        unit = UNITS[rank]
        if code // unit % BASE < COPIES and VALUES[sum_of(rest, profile(code + unit))][1][paired] < needs[paired]:
            mask |= 1 << (_SHIFTS[suit] + rank)
    return mask


def _orphans_improving(m: int, p: int, s: int, z: int) -> KindMask:
    """The kinds that lower the distance to Thirteen Orphans: what is missing, and any major while there is no pair."""
    codes = (m, p, s, z)
    missing = 0
    majors = 0
    paired = False
    for kind, suit, unit in _MAJORS:
        copies = codes[suit] // unit % BASE
        majors |= 1 << kind
        if copies == 0:
            missing |= 1 << kind
        elif copies > 1:
            paired = True
    return missing if paired else majors
