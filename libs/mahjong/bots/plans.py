"""Plans: the sorts of hands that a player may head for, how far away they are and what brings them nearer.

A plan does not fix a hand: it says from which suits tiles may come, which groups count, which pungs must be among them,
and what a win would bring. A ruleset names the plans that are worth considering (``guidance``).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from libs.mahjong.shapes import UNIT_OF_KIND, Codes, KindMask, orphans_distance
from libs.mahjong.shapes.encoding import BASE, HONOUR_RANKS, SUIT_RANKS, UNITS
from libs.mahjong.shapes.profiles import VALUES, WIDTH, chows_profile, honour_profile, suit_profile, sum_of
from libs.mahjong.tiles import COPIES, EAST, HONOURS, MAJOR_KINDS, REGULAR_KINDS, SUIT_OF_KIND, Kind

OUT_OF_REACH: Final = 20
"""More tiles than any hand lacks."""
EVERY_SUIT: Final = (0, 1, 2, 3)
_MASKS_KEPT: Final = 1 << 17
_CODES_KEPT: Final = 1 << 15


class Form(enum.IntEnum):
    """The groups that a plan allows."""

    ANY = 0
    CHOWS = 1
    PUNGS = 2
    ORPHANS = 3
    """Thirteen Orphans, which has no groups."""


@dataclass(frozen=True, slots=True)
class Prize:
    """With this ``chance`` a win brings so many points: ``discarded`` on another seat's tile, ``drawn`` by self-draw.

    0 points: such a win is not allowed.
    """

    chance: float
    discarded: float
    drawn: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A sort of hand to head for.

    ``suits`` are the suits of its tiles: one suit (0..2), a suit and the honours (3), the honours, or all. ``pungs``
    are honours of which the concealed tiles must come to hold a pung, ``pair`` the honour that must be the pair. The
    chances of the ``prizes`` add to one.
    """

    form: Form
    suits: tuple[int, ...]
    pungs: tuple[Kind, ...]
    pair: Kind | None
    prizes: tuple[Prize, ...]


def lacking(plan: Plan, codes: Codes, groups: int) -> int:
    """How many tiles the concealed ``codes`` lack for the plan when they must give so many groups: 0 complete,
    1 waiting. Tiles that the plan has no use for do not count, so drawn and undrawn hands are treated alike."""
    return outlook(plan, codes, groups, -1)[0]


def improving(plan: Plan, codes: Codes, groups: int) -> KindMask:
    """The kinds of which one more tile leaves less lacking. Copies that lie elsewhere are not looked at."""
    return outlook(plan, codes, groups, OUT_OF_REACH)[1]


def outlook(plan: Plan, codes: Codes, groups: int, near: int) -> tuple[int, KindMask]:
    """``lacking`` and ``improving`` together; the latter is left out (0) when more than ``near`` tiles are lacking."""
    form, suits = plan.form, plan.suits
    if form is Form.ORPHANS:
        lacks = orphans_distance(*codes) + 1
        return lacks, _orphans_improving(codes) if lacks <= near else 0
    lacks = wanted = reserved = 0
    honours = codes[3]
    needs_index = WIDTH + groups
    if plan.pungs or plan.pair is not None:
        honours, groups, needs_index, lacks, wanted, reserved = _set_apart(plan, honours, groups)
        if groups < 0:
            return OUT_OF_REACH, 0
    if form is Form.PUNGS:
        rest = _Rest(honours, groups, needs_index, lacks, wanted, reserved)
        lacks += _pungs_lacking(plan, codes, rest)
        mask = _pungs_improving(plan, codes, rest) if lacks <= near else 0
        return lacks, mask & ~reserved | wanted
    chows = form is Form.CHOWS
    if chows:
        names = [chows_profile(honours, True) if suit == 3 else chows_profile(codes[suit], False) for suit in suits]
    else:
        names = [honour_profile(honours) if suit == 3 else suit_profile(codes[suit]) for suit in suits]
    others = _others(names)
    lacks += VALUES[sum_of(others[0], names[0])][1][needs_index]
    if lacks > near:
        return lacks, 0
    mask = 0
    for suit, rest_name in zip(suits, others, strict=True):
        if suit == 3:
            mask |= _suit_improving(honours, True, rest_name, needs_index, chows) << EAST
        else:
            mask |= _suit_improving(codes[suit], False, rest_name, needs_index, chows) << SUIT_RANKS * suit
    return lacks, mask & ~reserved | wanted


def _others(names: list[int]) -> tuple[int, ...]:
    """For each of one, two or four profiles the sum of the others."""
    if len(names) == 4:
        m, p, s, z = names
        low, high = sum_of(m, p), sum_of(s, z)
        return sum_of(p, high), sum_of(m, high), sum_of(low, z), sum_of(low, s)
    if len(names) == 2:
        return names[1], names[0]
    return (suit_profile(0),)


class _Rest(NamedTuple):
    """What is left to do beside the pungs and the pair that a plan names.

    ``honours`` are the other honours, ``groups`` the other groups and ``needs_index`` their place in a profile's needs;
    ``lacking`` is what the named ones lack, ``wanted`` those of their kinds, ``reserved``, that are not complete.
    """

    honours: int
    groups: int
    needs_index: int
    lacking: int
    wanted: KindMask
    reserved: KindMask


