"""Brokers that come and go one after the other, and a topic that grows, while messages go on (C113, C114)."""

from __future__ import annotations

import asyncio
import itertools
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial

import pytest
import pytest_asyncio
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions

from deploy.kafka.cluster import ApacheKafkaCluster, ClusterNode
from eastwind.events.v1 import envelope_pb2
from libs.chassis.errors import Unavailable
from libs.chassis.events import TABLES, EventConsumer, EventRecord, ensure_topics, event_headers
from libs.chassis.page_tokens import PageTokens
from libs.chassis.redis_client import RedisClient
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.table_store import OutboxMessage, TableStore
from services.matchmaking.lobby import Lobby
from tests.backing import Keeper
from tests.service.chassis.bus import WORKER, Bus, Seen, hand, metric
from tests.service.chassis.waiting import until

pytestmark = [pytest.mark.production, pytest.mark.timeout(600)]
PLAYED = 200
EVENTS = 100


@pytest.fixture(scope="module")
def cluster(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheKafkaCluster]:
    """Three brokers."""
    cluster = ApacheKafkaCluster(tmp_path_factory.mktemp("cluster"))
    keeper.run(cluster.start())
    yield cluster
    keeper.run(cluster.stop())


@pytest_asyncio.fixture
async def cluster_bus(cluster: ApacheKafkaCluster) -> AsyncIterator[Bus]:
    await ensure_topics(cluster.bootstrap, timeout_s=30)
    bus = Bus(cluster.bootstrap)
    yield bus
    await bus.close()


class Talker:
    """Sends numbered events of one table until it is told to stop, each until a broker has it."""

    def __init__(self, bus: Bus, table: str) -> None:
        self._bus = bus
        self._table = table
        self._enough = asyncio.Event()
        self.sent = 0

    async def talk(self) -> None:
        while not self._enough.is_set():
            self.sent += 1
            await until(self._taken, seconds=60)

    async def _taken(self) -> bool:
        try:
            await self._bus.producer.send(hand(self._table, self.sent), timeout_s=5)
        except Unavailable:
            return False
        return True

    def stop(self) -> None:
        self._enough.set()


async def resumed(seen: Seen, ids: list[str], consumers: list[EventConsumer]) -> None:
    """All of these events were seen in their order, nobody has anything left to read, and all have their share."""
    await seen.number(len(ids))
    assert list(dict.fromkeys(seen.ids)) == ids

    async def quiet() -> bool:
        return all(each.ready() and metric(each, "eastwind_consumer_lag") == 0 for each in consumers)

    await until(quiet, seconds=60)


@pytest.mark.parametrize("end", [ClusterNode.stop, ClusterNode.kill], ids=["rolled", "killed"])
async def test_c113_consumers_and_producers_go_on_while_each_of_three_brokers_is_replaced(
    cluster: ApacheKafkaCluster, cluster_bus: Bus, keeper: Keeper, end: Callable[[ClusterNode], object]
) -> None:
    table, seen = f"{end.__name__}ed", Seen()

    async def handle(record: EventRecord) -> None:
        if record.key == table:
            await seen(record)

    consumers = [await cluster_bus.consume(handle, table) for _ in range(2)]
    talker = Talker(cluster_bus, table)
    talking = asyncio.create_task(talker.talk())
    await seen.number(1)
    for node in cluster.nodes:
        before = talker.sent
        await asyncio.to_thread(keeper.run, end(node))  # type: ignore[arg-type]
        # The other two take what is sent, and it arrives.
        await seen.number(before + 20)
        await asyncio.to_thread(keeper.run, node.start())
        # As an operator waits before he takes the next.
        await until(cluster.whole, seconds=120)
    talker.stop()
    await talking
    await resumed(seen, [f"{table}/{number}" for number in range(1, talker.sent + 1)], consumers)


async def test_c114_the_events_of_a_table_keep_their_order_when_their_topic_grows(
    cluster: ApacheKafkaCluster, client: RedisClient, store: TableStore
) -> None:
    """A later event may come from a new partition while earlier ones wait: it is applied, and those no more."""
    topics = {TABLES: 12, f"{TABLES}.dead": 1}
    bus = Bus(cluster.bootstrap)
    admin = AIOKafkaAdminClient(bootstrap_servers=cluster.bootstrap)
    await admin.start()
    await admin.delete_topics([TABLES])
    lobby = Lobby(client, PageTokens(read(ServiceSettings, service_key="a key that all services share")))
    heard: dict[str, set[int]] = defaultdict(set)
    applied: dict[str, list[int]] = defaultdict(list)
    partitions: set[int] = set()
    more = asyncio.Event()

    async def handle(record: EventRecord) -> None:
        envelope = envelope_pb2.Envelope.FromString(record.payload)
        table, sequence = envelope.aggregate_id, envelope.sequence
        if await lobby.changed(envelope.table_changed, sequence, envelope.occurred_ms):
            applied[table].append(sequence)
        heard[table].add(sequence)
        partitions.add(record.partition)
        more.set()

    def changed(table: str, sequence: int) -> OutboxMessage:
        envelope = envelope_pb2.Envelope(
            event_id=f"{table}/{sequence}",
            aggregate_id=table,
            sequence=sequence,
            table_changed=envelope_pb2.TableChanged(table_id=table),
        )
        return OutboxMessage(TABLES, table, envelope.SerializeToString(), event_headers(envelope.event_id))

    async def play(table: str, first: int, last: int) -> None:
        for number in range(first, last + 1):
            await store.append(table, WORKER, 1, number, [b"x"], outbox=[changed(table, number)])

    async def arrived(enough: Callable[[], bool]) -> None:
        async with asyncio.timeout(180):
            while not enough():
                more.clear()
                await more.wait()

    tables = [f"table-{number}" for number in range(PLAYED)]

    def all_heard(number: int) -> bool:
        return len(heard) >= PLAYED and all(len(heard[table]) >= number for table in tables)

    try:

        async def made() -> bool:
            return TABLES in await ensure_topics(cluster.bootstrap, topics, timeout_s=15)

        await until(made)
        for _ in range(2):
            await bus.consume(handle, "lobby", TABLES)
        await asyncio.gather(*(store.create(table, WORKER, b"made") for table in tables))
        relay = await bus.relay(client)
        await asyncio.gather(*(play(table, 1, 40) for table in tables))
        await arrived(lambda: all_heard(20))
        await admin.create_partitions({TABLES: NewPartitions(24)})
        for last in range(50, EVENTS - 9, 10):
            await asyncio.gather(*(play(table, last - 9, last) for table in tables))
        # One table more tells when the new partitions are in use, by everybody.
        await store.create("probe", WORKER, b"made")
        for number in itertools.count(1):
            await play("probe", number, number)
            await arrived(partial(heard["probe"].__contains__, number))
            if max(partitions) >= 12:
                break
        await asyncio.gather(*(play(table, EVENTS - 9, EVENTS) for table in tables))
        await arrived(lambda: all_heard(EVENTS))
    finally:
        await admin.close()
        await bus.close()
    assert len(partitions) > 12
    for table in tables:
        assert heard[table] == set(range(1, EVENTS + 1)), "nothing is lost"
        assert applied[table] == sorted(set(applied[table])), "what is applied only ever goes forward"
        assert applied[table][-1] == EVENTS
    assert not relay.failed.done()
