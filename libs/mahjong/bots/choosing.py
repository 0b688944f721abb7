"""The way in: a view, a level and a seed give an action."""

from __future__ import annotations

import enum
from typing import Final

from libs.mahjong.bots.chances import SORTS, chance
from libs.mahjong.bots.dice import number
from libs.mahjong.bots.easy import choose_easy
from libs.mahjong.bots.guidance import guidance_for
from libs.mahjong.bots.planner import HARD, MEDIUM, choose_planned
from libs.mahjong.bots.position import Position
from libs.mahjong.bots.worth import Appraiser
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.engine.views import SeatView
from libs.mahjong.shapes import count, distance, encode, kinds_in, without_tile
from libs.mahjong.tiles import COPIES, FLOWER_KINDS, REGULAR_KINDS, REGULAR_TILES, SEASON_KINDS


class Level(enum.IntEnum):
    """How well a computer player plays; the numbers are those of ``eastwind.type.v1.BotLevel``."""

    EASY = 1
    """Any sensible action: builds a complete hand, whatever it is worth."""
    MEDIUM = 2
    """Heads for hands that may win, without looking at the others or counting what is left."""
    HARD = 3
    """Weighs worth and speed against danger, and defends."""


def choose(view: SeatView, level: int, *, seed: int) -> Action:
    """Return the viewer's action at the open decision, one of ``view.actions``.

    The same view, level and seed always give the same action. Raises ``ValueError`` for no level, or when the viewer is
    not asked.
    """
    chosen = Level(level)
    if not view.actions:
        raise ValueError(f"seat {view.viewer} is not asked")
    if chosen is Level.EASY:
        return choose_easy(view, seed)
    return choose_planned(view, seed, HARD if chosen is Level.HARD else MEDIUM)


def warm_up(ruleset: Ruleset | None = None) -> None:
    """Build the tables that the first decisions would otherwise wait for; with a ruleset also what thinking about some
    of its hands leaves behind, which takes part of a second."""
    distance(0, 0, 0, 1, 0)
    for sort in SORTS:
        for drawn_only in (False, True):
            chance(sort, 1, drawn_only, 0.0, 0)
    if ruleset is not None:
        for hand in range(_PRACTICE_HANDS):
            _practise(ruleset, hand)


def _practise(ruleset: Ruleset, hand: int) -> None:
    """Weigh the discards of a hand that follows from its number."""
    tiles = sorted(range(REGULAR_TILES), key=lambda tile: number(hand, tile))[:_PRACTICE_TILES]
    codes = encode(tile // COPIES for tile in tiles)
    unseen = tuple(COPIES - count(codes, kind) for kind in range(REGULAR_KINDS))
    position = Position(codes, (), (), hand % 4, 0, unseen, len(FLOWER_KINDS + SEASON_KINDS), _PRACTICE_TURNS)
    appraiser = Appraiser(position, guidance_for(ruleset))
    for kind in set(kinds_in(codes)):
        appraiser.worth(without_tile(codes, kind))


_PRACTICE_HANDS: Final = 40
_PRACTICE_TILES: Final = 14
_PRACTICE_TURNS: Final = 20
