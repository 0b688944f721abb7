"""What a holding that waits for its next tile is worth in points, over the plans that it may follow."""

from __future__ import annotations

from typing import Final

from libs.mahjong.bots.chances import chance, sort_of
from libs.mahjong.bots.guidance import Guidance
from libs.mahjong.bots.plans import Form, Plan, improving, lacking, pair_kinds, run_kinds
from libs.mahjong.bots.position import Position
from libs.mahjong.shapes import Codes

PLANS_KEPT: Final = 7
"""The plans of a position that are looked at closely."""
SECOND_PLAN: Final = 0.25
"""How much of the next best plan's worth counts beside the best one's: it is an alternative."""
_TYPICAL: Final = 0.3
"""A chance per turn for a first comparison of plans."""
_FROM_ONE: Final = 0.7
"""The chance that the seat before discards a wanted tile, compared with drawing it."""
_FROM_THREE: Final = 2.0
"""The chance that one of the three others discards a wanted tile, compared with drawing it."""
_WINNING: Final = 1.7
"""The same for a tile that wins at once, when others are careful."""


class Appraiser:
    """Weighs holdings that can come of one position: the same melds, bonus tiles and unseen tiles."""

    __slots__ = ("_groups", "_left", "_plans", "_turns", "_unseen", "_worths")

    def __init__(self, position: Position, guidance: Guidance) -> None:
        self._groups = position.groups
        self._turns = position.turns
        self._unseen = position.unseen
        self._left = max(sum(position.unseen), 1)
        self._worths: dict[Codes, float] = {}
        self._plans = self._most_promising(guidance.plans(position), position.codes)

    @property
    def plans(self) -> tuple[tuple[Plan, str], ...]:
        """The plans that are looked at, the most promising first, each with the name of its sort."""
        return self._plans

    def _most_promising(self, plans: tuple[Plan, ...], codes: Codes) -> tuple[tuple[Plan, str], ...]:
        rated: list[tuple[float, int]] = []
        for number, plan in enumerate(plans):
            lacks = max(lacking(plan, codes, self._groups), 1)
            rated.append((-self._points(plan, sort_of(plan), lacks, _TYPICAL, 0.5), number))
        rated.sort()
        return tuple((plans[number], sort_of(plans[number])) for _, number in rated[:PLANS_KEPT])

    def worth(self, codes: Codes) -> float:
        """The points to be expected from a holding of 3n + 1 tiles, own losses not counted."""
        known = self._worths.get(codes)
        if known is None:
            best = second = 0.0
            for plan, sort in self._plans:
                points = self._worth_by(plan, sort, codes)
                if points > best:
                    best, second = points, best
                elif points > second:
                    second = points
            known = self._worths[codes] = best + SECOND_PLAN * second
        return known

    def _worth_by(self, plan: Plan, sort: str, codes: Codes) -> float:
        lacks = lacking(plan, codes, self._groups)
        if lacks < 1:
            return 0.0
        unseen = self._unseen
        wanted = improving(plan, codes, self._groups)
        drawn = claimed = 0.0
        if lacks == 1:
            while wanted:
                lowest = wanted & -wanted
                wanted ^= lowest
                drawn += unseen[lowest.bit_length() - 1]
            claimed = drawn * _WINNING
        elif plan.form is Form.ORPHANS:
            while wanted:
                lowest = wanted & -wanted
                wanted ^= lowest
                drawn += unseen[lowest.bit_length() - 1]
        else:
            pungs = 0 if plan.form is Form.CHOWS else pair_kinds(codes)
            chows = 0 if plan.form is Form.PUNGS else run_kinds(codes)
            while wanted:
                lowest = wanted & -wanted
                wanted ^= lowest
                copies = unseen[lowest.bit_length() - 1]
                drawn += copies
                if lowest & pungs:
                    claimed += copies * _FROM_THREE
                elif lowest & chows:
                    claimed += copies * _FROM_ONE
        if not drawn:
            return 0.0
        if lacks == 1:
            return self._waiting(plan, sort, drawn / self._left)
        rate = (drawn + claimed) / self._left
        return self._points(plan, sort, lacks, rate / (1.0 + 0.5 * rate), 1.0 / (1.0 + _WINNING))

    def _waiting(self, plan: Plan, sort: str, drawn: float) -> float:
        total = 0.0
        for prize in plan.prizes:
            if prize.discarded:
                rate = drawn * (1.0 + _WINNING)
                points = (prize.drawn + _WINNING * prize.discarded) / (1.0 + _WINNING)
            else:
                rate, points = drawn, prize.drawn
            if points:
                total += prize.chance * points * chance(sort, 1, False, rate, self._turns)
        return total

    def _points(self, plan: Plan, sort: str, lacks: int, rate: float, drawn_part: float) -> float:
        """The points of a plan that gets its next tile at this rate; ``drawn_part`` of the wins are self-drawn."""
        total = 0.0
        for prize in plan.prizes:
            if prize.discarded:
                points = drawn_part * prize.drawn + (1.0 - drawn_part) * prize.discarded
                total += prize.chance * points * chance(sort, lacks, False, rate, self._turns)
            elif prize.drawn:
                total += prize.chance * prize.drawn * chance(sort, lacks, True, rate, self._turns)
        return total
