"""The multiplexed connection: outages, cancelled callers, bounds; and a real cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import pytest_asyncio
import uvloop

from deploy.local.valkey import ValkeyServer
from libs.chassis.errors import StoreUnavailable
from libs.chassis.multiplexed import Address, Multiplexed, StoreReplyError
from libs.chassis.redis_client import RedisClient, Script, slot_of
from libs.chassis.table_store import DeadlineIndex, Outbox, OutboxMessage, TableStore, Writer, check_server
from tests.backing import BACKING, Keeper
from tests.service.chassis.waiting import until

WORKER = "worker"


async def test_commands_of_one_loop_turn_leave_in_one_send(client: RedisClient) -> None:
    [node] = client.nodes()
    sends = node.sends
    replies = await asyncio.gather(*(client.call("INCR", "n", key=b"n") for _ in range(500)))
    assert replies == list(range(1, 501))
    assert node.sends == sends + 1


async def test_a_cancelled_caller_does_not_shift_the_replies_of_the_others(client: RedisClient) -> None:
    async def echo(number: int) -> bytes:
        return bytes(await client.call("ECHO", number, key=b""))

    calls = [asyncio.ensure_future(echo(number)) for number in range(300)]
    await asyncio.sleep(0)
    for number in range(0, 300, 3):
        calls[number].cancel()
    results = await asyncio.gather(*calls, return_exceptions=True)
    for number, result in enumerate(results):
        assert isinstance(result, asyncio.CancelledError) if number % 3 == 0 else result == b"%d" % number


_BUSY = "local sum = 0 for i = 1, tonumber(ARGV[1]) do sum = sum + i end return 1"


async def test_a_caller_past_its_deadline_does_not_shift_replies_either(client: RedisClient) -> None:
    blocked = asyncio.ensure_future(client.call("EVAL", _BUSY, 0, 30_000_000, key=b"", deadline_s=0.05))
    hurried = asyncio.ensure_future(client.call("ECHO", "hurried", key=b"", deadline_s=0.05))
    patient = asyncio.ensure_future(client.call("ECHO", "patient", key=b"", deadline_s=20))
    for call in (blocked, hurried):
        with pytest.raises(StoreUnavailable) as late:
            await call
        assert late.value.outcome_unknown
    assert await patient == b"patient"


async def test_callers_beyond_the_bound_wait_their_turn(valkey_url: str) -> None:
    connection = Multiplexed(Address.parse(valkey_url), max_in_flight=8)
    await connection.open()
    most = 0

    async def increment() -> int:
        nonlocal most
        reply = int(await connection.call("INCR", "n"))
        most = max(most, connection.in_flight)
        return reply

    assert sorted(await asyncio.gather(*(increment() for _ in range(200)))) == list(range(1, 201))
    assert most <= 8
    await connection.close()


async def test_an_outage_fails_who_was_on_the_way_and_serves_who_comes_later(
    strict_valkey_server: ValkeyServer, keeper: Keeper
) -> None:
    async with RedisClient(strict_valkey_server.url, deadline_s=20) as client:
        await client.call("SET", "k", "v", key=b"k")
        [node] = client.nodes()
        sends = node.sends
        on_the_way = asyncio.ensure_future(client.call("EVAL", _BUSY, 0, 10**12, key=b""))
        while node.sends == sends:  # noqa: ASYNC110 (the node counts and tells nobody)
            await asyncio.sleep(0)
        await asyncio.to_thread(keeper.run, strict_valkey_server.kill())
        with pytest.raises(StoreUnavailable) as lost:
            await on_the_way
        assert lost.value.outcome_unknown
        with pytest.raises(StoreUnavailable) as away:
            await client.call("GET", "k", key=b"k", deadline_s=0.1)
        assert not away.value.outcome_unknown
        later = asyncio.ensure_future(client.call("GET", "k", key=b"k"))
        await asyncio.to_thread(keeper.run, strict_valkey_server.start())
        assert await later == b"v"


async def test_appends_under_way_in_an_outage_are_each_done_exactly_once(
    strict_valkey_server: ValkeyServer, keeper: Keeper
) -> None:
    async with RedisClient(strict_valkey_server.url, deadline_s=30) as client:
        store = TableStore(client, deadline_s=30)
        writer = Writer(store, WORKER)
        tables = [f"t{number}" for number in range(40)]
        for table in tables:
            await store.create(table, WORKER, b"0")
        acknowledged = dict.fromkeys(tables, 1)
        stop = asyncio.Event()
        some = asyncio.Event()

        async def play(table: str) -> None:
            while not stop.is_set():
                sequence = acknowledged[table]
                acknowledged[table] = await writer.append(table, 1, sequence, [b"%d" % sequence])
                some.set()

        players = [asyncio.ensure_future(play(table)) for table in tables]
        for _ in range(2):
            some.clear()
            await some.wait()
            await asyncio.to_thread(keeper.run, strict_valkey_server.kill())
            await asyncio.to_thread(keeper.run, strict_valkey_server.start())
        some.clear()
        await some.wait()
        stop.set()
        await asyncio.gather(*players)
        for table in tables:
            entries = await store.read_log(table)
            assert [sequence for sequence, _ in entries] == list(range(1, acknowledged[table] + 1))
            assert [int(entry) for _, entry in entries] == list(range(acknowledged[table]))


async def test_a_script_that_the_server_forgot_is_sent_again(client: RedisClient) -> None:
    script = Script.of("answer", b"return KEYS[1] .. ARGV[1]")
    assert await client.run(script, [b"k"], ["1"]) == b"k1"
    await client.call("SCRIPT", "FLUSH", key=b"")
    assert await asyncio.gather(*(client.run(script, [b"k"], [n]) for n in range(5))) == [b"k%d" % n for n in range(5)]


async def test_an_error_reply_is_an_error_of_its_caller_only(client: RedisClient) -> None:
    await client.call("SET", "k", "v", key=b"k")
    wrong, right = await asyncio.gather(
        client.call("LPUSH", "k", "x", key=b"k"), client.call("GET", "k", key=b"k"), return_exceptions=True
    )
    assert isinstance(wrong, StoreReplyError)
    assert wrong.kind == "WRONGTYPE"
    assert right == b"v"


async def test_a_server_that_is_not_there_is_told_as_such() -> None:
    client = RedisClient("redis://127.0.0.1:1/0")
    with pytest.raises(StoreUnavailable) as refused:
        await client.open(wait_s=0.2)
    assert not refused.value.outcome_unknown
    await client.close()


async def test_c108_dangerous_settings_of_the_store_are_warned_of(client: RedisClient) -> None:
    assert await check_server(client) == []
    await client.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lru", key=b"")
    await client.call("CONFIG", "SET", "appendonly", "no", key=b"")
    try:
        warnings = await check_server(client)
    finally:
        await client.call("CONFIG", "SET", "maxmemory-policy", "noeviction", key=b"")
        await client.call("CONFIG", "SET", "appendonly", "yes", key=b"")
    assert len(warnings) == 2
    assert "allkeys-lru" in warnings[0]
    assert "persists nothing" in warnings[1]


class ClusterNode(BACKING.store):  # type: ignore[name-defined, misc]
    """A Valkey that is a node of a cluster."""

    def _command(self) -> list[str]:
        return [*super()._command(), "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf"]


class Cluster:
    """Two nodes that have half of the slots each."""

    def __init__(self, nodes: list[ClusterNode], controls: list[Multiplexed]) -> None:
        self.nodes = nodes
        self.controls = controls
        self.names: list[str] = []

    async def form(self) -> None:
        for number, control in enumerate(self.controls):
            await control.open()
            await control.call("CLUSTER", "ADDSLOTSRANGE", number * 8192, number * 8192 + 8191, deadline_s=10)
            self.names.append((await control.call("CLUSTER", "MYID")).decode())
        await self.controls[0].call("CLUSTER", "MEET", "127.0.0.1", self.nodes[1].port)
        for control in self.controls:
            await until(partial(_is_formed, control))


async def _is_formed(control: Multiplexed) -> bool:
    info, slots = await asyncio.gather(control.call("CLUSTER", "INFO"), control.call("CLUSTER", "SLOTS"))
    return b"cluster_state:ok" in info and len(slots) == 2


@pytest_asyncio.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    nodes = [ClusterNode(tmp_path / f"node-{number}") for number in range(2)]
    for node in nodes:
        await node.start()
    cluster = Cluster(nodes, [Multiplexed(Address.parse(node.url)) for node in nodes])
    await cluster.form()
    yield cluster
    for control in cluster.controls:
        await control.close()
    for node in nodes:
        await node.kill()


async def test_the_store_works_on_a_cluster(cluster: Cluster) -> None:
    async with RedisClient(cluster.nodes[0].url) as client:
        assert client.is_cluster
        store, index, outbox = TableStore(client), DeadlineIndex(client), Outbox(client)
        tables = [f"t{number}" for number in range(64)]
        message = OutboxMessage("topic", "key", b"payload")
        for number, table in enumerate(tables):
            await store.create(table, WORKER, b"made", due_ms=number)
            assert await store.append(table, WORKER, 1, 1, [b"x"], outbox=[message]) == 2
        assert all([await node.call("DBSIZE") for node in cluster.controls])
        assert await store.renew(WORKER, dict.fromkeys(tables, 1)) == []
        claims = (await index.claim_due(1000)).claims
        assert sorted(claim.due_ms for claim in claims) == list(range(64))
        batch = await outbox.read(WORKER, "broker")
        assert len(batch.entries) == 64
        await outbox.acknowledge(WORKER, {entry.bucket: entry.entry_id for entry in batch.entries})
        assert (await outbox.read(WORKER, "broker")).entries == ()


async def test_a_slot_that_moves_is_followed(cluster: Cluster) -> None:
    async with RedisClient(cluster.nodes[0].url) as client:
        slot = slot_of(b"{tag}a")
        source = 0 if slot < 8192 else 1
        old, new = cluster.controls[source], cluster.controls[1 - source]
        await client.call("SET", "{tag}a", "1", key=b"{tag}a")
        await new.call("CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.names[source])
        await old.call("CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.names[1 - source])
        await client.call("SET", "{tag}b", "2", key=b"{tag}b")
        assert await client.call("GET", "{tag}b", key=b"{tag}b") == b"2"
        assert await client.call("GET", "{tag}a", key=b"{tag}a") == b"1"
        await old.call("MIGRATE", "127.0.0.1", cluster.nodes[1 - source].port, "{tag}a", 0, 5000, deadline_s=10)
        for control in (new, old):
            await control.call("CLUSTER", "SETSLOT", slot, "NODE", cluster.names[1 - source])
        assert await client.call("GET", "{tag}a", key=b"{tag}a") == b"1"
        assert await new.call("EXISTS", "{tag}a", "{tag}b") == 2


def test_it_works_on_the_event_loop_that_the_services_run_on(valkey_url: str) -> None:
    async def append() -> int:
        async with RedisClient(valkey_url) as client:
            store = TableStore(client)
            await store.create("t", WORKER, b"made")
            return await store.append("t", WORKER, 1, 1, [b"x"])

    assert uvloop.run(append()) == 2
