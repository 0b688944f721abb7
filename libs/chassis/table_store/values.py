"""What goes into the table store and what comes out of it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field


class Keep(enum.Enum):
    """The type of `KEEP`."""

    KEEP = "keep"


KEEP = Keep.KEEP
"""Given as a deadline, leaves the one that is set as it is. None clears it."""

Due = int | None | Keep


@dataclass(frozen=True, slots=True)
class OutboxMessage:
    """A message for the broker that becomes visible together with the append that it came with.

    `headers` should hold the event id and the trace context; consumers drop repeats by the event id. The store adds
    `event-number`: how many messages of its topic the table has put out with this one.
    """

    topic: str
    key: str
    payload: bytes
    headers: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ownership:
    """Who may append to a table. `created` is false when the table was there already."""

    table_id: str
    worker: str
    epoch: int
    sequence: int
    created: bool = False


@dataclass(frozen=True, slots=True)
class Claimed:
    """A table as its new owner finds it.

    `entries` are the log entries after `snapshot_sequence`, in order. `renewed_ms` is when the previous owner was last
    known alive, or when it released the table; `now_ms` is the store's time at the claim: the difference is the outage.
    `previous_owner` is "" when the table was released.
    """

    table_id: str
    worker: str
    epoch: int
    snapshot: bytes | None
    snapshot_sequence: int
    sequence: int
    entries: tuple[tuple[int, bytes], ...]
    previous_owner: str
    renewed_ms: int
    now_ms: int

    @property
    def outage_ms(self) -> int:
        return max(0, self.now_ms - self.renewed_ms)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a table. `worker` is "" after a release; `live` tells whether the lease still runs."""

    table_id: str
    worker: str
    epoch: int
    sequence: int
    renewed_ms: int
    lease_ms: int
    live: bool


@dataclass(frozen=True, slots=True)
class DueClaim:
    """A table whose deadline (unix ms) passed, taken by this clock replica until the visibility time is over."""

    table_id: str
    due_ms: int


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """A message in the outbox of a bucket; `entry_id` orders it there."""

    bucket: int
    entry_id: str
    message: OutboxMessage


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """A live table worker as its last heartbeat told.

    `rollout` is shared by the workers of one rolling update, "" where there are none; `started_ms` is unix time.
    """

    worker: str
    address: str
    load: int
    capacity: int
    draining: bool = False
    rollout: str = ""
    started_ms: int = 0
