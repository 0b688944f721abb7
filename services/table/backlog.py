"""What waits for the broker while it is away, and the bound of that.

Nothing that happened is ever dropped: a finished hand stays in the outbox until the broker has it. What is bounded is
how much more there can be. From the bound on no table is made and no hand begins; those that are under way are played
to their end, and the ready step of a table lasts until there is room again. So at most one record a table comes on top.
"""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from libs.chassis.errors import Unavailable
from libs.chassis.table_store import Outbox

LOOK_EVERY_S: Final = 1.0
_ROOM_AGAIN: Final = 0.9
"""Below this part of the bound things go on, so that they do not stop and go at every message."""
_log = structlog.get_logger(__name__)


class Backlog:
    """Looks at the length of the whole outbox, of all workers, again and again."""

    def __init__(self, outbox: Outbox, bound: int) -> None:
        self._outbox = outbox
        self._bound = bound
        self.full = False

    async def watch(self) -> None:
        """Look, until cancelled. While the store does not answer, nothing can be added to it either."""
        while True:
            try:
                waiting = await self._outbox.length()
            except Unavailable as error:
                _log.info("the outbox was not measured", error=str(error))
            else:
                self._note(waiting)
            await asyncio.sleep(LOOK_EVERY_S)

    def _note(self, waiting: int) -> None:
        full = waiting >= self._bound * (_ROOM_AGAIN if self.full else 1)
        if full != self.full:
            _log.warning("outbox", full=full, messages=waiting, bound=self._bound)
        self.full = full
