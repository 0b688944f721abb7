"""Advice of classical to computer players: what points and doubles a hand may come to, and what the others' melds
threaten."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Final

from libs.mahjong.bots.plans import EVERY_SUIT, Form, Plan, Prize
from libs.mahjong.bots.position import Position
from libs.mahjong.melds import Meld
from libs.mahjong.scores import Holding, Unit
from libs.mahjong.shapes import count
from libs.mahjong.tiles import DRAGON_KINDS, EAST, HONOURS, MAJOR_KINDS, SUIT_OF_KIND, Kind, Wind
from libs.mahjong.variants.classical.hands import meld_group
from libs.mahjong.variants.classical.limits import LIMIT
from libs.mahjong.variants.classical.points import SELF_DRAW, WINNING
from libs.mahjong.variants.classical.scoring import other_score

_SUITS: Final = (0, 1, 2)
_PAYERS: Final = 4
_PAYERS_OF_EAST: Final = 6
"""How often a winner gets the value of the hand: East pays double, and gets double from all three."""
_USUAL_EXTRA: Final = 2
"""Points that most wins have beside: a pung somewhere, a pair, one-chance."""
_PUNG_POINTS: Final = 3
"""Points of a pung that a plan has not named, on average."""
_NAMED_TOO_HIGH: Final = 2
"""A named pung is looked at as if it came from the wall alone; about half of them are claimed."""
_STAYS_CONCEALED: Final = 0.35
"""How often a hand that has nothing exposed yet is still concealed when it wins."""
_FEWEST_MAJORS: Final = 8
"""Different terminals and honours with which Thirteen Orphans is worth a thought."""
_FEWEST_HONOURS: Final = 6
"""Honours with which All Honours is worth a thought."""
_FEWEST_SUITED: Final = 6
"""Tiles of the suit and honours, melds included, with which one suit is worth a thought."""
_PAID_ANYWAY: Final = 0.15
"""Everybody pays a winner, so a discard costs only what another tile might have prevented."""


class ClassicalGuidance:
    """Plans by doubles (§2.7) and limits within reach: suits, pungs, chows, dragons and winds, Thirteen Orphans."""

    def plans(self, position: Position) -> tuple[Plan, ...]:
        """What the tiles may become; every win is legal, so the plan of any win is always among them."""
        return tuple(_Planning(position).found)

    def expected_loss(
        self, melds: tuple[Meld, ...], bonus: tuple[Kind, ...], seat_wind: Wind, prevailing_wind: Wind
    ) -> float:
        """What the seat's win would cost a player on average, as far as that player's discard is to blame."""
        points, doubles = _secured((), melds, bonus, seat_wind, prevailing_wind)
        hinted = float(doubles)
        if len(melds) >= 2:
            if len({SUIT_OF_KIND[meld.base_kind] for meld in melds} - {HONOURS}) <= 1:
                hinted += 1.0
            if not any(meld.is_chow for meld in melds):
                hinted += 0.6
        value: float = min((WINNING + _USUAL_EXTRA + points) * 2.0**hinted, float(LIMIT))
        payers = _PAYERS_OF_EAST if seat_wind == 0 else _PAYERS
        return _PAID_ANYWAY * value * payers / 3.0


@lru_cache(1 << 12)
def _secured(
    named: tuple[Kind, ...], melds: tuple[Meld, ...], bonus: tuple[Kind, ...], seat_wind: Wind, prevailing_wind: Wind
) -> tuple[int, int]:
    """The points and doubles of declared melds, bonus tiles and the concealed tiles that are named."""
    items = other_score(Holding(named, melds, bonus), seat_wind, prevailing_wind).items
    points = sum(item.amount for item in items if item.unit is Unit.POINTS)
    return points, sum(item.amount for item in items if item.unit is Unit.DOUBLES)


@lru_cache(1 << 12)
def _prizes(points: int, doubles: int, payers: int, concealed: bool, concealed_limit: bool) -> tuple[Prize, ...]:
    """What a win with so many points before those for a self-draw, and so many doubles, brings.

    ``concealed`` tells that nothing is exposed so far, ``concealed_limit`` that a self-draw from a hand that stays so
    is a limit.
    """

    def worth(base: int, more: int) -> float:
        return float(payers * min(base << more, LIMIT))

    discarded, drawn = worth(points, doubles), worth(points + SELF_DRAW, doubles)
    if not concealed:
        return (Prize(1.0, discarded, drawn),)
    best = float(payers * LIMIT) if concealed_limit else worth(points + SELF_DRAW, doubles + 1)
    return (Prize(_STAYS_CONCEALED, discarded, best), Prize(1.0 - _STAYS_CONCEALED, discarded, drawn))


class _Planning:
    """The search for plans in one position."""

    __slots__ = (
        "_chows_declared",
        "_concealed",
        "_payers",
        "_position",
        "_pungs_declared",
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
        self._concealed = all(meld_group(meld).is_concealed for meld in melds)
        self._payers = _PAYERS_OF_EAST if position.seat_wind == 0 else _PAYERS
        self._search()

    def _search(self) -> None:
        position, codes = self._position, self._position.codes
        honour_sets = self._sets_of_honours()
        suited = [sum(count(codes, kind) for kind in range(9 * suit, 9 * suit + 9)) for suit in _SUITS]
        honours = sum(count(codes, kind) for kind in range(EAST, EAST + 7))
        declared = 3 * len(position.melds)
        for pungs in honour_sets:
            self._add_with(EVERY_SUIT, pungs, 0)
        if not self._pungs_declared:
            self._add(Form.CHOWS, EVERY_SUIT, (), 1)
        for suit in _SUITS:
            if self._suits_declared - {suit, HONOURS} or suited[suit] + honours + declared < _FEWEST_SUITED:
                continue
            for pungs in honour_sets:
                self._add_with((suit, HONOURS), pungs, 1)
            if not self._pungs_declared:
                self._add(Form.CHOWS, (suit, HONOURS), (), 2)
            if not self._suits_declared - {suit}:
                self._add(Form.ANY, (suit,), (), 3, concealed_limit=True)
        if not self._suits_declared - {HONOURS} and honours + declared >= _FEWEST_HONOURS:
            self._add_limit(Form.PUNGS, (HONOURS,))
        if not position.melds and sum(count(codes, kind) > 0 for kind in MAJOR_KINDS) >= _FEWEST_MAJORS:
            self._add_limit(Form.ORPHANS, EVERY_SUIT)

    def _add_with(self, suits: tuple[int, ...], pungs: tuple[Kind, ...], doubles: int) -> None:
        self._add(Form.ANY, suits, pungs, doubles)
        if not self._chows_declared:
            self._add(Form.PUNGS, suits, pungs, doubles + 1, concealed_limit=True)

    def _add_limit(self, form: Form, suits: tuple[int, ...]) -> None:
        self.found.append(Plan(form, suits, (), None, _prizes(LIMIT, 0, self._payers, False, False)))

    def _add(
        self, form: Form, suits: tuple[int, ...], pungs: tuple[Kind, ...], doubles: int, concealed_limit: bool = False
    ) -> None:
        self.found.append(Plan(form, suits, pungs, None, self._worth(form, pungs, None, doubles, concealed_limit)))
        dragons = [kind for kind in DRAGON_KINDS if kind in pungs or kind in self._pungs_declared]
        if len(dragons) == 2 and form is not Form.CHOWS and HONOURS in suits:
            (pair,) = (kind for kind in DRAGON_KINDS if kind not in dragons)
            if self._can_be_had(pair, 2):
                prizes = self._worth(form, pungs, pair, doubles, concealed_limit)
                self.found.append(Plan(form, suits, pungs, pair, prizes))

    def _worth(
        self, form: Form, pungs: tuple[Kind, ...], pair: Kind | None, doubles: int, concealed_limit: bool
    ) -> tuple[Prize, ...]:
        position = self._position
        named = (*pungs, *pungs, *pungs, *(() if pair is None else (pair, pair)))
        points, secured = _secured(
            tuple(sorted(named)), position.melds, position.bonus, position.seat_wind, position.prevailing_wind
        )
        points += WINNING + _USUAL_EXTRA - _NAMED_TOO_HIGH * len(pungs)
        if form is Form.PUNGS:
            points += _PUNG_POINTS * max(position.groups - len(pungs), 0)
        elif form is Form.CHOWS:
            points -= _USUAL_EXTRA
        return _prizes(points, secured + doubles, self._payers, self._concealed, concealed_limit)

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


GUIDANCE: Final = ClassicalGuidance()
