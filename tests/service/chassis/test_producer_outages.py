"""A producer whose broker dies or stands still: what waits is given up in time, and nothing of it stays behind."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiokafka import AIOKafkaConsumer, TopicPartition
from prometheus_client import generate_latest

from deploy.local.broker import KafkaProtocolServer
from libs.chassis.errors import Unavailable
from libs.chassis.events import HANDS, EventProducer, OutboxRelay, ensure_topics, event_headers
from libs.chassis.events.record import EVENT_ID
from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store import Outbox, OutboxMessage, TableStore
from libs.chassis.table_store.keys import BucketKeys, bucket_of
from libs.chassis.telemetry import Telemetry
from tests.backing import BACKING, Keeper
from tests.service.chassis.waiting import until

IDEMPOTENT: bool = BACKING.broker.client_settings["kafka_idempotent"]
either_producer = pytest.mark.parametrize(
    "idempotent",
    [
        pytest.param(False, id="plain"),
        # The embedded broker has no idempotent producers.
        pytest.param(True, id="idempotent", marks=pytest.mark.production),
    ],
)
TABLES = ("east", "south", "west", "north")


def messages(table: str, numbers: range) -> list[OutboxMessage]:
    """Events of a table, large enough that a few of them fill a batch."""
    return [OutboxMessage(HANDS, table, b"x" * 2_000, event_headers(f"{table}/{number}")) for number in numbers]


class Broker:
    """The broker of a test, which it takes away and gives back."""

    def __init__(self, keeper: Keeper, server: KafkaProtocolServer) -> None:
        self._keeper = keeper
        self._server = server
        self.bootstrap = [server.bootstrap]

    def stand_still(self) -> None:
        """Answer nobody, with all connections open."""
        assert self._server.pid is not None
        os.kill(self._server.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._server.pid is not None
        os.kill(self._server.pid, signal.SIGCONT)

    async def die(self) -> None:
        await asyncio.to_thread(self._keeper.run, self._server.kill())

    async def return_(self) -> None:
        await asyncio.to_thread(self._keeper.run, self._server.start())
        await ensure_topics(self.bootstrap, timeout_s=15)

    async def heard(self, number: int) -> dict[str, list[int]]:
        """The events of each table in the order in which they came first, once there are so many different ones."""
        heard: dict[str, list[int]] = {table: [] for table in TABLES}
        consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap, enable_auto_commit=False)
        await consumer.start()
        try:
            consumer.assign([TopicPartition(HANDS, each) for each in range(8)])
            await consumer.seek_to_beginning()
            async with asyncio.timeout(60):
                while sum(map(len, heard.values())) < number:
                    record = await consumer.getone()
                    table, _, place = dict(record.headers)[EVENT_ID].decode().partition("/")
                    if int(place) not in heard[table]:
                        heard[table].append(int(place))
        finally:
            await consumer.stop()
        return heard


@pytest_asyncio.fixture
async def broker(keeper: Keeper, broker_server: KafkaProtocolServer) -> AsyncIterator[Broker]:
    await ensure_topics([broker_server.bootstrap], timeout_s=15)
    broker = Broker(keeper, broker_server)
    yield broker
    with suppress(AssertionError, ProcessLookupError):
        broker.go_on()


class Remains:
    """What a test leaves behind in this process beside what was there when it began."""

    def __init__(self) -> None:
        gc.collect()
        self._tasks = asyncio.all_tasks()
        self._sockets = _sockets()
        self._complaints: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: self._complaints.append(context))

    @property
    def complaints(self) -> list[str]:
        """What the event loop was told of: failures that nobody waited for, tasks and clients left to themselves."""
        gc.collect()
        return [str(context) for context in self._complaints]

    async def nothing(self) -> bool:
        """Whether no task and no connection is left."""
        return asyncio.all_tasks() <= self._tasks and _sockets() <= self._sockets


def _sockets() -> set[str]:
    found = set()
    for each in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(str(each.readlink()))
    return {name for name in found if name.startswith("socket:")}


async def refused(producer: EventProducer, batches: Sequence[Sequence[OutboxMessage]]) -> None:
    """Send all of these at once; each send says that the broker did not take it, within its time and a little more."""
    async with asyncio.timeout(30):
        ends = await asyncio.gather(
            *(producer.send_all(batch, timeout_s=2) for batch in batches), return_exceptions=True
        )
    assert [type(end) for end in ends] == [Unavailable] * len(batches)


async def sent(producer: EventProducer, batch: Sequence[OutboxMessage]) -> None:
    """Send until the broker has it, as a relay does."""

    async def taken() -> bool:
        try:
            await producer.send_all(batch, timeout_s=10)
        except Unavailable:
            return False
        return True

    await until(taken, seconds=60)


@either_producer
@pytest.mark.parametrize("on_their_way", [False, True], ids=["died_before", "died_with_requests_on_their_way"])
async def test_what_a_dead_broker_did_not_take_is_given_up_and_sent_in_order_when_it_is_back(
    broker: Broker, *, idempotent: bool, on_their_way: bool
) -> None:
    remains = Remains()
    producer = EventProducer(broker.bootstrap, Telemetry("test"), idempotent=idempotent)
    await asyncio.gather(*(producer.send_all(messages(table, range(50))) for table in TABLES))
    if on_their_way:
        broker.stand_still()
        sending = asyncio.gather(*(refused(producer, [messages(table, range(50, 100))]) for table in TABLES))
        # Its requests are written in the next few turns of the loop, and nobody answers them.
        for _ in range(20):
            await asyncio.sleep(0.01)
        await broker.die()
        await sending
    else:
        await broker.die()
        await refused(producer, [messages(table, range(50, 100)) for table in TABLES])
    # Nobody can connect either.
    await refused(producer, [messages("east", range(50, 100))])
    await broker.return_()
    await asyncio.gather(*(sent(producer, messages(table, range(50, 150))) for table in TABLES))
    first = 0 if BACKING.name == "production" else 50
    assert await broker.heard(4 * (150 - first)) == {table: [*range(first, 150)] for table in TABLES}
    await producer.stop(5)
    await until(remains.nothing)
    assert remains.complaints == []


@either_producer
async def test_what_a_broker_that_stood_still_did_not_answer_is_sent_again_in_order(
    broker: Broker, *, idempotent: bool
) -> None:
    remains = Remains()
    producer = EventProducer(broker.bootstrap, Telemetry("test"), idempotent=idempotent, request_timeout_s=4)
    await asyncio.gather(*(producer.send_all(messages(table, range(50))) for table in TABLES))
    broker.stand_still()
    await refused(producer, [messages(table, range(50, 100)) for table in TABLES])
    await refused(producer, [messages("east", range(50, 100))])
    broker.go_on()
    await asyncio.gather(*(sent(producer, messages(table, range(50, 150))) for table in TABLES))
    assert await broker.heard(600) == {table: [*range(150)] for table in TABLES}
    await producer.stop(5)
    await until(remains.nothing)
    assert remains.complaints == []


@either_producer
@pytest.mark.parametrize("dead", [True, False], ids=["dead", "standing_still"])
async def test_a_producer_stops_within_its_grace_while_the_broker_takes_nothing(
    broker: Broker, *, idempotent: bool, dead: bool
) -> None:
    remains = Remains()
    producer = EventProducer(broker.bootstrap, Telemetry("test"), idempotent=idempotent)
    await producer.send_all(messages("east", range(50)))
    if dead:
        await broker.die()
    else:
        broker.stand_still()
    sending = asyncio.create_task(refused(producer, [messages(table, range(100)) for table in TABLES]))
    await asyncio.sleep(0)
    async with asyncio.timeout(8):
        await producer.stop(1)
    await sending
    with pytest.raises(Unavailable):
        await producer.send_all(messages("east", range(1)), timeout_s=2)
    await until(remains.nothing)
    assert remains.complaints == []


async def test_an_outbox_relay_outlives_what_nobody_foresaw(
    broker: Broker, client: RedisClient, store: TableStore
) -> None:
    telemetry = Telemetry("worker")
    producer = EventProducer(broker.bootstrap, telemetry, idempotent=IDEMPOTENT)
    relay = OutboxRelay(Outbox(client), producer, "worker", broker.bootstrap, telemetry, poll_s=0.05)
    outbox = BucketKeys(bucket_of("east")).outbox
    entry = await client.call(b"XADD", outbox, b"*", b"not", b"a message", key=outbox)
    await relay.start()

    async def failed_twice() -> bool:
        counted = generate_latest(telemetry.metrics.registry).decode()
        lines = [line for line in counted.splitlines() if 'failed_rounds_total{cause="unexpected"}' in line]
        return float(lines[0].split()[1]) >= 2

    await until(failed_twice)
    await client.call(b"XDEL", outbox, entry, key=outbox)
    await store.create("east", "worker", b"made", outbox=messages("east", range(3)))
    relay.nudge(bucket_of("east"))
    assert (await broker.heard(3))["east"] == [0, 1, 2]
    assert not relay.failed.done()
    await relay.stop(5)
    await producer.stop(5)
    await telemetry.close()
