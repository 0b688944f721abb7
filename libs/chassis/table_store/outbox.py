"""The outbox of messages for the broker: one relay per bucket reads it in order; sent ones are kept for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from libs.chassis.multiplexed import Argument
from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store.keys import BUCKETS, BucketKeys
from libs.chassis.table_store.lua import script
from libs.chassis.table_store.values import OutboxEntry, OutboxMessage

_READ = script("outbox_read")
_ACK = script("outbox_ack")
_RELEASE = script("outbox_release")
_LENGTH = script("outbox_length")
_ALL = range(BUCKETS)


@dataclass(frozen=True, slots=True)
class OutboxBatch:
    """What waits in the buckets that were asked for and that this worker holds."""

    held: tuple[int, ...]
    entries: tuple[OutboxEntry, ...]


class Outbox:
    """Reads the outbox of any number of buckets. A bucket has one reader at a time, so the order of a table is kept.

    A reader that dies loses its lease, and the next one begins after the last acknowledged entry: at least once.
    """

    def __init__(self, client: RedisClient, *, deadline_s: float = 2.0) -> None:
        self._client = client
        self._deadline_s = deadline_s

    async def read(
        self,
        worker: str,
        broker: str,
        *,
        buckets: Iterable[int] = _ALL,
        limit: int = 512,
        lease_ms: int = 5000,
    ) -> OutboxBatch:
        """Unacknowledged entries, oldest first within a bucket, of those buckets whose lease `worker` has or can take.

        `broker` names the life of the broker that messages go to. When another life acknowledged before,
        everything that is retained counts as unsent again: a broker that keeps its topics in memory forgot it.
        """
        by_key = {BucketKeys(bucket).relay: bucket for bucket in buckets}
        groups = self._client.groups(by_key)
        replies = await asyncio.gather(
            *(
                self._client.run(
                    _READ,
                    [key for relay in group for key in (relay, BucketKeys(by_key[relay]).outbox)],
                    (worker, lease_ms, limit, broker),
                    deadline_s=self._deadline_s,
                )
                for group in groups
            )
        )
        held: list[int] = []
        entries: list[OutboxEntry] = []
        for group, reply in zip(groups, replies, strict=True):
            for position, rows in reply:
                bucket = by_key[group[position - 1]]
                held.append(bucket)
                entries += (_entry(bucket, row) for row in rows)
        return OutboxBatch(tuple(held), tuple(entries))

    async def acknowledge(self, worker: str, last: Mapping[int, str], *, retain_s: float = 0.0) -> None:
        """Mark everything up to the entry id `last[bucket]` as taken by the broker.

        Entries that are more than `retain_s` seconds older than it are removed.
        """
        await asyncio.gather(
            *(
                self._client.run(
                    _ACK,
                    [key for bucket in group for key in (BucketKeys(bucket).relay, BucketKeys(bucket).outbox)],
                    [worker, *_marks((last[bucket] for bucket in group), retain_s)],
                    deadline_s=self._deadline_s,
                )
                for group in self._groups(last)
            )
        )

    async def release(self, worker: str, buckets: Iterable[int] = _ALL) -> None:
        """Give up the leases of buckets, so that another reader takes them at once."""
        await asyncio.gather(
            *(
                self._client.run(
                    _RELEASE, [BucketKeys(bucket).relay for bucket in group], (worker,), deadline_s=self._deadline_s
                )
                for group in self._groups(buckets)
            )
        )

    async def length(self, buckets: Iterable[int] = _ALL) -> int:
        """How many messages these buckets hold, those included that were acknowledged and are retained."""
        groups = self._client.groups(BucketKeys(bucket).outbox for bucket in buckets)
        replies = await asyncio.gather(
            *(self._client.run(_LENGTH, group, (), deadline_s=self._deadline_s) for group in groups)
        )
        return sum(int(reply) for reply in replies)

    async def replay(self, buckets: Iterable[int] = _ALL) -> None:
        """Count everything that is retained as unsent. Consumers drop the repeats by event id."""
        for bucket in buckets:
            key = BucketKeys(bucket).relay
            await self._client.call(b"HDEL", key, b"acked", key=key, deadline_s=self._deadline_s)

    def _groups(self, buckets: Iterable[int]) -> list[list[int]]:
        by_key = {BucketKeys(bucket).relay: bucket for bucket in buckets}
        return [[by_key[key] for key in group] for group in self._client.groups(by_key)]


def _marks(ids: Iterable[str], retain_s: float) -> Iterable[Argument]:
    for entry_id in ids:
        milliseconds, _, number = entry_id.partition("-")
        yield entry_id
        if retain_s > 0:
            yield f"{max(0, int(milliseconds) - int(retain_s * 1000))}-0"
        else:
            yield f"{milliseconds}-{int(number) + 1}"


def _entry(bucket: int, row: Any) -> OutboxEntry:
    entry_id, flat = row
    fields = dict(zip(flat[::2], flat[1::2], strict=True))
    headers = {name[2:].decode(): value for name, value in fields.items() if name.startswith(b"h:")}
    message = OutboxMessage(fields[b"t"].decode(), fields[b"k"].decode(), fields[b"p"], headers)
    return OutboxEntry(bucket, entry_id.decode(), message)
