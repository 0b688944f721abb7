"""Live tables in Redis or Valkey: one writer each, an append-only log, deadlines, an outbox, and who serves what."""

from libs.chassis.table_store.deadlines import ALL_BUCKETS, DeadlineIndex, DueBatch
from libs.chassis.table_store.keys import BUCKETS, bucket_of
from libs.chassis.table_store.outbox import Outbox, OutboxBatch
from libs.chassis.table_store.registry import WorkerRegistry
from libs.chassis.table_store.server_check import check_server
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
from libs.chassis.table_store.writer import Writer

__all__ = [
    "ALL_BUCKETS",
    "BUCKETS",
    "KEEP",
    "Claimed",
    "DeadlineIndex",
    "Due",
    "DueBatch",
    "DueClaim",
    "Outbox",
    "OutboxBatch",
    "OutboxEntry",
    "OutboxMessage",
    "Owner",
    "Ownership",
    "TableStore",
    "WorkerInfo",
    "WorkerRegistry",
    "Writer",
    "bucket_of",
    "check_server",
]
