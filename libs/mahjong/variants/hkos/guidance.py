"""Advice of hkos-3-v1 to computer players: the ways to three faan, and what the others' melds threaten."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Final

from libs.mahjong.bots.plans import EVERY_SUIT, Form, Plan, Prize
from libs.mahjong.bots.position import Position
from libs.mahjong.melds import Meld
from libs.mahjong.shapes import count
from libs.mahjong.tiles import (
    DRAGON_KINDS,
    EAST,
    FIRST_FLOWER,
    FIRST_SEASON,
    FLOWER_KINDS,
    HONOURS,
    MAJOR_KINDS,
    SEASON_KINDS,
    SUIT_OF_KIND,
    Kind,
    Wind,
)
from libs.mahjong.variants.hkos.payments import CAP, MINIMUM, discard_points

_SUITS: Final = (0, 1, 2)
_ALL_PUNGS, _HALF_FLUSH, _PURE_FLUSH, _SMALL_DRAGONS, _BIG_DRAGONS, _ALL_HONOURS = 3, 3, 7, 5, 8, 10
_MOST_BONUS: Final = 8
_FEWEST_MAJORS: Final = 8
"""Different terminals and honours with which Thirteen Orphans is worth a thought."""
_FEWEST_HONOURS: Final = 6
"""Honours with which All Honours is worth a thought."""
_FEWEST_SUITED: Final = 6
"""Tiles of the suit and honours, melds included, with which a flush is worth a thought."""


class HongKongGuidance:
    """Plans by pattern (§1.7): flushes, pungs, sequences, valued honours, and what bonus tiles add."""

    def plans(self, position: Position) -> tuple[Plan, ...]:
        """The plans that can reach three faan with these melds and bonus tiles."""
        return tuple(_Planning(position).found)

    def expected_loss(
        self, melds: tuple[Meld, ...], bonus: tuple[Kind, ...], seat_wind: Wind, prevailing_wind: Wind
    ) -> float:
        """The points of a hand that has what the melds show and hint at."""
        faan = float(bonus_faan(bonus, seat_wind) + (not bonus))
        suits = {SUIT_OF_KIND[meld.base_kind] for meld in melds}
        for meld in melds:
            faan += honour_faan(meld.base_kind, seat_wind, prevailing_wind)
        if len(melds) >= 2:
            if len(suits - {HONOURS}) <= 1:
                faan += _HALF_FLUSH if HONOURS in suits else (_HALF_FLUSH + _PURE_FLUSH) / 2
            elif not any(meld.is_chow for meld in melds):
                faan += _ALL_PUNGS * 0.6
        return _points_between(max(faan, MINIMUM) + 0.7)


def bonus_faan(bonus: tuple[Kind, ...], seat_wind: Wind) -> int:
    """The faan of exposed flowers and seasons, without that for having none."""
    if len(bonus) == _MOST_BONUS:
        return _MOST_BONUS
    faan = 0
    for own, all_four in ((FIRST_FLOWER, FLOWER_KINDS), (FIRST_SEASON, SEASON_KINDS)):
        if all(kind in bonus for kind in all_four):
            faan += 2
        elif own + seat_wind in bonus:
            faan += 1
    return faan


def honour_faan(kind: Kind, seat_wind: Wind, prevailing_wind: Wind) -> int:
    """The faan of a pung of this kind by itself; 0 for tiles without such a value."""
    if kind < EAST:
        return 0
    return (kind in DRAGON_KINDS) + (kind == EAST + seat_wind) + (kind == EAST + prevailing_wind)


@lru_cache(1 << 10)
def _prize(faan: int, none_yet: bool, stays_none: int) -> tuple[Prize, ...]:
    """The prizes of a hand of ``faan`` without self-draw and without the faan for no bonus tiles, which is kept with a
    chance of ``stays_none`` in hundred; empty when no win is possible."""
    if not none_yet:
        prizes: tuple[tuple[float, int], ...] = ((1.0, faan),)
    else:
        chance = stays_none / 100
        prizes = ((chance, faan + 1), ((1.0 - chance) * 0.75, faan), ((1.0 - chance) * 0.25, faan + 1))
    found = tuple(Prize(part, _points(worth), 1.5 * _points(worth + 1)) for part, worth in prizes)
    return found if any(prize.drawn for prize in found) else ()


def _points(faan: int) -> float:
    return float(discard_points(min(faan, CAP))) if faan >= MINIMUM else 0.0


def _points_between(faan: float) -> float:
    low = int(faan)
    return _points(low) + (faan - low) * (_points(low + 1) - _points(low))


class _Planning:
    """The search for plans in one position."""

    __slots__ = (
        "_chows_declared",
        "_faan",
        "_honour_sets",
        "_position",
        "_pungs_declared",
        "_stays_none",
        "_suits_declared",
        "found",
    )

    def __init__(self, position: Position) -> None:
        self.found: list[Plan] = []
        self._position = position
        melds = position.melds
        self._suits_declared = {SUIT_OF_KIND[meld.base_kind] for meld in melds}
        self._chows_declared = any(meld.is_chow for meld in melds)
        self._pungs_declared = frozenset(meld.base_kind for meld in melds if not meld.is_chow)
        self._faan = bonus_faan(position.bonus, position.seat_wind)
        unseen = sum(position.unseen) + position.unseen_bonus
        stays = (1.0 - position.unseen_bonus / max(unseen, 1)) ** (1 + position.turns // 2)
        self._stays_none = round(stays * 20) * 5
        self._honour_sets = self._sets_of_honours()
        self._search()

    def _search(self) -> None:
        position, codes = self._position, self._position.codes
        suited = [sum(count(codes, kind) for kind in range(9 * suit, 9 * suit + 9)) for suit in _SUITS]
        honours = sum(count(codes, kind) for kind in range(EAST, EAST + 7))
        declared = 3 * len(position.melds)
        pungs_only = not self._chows_declared
        for pungs in self._honour_sets:
            self._add(Form.ANY, EVERY_SUIT, pungs, 0)
            if pungs_only:
                self._add(Form.PUNGS, EVERY_SUIT, pungs, _ALL_PUNGS)
        if not self._pungs_declared:
            self._add(Form.CHOWS, EVERY_SUIT, (), 1)
        for suit in _SUITS:
            if self._suits_declared - {suit, HONOURS} or suited[suit] + honours + declared < _FEWEST_SUITED:
                continue
            for pungs in self._honour_sets:
                self._add(Form.ANY, (suit, HONOURS), pungs, _HALF_FLUSH)
                if pungs_only:
                    self._add(Form.PUNGS, (suit, HONOURS), pungs, _HALF_FLUSH + _ALL_PUNGS)
            if not self._pungs_declared:
                self._add(Form.CHOWS, (suit, HONOURS), (), _HALF_FLUSH + 1)
            if not self._suits_declared - {suit}:
                self._add(Form.ANY, (suit,), (), _PURE_FLUSH)
        if not self._suits_declared - {HONOURS} and honours + declared >= _FEWEST_HONOURS:
            self._add(Form.PUNGS, (HONOURS,), (), _ALL_HONOURS)
        if not position.melds and sum(count(codes, kind) > 0 for kind in MAJOR_KINDS) >= _FEWEST_MAJORS:
            self.found.append(Plan(Form.ORPHANS, EVERY_SUIT, (), None, (Prize(1.0, _points(CAP), 1.5 * _points(CAP)),)))

    def _add(self, form: Form, suits: tuple[int, ...], pungs: tuple[Kind, ...], faan: int) -> None:
        pair: Kind | None = None
        dragons = [kind for kind in DRAGON_KINDS if kind in pungs or kind in self._pungs_declared]
        faan += self._faan + self._faan_of(pungs)
        if len(dragons) == 3:
            faan += _BIG_DRAGONS - 3
        prizes = self._prizes(faan)
        if prizes:
            self.found.append(Plan(form, suits, pungs, pair, prizes))
        if len(dragons) == 2 and form is not Form.CHOWS:
            (pair,) = (kind for kind in DRAGON_KINDS if kind not in dragons)
            if self._can_be_had(pair, 2):
                prizes = self._prizes(faan + _SMALL_DRAGONS - 2)
                self.found.append(Plan(form, suits, pungs, pair, prizes))

    def _faan_of(self, pungs: tuple[Kind, ...]) -> int:
        position = self._position
        return sum(
            honour_faan(kind, position.seat_wind, position.prevailing_wind) for kind in {*pungs, *self._pungs_declared}
        )

    def _prizes(self, faan: int) -> tuple[Prize, ...]:
        return _prize(faan, not self._position.bonus, self._stays_none)

    def _sets_of_honours(self) -> list[tuple[Kind, ...]]:
        """The sets of valued honours that the concealed tiles could make pungs of."""
        position = self._position
        valued = {*DRAGON_KINDS, EAST + position.seat_wind, EAST + position.prevailing_wind}
        held = [(count(position.codes, kind), kind) for kind in sorted(valued - self._pungs_declared)]
        likely = [kind for copies, kind in held if copies >= 2 and self._can_be_had(kind, 3)]
        single = [kind for copies, kind in held if copies == 1 and self._can_be_had(kind, 3)]
        sets = [chosen for size in range(len(likely) + 1) for chosen in combinations(likely, size)]
        return sets + [(*likely, kind) for kind in single]

    def _can_be_had(self, kind: Kind, copies: int) -> bool:
        return count(self._position.codes, kind) + self._position.unseen[kind] >= copies


GUIDANCE: Final = HongKongGuidance()
