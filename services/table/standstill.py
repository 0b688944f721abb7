"""Notices that this process itself stood still: stopped, frozen with its machine, or busy for too long with one thing.

What came in meanwhile waited for it, and nobody had a say in that. So whoever takes something in asks first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

LOOK_EVERY_S: Final = 0.1
STANDSTILL_S: Final = 0.25
"""After so long without any sign of life the process stood still; it counts from the last sign."""


class Standstill:
    """Calls ``stood_still_since`` with a moment (loop time) once for each time without a sign of life.

    A look every ``LOOK_EVERY_S`` is such a sign, and so is every call of ``notice``. When a process goes on, what had
    waited in its sockets may come before the look does: then ``notice`` finds it out first.
    """

    def __init__(self, stood_still_since: Callable[[float], None]) -> None:
        self._tell = stood_still_since
        self._seen_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Look from now on; needs a running loop."""
        self._look()

    def end(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._seen_at = None

    def notice(self) -> None:
        """This process runs now; tell when it did not just before. Does nothing before ``begin``."""
        since = self._seen_at
        if since is None:
            return
        now = self._seen_at = asyncio.get_running_loop().time()
        if now - since >= STANDSTILL_S:
            self._tell(since)

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        if self._seen_at is None:
            self._seen_at = loop.time()
        self._timer = loop.call_later(LOOK_EVERY_S, self._look)
        self.notice()
