"""The appends of all tables of a worker.

Gathering happens below, in the multiplexed connection: all appends of one turn of the event loop leave in one send, and
the replies that come in together wake their tables in one turn again. So an append leaves at once when the worker is
idle, and full batches form under load by themselves. Holding appends back until a round trip returns was measured
against this at 64 and 512 tables in flight: it cost half as much CPU again and gained nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from libs.chassis.errors import EastwindError
from libs.chassis.table_store.keys import bucket_of
from libs.chassis.table_store.store import TableStore
from libs.chassis.table_store.values import KEEP, Due, OutboxMessage
from libs.chassis.telemetry import Metrics
from libs.chassis.telemetry_contract import metrics as contract


class Writer:
    """Appends in the name of one worker, measures them, and tells `on_outbox` which bucket got messages.

    A table has at most one append on its way; its actor sees to that.
    """

    def __init__(
        self,
        store: TableStore,
        worker: str,
        *,
        metrics: Metrics | None = None,
        on_outbox: Callable[[int], None] | None = None,
    ) -> None:
        self._store = store
        self._worker = worker
        self._on_outbox = on_outbox
        self._seconds = metrics.histogram(contract.APPEND) if metrics is not None else None
        # Looked up once: the others are rare.
        self._done = self._seconds.labels("done") if self._seconds is not None else None

    async def append(
        self,
        table_id: str,
        epoch: int,
        expected_sequence: int,
        entries: Sequence[bytes],
        *,
        due_ms: Due = KEEP,
        outbox: Sequence[OutboxMessage] = (),
        snapshot: bytes | None = None,
        trim_before: int | None = None,
    ) -> int:
        """`TableStore.append` with the same results and errors."""
        started = time.perf_counter()
        outcome = "failed"
        try:
            sequence = await self._store.append(
                table_id,
                self._worker,
                epoch,
                expected_sequence,
                entries,
                due_ms=due_ms,
                outbox=outbox,
                snapshot=snapshot,
                trim_before=trim_before,
            )
            outcome = "done"
        except EastwindError as error:
            outcome = error.reason.lower()
            raise
        finally:
            if self._seconds is not None and self._done is not None:
                seconds = self._done if outcome == "done" else self._seconds.labels(outcome)
                seconds.observe(time.perf_counter() - started)
        if outbox and self._on_outbox is not None:
            self._on_outbox(bucket_of(table_id))
        return sequence
