"""Carries the outbox to the broker: at least once, in the order of each table, removed only once acknowledged."""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from collections.abc import Iterable, Sequence

import structlog

from libs.chassis.drain import TaskOwner
from libs.chassis.errors import InvalidRequest, Unavailable
from libs.chassis.events.incarnation import broker_incarnation
from libs.chassis.events.producer import EventProducer
from libs.chassis.events.topics import dead_topic, ensure_topics
from libs.chassis.table_store.keys import BUCKETS
from libs.chassis.table_store.outbox import Outbox
from libs.chassis.table_store.registry import WorkerRegistry
from libs.chassis.table_store.values import OutboxEntry, OutboxMessage
from libs.chassis.telemetry import Telemetry
from libs.chassis.telemetry_contract import metrics as contract

_COUNT_EVERY_S = 5.0
_log = structlog.get_logger(__name__)


def share_of(worker: str, workers: Iterable[str], buckets: int = BUCKETS) -> frozenset[int]:
    """The buckets that `worker` relays, when these workers share them: rendezvous hashing, so few move on a change."""
    names = sorted(set(workers) | {worker})

    def holder(bucket: int) -> str:
        return max(names, key=lambda name: hashlib.blake2b(f"{bucket}:{name}".encode(), digest_size=8).digest())

    return frozenset(bucket for bucket in range(buckets) if holder(bucket) == worker)


