"""Producers, relays and consumers for tests with a real broker."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from prometheus_client import generate_latest

from libs.chassis.events import HANDS, EventConsumer, EventProducer, EventRecord, OutboxRelay, event_headers
from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store import Outbox, OutboxMessage
from libs.chassis.telemetry import Telemetry
from tests.backing import BACKING

WORKER = "worker"
IDEMPOTENT: bool = BACKING.broker.client_settings["kafka_idempotent"]
Handler = Callable[[EventRecord], Awaitable[None]]


def hand(table: str, number: int, payload: bytes = b"record") -> OutboxMessage:
    return OutboxMessage(HANDS, table, payload, event_headers(f"{table}/{number}"))


class Bus:
    """Producers, relays and consumers of one test, closed after it."""

    def __init__(self, bootstrap: Sequence[str]) -> None:
        self.bootstrap = list(bootstrap)
        self.telemetry = Telemetry("test")
        self.producer = EventProducer(self.bootstrap, self.telemetry, idempotent=IDEMPOTENT)
        self.consumers: list[EventConsumer] = []
        self.relays: list[OutboxRelay] = []

    async def consume(self, handler: Handler, group: str = "group", topic: str = HANDS) -> EventConsumer:
        consumer = EventConsumer(
            self.bootstrap,
            group,
            [topic],
            handler,
            self.producer,
            Telemetry("consumer"),
            deaf_after_s=2,
            session_timeout_s=max(3.0, BACKING.broker.shortest_session_s),
        )
        self.consumers.append(consumer)
        await consumer.start()
        return consumer

    async def relay(self, client: RedisClient, worker: str = WORKER, **settings: float) -> OutboxRelay:
        chosen = {"check_broker_s": 0.5, "poll_s": 0.05, **settings}
        relay = OutboxRelay(Outbox(client), self.producer, worker, self.bootstrap, Telemetry(worker), **chosen)
        self.relays.append(relay)
        await relay.start()
        return relay

    async def close(self) -> None:
        for consumer in self.consumers:
            await consumer.stop(5)
        for relay in self.relays:
            await relay.stop(0)
        await self.producer.stop(2)
        await self.telemetry.close()


class Seen:
    """A handler that notes what it gets."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._more = asyncio.Event()

    async def __call__(self, record: EventRecord) -> None:
        self.ids.append(record.event_id)
        self._more.set()

    async def number(self, wanted: int) -> list[str]:
        """Wait until so many different events were seen."""
        async with asyncio.timeout(60):
            while len(set(self.ids)) < wanted:
                self._more.clear()
                await self._more.wait()
        return self.ids


def metric(consumer: EventConsumer, name: str) -> float:
    """The sum of a metric of a consumer over its labels."""
    lines = generate_latest(consumer._telemetry.metrics.registry).decode().splitlines()
    return sum(float(line.split()[-1]) for line in lines if line.startswith(name))
