"""Ids are unique, ordered or unguessable, as they should be."""

from __future__ import annotations

from libs.chassis.identifiers import is_table_id, new_event_id, new_table_id
from libs.chassis.table_store import BUCKETS, bucket_of


def test_event_ids_are_ordered_and_unique() -> None:
    ids = [new_event_id() for _ in range(1000)]
    assert len(set(ids)) == 1000
    assert ids == sorted(ids)


def test_table_ids_are_short_unique_and_spread_over_the_buckets() -> None:
    ids = {new_table_id() for _ in range(10_000)}
    assert len(ids) == 10_000
    assert all(is_table_id(each) for each in ids)
    assert len({bucket_of(each) for each in ids}) == BUCKETS
    assert not is_table_id("../../etc/passwd")


def test_the_bucket_of_a_table_never_changes() -> None:
    assert [bucket_of(each) for each in ("", "a", "table-1")] == [0, 67, 49]
