"""Where computer players think: one thread beside the event loop, with a bound on what waits for it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from libs.chassis.errors import ResourceExhausted, Unavailable
from libs.mahjong.bots import choose, warm_up
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.ruleset import rulesets
from libs.mahjong.engine.views import SeatView


class Thinker:
    """Chooses actions one after another. `start` before the first, `close` after the last."""

    def __init__(self, timeout_s: float, queue: int) -> None:
        self._timeout_s = timeout_s
        self._queue = queue
        self._waiting = 0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bots")

    @property
    def waiting(self) -> int:
        """How many decisions wait or are being thought about."""
        return self._waiting

    async def start(self) -> None:
        """Build the tables that decisions need and think about some hands of every ruleset."""
        loop = asyncio.get_running_loop()
        for preset in rulesets():
            await loop.run_in_executor(self._thread, warm_up, preset)

    async def choose(self, view: SeatView, level: int, seed: int) -> Action:
        """The action of a player of that level.

        Raises `ResourceExhausted` when too many wait already and `Unavailable` when it takes too long; both may be
        tried again. A decision that still waits by then, or whose caller has gone, is never thought about.
        """
        if self._waiting >= self._queue:
            raise ResourceExhausted(f"{self._waiting} decisions wait already")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._timeout_s):
                return await asyncio.wrap_future(self._thread.submit(choose, view, level, seed=seed))
        except TimeoutError as error:
            raise Unavailable(f"no decision within {self._timeout_s} s") from error
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """Finish the decision that is being thought about and drop the others."""
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)
