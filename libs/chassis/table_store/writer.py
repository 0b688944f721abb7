"""Gathers the appends of all tables of a worker.

When nothing is in flight an append leaves at once. While a round trip runs, further appends collect and leave together,
in one send, when it returns: short waits when idle, full batches under load, no timer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from libs.chassis.errors import EastwindError, ResourceExhausted
from libs.chassis.table_store.keys import bucket_of
from libs.chassis.table_store.store import TableStore
from libs.chassis.table_store.values import KEEP, Due, OutboxMessage
from libs.chassis.telemetry import Metrics

_LONGEST_WAIT_S = 0.02


class Writer:
    """Appends in the name of one worker. A table has at most one append on its way; its actor sees to that."""

    def __init__(
        self,
        store: TableStore,
        worker: str,
        *,
        metrics: Metrics | None = None,
        on_outbox: Callable[[int], None] | None = None,
        max_waiting: int = 16384,
    ) -> None:
        self._store = store
        self._worker = worker
        self._on_outbox = on_outbox
        self._max_waiting = max_waiting
        self._in_flight = 0
        self._waiting = 0
        self._turn: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._seconds = (
            metrics.histogram("eastwind_append_seconds", "Appends to the table store", ("outcome",))
            if metrics is not None
            else None
        )

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
        """`TableStore.append` with the same results and errors; `ResourceExhausted` when too many appends wait."""
        started = time.perf_counter()
        if self._in_flight:
            await self._next_turn()
        self._in_flight += 1
        outcome = "error"
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
            outcome = "ok"
        except EastwindError as error:
            outcome = error.reason.lower()
            raise
        finally:
            self._in_flight -= 1
            if not self._in_flight:
                self._open_turn()
            if self._seconds is not None:
                self._seconds.labels(outcome).observe(time.perf_counter() - started)
        if outbox and self._on_outbox is not None:
            self._on_outbox(bucket_of(table_id))
        return sequence

    async def _next_turn(self) -> None:
        if self._waiting >= self._max_waiting:
            raise ResourceExhausted("too many appends wait for the store", reason="UNAVAILABLE")
        loop = asyncio.get_running_loop()
        if self._turn is None:
            self._turn = loop.create_future()
            # One call that hangs must not hold up all other tables.
            self._timer = loop.call_later(_LONGEST_WAIT_S, self._open_turn)
        self._waiting += 1
        try:
            await asyncio.shield(self._turn)
        finally:
            self._waiting -= 1

    def _open_turn(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        turn, self._turn = self._turn, None
        if turn is not None and not turn.done():
            turn.set_result(None)
