"""What a table owes to whoever it waits for: no moment twice, none from before the question (promise P4)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.mahjong.engine.table_state import TableState
from services.table.credit import ASTRAY_S, LEAST_OWED_MS, Credit
from tests.unit.mahjong.engine.tables import open_table

LONG_AGO_S = 1000.0


class HandLoop(asyncio.SelectorEventLoop):
    """An event loop whose time a test sets."""

    now_s = LONG_AGO_S

    def time(self) -> float:
        return self.now_s


class Waiting:
    """A table that waits for one of its players, ``asked``, and what it owes."""

    def __init__(self, loop: HandLoop) -> None:
        self._loop = loop
        table = open_table()
        table.get_ready()
        self.state: TableState = table.state
        assert self.state.clock is not None
        (seat,) = self.state.clock.seats
        names = [occupant.account_id for occupant in self.state.occupants if occupant is not None]
        self.asked = names.pop(seat)
        self.other = names[0]
        self.credit = Credit()
        self.credit.consider(self.state)

    @property
    def now(self) -> float:
        return self._loop.now_s

    def wait(self, seconds: float) -> None:
        self._loop.now_s += seconds


@pytest.fixture
def loop() -> Iterator[HandLoop]:
    loop = HandLoop()
    asyncio.events._set_running_loop(loop)
    yield loop
    asyncio.events._set_running_loop(None)
    loop.close()


@pytest.fixture
def waiting(loop: HandLoop) -> Waiting:
    return Waiting(loop)


def test_a_slow_append_is_owed_and_an_ordinary_one_is_not(waiting: Waiting) -> None:
    began = waiting.now
    waiting.wait((LEAST_OWED_MS - 1) / 1000)
    assert waiting.credit.late_since(began, waiting.state) == 0
    began = waiting.now
    waiting.wait(0.25)
    assert waiting.credit.late_since(began, waiting.state) == 250
    assert waiting.credit.owed_ms == 250
    waiting.credit.paid(250)
    assert waiting.credit.owed_ms == 0


def test_nothing_is_owed_from_before_the_question(waiting: Waiting) -> None:
    waiting.wait(0.1)
    assert waiting.credit.late_since(waiting.now - 5, waiting.state) == 100


def test_time_stands_still_until_the_one_who_is_asked_is_back(waiting: Waiting) -> None:
    waiting.credit.strayed(waiting.asked, waiting.state)
    waiting.wait(2)
    assert waiting.credit.owed_ms == 2000
    waiting.credit.came(waiting.asked, waiting.now - 1, waiting.state)
    waiting.wait(2)
    assert waiting.credit.owed_ms == 2000


def test_whoever_stays_away_is_waited_for_no_longer_than_that(waiting: Waiting) -> None:
    waiting.credit.strayed(waiting.asked, waiting.state)
    waiting.wait(ASTRAY_S + 5)
    assert waiting.credit.owed_ms == ASTRAY_S * 1000


def test_nobody_waits_for_one_who_is_not_asked(waiting: Waiting) -> None:
    waiting.credit.strayed(waiting.other, waiting.state)
    waiting.wait(3)
    waiting.credit.came(waiting.other, waiting.now - 3, waiting.state)
    assert waiting.credit.owed_ms == 0


happenings = st.lists(
    st.tuples(
        st.sampled_from(("late", "strayed", "came", "pay")),
        st.integers(min_value=0, max_value=4000),
        st.integers(min_value=0, max_value=8000),
    ),
    max_size=12,
)


@given(happenings)
def test_never_more_is_owed_and_paid_than_time_that_passed(story: list[tuple[str, int, int]]) -> None:
    loop = HandLoop()
    asyncio.events._set_running_loop(loop)
    try:
        waiting = Waiting(loop)
        credit, began, paid = waiting.credit, waiting.now, 0
        for what, passes_ms, since_ms in story:
            waiting.wait(passes_ms / 1000)
            before = credit.owed_ms
            assert before >= 0
            since = waiting.now - since_ms / 1000
            if what == "late":
                assert credit.late_since(since, waiting.state) == credit.owed_ms - before >= 0
            elif what == "strayed":
                credit.strayed(waiting.asked, waiting.state)
            elif what == "came":
                credit.came(waiting.asked, since, waiting.state)
            else:
                credit.paid(before)
                paid += before
            assert paid + credit.owed_ms <= (waiting.now - began) * 1000 + 1
    finally:
        asyncio.events._set_running_loop(None)
        loop.close()
