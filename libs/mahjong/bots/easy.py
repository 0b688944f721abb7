"""The easy player: builds groups, takes what completes one, and does not ask what the hand will be worth."""

from __future__ import annotations

from typing import Final

from libs.mahjong.bots.dice import number
from libs.mahjong.engine.actions import PASS, Action, ActionType
from libs.mahjong.engine.views import SeatView
from libs.mahjong.shapes import Codes, count, distance, improving, iter_kinds, without_tile
from libs.mahjong.tiles import COPIES, KIND_OF, Kind, is_honour

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
    return _loosest(discards, own.codes, melds, seed)


def distance_after(codes: Codes, action: Action, melds: int) -> int:
    """The distance to any win after a claim with these own tiles and the best discard."""
    for tile in action.tiles:
        codes = without_tile(codes, KIND_OF[tile])
    return distance(*codes, melds + 1)


def _loosest(discards: list[Action], codes: Codes, melds: int, seed: int) -> Action:
    """The discard that keeps the hand nearest to any complete hand."""
    kinds = [KIND_OF[action.tiles[0]] for action in discards]
    rests = [without_tile(codes, kind) for kind in kinds]
    aways = [distance(*rest, melds) for rest in rests]
    nearest = min(aways)
    # What would improve a hand is the dearer question, so it is asked only where it decides.
    equal = [place for place, away in enumerate(aways) if away == nearest]
    return discards[min(equal, key=lambda place: _looseness(rests[place], kinds[place], melds, seed))]


def _looseness(rest: Codes, kind: Kind, melds: int, seed: int) -> tuple[int, float]:
    """Least for the discard that leaves the most tiles that would bring the hand nearer."""
    useful = sum(COPIES - count(rest, other) for other in iter_kinds(improving(*rest, melds)))
    return -useful // 4 - is_honour(kind), number(seed, kind)
