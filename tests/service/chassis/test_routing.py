"""From a table to its worker, by owner and by load."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from libs.chassis.errors import TableUnknown, Unavailable
from libs.chassis.redis_client import RedisClient
from libs.chassis.routing import TableRouter
from libs.chassis.table_store import TableStore, WorkerInfo, WorkerRegistry
from tests.service.chassis.waiting import until


def worker(name: str, load: int = 0, *, draining: bool = False) -> WorkerInfo:
    return WorkerInfo(name, f"{name}:1", load, 100, draining)


async def test_the_owner_is_found_and_its_successor_after_a_mistake(store: TableStore, client: RedisClient) -> None:
    registry = WorkerRegistry(client)
    for name in ("one", "two"):
        await registry.heartbeat(worker(name))
    await store.create("t", "one", b"made")
    router = TableRouter(store, registry)
    assert (await router.route("t")).address == "one:1"
    await store.claim("t", "two", take_over=True)
    assert (await router.route("t")).worker == "one"
    router.forget("t")
    assert (await router.route("t")).worker == "two"
    router.learn("t", "one")
    assert (await router.route("t")).worker == "one"
    assert (await router.route("t", avoid=["one"])).worker == "two"
    with pytest.raises(TableUnknown):
        await router.route("nowhere")


async def test_a_table_of_a_dead_worker_goes_to_one_that_lives(store: TableStore, client: RedisClient) -> None:
    registry = WorkerRegistry(client)
    await store.create("t", "dead", b"made")
    await registry.heartbeat(worker("alive"))
    router = TableRouter(store, registry)
    assert (await router.route("t")).worker == "alive"
    with pytest.raises(Unavailable):
        await router.route("t", avoid=["alive"])


async def test_a_new_table_goes_to_the_less_loaded_and_never_to_one_that_drains(
    store: TableStore, client: RedisClient
) -> None:
    registry = WorkerRegistry(client)
    for each in (worker("busy", 90), worker("idle", 3), worker("leaving", 0, draining=True)):
        await registry.heartbeat(each)
    router = TableRouter(store, registry)
    assert {(await router.place()).worker for _ in range(20)} == {"idle"}


async def test_c126_during_a_rolling_update_tables_go_to_workers_that_stay(
    store: TableStore, client: RedisClient
) -> None:
    registry = WorkerRegistry(client)
    old = [WorkerInfo(name, f"{name}:1", 3, 100, False, "old", 1_000) for name in ("old-1", "old-2")]
    new = WorkerInfo("new-1", "new-1:1", 99, 100, False, "new", 2_000)
    for each in (*old, new):
        await registry.heartbeat(each)
    router = TableRouter(store, registry)
    assert {(await router.place()).worker for _ in range(20)} == {"new-1"}
    await registry.heartbeat(replace(new, load=100))
    assert {(await TableRouter(store, registry).place()).worker for _ in range(20)} <= {"old-1", "old-2"}


async def test_a_worker_of_a_later_version_may_say_more(client: RedisClient) -> None:
    about = {**asdict(worker("later", 5)), "loop_lag_ms": 3}
    await client.call(b"ZADD", b"ew:{workers}:live", b"9e15", b"later", key=b"ew:{workers}:live")
    await client.call(b"HSET", b"ew:{workers}:about", b"later", json.dumps(about), key=b"ew:{workers}:about")
    assert await WorkerRegistry(client).live() == [worker("later", 5)]


async def test_a_worker_is_forgotten_when_it_leaves_or_falls_silent(client: RedisClient) -> None:
    registry = WorkerRegistry(client, ttl_ms=100)
    await registry.heartbeat(worker("silent"))
    await WorkerRegistry(client, ttl_ms=60_000).heartbeat(worker("steady", 7))
    assert [each.worker for each in await registry.live()] == ["silent", "steady"]

    async def forgotten() -> bool:
        return await registry.live() == [worker("steady", 7)]

    await until(forgotten)
    await registry.leave("steady")
    assert await registry.live() == []
