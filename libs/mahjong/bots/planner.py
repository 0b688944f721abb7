"""The players that plan: they head for hands that may win, and the hard one weighs worth against danger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from libs.mahjong.bots.calling import called_worth
from libs.mahjong.bots.danger import dangers
from libs.mahjong.bots.dice import number
from libs.mahjong.bots.guidance import Guidance, guidance_for
from libs.mahjong.bots.position import Position, position_of
from libs.mahjong.bots.worth import Appraiser
from libs.mahjong.engine.actions import PASS, Action, ActionType
from libs.mahjong.engine.views import SeatView
from libs.mahjong.melds import Meld, MeldKind, chow, claimed_kong, concealed_kong, pung
from libs.mahjong.shapes import without_tile
from libs.mahjong.tiles import KIND_OF, REGULAR_KINDS, Kind


@dataclass(frozen=True, slots=True)
class Temper:
    """How a planning player weighs: ``caution`` multiplies danger (0: sees none), a claim must be ``claim_gain`` times
    as good as passing, and ``counts`` tells whether the copies of wanted tiles that are left are counted."""

    caution: float
    claim_gain: float
    counts: bool


HARD: Final = Temper(caution=0.5, claim_gain=1.0, counts=True)
"""In play against itself half the danger brought most points: who folds still pays for the self-draws of others."""
MEDIUM: Final = Temper(caution=0.0, claim_gain=1.1, counts=False)
_NO_DANGER: Final = (0.0,) * REGULAR_KINDS
_KONG_GAIN: Final = 1.04
"""What the replacement of a kong adds to the worth of the hand that waits for it."""
_LEAST_PROMISE: Final = 0.6
"""A claim after which the best plan promises less than this part of what it did is not thought through."""
_LEAST: Final = 1e-6


def choose_planned(view: SeatView, seed: int, temper: Temper) -> Action:
    """The action with the best balance of worth and danger; a win is always taken."""
    actions = view.actions
    first = actions[0]
    if len(actions) == 1 or first.type is ActionType.WIN:
        return first
    return _Choice(view, seed, temper).best(actions)


class _Choice:
    """One decision being weighed."""

    __slots__ = ("_dangers", "_guidance", "_position", "_seed", "_temper", "_view")

    def __init__(self, view: SeatView, seed: int, temper: Temper) -> None:
        self._view = view
        self._seed = seed
        self._temper = temper
        self._guidance: Guidance = guidance_for(view.ruleset)
        self._position = position_of(view)
        caution = temper.caution
        self._dangers = (
            tuple(caution * points for points in dangers(view, self._position, self._guidance))
            if caution
            else _NO_DANGER
        )

    def best(self, actions: tuple[Action, ...]) -> Action:
        """The best of the actions; among equals the seed decides."""
        now = self._appraiser(self._position)
        best, best_value = PASS, float("-inf")
        for number_, action in enumerate(actions):
            value = self._value(action, now) + number(self._seed, number_) * _LEAST
            if value > best_value:
                best, best_value = action, value
        return best

    def _appraiser(self, position: Position) -> Appraiser:
        return Appraiser(position, self._guidance, self._temper.counts)

    def _value(self, action: Action, now: Appraiser) -> float:
        position = self._position
        kind = action.type
        if kind is ActionType.DISCARD:
            return self._discard_value(now, position, KIND_OF[action.tiles[0]])
        if kind is ActionType.PASS:
            return now.worth(position.codes) * self._temper.claim_gain
        if kind is ActionType.CONCEALED_KONG:
            return self._kong_value(position.with_meld(concealed_kong(action.tiles), action.tiles))
        if kind is ActionType.ADDED_KONG:
            (tile,) = action.tiles
            own = self._view.seats[self._view.viewer]
            exposed = next(meld for meld in own.melds if meld.kind is MeldKind.PUNG and meld.base_kind == KIND_OF[tile])
            return self._kong_value(position.with_kong(exposed, tile))
        if kind is ActionType.ORIGINAL_CALL:
            left = without_tile(position.codes, KIND_OF[action.tiles[0]])
            return called_worth(self._view.ruleset, position, left) - self._dangers[KIND_OF[action.tiles[0]]]
        after = position.with_meld(self._claimed(action), action.tiles)
        if kind is ActionType.CLAIMED_KONG:
            return self._kong_value(after)
        return self._best_discard(after, _LEAST_PROMISE * now.promise)

    def _claimed(self, action: Action) -> Meld:
        discard = self._view.last_discard
        assert discard is not None
        make = {ActionType.CHOW: chow, ActionType.PUNG: pung, ActionType.CLAIMED_KONG: claimed_kong}[action.type]
        return make(action.tiles, discard.tile, discard.seat)

    def _kong_value(self, after: Position) -> float:
        return self._appraiser(after).worth(after.codes) * _KONG_GAIN

    def _best_discard(self, after: Position, least: float) -> float:
        appraiser = self._appraiser(after)
        if appraiser.promise < least:
            return float("-inf")
        return max(self._discard_value(appraiser, after, kind) for kind in range(REGULAR_KINDS) if after.holds(kind))

    def _discard_value(self, appraiser: Appraiser, position: Position, kind: Kind) -> float:
        worth = appraiser.worth(without_tile(position.codes, kind))
        return worth - self._dangers[kind]
