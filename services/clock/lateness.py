"""How late deadlines were resolved, over the latest of them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LatenessReport:
    """Of ``count`` deadlines: median, 99th percentile and largest lateness in milliseconds."""

    count: int
    p50_ms: float
    p99_ms: float
    max_ms: float


class Lateness:
    """Keeps the lateness of the latest deadlines; older ones are forgotten."""

    def __init__(self, most: int = 4096) -> None:
        self._samples: deque[int] = deque(maxlen=most)

    def note(self, late_ms: int) -> None:
        """One deadline was resolved so many milliseconds after it had passed."""
        self._samples.append(max(0, late_ms))

    def report(self) -> LatenessReport:
        """Return the figures; zeros when nothing was due yet."""
        ordered = sorted(self._samples)
        if not ordered:
            return LatenessReport(0, 0.0, 0.0, 0.0)
        last = len(ordered) - 1
        return LatenessReport(
            len(ordered), float(ordered[last // 2]), float(ordered[round(last * 0.99)]), float(ordered[last])
        )
