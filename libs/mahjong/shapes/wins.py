"""Whether a concealed holding is complete (hkos-3-v1 §1.6)."""

from typing import Final

from libs.mahjong.shapes.encoding import SUIT_RANKS, UNITS
from libs.mahjong.shapes.tables import HONOUR, ORPHANS_WIN, SUIT

_ONE, _NINE = UNITS[0], UNITS[SUIT_RANKS - 1]

TERMINALS_OF_CODE: Final = {
    ones * _ONE + nines * _NINE: (ones, nines) for ones in range(3) for nines in range(3) if 1 <= ones + nines <= 3
}
"""The suit codes that can be part of Thirteen Orphans or one tile from it: copies of the one and the nine."""

_EVERY_HONOUR: Final = sum(UNITS[:7])
_COMPLETE: Final = {_ONE + _NINE: 0, 2 * _ONE + _NINE: 1, _ONE + 2 * _NINE: 1}
"""Suit codes with both terminals and no other tile: the number of duplicates."""


def is_standard_win(m: int, p: int, s: int, z: int) -> bool:
    """True when the concealed tiles are groups and exactly one pair, whatever the number of groups, also none."""
    return SUIT[m] * SUIT[p] * SUIT[s] * HONOUR[z] == 2


def is_thirteen_orphans(m: int, p: int, s: int, z: int) -> bool:
    """True for one each of the thirteen majors and a duplicate of one of them, all concealed."""
    if HONOUR[z] != ORPHANS_WIN:
        return False
    duplicates = 1 if z != _EVERY_HONOUR else 0
    for code in (m, p, s):
        extra = _COMPLETE.get(code)
        if extra is None:
            return False
        duplicates += extra
    return duplicates == 1


def is_win(m: int, p: int, s: int, z: int) -> bool:
    """True when the concealed tiles complete either shape: groups and a pair, or Thirteen Orphans."""
    honours = HONOUR[z]
    if honours:
        if SUIT[m] * SUIT[p] * SUIT[s] * honours == 2:
            return True
        return honours == ORPHANS_WIN and is_thirteen_orphans(m, p, s, z)
    return False
