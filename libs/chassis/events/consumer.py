"""Takes messages from the broker one at a time, in order, and moves on only after the work is done.

- The offset is committed after the handler returned, so a crash repeats a message and never loses one.
- An error that may pass (the database is away) is tried again, as long as it takes, without moving on.
- A message that cannot be handled goes to `<topic>.dead` with the reason, and the partition goes on.
- The client is watched, and made anew when it stops getting what the broker has.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any

import structlog
from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, ConsumerRecord, TopicPartition
from aiokafka.errors import CommitFailedError, IllegalStateError, KafkaError
from google.protobuf.message import DecodeError
from opentelemetry import trace

from libs.chassis.brokers import client_arguments
from libs.chassis.database import is_retriable as database_is_retriable
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import EastwindError, InvalidRequest, Unavailable
from libs.chassis.events.order import EventOrder
from libs.chassis.events.producer import EventProducer
from libs.chassis.events.record import EventRecord, PoisonMessage
from libs.chassis.events.sharing import Sharing
from libs.chassis.events.starting import start_client
from libs.chassis.events.stopping import stop_consumer
from libs.chassis.events.topics import dead_topic
from libs.chassis.table_store.values import OutboxMessage
from libs.chassis.telemetry import Telemetry
from libs.chassis.telemetry_contract import metrics as contract
from libs.chassis.telemetry_contract import spans

Handler = Callable[[EventRecord], Awaitable[None]]

_TRIES_OF_AN_UNKNOWN_ERROR = 3
_SESSIONS_TO_JOIN = 4
"""A group may take more than two session timeouts to hand out partitions, when it waits for a member that is gone."""
_log = structlog.get_logger(__name__)


def is_retriable(error: BaseException) -> bool:
    """Whether an error of a handler may pass by itself: infrastructure that is away, never a fault of the message."""
    if isinstance(error, EastwindError):
        return error.retriable
    return isinstance(error, OSError | TimeoutError) or database_is_retriable(error)


class EventConsumer:
    """Calls `handler` for every message of `topics`, as a member of the consumer group `group`.

    The handler does its database work in one transaction and drops repeats by event id (`libs.chassis.events.once`).
    It raises `PoisonMessage` (or lets a protobuf `DecodeError` out) for a message that can never be handled.
    """

    def __init__(
        self,
        bootstrap: Sequence[str],
        group: str,
        topics: Collection[str],
        handler: Handler,
        producer: EventProducer,
        telemetry: Telemetry,
        *,
        max_records: int = 64,
        deaf_after_s: float = 15.0,
        session_timeout_s: float = 10.0,
        max_backoff_s: float = 5.0,
    ) -> None:
        self._bootstrap = bootstrap
        self._group = group
        self._topics = tuple(topics)
        self._handler = handler
        self._producer = producer
        self._telemetry = telemetry
        self._max_records = max_records
        self._deaf_after_s = deaf_after_s
        self._session_timeout_s = session_timeout_s
        self._max_backoff_s = max_backoff_s
        self._tasks = TaskOwner(f"consumer {group}")
        self._stopping = asyncio.Event()
        self._assigned = False
        self._working = asyncio.Lock()
        metrics = telemetry.metrics
        self._handled = metrics.counter(contract.EVENTS_CONSUMED)
        self._seconds = metrics.histogram(contract.EVENT_HANDLING)
        self._unassigned = metrics.gauge(contract.CONSUMER_UNASSIGNED)
        self._restarts = metrics.counter(contract.CONSUMER_RESTARTS)
        self._gaps = metrics.counter(contract.EVENT_GAPS)
        self._dead = metrics.counter(contract.DEAD_LETTERS)
        self._client: AIOKafkaConsumer | None = None
        self._in_hand: dict[TopicPartition, int] = {}
        self._beyond: dict[TopicPartition, tuple[int, int]] = {}
        """Positions beyond their ends that made this consumer begin anew. Should it stand there again, that is no sign
        of deafness: Tansu takes the first message of the last batch for the end."""
        lag = metrics.gauge(contract.CONSUMER_LAG)
        for topic in self._topics:
            self._dead.labels(topic)
            self._gaps.labels(topic)
            lag.labels(topic).set_function(partial(self._lag, topic))
            for outcome in ("handled", "retried", "dead"):
                self._handled.labels(topic, outcome)
        self._unassigned.set(1)

    @property
    def failed(self) -> asyncio.Future[BaseException]:
        """Gets the exception if the consumer ever crashes."""
        return self._tasks.failed

    def ready(self) -> bool:
        """Whether the group has given this consumer its share, which may be no partition at all."""
        return self._assigned

    async def start(self) -> None:
        """Begin in the background; a broker that is away is waited for."""
        self._tasks.start(self._run(), name=f"consumer-{self._group}")

    async def stop(self, grace_s: float = 10.0) -> None:
        """Finish the message in hand, commit, and leave the group; cut off after `grace_s`."""
        self._stopping.set()
        await self._tasks.close(grace_s)

    async def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            try:
                await self._session()
                failures = 0
            except (KafkaError, OSError, TimeoutError, Unavailable) as error:
                failures += 1
                if failures in (1, 10) or failures % 60 == 0:
                    _log.warning("consumer lost the broker", group=self._group, error=repr(error), tries=failures)
            self._mark_assigned(False)
            if not self._stopping.is_set():
                self._restarts.inc()
                await self._pause(random.uniform(0.05, min(self._max_backoff_s, 0.1 * 2 ** min(failures, 6))))

    async def _session(self) -> None:
        """Consume with one client until it must be replaced or the consumer stops."""
        sharing = Sharing()
        consumer = AIOKafkaConsumer(
            **client_arguments(self._bootstrap),
            group_id=self._group,
            partition_assignment_strategy=(sharing.assignor(),),
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            session_timeout_ms=int(self._session_timeout_s * 1000),
            heartbeat_interval_ms=int(self._session_timeout_s * 1000 / 4),
            # While a handler waits for its database nothing is polled; heartbeats tell that the process lives.
            max_poll_interval_ms=24 * 3600 * 1000,
            metadata_max_age_ms=30_000,
            request_timeout_ms=max(11_000, int(self._session_timeout_s * 1000) + 1000),
        )
        assignment = _Assignment(self, sharing)
        consumer.subscribe(self._topics, listener=assignment)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(30):
                await start_client(consumer)
            self._client, self._in_hand = consumer, {}
            heard_at, behind = loop.time(), dict[TopicPartition, tuple[int, int]]()
            while not self._stopping.is_set():
                batches = await consumer.getmany(timeout_ms=500, max_records=self._max_records)
                if batches:
                    heard_at, behind = loop.time(), {}
                generation = assignment.generation
                self._in_hand = {partition: records[0].offset for partition, records in batches.items()}
                for partition, records in batches.items():
                    await self._work(consumer, assignment, generation, partition, records)
                    del self._in_hand[partition]
                if self._assigned and sharing.outdated(consumer, loop.time()):
                    _log.warning("topics have other partitions than were shared out", group=self._group)
                    return
                silent_s = loop.time() - max(heard_at, assignment.changed_at)
                if not self._assigned:
                    if silent_s > max(self._deaf_after_s, _SESSIONS_TO_JOIN * self._session_timeout_s):
                        _log.warning("consumer gets no partitions and begins anew", group=self._group)
                        return
                elif silent_s > self._deaf_after_s:
                    before, behind = behind, await self._behind(consumer)
                    # Behind once is a message on its way; at the same place again is one that does not come.
                    still = dict(before.items() & behind.items())
                    stuck = dict(still.items() - self._beyond.items())
                    if stuck:
                        self._beyond = {at: (place, end) for at, (place, end) in still.items() if place > end}
                        places = {f"{at.topic}/{at.partition}": place for at, place in stuck.items()}
                        _log.error("consumer is deaf and begins anew", group=self._group, positions_ends=places)
                        return
                    heard_at = loop.time()
        finally:
            self._client = None
            await stop_consumer(consumer, timeout_s=self._session_timeout_s)

    async def _behind(self, consumer: AIOKafkaConsumer) -> dict[TopicPartition, tuple[int, int]]:
        """Return our position and the broker's end in each partition of ours where they differ."""
        partitions = consumer.assignment()
        if not partitions:
            return {}
        async with asyncio.timeout(10):
            ends = await consumer.end_offsets(list(partitions))
            positions = {partition: await consumer.position(partition) for partition in ends}
        return {at: (position, ends[at]) for at, position in positions.items() if position != ends[at]}

    def _lag(self, topic: str) -> float:
        """How many messages of a topic's partitions here are not handled yet, as far as the client has heard."""
        client = self._client
        if client is None or client._subscription.subscription is None:
            return 0.0
        assigned = client._subscription.subscription.assignment
        behind = 0
        for partition in client.assignment():
            state = assigned.state_value(partition) if partition.topic == topic and assigned is not None else None
            if state is not None and state.has_valid_position and state.highwater is not None:
                behind += max(0, state.highwater - self._in_hand.get(partition, state.position))
        return float(behind)

    async def _work(
        self,
        consumer: AIOKafkaConsumer,
        assignment: _Assignment,
        generation: int,
        partition: TopicPartition,
        records: Sequence[ConsumerRecord[Any, Any]],
    ) -> None:
        """Handle records of one partition in order, then commit; stop early when the partition moves elsewhere."""
        done: int | None = None
        try:
            for record in records:
                event = as_event(record)
                if not await self._handle(event, assignment, generation):
                    return
                self._in_hand[partition] = done = record.offset + 1
                if self._stopping.is_set():
                    return
        finally:
            if done is not None and assignment.generation == generation:
                await self._commit(consumer, partition, done)

    async def _commit(self, consumer: AIOKafkaConsumer, partition: TopicPartition, offset: int) -> None:
        try:
            # The client tries again as long as the broker does not know the topic any more, for example.
            async with asyncio.timeout(self._session_timeout_s):
                await consumer.commit({partition: offset})
        except (CommitFailedError, IllegalStateError) as error:
            # The group has moved on without us: whoever has the partition now sees these messages again.
            _log.info("commit refused", group=self._group, error=repr(error))

    async def _handle(self, event: EventRecord, assignment: _Assignment, generation: int) -> bool:
        """Work on one message until it is done or buried; false when the partition is no longer ours, or on a stop."""
        if assignment.generation == generation:
            self._note_gap(event, assignment.order.missing_before(event))
        tries = 0
        while True:
            if assignment.generation != generation:
                return False
            error = await self._attempt(event)
            if error is None:
                self._handled.labels(event.topic, "handled").inc()
                return True
            tries += 1
            if not self._passes(error, tries):
                await self._bury(event, error)
                self._dead.labels(event.topic).inc()
                self._handled.labels(event.topic, "dead").inc()
                return True
            self._handled.labels(event.topic, "retried").inc()
            if tries in (1, 10) or tries % 60 == 0:
                _log.warning("message is tried again", topic=event.topic, offset=event.offset, exc_info=error)
            if self._stopping.is_set():
                return False
            await self._pause(random.uniform(0.5, 1.0) * min(self._max_backoff_s, 0.05 * 2 ** min(tries, 10)))

    def _note_gap(self, event: EventRecord, missing: int) -> None:
        """What a message tells holds by itself, so nothing is built upon those that are missing."""
        if missing:
            self._gaps.labels(event.topic).inc(missing)
            _log.warning("messages are missing", topic=event.topic, key=event.key, number=event.number, missing=missing)

    async def _attempt(self, event: EventRecord) -> Exception | None:
        with (
            self._seconds.labels(event.topic).time(),
            self._telemetry.span(
                spans.HANDLE.name.format(topic=event.topic),
                kind=trace.SpanKind.CONSUMER,
                parent=event.trace_headers,
                attributes={spans.TOPIC: event.topic, spans.EVENT_ID: event.event_id},
            ),
        ):
            async with self._working:
                try:
                    await self._handler(event)
                except Exception as error:
                    return error
        return None

    def _passes(self, error: Exception, tries: int) -> bool:
        if isinstance(error, PoisonMessage | DecodeError):
            return False
        return is_retriable(error) or tries < _TRIES_OF_AN_UNKNOWN_ERROR

    async def _bury(self, event: EventRecord, error: Exception) -> None:
        """Put the message into the dead-letter topic; waits as long as the broker does not take it."""
        reason = error.reason if isinstance(error, PoisonMessage) else f"{type(error).__name__}: {error}"
        _log.error(
            "message is buried", topic=event.topic, partition=event.partition, offset=event.offset, reason=reason
        )
        headers = {
            **event.headers,
            "dead-reason": reason[:500].encode(),
            "dead-group": self._group.encode(),
            "dead-partition": str(event.partition).encode(),
            "dead-offset": str(event.offset).encode(),
            "dead-bytes": str(len(event.payload)).encode(),
        }
        message = OutboxMessage(dead_topic(event.topic), event.key, event.payload, headers)
        tries = 0
        while True:
            try:
                await self._producer.send(message)
                return
            except InvalidRequest:
                if not message.payload:
                    raise
                message = OutboxMessage(message.topic, message.key, b"", headers)
            except Unavailable as problem:
                tries += 1
                _log.warning("dead letter not taken", topic=message.topic, error=str(problem), tries=tries)
                await self._pause(min(self._max_backoff_s, 0.1 * 2 ** min(tries, 6)))
                if self._stopping.is_set():
                    raise

    async def _pause(self, seconds: float) -> None:
        """Wait, but not through a stop."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    def _mark_assigned(self, assigned: bool) -> None:
        self._assigned = assigned
        self._unassigned.set(0 if assigned else 1)


class _Assignment(ConsumerRebalanceListener):  # type: ignore[misc]
    """Counts how often the group gave out partitions, and lets the message in hand finish before they go.

    `changed_at` is when it last gave or took them (loop time, seconds), or when the client began; `order` is what was
    heard since.
    """

    def __init__(self, owner: EventConsumer, sharing: Sharing) -> None:
        self._owner = owner
        self._sharing = sharing
        self.generation = 0
        self.changed_at = asyncio.get_running_loop().time()
        self.order = EventOrder()

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        self.generation += 1
        self._sharing.forget()
        self.order = EventOrder()
        self._change(False)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._owner._session_timeout_s / 2), self._owner._working:
                pass

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._change(True)

    def _change(self, assigned: bool) -> None:
        self.changed_at = asyncio.get_running_loop().time()
        self._owner._mark_assigned(assigned)


def as_event(record: ConsumerRecord[Any, Any]) -> EventRecord:
    """A message as handlers get it."""
    return EventRecord(
        topic=record.topic,
        partition=record.partition,
        offset=record.offset,
        key=bytes(record.key or b"").decode(errors="replace"),
        payload=bytes(record.value or b""),
        headers={name: bytes(value or b"") for name, value in record.headers},
        timestamp_ms=record.timestamp,
    )
