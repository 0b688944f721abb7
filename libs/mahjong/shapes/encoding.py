"""Concealed holdings as four small integers.

A holding of regular tiles is one code per suit: ``m`` characters, ``p`` dots, ``s`` bamboo, ``z`` honours. A code has
one base-5 digit per rank, the lowest rank first: the number of copies (0..4) of that kind. Adding a tile of a kind adds
``UNIT_OF_KIND[kind]`` to the code of its suit, removing one subtracts it, so whoever holds tiles keeps the codes up to
date for the price of an addition. A fifth copy would carry into the next rank: callers never add one.
"""

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from libs.mahjong.tiles import COPIES, REGULAR_KINDS, SUIT_OF_KIND, Kind, kind_name

Codes: TypeAlias = tuple[int, int, int, int]
"""The codes (m, p, s, z) of a holding."""

KindMask: TypeAlias = int
"""A set of regular kinds: bit ``kind`` is set for each member."""

BASE: Final = COPIES + 1
SUIT_RANKS: Final = 9
HONOUR_RANKS: Final = 7
SUIT_CODES: Final = BASE**SUIT_RANKS
HONOUR_CODES: Final = BASE**HONOUR_RANKS
EMPTY: Final[Codes] = (0, 0, 0, 0)

UNITS: Final[tuple[int, ...]] = tuple(BASE**rank for rank in range(SUIT_RANKS))
"""The weight of each rank (from 0) in the code of its suit."""

UNIT_OF_KIND: Final[tuple[int, ...]] = tuple(UNITS[kind % SUIT_RANKS] for kind in range(REGULAR_KINDS))
"""What one tile of a regular kind adds to the code of its suit."""


def encode(kinds: Iterable[Kind]) -> Codes:
    """The codes of a holding; ``ValueError`` for a bonus kind, a number that is no kind, or a fifth copy."""
    codes = [0, 0, 0, 0]
    for kind in kinds:
        if not 0 <= kind < REGULAR_KINDS:
            raise ValueError(f"a concealed holding has regular kinds only, not {kind}")
        suit, unit = SUIT_OF_KIND[kind], UNIT_OF_KIND[kind]
        if codes[suit] // unit % BASE == COPIES:
            raise ValueError(f"a fifth {kind_name(kind)} in a holding")
        codes[suit] += unit
    return codes[0], codes[1], codes[2], codes[3]


def count(codes: Codes, kind: Kind) -> int:
    """How many tiles of a regular kind the holding has, 0..4."""
    return codes[SUIT_OF_KIND[kind]] // UNIT_OF_KIND[kind] % BASE


def size(codes: Codes) -> int:
    """How many tiles the holding has."""
    total = 0
    for code in codes:
        while code:
            code, copies = divmod(code, BASE)
            total += copies
    return total


def with_tile(codes: Codes, kind: Kind) -> Codes:
    """The holding with one more tile of a kind; the caller makes sure that it is no fifth copy."""
    m, p, s, z = codes
    unit = UNIT_OF_KIND[kind]
    if kind < 9:
        return m + unit, p, s, z
    if kind < 18:
        return m, p + unit, s, z
    if kind < 27:
        return m, p, s + unit, z
    return m, p, s, z + unit


def without_tile(codes: Codes, kind: Kind) -> Codes:
    """The holding with one tile of a kind less; the caller makes sure that it has one."""
    m, p, s, z = codes
    unit = UNIT_OF_KIND[kind]
    if kind < 9:
        return m - unit, p, s, z
    if kind < 18:
        return m, p - unit, s, z
    if kind < 27:
        return m, p, s - unit, z
    return m, p, s, z - unit


def kinds_in(codes: Codes) -> tuple[Kind, ...]:
    """Every tile of the holding as its kind, ascending, with repeats."""
    found: list[Kind] = []
    for suit, code in enumerate(codes):
        kind = suit * SUIT_RANKS
        while code:
            code, copies = divmod(code, BASE)
            found.extend([kind] * copies)
            kind += 1
    return tuple(found)


def iter_kinds(mask: KindMask) -> Iterator[Kind]:
    """The kinds of a mask, ascending."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def mask_of(kinds: Iterable[Kind]) -> KindMask:
    """The mask of some kinds."""
    mask = 0
    for kind in kinds:
        mask |= 1 << kind
    return mask
