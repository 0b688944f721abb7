"""The pause after a discard, which must not tell whether somebody may claim (field case C059).

A declared kong has the same pause, since it must not tell either whether somebody may rob it.
"""

from __future__ import annotations

from random import SystemRandom
from typing import Final

from libs.mahjong.engine.events import KongDeclared, TileDiscarded

BEGINS_A_PAUSE: Final = frozenset((TileDiscarded, KongDeclared))
"""The events that others may answer, whose answers must not show in time."""


class Pacing:
    """Draws pauses from one distribution: uniform between two bounds, whatever the discard and the hands are."""

    def __init__(self, least_ms: int, most_ms: int) -> None:
        self._least = min(least_ms, most_ms)
        self._most = max(least_ms, most_ms)
        self._random = SystemRandom()

    def draw_ms(self) -> int:
        """Return the length of one pause in milliseconds."""
        return self._random.randint(self._least, self._most)
