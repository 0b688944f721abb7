"""A worker that meets what a later version wrote: it harms nothing and leaves the table to others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from deploy.local.stack import BackingStack
from eastwind.type.v1 import reason_pb2
from libs.chassis.redis_client import RedisClient, Script
from libs.chassis.table_store import TableStore
from libs.chassis.table_store.keys import TableKeys
from tests.service.fleet import House, StartFleet
from tests.service.table.test_moving import Interruption
from tests.service.table.workers import Workers, open_workers

pytestmark = pytest.mark.asyncio(loop_scope="module")
LATER = "a worker of a later version"
PUT_BACK = Script.of(
    "put_back",
    b"redis.call('RESTORE', KEYS[1], 0, ARGV[1], 'REPLACE') redis.call('HSET', KEYS[2], 'seq', ARGV[2])",
)
"""Makes a log what it was, given as `DUMP` has it with its last sequence."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(start_fleet: StartFleet) -> Fleet:
    return await start_fleet(copies={"table": 2})


@pytest_asyncio.fixture(loop_scope="module")
async def workers(fleet: Fleet, backing_stack: BackingStack) -> AsyncIterator[Workers]:
    async with open_workers(fleet, backing_stack) as workers:
        yield workers


@pytest.mark.parametrize(
    "entry", [b'[1,1700000000000,"",[[99,"an event of a later version"]]]', b'[2,"another encoding"]']
)
async def test_a_table_that_a_later_version_wrote_waits_unharmed_for_one_that_can_read_it(
    entry: bytes, house: House, workers: Workers, backing_stack: BackingStack
) -> None:
    table_id, players = await house.four(rated=True)
    interruption = Interruption(after=12)
    playing = asyncio.create_task(house.play(table_id, players, [interruption.play] * 4))
    await interruption.reached.wait()
    keys = TableKeys.of(table_id)
    async with RedisClient(backing_stack.valkey_url) as client:
        store = TableStore(client)
        # A worker of the later version has the table for a moment, and is gone.
        claimed = await store.claim(table_id, LATER, 0, take_over=True)
        readable = await client.call("DUMP", keys.log, key=keys.log)
        await store.append(table_id, LATER, claimed.epoch, claimed.sequence, [entry])
        log = await store.read_log(table_id)
        due = await client.call("ZSCORE", keys.due, table_id, key=keys.due)
        for worker in workers.all:
            # The one that had the table finds out first that it lost it.
            reasons = [await workers.tick(table_id, worker) for _ in range(2)]
            assert reasons[-1] == reason_pb2.REASON_UNAVAILABLE
        interruption.go_on.set()
        assert await store.read_log(table_id) == log
        assert await client.call("ZSCORE", keys.due, table_id, key=keys.due) == due

        # Without that entry these workers can read it, too; the players have waited all the time.
        await client.run(PUT_BACK, (keys.log, keys.owner), (readable, claimed.sequence))
    results = await playing
    assert len({result.settled.record_id for (result,) in results}) == 1
    timeouts = [event for event in house.heard[players[0]].events if event.WhichOneof("event") == "seat_timed_out"]
    assert timeouts == []
