"""What a ruleset tells computer players: which hands are worth heading for, and what a loss costs.

A ruleset's folder may bring a module ``guidance`` whose ``GUIDANCE`` is one; without it every complete hand is taken to
be worth the same.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

from libs.mahjong.bots.plans import EVERY_SUIT, Form, Plan, Prize
from libs.mahjong.bots.position import Position
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.melds import Meld
from libs.mahjong.tiles import Kind, Wind


class Guidance(Protocol):
    """Advice for one ruleset."""

    def plans(self, position: Position) -> tuple[Plan, ...]:
        """The hands worth considering with these tiles, at least one; every legal win should be within one of them."""
        ...

    def expected_loss(
        self, melds: tuple[Meld, ...], bonus: tuple[Kind, ...], seat_wind: Wind, prevailing_wind: Wind
    ) -> float:
        """What it costs on average to discard the winning tile of a seat that shows these melds and bonus tiles."""
        ...


class AnyWin:
    """Advice for a ruleset of which nothing is known: complete hands are all alike."""

    def plans(self, position: Position) -> tuple[Plan, ...]:
        """One plan: four groups and a pair, whatever they are."""
        return (Plan(Form.ANY, EVERY_SUIT, (), None, (Prize(1.0, 10.0, 12.0),)),)

    def expected_loss(
        self, melds: tuple[Meld, ...], bonus: tuple[Kind, ...], seat_wind: Wind, prevailing_wind: Wind
    ) -> float:
        """As much as a win brings."""
        return 10.0


@cache
def guidance_for(ruleset: Ruleset) -> Guidance:
    """The guidance that the ruleset's folder brings, or ``AnyWin``."""
    package = type(ruleset).__module__
    if not hasattr(sys.modules[package], "__path__") or find_spec(f"{package}.guidance") is None:
        return AnyWin()
    found: Guidance = import_module(f"{package}.guidance").GUIDANCE
    return found
