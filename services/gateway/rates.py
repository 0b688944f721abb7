"""Rate limits: a bucket of tokens that fills steadily."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable


class TokenBucket:
    """Allows ``burst`` at once and ``rate`` a second on average."""

    __slots__ = ("_at", "_burst", "_monotonic", "_rate", "_tokens")

    def __init__(self, rate: float, burst: int, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._monotonic = monotonic
        self._tokens = float(burst)
        self._at = monotonic()

    def take(self, tokens: float = 1.0) -> bool:
        """Take so many tokens; ``False``, and none is taken, when there are too few."""
        now = self._monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate)
        self._at = now
        if self._tokens < tokens:
            return False
        self._tokens -= tokens
        return True


class RateLimits:
    """A bucket for each key; the keys used least recently are forgotten beyond ``most``."""

    def __init__(self, rate: float, burst: int, most: int = 50_000) -> None:
        self._rate = rate
        self._burst = burst
        self._most = most
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def take(self, key: str) -> bool:
        """Take one token of that key; ``False`` when it has none."""
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = TokenBucket(self._rate, self._burst)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
        return bucket.take()
