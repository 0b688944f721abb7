"""What a holding that waits for its next tile is worth in points, over the plans that it may follow."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from libs.mahjong.bots.chances import MOST_LACKING, chance, sort_of
from libs.mahjong.bots.guidance import Guidance
from libs.mahjong.bots.plans import Form, Plan, Prize, lacking, outlook, pair_kinds, run_kinds
from libs.mahjong.bots.position import Position
from libs.mahjong.shapes import Codes, KindMask

PLANS_KEPT: Final = 7
"""The plans of a position that are looked at closely."""
SECOND_PLAN: Final = 0.4
"""How much of the next best plan's worth counts beside the best one's: it is an alternative."""
_TYPICAL: Final = 0.3
"""A chance per turn for a first comparison of plans."""
_FROM_ONE: Final = 0.7
"""The chance that the seat before discards a wanted tile, compared with drawing it."""
_FROM_THREE: Final = 2.0
"""The chance that one of the three others discards a wanted tile, compared with drawing it."""
_WINNING: Final = 1.7
"""The same for a tile that wins at once, when others are careful."""


_DRAWN_PART: Final = 1.0 / (1.0 + _WINNING)
"""The part of the wins that are self-drawn."""
_MOST: Final = 0.8
"""A chance per turn that no hand exceeds by much."""


class _Candidate:
    """A plan that is looked at, with the most that it can be worth by the tiles lacking and what is known of it."""

    __slots__ = ("_few", "_first", "known", "most", "plan", "sort")

    def __init__(self, plan: Plan, turns: int) -> None:
        self.plan = plan
        self.sort = sort_of(plan)
        self.most = _most_points(plan.prizes, self.sort, turns)
        self.known: dict[object, float] = {}
        self._first = plan.suits[0]
        self._few = len(plan.suits) <= 2

    def key(self, codes: Codes) -> object:
        """What the plan sees of a holding: most discards of a flush make no difference to it."""
        return (codes[self._first], codes[3]) if self._few else codes


class Appraiser:
    """Weighs holdings that can come of one position: the same melds, bonus tiles and unseen tiles.

    ``promise`` is what its best plan is worth at first sight. Who ``counts`` looks at how many copies of the wanted
    tiles are left; otherwise the number of tiles that are lacking decides alone.
    """

    __slots__ = ("_counts", "_groups", "_left", "_plans", "_sums", "_turns", "_unseen", "_worths", "promise")

    def __init__(self, position: Position, guidance: Guidance, counts: bool = True) -> None:
        self._counts = counts
        self._groups = position.groups
        self._turns = position.turns
        self._unseen = position.unseen
        self._left = max(sum(position.unseen), 1)
        self._worths: dict[Codes, float] = {}
        self._sums: dict[KindMask, int] = {}
        self.promise = 0.0
        self._plans = self._most_promising(guidance.plans(position), position.codes)

    def _most_promising(self, plans: tuple[Plan, ...], codes: Codes) -> tuple[_Candidate, ...]:
        rated: list[tuple[float, int]] = []
        for number, plan in enumerate(plans):
            lacks = min(max(lacking(plan, codes, self._groups), 1), MOST_LACKING)
            rated.append((-_typical_points(plan.prizes, sort_of(plan), self._turns)[lacks], number))
        rated.sort()
        if rated:
            self.promise = -rated[0][0]
        return tuple(_Candidate(plans[number], self._turns) for _, number in rated[:PLANS_KEPT])

    def worth(self, codes: Codes) -> float:
        """The points to be expected from a holding of 3n + 1 tiles, own losses not counted."""
        known = self._worths.get(codes)
        if known is None:
            best = second = 0.0
            for candidate in self._plans:
                key = candidate.key(codes)
                points = candidate.known.get(key)
                if points is None:
                    # The most lacking that could still matter: with more the plan brings less than two others.
                    most = candidate.most
                    near = MOST_LACKING
                    while near and most[near] <= second:
                        near -= 1
                    lacks, wanted = outlook(candidate.plan, codes, self._groups, near)
                    if lacks > near:
                        continue
                    points = candidate.known[key] = self._points(candidate, codes, lacks, wanted)
                if points > best:
                    best, second = points, best
                elif points > second:
                    second = points
            known = self._worths[codes] = best + SECOND_PLAN * second
        return known

    def _points(self, candidate: _Candidate, codes: Codes, lacks: int, wanted: KindMask) -> float:
        if not lacks:
            return 0.0
        plan, sort = candidate.plan, candidate.sort
        if not self._counts:
            return _typical_points(plan.prizes, sort, self._turns)[min(lacks, MOST_LACKING)]
        drawn = self._unseen_of(wanted)
        if not drawn:
            return 0.0
        if lacks == 1:
            return waiting_points(plan.prizes, sort, drawn / self._left, self._turns)
        claimed = 0.0
        if plan.form is not Form.ORPHANS:
            pungs = 0 if plan.form is Form.CHOWS else pair_kinds(codes) & wanted
            if pungs:
                claimed = self._unseen_of(pungs) * _FROM_THREE
            if plan.form is not Form.PUNGS:
                chows = run_kinds(codes) & wanted & ~pungs
                if chows:
                    claimed += self._unseen_of(chows) * _FROM_ONE
        rate = (drawn + claimed) / self._left
        return _points(plan.prizes, sort, lacks, rate / (1.0 + 0.5 * rate), self._turns)

    def _unseen_of(self, mask: KindMask) -> int:
        """How many copies of these kinds are not seen."""
        found = self._sums.get(mask)
        if found is None:
            unseen = self._unseen
            found, rest = 0, mask
            while rest:
                lowest = rest & -rest
                rest ^= lowest
                found += unseen[lowest.bit_length() - 1]
            self._sums[mask] = found
        return found


def waiting_points(prizes: tuple[Prize, ...], sort: str, drawn: float, turns: int) -> float:
    """The points of a hand that waits for its last tile, which an own draw brings with the chance ``drawn``."""
    total = 0.0
    for prize in prizes:
        if prize.discarded:
            rate = drawn * (1.0 + _WINNING)
            points = (prize.drawn + _WINNING * prize.discarded) / (1.0 + _WINNING)
        else:
            rate, points = drawn, prize.drawn
        if points:
            total += prize.chance * points * chance(sort, 1, False, rate, turns)
    return total


def _points(prizes: tuple[Prize, ...], sort: str, lacks: int, rate: float, turns: int) -> float:
    """The points of a plan that gets its next tile at this rate."""
    total = 0.0
    for prize in prizes:
        if prize.discarded:
            points = _DRAWN_PART * prize.drawn + (1.0 - _DRAWN_PART) * prize.discarded
            total += prize.chance * points * chance(sort, lacks, False, rate, turns)
        elif prize.drawn:
            total += prize.chance * prize.drawn * chance(sort, lacks, True, rate, turns)
    return total


@lru_cache(1 << 13)
def _most_points(prizes: tuple[Prize, ...], sort: str, turns: int) -> tuple[float, ...]:
    """The most that a plan can be worth, by the tiles lacking."""
    most = [_points(prizes, sort, lacks, _MOST, turns) for lacks in range(2, MOST_LACKING + 1)]
    return (0.0, float("inf"), *most)


@lru_cache(1 << 13)
def _typical_points(prizes: tuple[Prize, ...], sort: str, turns: int) -> tuple[float, ...]:
    """What a plan is worth at first sight, by the tiles lacking."""
    return tuple(_points(prizes, sort, max(lacks, 1), _TYPICAL, turns) for lacks in range(MOST_LACKING + 1))
