"""Sends messages to the broker and tells when it has them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import structlog
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaConnectionError, KafkaError, MessageSizeTooLargeError
from opentelemetry import trace

from libs.chassis.brokers import client_arguments
from libs.chassis.errors import InvalidRequest, Unavailable
from libs.chassis.events.record import EVENT_ID, TRACE_PARENT
from libs.chassis.events.starting import start_client
from libs.chassis.table_store.values import OutboxMessage
from libs.chassis.telemetry import Telemetry
from libs.chassis.telemetry_contract import metrics as contract
from libs.chassis.telemetry_contract import spans as contract_spans

LARGEST_EVENT_BYTES = 4 * 1024 * 1024
_log = structlog.get_logger(__name__)


class EventProducer:
    """One producer of a process. Connects at the first send, so that a broker that is away keeps nobody from starting.

    `idempotent` needs a broker that can do it: then a retry inside the client never doubles a message. Either way all
    replicas must acknowledge, and one partition has one request on its way, so order is kept. After a failure the
    client is made anew: an idempotent one never gives up what it holds, and when the broker has refused one of its
    batches it refuses all that follow, as out of sequence.
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
        self._telemetry = telemetry
        self._sent = telemetry.metrics.counter(contract.EVENTS_SENT)

    async def start(self) -> None:
        """Connect. Raises `Unavailable` when no broker answers. Sending does this by itself."""
        await self._connected()

    async def stop(self, grace_s: float = 10.0) -> None:
        """Send what is buffered, then close; what is not acknowledged after `grace_s` is given up."""
        self._closed.set()
        producer, self._producer = self._producer, None
        if producer is None:
            return
        try:
            async with asyncio.timeout(grace_s):
                await producer.flush()
        except (TimeoutError, KafkaError) as error:
            _log.warning("producer did not finish", error=repr(error))
        await _close(producer)

    async def send(self, message: OutboxMessage, *, timeout_s: float = 10.0) -> None:
        """Send one message and wait until the broker has it.

        Raises `Unavailable` when it did not say so in time (it may have it), `InvalidRequest` for a message that is too
        large.
        """
        await self.send_all([message], timeout_s=timeout_s)

    async def send_all(self, messages: Sequence[OutboxMessage], *, timeout_s: float = 10.0) -> None:
        """Send messages in their order, in batches, and wait until the broker has all of them. Raises as `send`."""
        producer: AIOKafkaProducer | None = None
        try:
            async with asyncio.timeout(timeout_s):
                producer = await self._connected()
                await self._send_all(producer, messages)
        except TimeoutError:
            await self._replace(producer)
            raise Unavailable("the broker did not acknowledge in time") from None

    async def _send_all(self, producer: AIOKafkaProducer, messages: Sequence[OutboxMessage]) -> None:
        spans = self._spans(messages)
        acks: list[asyncio.Future[Any]] = []
        refused: BaseException | None = None
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
        for span in spans:
            span.end()
        if any(isinstance(result, BaseException) for result in results):
            await self._replace(producer)
        for message, result in zip(messages, results, strict=False):
            failed = isinstance(result, BaseException)
            self._sent.labels(message.topic, "failed" if failed else "sent").inc()
            if failed:
                refused = result
        if isinstance(refused, MessageSizeTooLargeError):
            raise InvalidRequest("a message is larger than the broker takes") from refused
        if refused is not None:
            raise Unavailable(f"the broker refused: {type(refused).__name__}") from refused

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

    async def _replace(self, producer: AIOKafkaProducer | None) -> None:
        """Give a client up, with what it still holds; the next send makes a new one."""
        if producer is not None and producer is self._producer:
            self._producer = None
            await _close(producer)

    async def _connected(self) -> AIOKafkaProducer:
        async with self._starting:
            if self._producer is None:
                self._producer = await self._connect()
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


async def _close(producer: AIOKafkaProducer) -> None:
    """Close a client at once; whatever it still holds fails."""
    producer._message_accumulator.fail_all(KafkaConnectionError("the producer was closed"))
    try:
        await producer.stop()
    except Exception as error:
        # Its sender may trip over a batch that was failed under its hands; who gives it up must not fall with it.
        _log.info("a producer that was given up did not stop by itself", error=repr(error))
        await producer.client.close()
