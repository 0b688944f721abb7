"""The wall clock that deadlines are measured against.

Deadlines are absolute unix milliseconds, so that any process can act on them. A process reads them off a
`SteadyClock`: it goes by the monotonic clock from a wall time that was read once, and follows the system's wall clock
only by slewing at most `slew` of the elapsed time (0.05% by default: half a millisecond per second, what NTP does). A
step of the system time of one process by minutes or hours therefore disturbs no running turn. Processes agree because
they start from system clocks that NTP holds together, and because a small difference is slewed away.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from libs.chassis.telemetry import Metrics
from libs.chassis.telemetry_contract import metrics as contract


class Clock(Protocol):
    """Unix time in milliseconds that never jumps and never goes back."""

    def now_ms(self) -> int: ...


class SteadyClock:
    """Wall time from a monotonic base, slewed towards the system's wall clock and never stepped.

    `step_ms` is the difference from which the system clock counts as stepped: it is then not followed at all, because
    either the step is wrong or every deadline that is set was measured before it.
    """

    def __init__(
        self,
        *,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
        slew: float = 0.0005,
        step_ms: int = 2000,
    ) -> None:
        self._wall_ns = wall_ns
        self._monotonic_ns = monotonic_ns
        self._slew = slew
        self._step_ns = step_ms * 1_000_000
        self._at = monotonic_ns()
        self._now = wall_ns()

    def now_ms(self) -> int:
        """Unix milliseconds; never less than an earlier answer."""
        at = self._monotonic_ns()
        elapsed = at - self._at
        if elapsed <= 0:
            return self._now // 1_000_000
        now = self._now + elapsed
        difference = self._wall_ns() - now
        if abs(difference) <= self._step_ns:
            most = int(elapsed * self._slew)
            now += max(-most, min(most, difference))
        self._at, self._now = at, now
        return now // 1_000_000

    @property
    def stepped_ms(self) -> int:
        """How far the system's wall clock is ahead of this clock, for an alert."""
        return (self._wall_ns() - (self._now + self._monotonic_ns() - self._at)) // 1_000_000


def export_step(clock: Clock, metrics: Metrics) -> None:
    """Export how far the system's clock is ahead of this one; 0 for a clock that does not know."""
    ahead = metrics.gauge(contract.CLOCK_STEP)
    if isinstance(clock, SteadyClock):
        ahead.set_function(lambda: clock.stepped_ms / 1000)
