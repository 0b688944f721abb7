"""Failed log-ins are counted in bounded memory."""

from __future__ import annotations

from services.accounts.attempts import Buckets


def test_a_bucket_holds_its_size_and_gets_room_with_time() -> None:
    buckets = Buckets(size=3, refill_ms=1000, most=10)
    for _ in range(3):
        assert buckets.wait_ms("a", 0) == 0
        buckets.add("a", 0)
    assert buckets.wait_ms("a", 0) == 1000
    assert buckets.wait_ms("a", 400) == 600
    assert buckets.wait_ms("a", 1000) == 0
    buckets.add("a", 1000)
    assert buckets.wait_ms("a", 1000) == 1000
    assert buckets.wait_ms("b", 1000) == 0
    for _ in range(3):
        assert buckets.wait_ms("a", 100_000) == 0
        buckets.add("a", 100_000)
    assert buckets.wait_ms("a", 100_000) == 1000


def test_what_is_taken_back_or_forgotten_does_not_count() -> None:
    buckets = Buckets(size=1, refill_ms=1000, most=10)
    buckets.add("a", 0)
    buckets.take_back("a")
    assert buckets.wait_ms("a", 0) == 0
    buckets.add("a", 0)
    buckets.forget("a")
    assert buckets.wait_ms("a", 0) == 0


def test_the_key_used_longest_ago_is_forgotten_first() -> None:
    buckets = Buckets(size=1, refill_ms=1000, most=2)
    for key in ("a", "b", "a", "c"):
        buckets.add(key, 0)
    assert len(buckets) == 2
    assert [buckets.wait_ms(key, 0) > 0 for key in ("a", "b", "c")] == [True, False, True]
