"""A consumer notices what it was not given (field case C114)."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from libs.chassis.events.order import EventOrder
from libs.chassis.events.record import EVENT_NUMBER, EventRecord

TOPIC = "a topic"


def event(number: int, key: str = "table", topic: str = TOPIC) -> EventRecord:
    headers = {EVENT_NUMBER: b"%d" % number} if number else {}
    return EventRecord(topic, 0, 0, key, b"", headers, 0)


def missing(*numbers: int) -> int:
    order = EventOrder()
    return sum(order.missing_before(event(number)) for number in numbers)


@given(first=st.integers(1, 50), count=st.integers(1, 50), seed=st.integers())
def test_what_comes_in_its_order_with_repeats_misses_nothing(first: int, count: int, seed: int) -> None:
    numbers = list[int]()
    for number in range(first, first + count):
        numbers += [number, *random.Random(seed + number).choices(range(first, number + 1), k=2)]
    assert missing(*numbers) == 0


@given(kept=st.sets(st.integers(1, 60), min_size=1))
def test_all_that_was_left_out_between_is_missing(kept: set[int]) -> None:
    assert missing(*sorted(kept)) == max(kept) - min(kept) + 1 - len(kept)


def test_latecomers_are_missed_once() -> None:
    assert [missing(1, 4), missing(1, 4, 2, 3), missing(1, 4, 2, 3, 5)] == [2, 2, 2]


def test_keys_and_topics_are_counted_by_themselves() -> None:
    order = EventOrder()
    for key, topic in (("a", "x"), ("b", "x"), ("a", "y")):
        assert order.missing_before(event(1, key, topic)) == 0
    assert order.missing_before(event(3, "a", "x")) == 1
    assert order.missing_before(event(2, "b", "x")) == 0
    assert order.missing_before(event(2, "a", "y")) == 0


def test_messages_that_are_not_counted_say_nothing() -> None:
    assert missing(1, 0, 0, 2) == 0
    order = EventOrder()
    assert order.missing_before(EventRecord(TOPIC, 0, 0, "k", b"", {EVENT_NUMBER: b"-3"}, 0)) == 0


def test_the_key_of_which_nothing_came_for_longest_is_forgotten() -> None:
    order = EventOrder(most_keys=2)
    for key in ("old", "new", "old", "newer"):
        order.missing_before(event(1, key))
    assert order.missing_before(event(9, "new")) == 0
    assert order.missing_before(event(9, "newer")) == 7
