"""How late the event loop runs its timers: the time that everything else on it waits as well."""

from __future__ import annotations

import asyncio

from libs.chassis.telemetry import Metrics
from libs.chassis.telemetry_contract import metrics as contract

EVERY_S = 0.25


class LoopLag:
    """Observes the lag of the running loop from `start` to `stop`."""

    def __init__(self, metrics: Metrics) -> None:
        self._seconds = metrics.histogram(contract.LOOP_LAG)
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin; needs a running loop."""
        self._arm(asyncio.get_running_loop())

    def stop(self) -> None:
        """End; does nothing when it has not begun."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        due = loop.time() + EVERY_S
        self._timer = loop.call_at(due, self._sample, loop, due)

    def _sample(self, loop: asyncio.AbstractEventLoop, due: float) -> None:
        self._seconds.observe(max(0.0, loop.time() - due))
        self._arm(loop)
