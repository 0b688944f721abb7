"""The kinds that complete a holding that is one tile short of a win."""

from typing import Final

from libs.mahjong.shapes.encoding import BASE, HONOUR_RANKS, SUIT_RANKS, UNITS, KindMask
from libs.mahjong.shapes.tables import (
    HONOUR,
    HONOUR_WAITS,
    ORPHANS_WAIT,
    SUIT,
    SUIT_WAITS,
)
from libs.mahjong.shapes.wins import TERMINALS_OF_CODE
from libs.mahjong.tiles import COPIES, HONOURS, MAJOR_KINDS

_SHIFT_P: Final = 9
_SHIFT_S: Final = 18
_SHIFT_Z: Final = 27
_ALL_MAJORS: Final = sum(1 << kind for kind in MAJOR_KINDS)


def waits(m: int, p: int, s: int, z: int) -> KindMask:
    """The kinds that complete 3n + 1 concealed tiles to either shape, as a mask; 0 when the holding does not wait.

    For another number of tiles the mask means nothing. A kind of which the holding itself has all four copies is never
    included; copies in melds, the river or other hands are not looked at. ``shape_waits`` also names the impossible
    fifth copy.
    """
    honours = HONOUR[z]
    if not honours:
        return 0
    characters, dots, bamboo = SUIT[m], SUIT[p], SUIT[s]
    product = characters * dots * bamboo * honours
    # Statuses are 1 groups, 2 groups and pair, 3 waiting: one suit waits and the others are complete, with at most one
    # pair (3 or 6), or two suits have a pair each, of which either may become a pung (4).
    if product == 3 or product == 6:
        if characters == 3:
            return SUIT_WAITS[m]
        if dots == 3:
            return SUIT_WAITS[p] << _SHIFT_P
        if bamboo == 3:
            return SUIT_WAITS[s] << _SHIFT_S
        return HONOUR_WAITS[z] << _SHIFT_Z
    if product == 4:
        mask = 0
        if characters == 2:
            mask = SUIT_WAITS[m]
        if dots == 2:
            mask |= SUIT_WAITS[p] << _SHIFT_P
        if bamboo == 2:
            mask |= SUIT_WAITS[s] << _SHIFT_S
        if honours == 2:
            mask |= HONOUR_WAITS[z] << _SHIFT_Z
        return mask
    return orphans_waits(m, p, s, z) if honours >= ORPHANS_WAIT else 0


def standard_waits(m: int, p: int, s: int, z: int) -> KindMask:
    """The kinds that complete 3n + 1 concealed tiles to groups and a pair; as ``waits``."""
    return waits(m, p, s, z) if HONOUR[z] < ORPHANS_WAIT else 0


def orphans_waits(m: int, p: int, s: int, z: int) -> KindMask:
    """The kinds that complete 13 concealed tiles to Thirteen Orphans: all thirteen majors, one, or none."""
    if HONOUR[z] < ORPHANS_WAIT:
        return 0
    missing = 0
    duplicates = 0
    for shift, code in ((0, m), (_SHIFT_P, p), (_SHIFT_S, s)):
        copies = TERMINALS_OF_CODE.get(code)
        if copies is None:
            return 0
        for rank, number in ((0, copies[0]), (SUIT_RANKS - 1, copies[1])):
            if number == 0:
                missing |= 1 << (shift + rank)
            else:
                duplicates += number - 1
    for rank in range(HONOUR_RANKS):
        number = z // UNITS[rank] % BASE
        if number == 0:
            missing |= 1 << (_SHIFT_Z + rank)
        else:
            duplicates += number - 1
    if not missing:
        return _ALL_MAJORS if duplicates == 0 else 0
    return missing if duplicates == 1 and missing & (missing - 1) == 0 else 0


def shape_waits(m: int, p: int, s: int, z: int) -> KindMask:
    """As ``waits``, but a kind also counts when the holding has all four copies and only a fifth would complete it.

    This is waiting "by shape" (classical §2.6 one-chance, §2.5 Original Call).
    """
    mask = waits(m, p, s, z)
    codes = [m, p, s, z]
    for suit, code in enumerate(codes):
        for rank in range(HONOUR_RANKS if suit == HONOURS else SUIT_RANKS):
            if code // UNITS[rank] % BASE == COPIES and _fifth_completes(codes, suit, rank):
                mask |= 1 << (suit * SUIT_RANKS + rank)
    return mask


def _fifth_completes(codes: list[int], suit: int, rank: int) -> bool:
    """Whether four copies of a rank and one more fit in groups and a pair.

    One group or the pair is taken out that holds the fifth copy; the rest is an ordinary holding.
    """
    unit = UNITS[rank]
    code = codes[suit]
    others = 1
    for other, other_code in enumerate(codes):
        if other != suit:
            others *= HONOUR[other_code] if other == HONOURS else SUIT[other_code]
    if others not in (1, 2):
        return False
    status = HONOUR if suit == HONOURS else SUIT
    # With five copies taken by two groups at least, one of them leaves an ordinary code: a pung, a pair or a chow.
    if others * status[code - 2 * unit] == 2:
        return True
    if others == 1 and status[code - unit] == 1:
        return True
    if suit == HONOURS:
        return False
    for lowest in range(max(0, rank - 2), min(rank, SUIT_RANKS - 3) + 1):
        run = [lowest, lowest + 1, lowest + 2]
        run.remove(rank)
        first, second = UNITS[run[0]], UNITS[run[1]]
        has_both = code // first % BASE and code // second % BASE
        if has_both and others * status[code - first - second] == 2:
            return True
    return False
