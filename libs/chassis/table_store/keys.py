"""The names of the keys. All keys of a bucket share one hash tag, so that one script touches one slot of a cluster."""

from __future__ import annotations

import binascii
from dataclasses import dataclass
from functools import lru_cache

BUCKETS = 256


def bucket_of(table_id: str) -> int:
    """The bucket of a table, 0..255: CRC-32 of its id. Never change it: it says where the keys are."""
    return binascii.crc32(table_id.encode()) % BUCKETS


@dataclass(frozen=True, slots=True)
class BucketKeys:
    """The keys that all tables of a bucket share."""

    bucket: int

    @property
    def due(self) -> bytes:
        """Sorted set: table id to the next time (unix ms) at which the clock must tick it."""
        return b"ew:{%d}:due" % self.bucket

    @property
    def claimed(self) -> bytes:
        """Hash: table id to the deadline that a clock replica claimed and no append has replaced yet."""
        return b"ew:{%d}:claimed" % self.bucket

    @property
    def outbox(self) -> bytes:
        """Stream: messages that wait for the broker."""
        return b"ew:{%d}:out" % self.bucket

    @property
    def relay(self) -> bytes:
        """Hash: who relays the outbox, until when, and up to which entry the broker acknowledged."""
        return b"ew:{%d}:relay" % self.bucket


@dataclass(frozen=True, slots=True)
class TableKeys:
    """The keys of one table."""

    owner: bytes
    log: bytes
    snapshot: bytes
    due: bytes
    claimed: bytes
    outbox: bytes

    @classmethod
    @lru_cache(maxsize=8192)
    def of(cls, table_id: str) -> TableKeys:
        bucket = BucketKeys(bucket_of(table_id))
        table = b"ew:{%d}:t:%b:" % (bucket.bucket, table_id.encode())
        return cls(
            owner=table + b"owner",
            log=table + b"log",
            snapshot=table + b"snap",
            due=bucket.due,
            claimed=bucket.claimed,
            outbox=bucket.outbox,
        )