def _set_apart(plan: Plan, honours: int, groups: int) -> _Rest:
    lacks = wanted = reserved = 0
    for kind in plan.pungs:
        unit = UNIT_OF_KIND[kind]
        copies = honours // unit % BASE
        honours -= copies * unit
        groups -= 1
        reserved |= 1 << kind
        if copies < 3:
            lacks += 3 - copies
            wanted |= 1 << kind
    if plan.pair is None:
        return _Rest(honours, groups, WIDTH + groups, lacks, wanted, reserved)
    unit = UNIT_OF_KIND[plan.pair]
    copies = honours // unit % BASE
    honours -= copies * unit
    reserved |= 1 << plan.pair
    if copies < 2:
        lacks += 2 - copies
        wanted |= 1 << plan.pair
    return _Rest(honours, groups, groups, lacks, wanted, reserved)


_masks: dict[tuple[int, int, int, bool, bool], KindMask] = {}


def _suit_improving(code: int, honours: bool, rest: int, index: int, chows: bool) -> KindMask:
    """The ranks of one suit that leave less lacking when the other suits have the profile ``rest``."""
    key = (code, rest, index, honours, chows)
    mask = _masks.get(key)
    if mask is None:
        if len(_masks) >= _MASKS_KEPT:
            _masks.clear()
        mask = _masks[key] = _work_out_improving(code, honours, rest, index, chows)
    return mask


def _work_out_improving(code: int, honours: bool, rest: int, index: int, chows: bool) -> KindMask:
    def needs(of: int) -> int:
        if chows:
            return VALUES[sum_of(rest, chows_profile(of, honours))][1][index]
        return VALUES[sum_of(rest, honour_profile(of) if honours else suit_profile(of))][1][index]

    now = needs(code)
    mask = 0
    for rank in range(HONOUR_RANKS if honours else SUIT_RANKS):
        unit = UNITS[rank]
        if code // unit % BASE < COPIES and needs(code + unit) < now:
            mask |= 1 << rank
    return mask


@lru_cache(_CODES_KEPT)
def copies_of(code: int) -> tuple[int, ...]:
    """The copies of each rank of a code, nine of them."""
    return tuple(code // unit % BASE for unit in UNITS)


def _pungs_lacking(plan: Plan, codes: Codes, rest: _Rest) -> int:
    copies: list[int] = []
    for suit in plan.suits:
        copies += copies_of(rest.honours if suit == HONOURS else codes[suit])
    copies.sort(reverse=True)
    lack = 3 * rest.groups
    for have in copies[: rest.groups]:
        lack -= 3 if have > 3 else have
    if plan.pair is None:
        have = copies[rest.groups]
        lack += 2 - (2 if have > 2 else have)
    return lack


def _pungs_improving(plan: Plan, codes: Codes, rest: _Rest) -> KindMask:
    copies: list[tuple[int, Kind]] = []
    for suit in plan.suits:
        code, ranks = (rest.honours, HONOUR_RANKS) if suit == HONOURS else (codes[suit], SUIT_RANKS)
        copies += [(have, SUIT_RANKS * suit + rank) for rank, have in enumerate(copies_of(code)[:ranks])]
    copies.sort(reverse=True)
    # A tile helps where its kind is among the best for pungs, or the next best for the pair.
    pung_from = copies[rest.groups - 1][0] if rest.groups else OUT_OF_REACH
    pair_from = copies[rest.groups][0] if plan.pair is None else OUT_OF_REACH
    mask = 0
    for have, kind in copies:
        if pung_from <= have < 3 or pair_from <= have < 2:
            mask |= 1 << kind
    return mask


def _orphans_improving(codes: Codes) -> KindMask:
    missing = 0
    paired = False
    for kind in MAJOR_KINDS:
        copies = codes[SUIT_OF_KIND[kind]] // UNIT_OF_KIND[kind] % BASE
        if copies == 0:
            missing |= 1 << kind
        elif copies > 1:
            paired = True
    return missing if paired else _MAJORS


@lru_cache(_CODES_KEPT)
def pairs_in(code: int) -> KindMask:
    """The ranks of which a code has two or more tiles: a discard of them can be claimed for a pung."""
    return sum(1 << rank for rank, copies in enumerate(copies_of(code)) if copies >= 2)


@lru_cache(_CODES_KEPT)
def runs_in(code: int) -> KindMask:
    """The ranks that make a chow with two tiles of a suit code."""
    held = copies_of(code)
    return sum(
        1 << rank
        for rank in range(SUIT_RANKS)
        if any(
            rank + low >= 0 and rank + high < SUIT_RANKS and held[rank + low] and held[rank + high]
            for low, high in ((-2, -1), (-1, 1), (1, 2))
        )
    )


def pair_kinds(codes: Codes) -> KindMask:
    """The kinds that could be claimed for a pung."""
    m, p, s, z = codes
    return pairs_in(m) | pairs_in(p) << 9 | pairs_in(s) << 18 | pairs_in(z) << EAST


def run_kinds(codes: Codes) -> KindMask:
    """The kinds that could be claimed for a chow."""
    m, p, s, _ = codes
    return runs_in(m) | runs_in(p) << 9 | runs_in(s) << 18


_MAJORS: Final[KindMask] = sum(1 << kind for kind in MAJOR_KINDS)
assert EAST + HONOUR_RANKS == REGULAR_KINDS
