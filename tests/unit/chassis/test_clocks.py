"""A clock that the system time cannot disturb."""

from __future__ import annotations

import pytest

from libs.chassis.clocks import SteadyClock

SECOND = 1_000_000_000


class System:
    """The two clocks of a machine."""

    def __init__(self) -> None:
        self.wall = 1_700_000_000 * SECOND
        self.monotonic = 50 * SECOND

    def passes(self, seconds: float, *, wall: float | None = None) -> None:
        self.monotonic += int(seconds * SECOND)
        self.wall += int((seconds if wall is None else wall) * SECOND)

    def clock(self) -> SteadyClock:
        return SteadyClock(wall_ns=lambda: self.wall, monotonic_ns=lambda: self.monotonic)


@pytest.mark.parametrize("step_s", [-30, 3600, -86_400, 2.5])
def test_c070_a_step_of_the_system_time_moves_no_deadline(step_s: float) -> None:
    system = System()
    clock = system.clock()
    deadline = clock.now_ms() + 20_000
    system.passes(5)
    assert deadline - clock.now_ms() == 15_000
    system.wall += int(step_s * SECOND)
    assert deadline - clock.now_ms() == 15_000
    for _ in range(15):
        system.passes(1)
        clock.now_ms()
    assert deadline - clock.now_ms() == 0
    assert clock.stepped_ms == step_s * 1000


def test_a_small_difference_is_slewed_away_slowly() -> None:
    system = System()
    clock = system.clock()
    system.wall += SECOND // 2
    before = clock.now_ms()
    for _ in range(100):
        system.passes(1)
        clock.now_ms()
    assert 100_000 < clock.now_ms() - before <= 100_050
    for _ in range(1000):
        system.passes(1)
        clock.now_ms()
    assert clock.stepped_ms == 0


def test_time_never_goes_back() -> None:
    system = System()
    clock = system.clock()
    last = clock.now_ms()
    for number in range(1000):
        system.passes(0.001, wall=-0.001 if number % 2 else 0.001)
        now = clock.now_ms()
        assert now >= last
        last = now
