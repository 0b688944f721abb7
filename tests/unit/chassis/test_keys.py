"""Every script touches one slot of a Redis cluster: the keys that it is given share a hash tag."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from libs.chassis.redis_client import slot_of
from libs.chassis.table_store.keys import BUCKETS, BucketKeys, TableKeys, bucket_of
from libs.chassis.table_store.registry import _KEYS as REGISTRY_KEYS
from services.matchmaking import keys as matchmaking


def slots(keys: Iterable[bytes]) -> set[int]:
    return {slot_of(key) for key in keys}


def test_all_keys_of_a_table_and_of_its_bucket_are_in_one_slot() -> None:
    for number in range(2_000):
        table_id = f"table-{number}{{tag}}"
        keys, bucket = TableKeys.of(table_id), BucketKeys(bucket_of(table_id))
        of_the_table = (keys.owner, keys.log, keys.snapshot, keys.due, keys.claimed, keys.outbox)
        of_the_bucket = (bucket.due, bucket.claimed, bucket.outbox, bucket.relay)
        assert len(slots((*of_the_table, *of_the_bucket))) == 1


def test_buckets_spread_over_the_slots() -> None:
    assert len({slot_of(BucketKeys(bucket).due) for bucket in range(BUCKETS)}) == BUCKETS


@pytest.mark.parametrize("name", ["plain", "{curly}", "a}b{c", ""])
def test_what_matchmaking_keeps_is_in_one_slot_whatever_the_names(name: str) -> None:
    assert (
        len(
            slots(
                (
                    matchmaking.QUEUES,
                    matchmaking.PENDING,
                    matchmaking.LOBBY,
                    matchmaking.queue(name),
                    matchmaking.ticket(name),
                    matchmaking.seat(name),
                    matchmaking.table(name),
                    matchmaking.code(name),
                    matchmaking.request(name, name),
                )
            )
        )
        == 1
    )


def test_the_registry_of_workers_is_in_one_slot() -> None:
    assert len(slots(REGISTRY_KEYS)) == 1
