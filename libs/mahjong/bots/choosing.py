"""The way in: a view, a level and a seed give an action."""

from __future__ import annotations

import enum

from libs.mahjong.bots.chances import SORTS, chance
from libs.mahjong.bots.easy import choose_easy
from libs.mahjong.bots.planner import HARD, MEDIUM, choose_planned
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.views import SeatView
from libs.mahjong.shapes import distance


class Level(enum.IntEnum):
    """How well a computer player plays; the numbers are those of ``eastwind.type.v1.BotLevel``."""

    EASY = 1
    """Any sensible action: builds a complete hand, whatever it is worth."""
    MEDIUM = 2
    """Heads for hands that may win, without looking at the others."""
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


def warm_up() -> None:
    """Build the tables that the first decisions would otherwise wait for."""
    distance(0, 0, 0, 1, 0)
    for sort in SORTS:
        for drawn_only in (False, True):
            chance(sort, 1, drawn_only, 0.0, 0)