class OutboxRelay:
    """Relays the outbox of this worker's share of the buckets.

    `nudge` wakes it right after an append; otherwise it looks every `poll_s`. Buckets of workers that left the registry
    come to it by themselves. When the broker turns out to have forgotten its topics, what is retained is sent again.
    A round that fails, for whatever reason, is logged, counted and tried again, more slowly each time.
    """

    def __init__(
        self,
        outbox: Outbox,
        producer: EventProducer,
        worker: str,
        bootstrap: Sequence[str],
        telemetry: Telemetry,
        *,
        registry: WorkerRegistry | None = None,
        retain_s: float = 60.0,
        poll_s: float = 0.25,
        check_broker_s: float = 15.0,
        batch: int = 512,
    ) -> None:
        self._outbox = outbox
        self._producer = producer
        self._worker = worker
        self._bootstrap = bootstrap
        self._registry = registry
        self._retain_s = retain_s
        self._poll_s = poll_s
        self._check_broker_s = check_broker_s
        self._batch = batch
        self._tasks = TaskOwner("outbox relay")
        self._wake = asyncio.Event()
        self._stopping = False
        self._broker = ""
        self._broker_checked = float("-inf")
        self._share: frozenset[int] = frozenset(range(BUCKETS))
        self._share_checked = float("-inf")
        self._relayed = telemetry.metrics.counter(contract.OUTBOX_RELAYED)
        self._failed_rounds = telemetry.metrics.counter(contract.OUTBOX_FAILED_ROUNDS)
        for cause in ("unavailable", "unexpected"):
            self._failed_rounds.labels(cause)
        self._behind = telemetry.metrics.gauge(contract.OUTBOX_FAILURES)
        self._length = telemetry.metrics.gauge(contract.OUTBOX_LENGTH)
        self._delay = telemetry.metrics.histogram(contract.OUTBOX_DELAY)
        self._dead = telemetry.metrics.counter(contract.DEAD_LETTERS)
        self._counted_at = float("-inf")
        self.failures = 0

    @property
    def failed(self) -> asyncio.Future[BaseException]:
        """Gets the exception if the relay ever crashes."""
        return self._tasks.failed

    async def start(self) -> None:
        """Begin to relay, in the background."""
        self._tasks.start(self._run(), name="outbox-relay")

    async def stop(self, grace_s: float = 10.0) -> None:
        """Send what waits in the buckets of this worker, then give them up.

        What the broker does not take within `grace_s` stays in the outbox for another worker. Stop this after the
        tables have written their last append.
        """
        self._stopping = True
        self._wake.set()
        await self._tasks.close(grace_s)
        try:
            await self._outbox.release(self._worker)
        except Unavailable as error:
            _log.warning("outbox leases not given up", error=str(error))

    def nudge(self, bucket: int) -> None:
        """Something was added to the outbox of this bucket."""
        if bucket in self._share:
            self._wake.set()

    async def _run(self) -> None:
        while True:
            self._wake.clear()
            stopping = self._stopping
            try:
                more = await self._relay_once()
                self.failures = 0
            except Exception as error:
                # Whatever it is, the tables go on, and nobody else relays the buckets that are held here.
                expected = isinstance(error, Unavailable)
                self._failed_rounds.labels("unavailable" if expected else "unexpected").inc()
                self.failures += 1
                self._broker_checked = float("-inf")
                if self.failures in (1, 10) or self.failures % 60 == 0:
                    log, trace = (_log.warning, None) if expected else (_log.error, error)
                    log("outbox not relayed", error=str(error), tries=self.failures, exc_info=trace)
                await asyncio.sleep(random.uniform(0.05, min(2.0, 0.1 * 2 ** min(self.failures, 6))))
                more = True
            self._behind.set(self.failures)
            if more:
                continue
            if stopping:
                return
            try:
                async with asyncio.timeout(self._poll_s):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _relay_once(self) -> bool:
        """Relay one batch; returns whether more may wait."""
        now = asyncio.get_running_loop().time()
        if now - self._broker_checked > self._check_broker_s:
            await self._look_at_broker()
            self._broker_checked = now
        if self._registry is not None and now - self._share_checked > 1.0:
            await self._look_at_share(self._registry)
            self._share_checked = now
        if now - self._counted_at > _COUNT_EVERY_S:
            self._length.set(await self._outbox.length(self._share))
            self._counted_at = now
        batch = await self._outbox.read(self._worker, self._broker, buckets=self._share, limit=self._batch)
        if not batch.entries:
            return False
        if await self._send(batch.entries):
            # The broker may have forgotten everything since it was looked at. One that keeps its topics in memory takes
            # messages even before they are made again, and then has nothing of them.
            known = self._broker
            await self._look_at_broker()
            if self._broker != known:
                return True
        last = {entry.bucket: entry.entry_id for entry in batch.entries}
        await self._outbox.acknowledge(self._worker, last, retain_s=self._retain_s)
        self._relayed.inc(len(batch.entries))
        written_ms = min(int(entry.entry_id.partition("-")[0]) for entry in batch.entries)
        self._delay.observe(max(0.0, time.time() - written_ms / 1000))
        return len(batch.entries) >= self._batch

    async def _send(self, entries: Sequence[OutboxEntry]) -> bool:
        """Send them; returns whether any is the first of its partition."""
        try:
            return await self._producer.send_all([entry.message for entry in entries])
        except InvalidRequest:
            # One of them is refused for good: find it, and let the others pass.
            first = False
            for entry in entries:
                try:
                    first |= await self._producer.send(entry.message)
                except InvalidRequest as error:
                    await self._producer.send(_buried(entry.message, error.message))
                    self._dead.labels(entry.message.topic).inc()
                    _log.error("outbox message refused", topic=entry.message.topic, key=entry.message.key)
            return first

    async def _look_at_broker(self) -> None:
        broker = await broker_incarnation(self._bootstrap)
        if broker != self._broker:
            try:
                await ensure_topics(self._bootstrap, timeout_s=10.0)
            except Unavailable as error:
                # An operator may have made the topics and let nobody else do it; sending tells.
                _log.info("topics not made sure of", error=str(error))
            self._producer.begin_anew()
            self._broker = broker

    async def _look_at_share(self, registry: WorkerRegistry) -> None:
        live = [each.worker for each in await registry.live() if not each.draining or each.worker == self._worker]
        share = share_of(self._worker, live)
        given_up = self._share - share
        self._share = share
        if given_up:
            await self._outbox.release(self._worker, given_up)


def _buried(message: OutboxMessage, reason: str) -> OutboxMessage:
    headers = {**message.headers, "dead-reason": reason.encode(), "dead-bytes": str(len(message.payload)).encode()}
    return OutboxMessage(dead_topic(message.topic), message.key, b"", headers)
