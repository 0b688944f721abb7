"""The deadline index: at least once, to one replica at a time, and an append has the last word."""

from __future__ import annotations

import asyncio

from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store import DeadlineIndex, DueClaim, TableStore

WORKER = "worker"


async def test_a_due_table_is_claimed_once_and_comes_back_with_its_true_deadline(
    store: TableStore, client: RedisClient
) -> None:
    index = DeadlineIndex(client)
    await store.create("t", WORKER, b"made", due_ms=1000)
    assert (await index.claim_due(999)).claims == ()
    assert (await index.claim_due(1000, visibility_ms=300)).claims == (DueClaim("t", 1000),)
    assert (await index.claim_due(1299, visibility_ms=300)).claims == ()
    assert (await index.claim_due(1300, visibility_ms=300)).claims == (DueClaim("t", 1000),)


async def test_an_append_wins_over_a_claim(store: TableStore, client: RedisClient) -> None:
    index = DeadlineIndex(client)
    await store.create("moved", WORKER, b"made", due_ms=10)
    await store.create("cleared", WORKER, b"made", due_ms=10)
    await store.create("kept", WORKER, b"made", due_ms=10)
    assert len((await index.claim_due(20, visibility_ms=100)).claims) == 3
    await store.append("moved", WORKER, 1, 1, [b"x"], due_ms=50)
    await store.append("cleared", WORKER, 1, 1, [b"x"], due_ms=None)
    await store.append("kept", WORKER, 1, 1, [b"x"])
    assert (await index.claim_due(60, visibility_ms=1000)).claims == (DueClaim("moved", 50),)
    assert (await index.claim_due(500, visibility_ms=1000)).claims == (DueClaim("kept", 10),)


async def test_a_worker_can_put_the_deadline_right_without_an_entry(store: TableStore, client: RedisClient) -> None:
    index = DeadlineIndex(client)
    await store.create("t", WORKER, b"made", due_ms=10)
    await index.claim_due(20, visibility_ms=100)
    await store.set_due("t", WORKER, 1, 70)
    assert await index.next_due() == 70
    await store.set_due("t", WORKER, 1, None)
    assert await index.next_due() is None
    assert await store.last_sequence("t") == 1


async def test_c068_two_thousand_deadlines_are_claimed_once_by_many_replicas(
    store: TableStore, client: RedisClient
) -> None:
    tables = [f"table-{number}" for number in range(2000)]
    await asyncio.gather(*(store.create(table, WORKER, b"made", due_ms=number) for number, table in enumerate(tables)))
    index = DeadlineIndex(client)
    claimed: list[str] = []

    async def replica() -> None:
        while batch := (await index.claim_due(5000, limit=64, visibility_ms=60_000)).claims:
            claimed.extend(claim.table_id for claim in batch)

    await asyncio.gather(*(replica() for _ in range(4)))
    assert sorted(claimed) == sorted(tables)


async def test_the_soonest_deadline_of_all_buckets_is_told(store: TableStore, client: RedisClient) -> None:
    for number, due in enumerate((900, 300, 600)):
        await store.create(f"t{number}", WORKER, b"made", due_ms=due)
    batch = await DeadlineIndex(client).claim_due(100)
    assert (batch.claims, batch.next_due_ms) == ((), 300)


async def test_tables_that_come_back_again_and_again_hold_nobody_up(store: TableStore, client: RedisClient) -> None:
    index = DeadlineIndex(client)
    for number in range(12):
        await store.create(f"failing-{number}", WORKER, b"made", due_ms=0)
    await store.create("well", WORKER, b"made", due_ms=50)
    seen: list[str] = []
    for look in range(6):
        # Nobody resolves what was taken, and at each look as much is due as three looks can take.
        batch = await index.claim_due(100 + 40 * look, limit=4, visibility_ms=100)
        seen += [claim.table_id for claim in batch.claims]
    assert "well" in seen
    assert len(set(seen)) == 13, "each had its turn"
