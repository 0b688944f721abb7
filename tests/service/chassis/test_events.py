"""Outbox relay and consumers with a real store, a real broker and a real database."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
import sqlalchemy as sa
from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic, RecordsToDelete
from google.protobuf.struct_pb2 import Struct
from prometheus_client import generate_latest

from deploy.local.broker import KafkaProtocolServer
from libs.chassis.database import engine
from libs.chassis.errors import InvalidRequest, Unavailable
from libs.chassis.events import (
    HANDS,
    EventProducer,
    EventRecord,
    PoisonMessage,
    consumed_events,
    ensure_topics,
    event_headers,
    once,
)
from libs.chassis.events.incarnation import broker_incarnation
from libs.chassis.events.relay import share_of
from libs.chassis.events.stopping import stop_consumer
from libs.chassis.events.topics import BROKER
from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store import Outbox, OutboxMessage, TableStore
from libs.chassis.table_store.keys import BucketKeys, bucket_of
from libs.chassis.telemetry import Telemetry
from tests.backing import BACKING, Keeper
from tests.service.chassis.bus import WORKER, Bus, Seen, hand, metric
from tests.service.chassis.waiting import until

OUTAGE_S = 60.0 if BACKING.name == "production" else 0.0
"""How long the only broker stays away once its consumers say that it is."""


async def test_what_an_append_put_out_reaches_the_consumers(bus: Bus, client: RedisClient, store: TableStore) -> None:
    seen = Seen()
    await bus.consume(seen)
    relay = await bus.relay(client)
    await store.create("t", WORKER, b"made", outbox=[hand("t", 1)])
    await store.append("t", WORKER, 1, 1, [b"x"], outbox=[hand("t", 2), hand("t", 3)])
    relay.nudge(0)
    assert await seen.number(3) == ["t/1", "t/2", "t/3"]


async def test_c114_the_events_of_a_table_arrive_in_their_order(
    bus: Bus, client: RedisClient, store: TableStore
) -> None:
    seen = Seen()
    await bus.consume(seen)
    tables = [f"t{number}" for number in range(50)]
    await asyncio.gather(*(store.create(table, WORKER, b"made") for table in tables))
    await bus.relay(client)

    async def play(table: str) -> None:
        for number in range(1, 21):
            await store.append(table, WORKER, 1, number, [b"x"], outbox=[hand(table, number)])

    await asyncio.gather(*(play(table) for table in tables))
    ids = await seen.number(1000)
    for table in tables:
        numbers = [int(event.split("/")[1]) for event in ids if event.startswith(f"{table}/")]
        assert numbers == list(range(1, 21))


async def test_c114_a_message_that_never_came_is_missed(bus: Bus, client: RedisClient, store: TableStore) -> None:
    seen = Seen()
    consumer = await bus.consume(seen)
    await store.create("t", WORKER, b"made", outbox=[hand("t", 1)])
    relay = await bus.relay(client)
    relay.nudge(0)
    await seen.number(1)
    await relay.stop(5)
    for number in range(1, 5):
        await store.append("t", WORKER, 1, number, [b"x"], outbox=[hand("t", number + 1)])
    lost = BucketKeys(bucket_of("t")).outbox
    waiting = await client.call(b"XREVRANGE", lost, b"+", b"-", key=lost)
    assert len(waiting) >= 4
    await client.call(b"XDEL", lost, waiting[1][0], waiting[2][0], key=lost)
    await bus.relay(client, "worker-2")
    assert await seen.number(3) == ["t/1", "t/2", "t/5"]
    assert metric(consumer, "eastwind_event_gaps_total") == 2


async def test_c112_a_relay_that_stops_sends_what_waits(bus: Bus, client: RedisClient, store: TableStore) -> None:
    await store.create("t", WORKER, b"made")
    relay = await bus.relay(client)
    for number in range(1, 101):
        await store.append("t", WORKER, 1, number, [b"x"], outbox=[hand("t", number)])
    await relay.stop(20)
    await bus.producer.stop(10)
    seen = Seen()
    await bus.consume(seen)
    assert await seen.number(100) == [f"t/{number}" for number in range(1, 101)]
    assert (await Outbox(client).read("another", await broker_incarnation(bus.bootstrap))).entries == ()


async def test_c112_what_no_broker_took_waits_for_the_next_worker(
    bus: Bus, client: RedisClient, store: TableStore, broker_server: KafkaProtocolServer, keeper: Keeper
) -> None:
    await store.create("t", WORKER, b"made", outbox=[hand("t", 1)])
    await asyncio.to_thread(keeper.run, broker_server.kill())
    relay = await bus.relay(client)
    await relay.stop(0.5)
    await asyncio.to_thread(keeper.run, broker_server.start())
    await ensure_topics(bus.bootstrap, timeout_s=15)
    seen = Seen()
    await bus.consume(seen)
    await bus.relay(client, "worker-2")
    assert await seen.number(1) == ["t/1"]


@pytest.mark.embedded
async def test_a_broker_that_forgot_everything_gets_what_is_retained_again(
    bus: Bus, client: RedisClient, store: TableStore, broker_server: KafkaProtocolServer, keeper: Keeper
) -> None:
    await store.create("t", WORKER, b"made", outbox=[hand("t", 1), hand("t", 2)])
    first = Seen()
    await bus.consume(first, "first")
    await bus.relay(client)
    await first.number(2)
    await asyncio.to_thread(keeper.run, broker_server.kill())
    await asyncio.to_thread(keeper.run, broker_server.start())
    second = Seen()
    await bus.consume(second, "second")
    assert await second.number(2) == ["t/1", "t/2"]


@pytest.mark.embedded
async def test_what_a_broker_took_after_it_had_forgotten_its_topics_is_sent_again(
    bus: Bus, client: RedisClient, store: TableStore, broker_server: KafkaProtocolServer, keeper: Keeper
) -> None:
    # Nothing is kept once it is acknowledged, and nobody looks at the broker for hours.
    relay = await bus.relay(client, check_broker_s=36_000.0, retain_s=0.0)
    await store.create("t", WORKER, b"made", outbox=[hand("t", 1)])
    relay.nudge(bucket_of("t"))

    async def relayed() -> bool:
        return await Outbox(client).length() == 0

    await until(relayed)
    await asyncio.to_thread(keeper.run, broker_server.kill())
    await asyncio.to_thread(keeper.run, broker_server.start())
    # The client connects again by itself, and the broker takes what topics that are not there cannot hold.
    await store.append("t", WORKER, 1, 1, [b"x"], outbox=[hand("t", 2)])
    relay.nudge(bucket_of("t"))
    await until(relayed)
    seen = Seen()
    await bus.consume(seen)
    # At least once: the broker has found the first one again, too.
    assert set(await seen.number(1)) == {"t/2"}


async def test_c113_a_consumer_hears_again_after_the_broker_restarted(
    bus: Bus, broker_server: KafkaProtocolServer, keeper: Keeper
) -> None:
    seen = Seen()
    consumer = await bus.consume(seen)
    await bus.producer.send(hand("t", 1))
    await seen.number(1)
    assert consumer.ready()
    await asyncio.to_thread(keeper.run, broker_server.kill())

    async def says_so() -> bool:
        return not consumer.ready() and metric(consumer, "eastwind_consumer_unassigned") == 1

    await until(says_so, seconds=60)
    await asyncio.sleep(OUTAGE_S)
    await asyncio.to_thread(keeper.run, broker_server.start())
    await ensure_topics(bus.bootstrap, timeout_s=15)

    async def sent() -> bool:
        try:
            await bus.producer.send(hand("t", 2), timeout_s=5)
        except Unavailable:
            return False
        return True

    await until(sent, seconds=60)
    assert set(await seen.number(2)) == {"t/1", "t/2"}

    async def caught_up() -> bool:
        return consumer.ready() and metric(consumer, "eastwind_consumer_lag") == 0

    await until(caught_up)
    assert not consumer.failed.done()


async def test_c113_who_stops_a_client_whose_broker_is_away_goes_on(
    bus: Bus, broker_server: KafkaProtocolServer, keeper: Keeper
) -> None:
    """Between its tries to fetch, such a client comes out of its own stop as if its caller had been cancelled."""
    clients = [AIOKafkaConsumer(HANDS, bootstrap_servers=bus.bootstrap) for _ in range(10)]
    for client in clients:
        await client.start()
        await client.seek_to_end()
    await asyncio.to_thread(keeper.run, broker_server.kill())
    for client in clients:
        assert await client.getmany(timeout_ms=200) == {}
        await stop_consumer(client)
        assert not any(connection.connected() for connection in client._client._conns.values())


async def test_a_consumer_is_not_taken_for_deaf_while_its_group_shares_anew(bus: Bus) -> None:
    seen = Seen()
    first = await bus.consume(seen)
    await bus.producer.send(hand("t", 1))
    await seen.number(1)
    # The group takes as long to let a second member in as silence may last, or longer.
    second = await bus.consume(seen)

    async def shared() -> bool:
        return first.ready() and second.ready()

    await until(shared, seconds=60)
    for table in "abcdefgh":
        await bus.producer.send(hand(table, 1))
    await seen.number(9)
    for consumer in (first, second):
        metrics = generate_latest(consumer._telemetry.metrics.registry).decode()
        assert "eastwind_consumer_restarts_total 0.0" in metrics


async def test_c110_an_offset_moves_only_after_the_work(bus: Bus) -> None:
    for number in range(5):
        await bus.producer.send(hand("t", number))
    working = asyncio.Event()

    async def hangs(record: EventRecord) -> None:
        if record.event_id == "t/2":
            working.set()
            await asyncio.Event().wait()

    consumer = await bus.consume(hangs)
    await working.wait()
    await consumer.stop(0)
    seen = Seen()
    await bus.consume(seen)
    assert {"t/2", "t/3", "t/4"} <= set(await seen.number(3))


async def test_c088_an_outage_of_the_database_loses_nothing(bus: Bus) -> None:
    tries: Counter[str] = Counter()
    seen = Seen()

    async def handler(record: EventRecord) -> None:
        tries[record.event_id] += 1
        if record.event_id == "t/1" and tries["t/1"] < 6:
            raise ConnectionRefusedError("the database is away")
        await seen(record)

    await bus.consume(handler)
    for number in range(3):
        await bus.producer.send(hand("t", number))
    assert await seen.number(3) == ["t/0", "t/1", "t/2"]
    assert tries["t/1"] == 6


async def test_c111_a_message_that_cannot_be_handled_is_buried_and_the_rest_goes_on(bus: Bus) -> None:
    seen = Seen()

    async def handler(record: EventRecord) -> None:
        if not record.payload:
            raise PoisonMessage("the message is empty")
        Struct.FromString(record.payload)
        if record.event_id == "t/bug":
            raise KeyError("a fault of the handler")
        await seen(record)

    consumer = await bus.consume(handler)
    large = Struct()
    large["text"] = "x" * 3_000_000
    for name, payload in (
        ("empty", b""),
        ("truncated", b"\x0a\xff\x01"),
        ("bug", _some()),
        ("large", large.SerializeToString()),
        ("good", _some()),
    ):
        await bus.producer.send(OutboxMessage(HANDS, "t", payload, event_headers(f"t/{name}")))
    assert await seen.number(2) == ["t/large", "t/good"]
    buried = await _read_all(bus.bootstrap, f"{HANDS}.dead", 3)
    reasons = {headers["event-id"]: headers["dead-reason"] for headers in buried}
    assert reasons[b"t/empty"] == b"the message is empty"
    assert reasons[b"t/truncated"].startswith(b"DecodeError")
    assert reasons[b"t/bug"].startswith(b"KeyError")
    metrics = generate_latest(consumer._telemetry.metrics.registry).decode()
    assert f'eastwind_events_consumed_total{{outcome="dead",topic="{HANDS}"}} 3.0' in metrics


@pytest.mark.production
async def test_a_message_that_the_broker_refuses_does_not_hold_up_those_after_it(bus: Bus) -> None:
    # Smaller than the client allows and larger than this topic takes: the broker says so.
    small = NewTopic("small", 1, 1, topic_configs={"max.message.bytes": "2000"})
    admin = AIOKafkaAdminClient(bootstrap_servers=bus.bootstrap)
    await admin.start()
    try:
        await admin.create_topics([small])
    finally:
        await admin.close()

    def message(name: str, size: int) -> OutboxMessage:
        return OutboxMessage("small", "t", b"x" * size, event_headers(name))

    await bus.producer.send(message("first", 10))
    with pytest.raises(InvalidRequest):
        await bus.producer.send(message("large", 5000))
    await bus.producer.send(message("last", 10))
    ids = [headers["event-id"] for headers in await _read_all(bus.bootstrap, "small", 2)]
    assert ids == [b"first", b"last"]


@pytest.mark.production
async def test_a_life_of_the_broker_has_one_name_and_a_new_one_when_that_was_removed(bus: Bus) -> None:
    name = await broker_incarnation(bus.bootstrap)
    assert await broker_incarnation(bus.bootstrap) == name
    admin = AIOKafkaAdminClient(bootstrap_servers=bus.bootstrap)
    await admin.start()
    try:
        # As an operator's clean-up or a limit of age does.
        await admin.delete_records({TopicPartition(BROKER, 0): RecordsToDelete(before_offset=1)})
    finally:
        await admin.close()
    assert await broker_incarnation(bus.bootstrap) != name


def _some() -> bytes:
    content = Struct()
    content["x"] = 1
    return content.SerializeToString()


async def _read_all(bootstrap: list[str], topic: str, number: int) -> list[dict[str, bytes]]:
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
    await consumer.start()
    try:
        consumer.assign([TopicPartition(topic, 0)])
        await consumer.seek_to_beginning()
        async with asyncio.timeout(30):
            return [dict((await consumer.getone()).headers) for _ in range(number)]
    finally:
        await consumer.stop()


async def test_c085_a_result_that_comes_three_times_counts_once(bus: Bus, postgres_url: str) -> None:
    database = engine(postgres_url)
    async with database.begin() as connection:
        await connection.run_sync(consumed_events.create)
        await connection.execute(sa.text("create table ratings (account text primary key, rating int not null)"))
        await connection.execute(sa.text("insert into ratings values ('mei', 1500)"))
    seen = Seen()

    async def handler(record: EventRecord) -> None:
        async with database.begin() as connection:
            if await once(connection, record.event_id, consumer="ratings"):
                await connection.execute(sa.text("update ratings set rating = rating + 16"))
        await seen(record)

    first = await bus.consume(handler)
    await bus.producer.send(hand("t", 1))
    await seen.number(1)
    await first.stop(5)
    await bus.producer.send(hand("t", 1))
    await bus.producer.send(hand("t", 1))
    await bus.producer.send(hand("t", 2))
    await bus.consume(handler)
    await seen.number(2)
    async with database.connect() as connection:
        assert (await connection.execute(sa.text("select rating from ratings"))).scalar() == 1532
    await database.dispose()


async def test_two_relays_never_hold_the_same_bucket(client: RedisClient) -> None:
    outbox = Outbox(client)
    first = await outbox.read("one", "broker", buckets=range(256))
    second = await outbox.read("two", "broker", buckets=range(256))
    assert (len(first.held), second.held) == (256, ())
    await outbox.release("one", range(100))
    assert set((await outbox.read("two", "broker")).held) == set(range(100))


def test_the_buckets_are_shared_and_few_move_when_a_worker_leaves() -> None:
    workers = ["a", "b", "c"]
    shares = {worker: share_of(worker, workers) for worker in workers}
    assert sorted(bucket for share in shares.values() for bucket in share) == list(range(256))
    assert shares["a"] <= share_of("a", ["a", "b"])
    assert min(len(share) for share in shares.values()) > 256 / 3 / 2


async def test_an_acknowledged_message_is_kept_for_a_while_and_then_removed(
    client: RedisClient, store: TableStore
) -> None:
    outbox = Outbox(client)
    await store.create("t", WORKER, b"made", outbox=[hand("t", 1), hand("t", 2)])
    entries = (await outbox.read(WORKER, "broker")).entries
    last = {entries[-1].bucket: entries[-1].entry_id}
    await outbox.acknowledge(WORKER, last, retain_s=60)
    assert (await outbox.read(WORKER, "broker")).entries == ()
    await outbox.replay(last)
    assert (await outbox.read(WORKER, "broker")).entries == entries
    assert (await outbox.read(WORKER, "another life of the broker")).entries == entries
    await outbox.acknowledge(WORKER, last, retain_s=0)
    await outbox.replay(last)
    assert (await outbox.read(WORKER, "broker")).entries == ()


async def test_a_producer_says_when_no_broker_takes_a_message() -> None:
    producer = EventProducer(["127.0.0.1:1"], Telemetry("test"))
    with pytest.raises(Unavailable):
        await producer.send(hand("t", 1), timeout_s=3)
    await producer.stop(1)
