"""Live tables in Redis or Valkey: one writer each, an append-only log, deadlines, an outbox, and who serves what."""

from libs.chassis.table_store.deadlines import ALL_BUCKETS, DeadlineIndex, DueBatch
from libs.chassis.table_store.keys import BUCKETS, bucket_of
from libs.chassis.table_store.store import TableStore
from libs.chassis.table_store.values import (
    KEEP,
    Claimed,
    Due,
    DueClaim,
    OutboxEntry,
    OutboxMessage,
    Owner,
    Ownership,
    WorkerInfo,
)

__all__ = [
    "ALL_BUCKETS",
    "BUCKETS",
    "KEEP",
    "Claimed",
    "DeadlineIndex",
    "Due",
    "DueBatch",
    "DueClaim",
    "OutboxEntry",
    "OutboxMessage",
    "Owner",
    "Ownership",
    "TableStore",
    "WorkerInfo",
    "bucket_of",
]
