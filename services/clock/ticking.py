"""Takes deadlines that passed out of the index and has the owning workers resolve them.

A taken deadline is hidden from other replicas for a while and comes back by itself unless the table set a new one: at
least once. The worker ignores what is no longer due: effective once (promise P3).
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import structlog

from eastwind.clock.v1 import clock_service_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import table_service_pb2_grpc
from eastwind.type.v1 import reason_pb2
from libs.chassis.channels import Channels
from libs.chassis.clocks import Clock
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import EastwindError, TableUnknown, Unavailable
from libs.chassis.routing import TableRouter
from libs.chassis.table_store import DeadlineIndex, DueClaim, WorkerInfo
from libs.chassis.telemetry import Metrics
from libs.chassis.telemetry_contract import metrics as contract
from services.clock.lateness import Lateness
from services.clock.settings import ClockSettings

TICK_TIMEOUT_S: Final = 1.0
COUNT_EVERY_S: Final = 5.0
_TRIES: Final = 3
_log = structlog.get_logger(__name__)


class Ticker:
    """The loop of one clock replica."""

    def __init__(
        self,
        settings: ClockSettings,
        index: DeadlineIndex,
        router: TableRouter,
        channels: Channels,
        clock: Clock,
        tasks: TaskOwner,
        metrics: Metrics,
    ) -> None:
        self._settings = settings
        self._index = index
        self._router = router
        self._channels = channels
        self._clock = clock
        self._tasks = tasks
        self.lateness = Lateness()
        self._watchers: set[asyncio.Queue[clock_service_pb2.WatchDeadlinesResponse]] = set()
        self._late = metrics.histogram(contract.DEADLINE_LATENESS)
        self._failed = metrics.counter(contract.TICK_FAILURES)
        self._armed = metrics.gauge(contract.ARMED_DEADLINES)
        self.reaches_store = False

    async def run(self) -> None:
        """Look, tick, sleep, until cancelled."""
        settings = self._settings
        while True:
            try:
                batch = await self._index.claim_due(
                    self._clock.now_ms(),
                    limit=settings.clock_batch,
                    visibility_ms=settings.clock_visibility_ms,
                )
                self.reaches_store = True
            except Unavailable as error:
                self.reaches_store = False
                _log.warning("deadlines cannot be read", error=str(error))
                await asyncio.sleep(0.25)
                continue
            if batch.claims:
                self._tasks.start(self._resolve(batch.claims), name="tick")
            pause = settings.clock_poll_ms
            if batch.next_due_ms is not None:
                pause = min(pause, max(1, batch.next_due_ms - self._clock.now_ms()))
            await asyncio.sleep(pause / 1000)

    async def count_deadlines(self) -> None:
        """Keep the number of armed deadlines up to date, until cancelled."""
        while True:
            try:
                self._armed.set(await self._index.armed())
            except Unavailable as error:
                _log.info("deadlines cannot be counted", error=str(error))
            await asyncio.sleep(COUNT_EVERY_S)

    def watch(self) -> asyncio.Queue[clock_service_pb2.WatchDeadlinesResponse]:
        """Return a bounded queue that gets every resolved deadline until ``unwatch``; what does not fit is dropped."""
        queue: asyncio.Queue[clock_service_pb2.WatchDeadlinesResponse] = asyncio.Queue(1024)
        self._watchers.add(queue)
        return queue

    def unwatch(self, queue: asyncio.Queue[clock_service_pb2.WatchDeadlinesResponse]) -> None:
        """Stop filling a queue."""
        self._watchers.discard(queue)

    async def _resolve(self, claims: Sequence[DueClaim]) -> None:
        """Tick every claimed table at its owner; one that no worker could take comes back by its visibility time."""
        remaining = list(claims)
        avoid: set[str] = set()
        for _ in range(_TRIES):
            if not remaining:
                return
            remaining = await self._tick_all(remaining, avoid)
        if remaining:
            self._failed.inc(len(remaining))

    async def _tick_all(self, claims: list[DueClaim], avoid: set[str]) -> list[DueClaim]:
        """Tick once; returns what is to be tried again."""
        by_worker: dict[WorkerInfo, list[DueClaim]] = defaultdict(list)
        workers = await asyncio.gather(*(self._worker_of(claim, avoid) for claim in claims))
        for claim, worker in zip(claims, workers, strict=True):
            if worker is not None:
                by_worker[worker].append(claim)
        again = await asyncio.gather(*(self._tick_worker(worker, batch, avoid) for worker, batch in by_worker.items()))
        return [claim for batch in again for claim in batch]

    async def _worker_of(self, claim: DueClaim, avoid: set[str]) -> WorkerInfo | None:
        """Return who is to tick the table; ``None`` when it is gone, or, until it comes back, when there is nobody."""
        try:
            return await self._router.route(claim.table_id, avoid=avoid)
        except TableUnknown:
            return None
        except Unavailable as error:
            _log.warning("no worker for a table", table_id=claim.table_id, error=str(error))
            self._failed.inc()
            return None

    async def _tick_worker(self, worker: WorkerInfo, claims: list[DueClaim], avoid: set[str]) -> list[DueClaim]:
        stub = table_service_pb2_grpc.TableServiceStub(self._channels.at(worker.address))
        request = table_pb2.TickRequest(
            tables=[table_pb2.DueTable(table_id=claim.table_id, due_ms=claim.due_ms) for claim in claims],
            take_over=bool(avoid),
        )
        try:
            response = await stub.Tick(request, timeout=TICK_TIMEOUT_S)
        except EastwindError as error:
            _log.warning("worker does not answer", worker=worker.worker, error=str(error))
            avoid.add(worker.worker)
            for claim in claims:
                self._router.forget(claim.table_id)
            return claims
        now = self._clock.now_ms()
        again = []
        for claim, reason in zip(claims, response.reasons, strict=True):
            if reason in (reason_pb2.REASON_NOT_OWNER, reason_pb2.REASON_DRAINING):
                self._router.forget(claim.table_id)
                again.append(claim)
            elif reason == reason_pb2.REASON_UNSPECIFIED:
                self._note(claim, now)
        return again

    def _note(self, claim: DueClaim, now: int) -> None:
        late = now - claim.due_ms
        self.lateness.note(late)
        self._late.observe(max(0, late) / 1000)
        resolved = clock_service_pb2.WatchDeadlinesResponse(
            table_id=claim.table_id, due_ms=claim.due_ms, resolved_ms=now
        )
        for queue in self._watchers:
            if not queue.full():
                queue.put_nowait(resolved)
