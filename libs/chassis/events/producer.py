"""Sends messages to the broker and tells when it has them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import structlog
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError
from opentelemetry import trace

from libs.chassis.brokers import client_arguments
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import InvalidRequest, Unavailable
from libs.chassis.events.record import EVENT_ID, TRACE_PARENT
from libs.chassis.events.starting import start_client
from libs.chassis.table_store.values import OutboxMessage
from libs.chassis.telemetry import Telemetry
from libs.chassis.telemetry_contract import metrics as contract
from libs.chassis.telemetry_contract import spans as contract_spans

LARGEST_EVENT_BYTES = 4 * 1024 * 1024
_ENDING_GRACE_S = 0.5
"""How long a client that is ended by a stop may wait for its requests on their way."""
_log = structlog.get_logger(__name__)


class EventProducer:
    """One producer of a process. Connects at the first send, so that a broker that is away keeps nobody from starting.

    `idempotent` needs a broker that can do it: then a retry inside the client never doubles a message. Either way all
    replicas must acknowledge, and one partition has one request on its way, so order is kept. After a failure the
    client is made anew: an idempotent one never gives up what it holds, and when the broker has refused one of its
    batches it refuses all that follow, as out of sequence. The old one sends nothing more and ends in the background.
    """

    def __init__(
        self,
        bootstrap: Sequence[str],
        telemetry: Telemetry,
        *,
        idempotent: bool = True,
        linger_ms: int = 2,
        request_timeout_s: float = 10.0,
    ) -> None:
        self._bootstrap = bootstrap
        self._idempotent = idempotent
        self._linger_ms = linger_ms
        self._request_timeout_s = request_timeout_s
        self._producer: AIOKafkaProducer | None = None
        self._starting = asyncio.Lock()
        self._closed = asyncio.Event()
        self._endings = TaskOwner("ends of producers")
        self._telemetry = telemetry
        self._sent = telemetry.metrics.counter(contract.EVENTS_SENT)

    async def start(self) -> None:
        """Connect. Raises `Unavailable` when no broker answers. Sending does this by itself."""
        await self._connected()

    async def stop(self, grace_s: float = 10.0) -> None:
        """Send what is buffered, then close; what is not acknowledged after `grace_s` is given up."""
        self._closed.set()
        producer = self._producer
        if producer is not None:
            try:
                async with asyncio.timeout(grace_s):
                    await producer.flush()
            except TimeoutError:
                _log.warning("producer did not finish")
            finally:
                self._give_up(producer)
        await self._endings.close(_ENDING_GRACE_S)

    def begin_anew(self) -> None:
        """The broker is another one, so what the client knows of its topics is void: the next send makes a new one."""
        self._give_up(self._producer)

    async def send(self, message: OutboxMessage, *, timeout_s: float = 10.0) -> bool:
        """Send one message and wait until the broker has it.

        Returns whether it is the first of its partition, as on a broker that has just begun or has forgotten all.
        Raises `Unavailable` when it did not say so in time (it may have it), `InvalidRequest` for a message that is too
        large.
        """
        return await self.send_all([message], timeout_s=timeout_s)

    async def send_all(self, messages: Sequence[OutboxMessage], *, timeout_s: float = 10.0) -> bool:
        """Send messages in their order, in batches, and wait until the broker has all of them.

        Returns whether any is the first of its partition. Raises as `send`.
        """
        producer: AIOKafkaProducer | None = None
        try:
            async with asyncio.timeout(timeout_s):
                producer = await self._connected()
                return await self._send_all(producer, messages)
        except TimeoutError:
            self._give_up(producer)
            raise Unavailable("the broker did not acknowledge in time") from None

    async def _send_all(self, producer: AIOKafkaProducer, messages: Sequence[OutboxMessage]) -> bool:
        spans = self._spans(messages)
        acks: list[asyncio.Future[Any]] = []
        refused: BaseException | None = None
        try:
            for message in messages:
                try:
                    ack = await producer.send(
                        message.topic,
                        value=message.payload,
                        key=message.key.encode(),
                        headers=list(message.headers.items()),
                    )
                except KafkaError as error:
                    refused = error
                    break
                acks.append(ack)
            results: list[Any] = await asyncio.gather(*acks, return_exceptions=True)
        except Exception:
            # A fault of the client itself, which is not to be trusted any more.
            self._give_up(producer)
            raise
        finally:
            for ack in acks:
                _forget(ack)
            for span in spans:
                span.end()
        refused_here = isinstance(refused, MessageSizeTooLargeError | None)
        if not refused_here or any(isinstance(result, BaseException) for result in results):
            self._give_up(producer)
        for message, result in zip(messages, results, strict=False):
            failed = isinstance(result, BaseException)
            self._sent.labels(message.topic, "failed" if failed else "sent").inc()
            if failed:
                refused = result
        if isinstance(refused, MessageSizeTooLargeError):
            raise InvalidRequest("a message is larger than the broker takes") from refused
        if refused is not None:
            raise Unavailable(f"the broker refused: {type(refused).__name__}") from refused
        return any(result.offset == 0 for result in results)

    def _spans(self, messages: Sequence[OutboxMessage]) -> list[trace.Span]:
        """The spans of those messages whose trace is recorded."""
        found = []
        for message in messages:
            parent = message.headers.get(TRACE_PARENT)
            if parent is None:
                continue
            event_id = message.headers.get(EVENT_ID, b"").decode(errors="replace")
            attributes = {contract_spans.TOPIC: message.topic, contract_spans.EVENT_ID: event_id}
            span = self._telemetry.child(
                contract_spans.PUBLISH,
                parent.decode(errors="replace"),
                attributes,
                span_kind=trace.SpanKind.PRODUCER,
                topic=message.topic,
            )
            if span is not None:
                found.append(span)
        return found

    def _give_up(self, producer: AIOKafkaProducer | None) -> None:
        """Give a client up, with what it still holds; the next send makes a new one."""
        if producer is not None and producer is self._producer:
            self._producer = None
            self._endings.start(_end(producer, 3 * self._request_timeout_s), name="end-producer")

    async def _connected(self) -> AIOKafkaProducer:
        async with self._starting:
            if self._producer is None:
                producer = await self._connect()
                if self._closed.is_set():
                    await producer.stop()
                    raise Unavailable("the producer is closed")
                self._producer = producer
            return self._producer

    async def _connect(self) -> AIOKafkaProducer:
        if self._closed.is_set():
            raise Unavailable("the producer is closed")
        producer = AIOKafkaProducer(
            **client_arguments(self._bootstrap),
            acks="all",
            enable_idempotence=self._idempotent,
            linger_ms=self._linger_ms,
            max_request_size=LARGEST_EVENT_BYTES + 64 * 1024,
            request_timeout_ms=int(self._request_timeout_s * 1000),
            metadata_max_age_ms=30_000,
        )
        try:
            await start_client(producer)
        except BaseException as error:
            await producer.stop()
            if isinstance(error, KafkaError | OSError):
                raise Unavailable(f"no broker answers: {type(error).__name__}") from error
            raise
        return producer


async def _end(producer: AIOKafkaProducer, patience_s: float) -> None:
    """End a client with what it holds: it sends nothing more, and closes its connections.

    `AIOKafkaProducer.stop` waits until everything is sent, which an idempotent client tries for ever, and no public
    call makes it let go. So its sender is ended by itself. That waits for the requests on their way, each of which has
    a timeout of its own; they are cut off after `patience_s`, or when this is cancelled.
    """
    sender: asyncio.Task[None] = producer._sender.sender_task
    producer._closed = True
    try:
        sender.cancel()
        await asyncio.wait([sender], timeout=patience_s)
    finally:
        await producer.client.close()
        while not sender.done():
            sender.cancel()
            await asyncio.wait([sender], timeout=_ENDING_GRACE_S)


def _forget(ack: asyncio.Future[Any]) -> None:
    """Have nobody told of a failure that nobody waits for."""
    if not ack.cancel() and not ack.cancelled():
        ack.exception()
