"""What the service has to tell, written in the transaction of what happened, and carried to the broker afterwards.

At least once, with event ids that never change, and in the order of each table.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from eastwind.events.v1 import envelope_pb2
from libs.chassis.database import is_retriable
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import Unavailable
from libs.chassis.events import EventProducer, ensure_topics, event_headers
from libs.chassis.events.incarnation import broker_incarnation
from libs.chassis.table_store import OutboxMessage
from libs.chassis.telemetry import Telemetry
from libs.chassis.telemetry_contract import metrics as contract
from services.ratings.settings import RatingsSettings
from services.ratings.tables import outbox

_RELAY_LOCK: Final = 0x72617465
_BATCH: Final = 256
_log = structlog.get_logger(__name__)


class Outbox:
    """The outbox table and its relay. One replica at a time relays, so that the events of a table keep their order."""

    def __init__(
        self, settings: RatingsSettings, engine: AsyncEngine, producer: EventProducer, telemetry: Telemetry
    ) -> None:
        self._settings = settings
        self._engine = engine
        self._producer = producer
        self._tasks = TaskOwner("ratings outbox")
        self._wake = asyncio.Event()
        self._stopping = False
        self._broker = ""
        self._broker_checked = float("-inf")
        self._failed_rounds = telemetry.metrics.counter(contract.OUTBOX_FAILED_ROUNDS)
        for cause in ("unavailable", "unexpected"):
            self._failed_rounds.labels(cause)
        self._failures = telemetry.metrics.gauge(contract.RATINGS_OUTBOX_FAILURES)

    async def add(
        self, connection: AsyncConnection, topic: str, envelope: envelope_pb2.Envelope, trace: Mapping[str, str]
    ) -> None:
        """Write an event within the caller's transaction. Call `nudge` once that is committed."""
        await connection.execute(
            sa.insert(outbox).values(
                topic=topic,
                key=envelope.aggregate_id,
                payload=envelope.SerializeToString(),
                event_id=envelope.event_id,
                trace=dict(trace),
            )
        )

    def nudge(self) -> None:
        """Something was added."""
        self._wake.set()

    @property
    def failed(self) -> asyncio.Future[BaseException]:
        """Gets the exception if the relay ever crashes."""
        return self._tasks.failed

    async def start(self) -> None:
        """Begin to relay, in the background. What fails is logged, counted and tried again, ever more slowly."""
        self._tasks.start(self._run(), name="ratings-outbox")

    async def stop(self, grace_s: float = 5.0) -> None:
        """Tell what waits; what cannot be told at once, or within `grace_s`, stays for a replica or the next start."""
        self._stopping = True
        self._wake.set()
        await self._tasks.close(grace_s)

    async def _run(self) -> None:
        failures = 0
        while True:
            self._wake.clear()
            stopping = self._stopping
            try:
                more = await self._relay()
                failures = 0
            except Exception as error:
                # Whatever it is, the service goes on, and what waits is tried again.
                expected = isinstance(error, Unavailable) or is_retriable(error)
                self._failed_rounds.labels("unavailable" if expected else "unexpected").inc()
                failures += 1
                self._broker_checked = float("-inf")
                if failures in (1, 10) or failures % 60 == 0:
                    log, trace = (_log.warning, None) if expected else (_log.error, error)
                    log("ratings not relayed", error=str(error), tries=failures, exc_info=trace)
                self._failures.set(failures)
                if stopping:
                    return
                await asyncio.sleep(random.uniform(0.05, min(2.0, 0.1 * 2 ** min(failures, 6))))
                more = True
            self._failures.set(failures)
            if stopping and not more:
                return
            if not more:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._settings.outbox_poll_s):
                        await self._wake.wait()

    async def remove_sent(self, connection: AsyncConnection) -> None:
        """Remove what the broker has had for longer than it is retained."""
        await connection.execute(sa.delete(outbox).where(outbox.c.sent_at < self._retained_since()))

    async def _relay(self) -> bool:
        """Relay one batch; returns whether more may wait."""
        now = asyncio.get_running_loop().time()
        if now - self._broker_checked > self._settings.broker_check_s:
            await self._look_at_broker()
            self._broker_checked = now
        async with self._engine.begin() as connection:
            locked = await connection.scalar(sa.select(sa.func.pg_try_advisory_xact_lock(_RELAY_LOCK)))
            if not locked:
                return False
            rows = await self._waiting(connection)
            if not rows:
                return False
            first = await self._producer.send_all(
                [OutboxMessage(row.topic, row.key, row.payload, event_headers(row.event_id, row.trace)) for row in rows]
            )
            if first:
                # It may be a broker that forgot everything since it was looked at (`libs.chassis.events.relay`).
                known = self._broker
                await self._look_at_broker()
                if self._broker != known:
                    return True
            await connection.execute(
                sa.update(outbox)
                .where(outbox.c.entry_id.in_([row.entry_id for row in rows]))
                .values(sent_at=sa.func.now(), sent_to=self._broker)
            )
        return len(rows) == _BATCH

    async def _waiting(self, connection: AsyncConnection) -> Sequence[Any]:
        """What the broker has not had, and what an earlier life of it took along not long ago."""
        forgotten = (outbox.c.sent_at >= self._retained_since()) & (outbox.c.sent_to != self._broker)
        statement = sa.select(outbox).where(outbox.c.sent_at.is_(None) | forgotten)
        return (await connection.execute(statement.order_by(outbox.c.entry_id).limit(_BATCH))).all()

    def _retained_since(self) -> sa.ColumnElement[Any]:
        return sa.func.now() - sa.literal(timedelta(seconds=self._settings.outbox_retain_s))

    async def _look_at_broker(self) -> None:
        broker = await broker_incarnation(self._settings.kafka_bootstrap)
        if broker != self._broker:
            try:
                await ensure_topics(self._settings.kafka_bootstrap, timeout_s=10.0)
            except Unavailable as error:
                # An operator may have made the topics and let nobody else do it; sending tells.
                _log.info("topics not made sure of", error=str(error))
            self._producer.begin_anew()
            self._broker = broker
