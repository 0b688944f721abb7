"""The deadline index: which tables the clock must tick, shared by any number of clock replicas."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store.keys import BUCKETS, BucketKeys
from libs.chassis.table_store.lua import script
from libs.chassis.table_store.values import DueClaim

_CLAIM_DUE = script("claim_due")
_COUNT_DUE = script("count_due")
ALL_BUCKETS = range(BUCKETS)
_KEYS = tuple((BucketKeys(bucket).due, BucketKeys(bucket).claimed) for bucket in ALL_BUCKETS)
_BUCKETS_ON = 97
"""How far the first bucket of a look moves on: it shares no factor with their number, so that each comes first."""


@dataclass(frozen=True, slots=True)
class DueBatch:
    """Claimed tables, and the soonest deadline (unix ms) that is left in these buckets, or None."""

    claims: tuple[DueClaim, ...]
    next_due_ms: int | None


class DeadlineIndex:
    """Reads the deadlines that appends set."""

    def __init__(self, client: RedisClient, *, deadline_s: float = 2.0) -> None:
        self._client = client
        self._deadline_s = deadline_s
        self._looks = 0

    async def claim_due(
        self,
        now_ms: int,
        *,
        buckets: Iterable[int] = ALL_BUCKETS,
        limit: int = 256,
        visibility_ms: int = 1000,
    ) -> DueBatch:
        """Take tables whose deadline is at or before `now_ms`, hidden from other replicas for `visibility_ms`.

        No table goes to two replicas within that time. A table comes back afterwards with the same deadline unless an
        append (or `TableStore.set_due`) replaced or cleared it, which always wins. `limit` bounds each group of buckets
        that one script may touch: all of them on a single server, one bucket in a cluster.
        """
        # Each look begins at another bucket, so that none comes last again and again while more is due than it takes.
        wanted = list(buckets)
        first = self._looks * _BUCKETS_ON % max(1, len(wanted))
        self._looks += 1
        due_keys = dict(_KEYS[bucket] for bucket in wanted[first:] + wanted[:first])
        replies = await asyncio.gather(
            *(
                self._client.run(
                    _CLAIM_DUE,
                    [key for due in group for key in (due, due_keys[due])],
                    (now_ms, limit, now_ms + visibility_ms),
                    deadline_s=self._deadline_s,
                )
                for group in self._client.groups(due_keys)
            )
        )
        claims: list[DueClaim] = []
        soonest: int | None = None
        for reply in replies:
            if reply[0]:
                found = int(reply[0])
                soonest = found if soonest is None else min(soonest, found)
            claims += (DueClaim(reply[i].decode(), int(reply[i + 1])) for i in range(1, len(reply), 2))
        return DueBatch(tuple(claims), soonest)

    async def armed(self, buckets: Iterable[int] = ALL_BUCKETS) -> int:
        """How many tables have a deadline in these buckets."""
        groups = self._client.groups(_KEYS[bucket][0] for bucket in buckets)
        replies = await asyncio.gather(
            *(self._client.run(_COUNT_DUE, group, (), deadline_s=self._deadline_s) for group in groups)
        )
        return sum(int(reply) for reply in replies)

    async def next_due(self, buckets: Iterable[int] = ALL_BUCKETS) -> int | None:
        """The soonest deadline (unix ms) in these buckets, claimed ones counting from when they come back."""
        return (await self.claim_due(0, buckets=buckets, limit=0)).next_due_ms
