"""Ownership, log, snapshot and deletion of tables in a real store."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from libs.chassis.errors import Fenced, OwnedElsewhere, SequenceConflict, TableUnknown
from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store import KEEP, DeadlineIndex, Outbox, OutboxMessage, TableStore
from tests.service.chassis.waiting import until

FIRST, SECOND = "worker-1", "worker-2"


def numbered(message: OutboxMessage, number: int) -> OutboxMessage:
    """The message as the store hands it out."""
    return replace(message, headers={**message.headers, "event-number": b"%d" % number})


async def test_a_table_is_made_once(store: TableStore) -> None:
    made = await store.create("t", FIRST, b"made", b"state", due_ms=100)
    again = await store.create("t", SECOND, b"made otherwise", due_ms=5)
    assert (made.created, made.worker, made.epoch, made.sequence) == (True, FIRST, 1, 1)
    assert (again.created, again.worker, again.epoch, again.sequence) == (False, FIRST, 1, 1)
    assert await store.read_log("t") == [(1, b"made")]
    assert await store.read_snapshot("t") == (1, b"state")


async def test_an_append_does_everything_or_nothing(store: TableStore, client: RedisClient) -> None:
    outbox, index = Outbox(client), DeadlineIndex(client)
    message = OutboxMessage("eastwind.hands.v1", "t", b"\x00payload", {"event-id": b"e-1"})
    await store.create("t", FIRST, b"made")
    sequence = await store.append("t", FIRST, 1, 1, [b"a", b"b"], due_ms=500, outbox=[message], snapshot=b"state")
    assert sequence == 3
    with pytest.raises(SequenceConflict) as conflict:
        await store.append("t", FIRST, 1, 1, [b"c"], due_ms=900, outbox=[message], snapshot=b"other", trim_before=9)
    assert conflict.value.actual == 3
    with pytest.raises(Fenced):
        await store.append("t", SECOND, 1, 3, [b"c"], due_ms=900, outbox=[message], snapshot=b"other", trim_before=9)
    assert await store.read_log("t") == [(1, b"made"), (2, b"a"), (3, b"b")]
    assert await store.read_snapshot("t") == (3, b"state")
    assert await index.next_due() == 500
    batch = await outbox.read(FIRST, "broker")
    assert [entry.message for entry in batch.entries] == [numbered(message, 1)]


async def test_c114_messages_of_a_table_are_numbered_in_each_topic_whoever_owns_it(
    store: TableStore, client: RedisClient
) -> None:
    def message(topic: str, payload: bytes) -> OutboxMessage:
        return OutboxMessage(topic, "t", payload)

    await store.create("t", FIRST, b"made", outbox=[message("x", b"1")])
    await store.append("t", FIRST, 1, 1, [b"a"], outbox=[message("y", b"1"), message("x", b"2"), message("x", b"3")])
    await store.claim("t", SECOND, take_over=True)
    with pytest.raises(Fenced):
        await store.append("t", FIRST, 1, 2, [b"b"], outbox=[message("x", b"of the former owner")])
    await store.append("t", SECOND, 2, 2, [b"b"], outbox=[message("x", b"4"), message("y", b"2")])
    batch = await Outbox(client).read(FIRST, "broker")
    assert len(batch.entries) == 6
    for entry in batch.entries:
        assert entry.message.headers["event-number"] == entry.message.payload


async def test_entries_that_a_snapshot_covers_can_be_trimmed(store: TableStore) -> None:
    await store.create("t", FIRST, b"1")
    await store.append("t", FIRST, 1, 1, [b"2", b"3", b"4"], snapshot=b"at 4", trim_before=4)
    assert await store.append("t", FIRST, 1, 4, [b"5"]) == 5
    assert await store.read_log("t") == [(4, b"4"), (5, b"5")]
    assert await store.read_log("t", after=4) == [(5, b"5")]
    claimed = await store.claim("t", SECOND, take_over=True)
    assert (claimed.snapshot, claimed.snapshot_sequence, claimed.sequence) == (b"at 4", 4, 5)
    assert claimed.entries == ((5, b"5"),)


async def test_a_live_lease_keeps_others_out_and_an_old_one_does_not(store: TableStore) -> None:
    await store.create("t", FIRST, b"made", lease_ms=150)
    with pytest.raises(OwnedElsewhere) as refused:
        await store.claim("t", SECOND)
    assert refused.value.owner == FIRST

    async def expired() -> bool:
        return not (await store.owner("t")).live

    await until(expired)
    claimed = await store.claim("t", SECOND)
    assert (claimed.epoch, claimed.previous_owner) == (2, FIRST)
    assert claimed.outage_ms >= 150


async def test_c107_a_worker_that_lost_its_table_can_write_nothing(store: TableStore, client: RedisClient) -> None:
    await store.create("t", FIRST, b"made", due_ms=100)
    await store.claim("t", SECOND, take_over=True)
    with pytest.raises(Fenced) as fenced:
        await store.append("t", FIRST, 1, 1, [b"late"], due_ms=None)
    assert (fenced.value.owner, fenced.value.epoch) == (SECOND, 2)
    with pytest.raises(Fenced):
        await store.set_due("t", FIRST, 1, None)
    with pytest.raises(Fenced):
        await store.release("t", FIRST, 1, sequence=1, snapshot=b"late")
    with pytest.raises(Fenced):
        await store.delete("t", FIRST, 1)
    with pytest.raises(Fenced):
        await store.settle("t", FIRST, 1)
    assert await store.renew(FIRST, {"t": 1}) == ["t"]
    assert await store.renew(SECOND, {"t": 2}) == []
    assert await store.read_log("t") == [(1, b"made")]
    assert await DeadlineIndex(client).next_due() == 100
    assert await store.append("t", SECOND, 2, 1, [b"on"]) == 2


async def test_c107_the_same_worker_in_an_older_epoch_is_refused_too(store: TableStore) -> None:
    await store.create("t", FIRST, b"made")
    claimed = await store.claim("t", FIRST)
    with pytest.raises(Fenced):
        await store.append("t", FIRST, 1, 1, [b"of a former life"])
    assert await store.append("t", FIRST, claimed.epoch, 1, [b"now"]) == 2


async def test_of_many_workers_that_take_over_at_once_the_last_one_holds_the_table(store: TableStore) -> None:
    await store.create("t", FIRST, b"made")
    claims = await asyncio.gather(*(store.claim("t", f"w{number}", take_over=True) for number in range(20)))
    assert sorted(claim.epoch for claim in claims) == list(range(2, 22))
    appended = await asyncio.gather(
        *(store.append("t", claim.worker, claim.epoch, 1, [claim.worker.encode()]) for claim in claims),
        return_exceptions=True,
    )
    last = max(claims, key=lambda claim: claim.epoch)
    assert [result for result in appended if not isinstance(result, Fenced)] == [2]
    assert await store.read_log("t", after=1) == [(2, last.worker.encode())]


async def test_a_released_table_is_free_at_once_and_keeps_its_deadline(store: TableStore, client: RedisClient) -> None:
    await store.create("t", FIRST, b"made", due_ms=700)
    await store.release("t", FIRST, 1, sequence=1, snapshot=b"state")
    owner = await store.owner("t")
    assert (owner.worker, owner.live) == ("", False)
    with pytest.raises(Fenced):
        await store.append("t", FIRST, 1, 1, [b"late"])
    claimed = await store.claim("t", SECOND)
    assert (claimed.previous_owner, claimed.snapshot, claimed.entries) == ("", b"state", ())
    assert await DeadlineIndex(client).next_due() == 700


async def test_a_declined_claim_leaves_the_table_free_at_once_and_its_outage_as_it_was(
    store: TableStore, client: RedisClient
) -> None:
    made = await store.create("t", "one", b"first")
    await store.append("t", "one", made.epoch, 1, [b"second"], due_ms=5_000)
    before = await store.owner("t")
    claimed = await store.claim("t", "two", take_over=True)
    await store.decline(claimed)
    after = await store.owner("t")
    assert (after.worker, after.renewed_ms, after.sequence) == ("one", before.renewed_ms, 2)
    assert not after.live
    with pytest.raises(Fenced):
        await store.decline(claimed)
    with pytest.raises(Fenced):
        await store.append("t", "one", made.epoch, 2, [b"late"])
    again = await store.claim("t", "three")
    assert (again.previous_owner, again.renewed_ms) == ("one", before.renewed_ms)
    assert [raw for _, raw in again.entries] == [b"first", b"second"]
    assert (await DeadlineIndex(client).next_due()) == 5_000


async def test_a_snapshot_of_another_sequence_is_not_released(store: TableStore) -> None:
    await store.create("t", FIRST, b"made")
    await store.append("t", FIRST, 1, 1, [b"more"])
    with pytest.raises(SequenceConflict):
        await store.release("t", FIRST, 1, sequence=1, snapshot=b"old state")
    assert (await store.owner("t")).worker == FIRST


async def test_a_deleted_table_leaves_no_key(store: TableStore, client: RedisClient) -> None:
    await store.create("t", FIRST, b"made", b"state", due_ms=100)
    await DeadlineIndex(client).claim_due(200)
    await store.delete("t", FIRST, 1)
    await store.delete("t", FIRST, 1)
    assert await client.call("DBSIZE", key=b"") == 0
    for call in (store.owner("t"), store.claim("t", FIRST), store.append("t", FIRST, 1, 1, [b"x"])):
        with pytest.raises(TableUnknown):
            await call


async def test_settling_fences_an_append_that_is_still_on_its_way(store: TableStore) -> None:
    await store.create("t", FIRST, b"made")
    settled = await store.settle("t", FIRST, 1)
    assert (settled.epoch, settled.sequence) == (2, 1)
    with pytest.raises(Fenced):
        await store.append("t", FIRST, 1, 1, [b"was on its way"])
    assert await store.append("t", FIRST, 2, 1, [b"goes on"]) == 2


async def test_leases_of_many_tables_are_renewed_together(store: TableStore) -> None:
    epochs = {f"t{number}": 1 for number in range(500)}
    await asyncio.gather(*(store.create(table_id, FIRST, b"made", lease_ms=60_000) for table_id in epochs))
    await asyncio.gather(*(store.claim(f"t{number}", SECOND, take_over=True) for number in range(3)))
    assert sorted(await store.renew(FIRST, epochs)) == ["t0", "t1", "t2"]


async def test_large_entries_snapshots_and_binary_survive(store: TableStore) -> None:
    entry = bytes(range(256)) * 256
    await store.create("t", FIRST, b"made")
    await store.append("t", FIRST, 1, 1, [entry, b"", entry], snapshot=b"", due_ms=KEEP)
    claimed = await store.claim("t", SECOND, take_over=True)
    assert (claimed.snapshot, claimed.snapshot_sequence) == (b"", 4)
    assert await store.read_log("t", after=1) == [(2, entry), (3, b""), (4, entry)]
