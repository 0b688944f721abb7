"""New messages of a topic for every process that asks: no group, no commits, nothing from before."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Collection, Sequence

import structlog
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from opentelemetry import trace

from libs.chassis.brokers import client_arguments
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import Unavailable
from libs.chassis.events.consumer import as_event
from libs.chassis.events.record import TRACE_PARENT, EventRecord
from libs.chassis.events.starting import start_client
from libs.chassis.events.stopping import stop_consumer
from libs.chassis.telemetry import Telemetry, in_span
from libs.chassis.telemetry_contract import metrics as contract
from libs.chassis.telemetry_contract import spans

_log = structlog.get_logger(__name__)


class EventFeed:
    """Calls `handler` for what is published while it runs; what was missed while the broker was away is gone.

    For what players like to see at once and can read elsewhere later. A handler must not wait; its errors are logged.
    """

    def __init__(
        self,
        bootstrap: Sequence[str],
        topics: Collection[str],
        handler: Callable[[EventRecord], None],
        telemetry: Telemetry,
    ) -> None:
        self._bootstrap = bootstrap
        self._topics = tuple(topics)
        self._handler = handler
        self._tasks = TaskOwner("event feed")
        self._connected = asyncio.Event()
        self._telemetry = telemetry
        self._fed = telemetry.metrics.counter(contract.EVENTS_FED)
        for topic in self._topics:
            self._fed.labels(topic, "handled")
            self._fed.labels(topic, "failed")

    async def start(self) -> None:
        """Begin in the background; a broker that is away is waited for."""
        self._tasks.start(self._run(), name="event-feed")

    async def connected(self) -> None:
        """Wait until messages published from now on are seen."""
        await self._connected.wait()

    async def stop(self) -> None:
        """End at once; nothing is committed, so nothing is owed."""
        await self._tasks.close()

    async def _run(self) -> None:
        failures = 0
        while True:
            try:
                await self._session()
                failures = 0
            except (KafkaError, OSError, TimeoutError, Unavailable) as error:
                failures += 1
                _log.warning("feed lost the broker", error=repr(error), tries=failures)
            self._connected.clear()
            await asyncio.sleep(random.uniform(0.1, min(5.0, 0.2 * 2 ** min(failures, 5))))

    async def _session(self) -> None:
        consumer = AIOKafkaConsumer(
            **client_arguments(self._bootstrap), enable_auto_commit=False, metadata_max_age_ms=30_000
        )
        try:
            async with asyncio.timeout(30):
                await start_client(consumer)
                partitions = await self._partitions(consumer)
                consumer.assign(partitions)
                await consumer.seek_to_end(*partitions)
                for partition in partitions:
                    await consumer.position(partition)
            self._connected.set()
            while True:
                batches = await consumer.getmany(timeout_ms=1000, max_records=256)
                for records in batches.values():
                    for record in records:
                        self._feed(as_event(record))
                if len(await self._partitions(consumer)) != len(partitions):
                    return
        finally:
            await stop_consumer(consumer)

    async def _partitions(self, consumer: AIOKafkaConsumer) -> list[TopicPartition]:
        found = []
        for topic in self._topics:
            numbers = consumer.partitions_for_topic(topic)
            if not numbers:
                await consumer._client.force_metadata_update()
                numbers = consumer.partitions_for_topic(topic)
            if not numbers:
                raise Unavailable(f"the topic {topic} is not there yet")
            found += [TopicPartition(topic, number) for number in sorted(numbers)]
        return found

    def _feed(self, event: EventRecord) -> None:
        outcome = "handled"
        span = self._telemetry.child(
            spans.HANDLE,
            event.trace_headers.get(TRACE_PARENT, ""),
            {spans.TOPIC: event.topic, spans.EVENT_ID: event.event_id},
            span_kind=trace.SpanKind.CONSUMER,
            topic=event.topic,
        )
        try:
            with in_span(span):
                self._handler(event)
        except Exception as error:
            outcome = "failed"
            _log.warning("message of a feed passed over", topic=event.topic, offset=event.offset, exc_info=error)
        finally:
            if span is not None:
                span.end()
        self._fed.labels(event.topic, outcome).inc()
