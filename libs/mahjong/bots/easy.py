"""The easy player: builds groups, takes what completes one, and does not ask what the hand will be worth."""

from __future__ import annotations

from typing import Final

from libs.mahjong.bots.dice import number
from libs.mahjong.engine.actions import PASS, Action, ActionType
from libs.mahjong.engine.views import SeatView
from libs.mahjong.shapes import Codes, count, distance, improving, iter_kinds, without_tile
from libs.mahjong.tiles import COPIES, KIND_OF, is_honour

CLAIMS: Final = (ActionType.CLAIMED_KONG, ActionType.PUNG, ActionType.CHOW)
_NOTICED: Final = 0.6
"""How often the easy player notices that it may claim a tile."""


def choose_easy(view: SeatView, seed: int) -> Action:
    """A win if there is one, a kong from the hand, a claim that brings the hand nearer, the loosest discard."""
    own = view.seats[view.viewer]
    melds = len(own.melds)
    discards: list[Action] = []
    best_claim: Action | None = None
    now = distance(*own.codes, melds)
    for action in view.actions:
        if action.type in (ActionType.WIN, ActionType.CONCEALED_KONG, ActionType.ADDED_KONG):
            return action
        if action.type is ActionType.DISCARD:
            discards.append(action)
        elif action.type in CLAIMS and best_claim is None:
            if distance_after(own.codes, action, melds) < now and number(seed, action.type) < _NOTICED:
                best_claim = action
    if not discards:
        return best_claim or (PASS if PASS in view.actions else view.actions[0])
    return min(discards, key=lambda action: _looseness(own.codes, action, melds, seed))


def distance_after(codes: Codes, action: Action, melds: int) -> int:
    """The distance to any win after a claim with these own tiles and the best discard."""
    for tile in action.tiles:
        codes = without_tile(codes, KIND_OF[tile])
    return distance(*codes, melds + 1)


def _looseness(codes: Codes, action: Action, melds: int, seed: int) -> tuple[int, int, float]:
    """Least for the discard that keeps the hand nearest to any complete hand."""
    kind = KIND_OF[action.tiles[0]]
    rest = without_tile(codes, kind)
    away = distance(*rest, melds)
    useful = sum(COPIES - count(rest, other) for other in iter_kinds(improving(*rest, melds)))
    return away, -useful // 4 - is_honour(kind), number(seed, kind)
