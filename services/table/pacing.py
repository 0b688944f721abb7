"""The pause after a discard, which must not tell whether somebody may claim (field case C059).

A declared kong has the same pause, since it must not tell either whether somebody may rob it.
"""

from __future__ import annotations

from random import SystemRandom
from typing import Final

from libs.mahjong.engine.events import DecisionKind, KongDeclared, TileDiscarded
from libs.mahjong.engine.table_state import TableState

BEGINS_A_PAUSE: Final = frozenset((TileDiscarded, KongDeclared))
"""The events that others may answer, whose answers must not show in time."""


def on_turn(state: TableState) -> bool:
    """True when a seat is asked what to do with its own tiles, and not whether it wants somebody else's."""
    hand = state.hand
    return hand is not None and hand.decision is not None and hand.decision.kind is DecisionKind.TURN


class Pacing:
    """Draws pauses from one distribution: uniform between two bounds, whatever the discard and the hands are."""

    def __init__(self, least_ms: int, most_ms: int) -> None:
        self._least = min(least_ms, most_ms)
        self._most = max(least_ms, most_ms)
        self._random = SystemRandom()

    def draw_ms(self) -> int:
        """Return the length of one pause in milliseconds."""
        return self._random.randint(self._least, self._most)
