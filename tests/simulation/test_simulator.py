"""The simulator itself: the same seed does the same, time is virtual, processes stand still and go as told."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import closing

import pytest

from tests.simulation.running import command, told
from tests.simulation.simulation import Plan, Report, Simulation
from tests.simulation.virtual_time import Fate, NothingHappensError, Process, VirtualLoop

pytestmark = pytest.mark.timeout(600)
PLAN = Plan(seed=6, hands=8, tables=4, profile="everything")
"""More hands than tables: faults happen."""


def test_the_same_seed_does_the_same(valkey_url: str) -> None:
    once, again = (Simulation(PLAN, valkey_url).run() for _ in range(2))
    assert once.events > 300
    assert (once.digest, once.hands, once.seconds) == (again.digest, again.hands, again.seconds)


def test_another_process_does_the_same_with_another_order_of_hashes(valkey_url: str) -> None:
    here = Simulation(PLAN, valkey_url).run()
    words = command(PLAN).split()[1:]
    there = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        timeout=500,
        check=True,
    )
    assert f"digest {here.digest}" in there.stdout


def test_another_seed_does_something_else(valkey_url: str) -> None:
    other = Plan(seed=7, hands=8, tables=4, profile="everything")
    assert Simulation(PLAN, valkey_url).run().digest != Simulation(other, valkey_url).run().digest


def test_a_broken_law_is_told_with_the_command_that_repeats_it() -> None:
    report = Report(PLAN, ["table 1 was made twice"], "d", [])
    assert "BROKEN table 1 was made twice" in told(report)
    assert "python -m tests.simulation --seed 6 --hands 8 --tables 4 --profile everything" in told(report)


def test_a_day_passes_at_once() -> None:
    with closing(VirtualLoop()) as loop:
        loop.run_until_complete(asyncio.sleep(86_400.0))
        assert loop.time() == 86_400.0


def test_waiting_for_ever_is_an_error() -> None:
    with closing(VirtualLoop()) as loop:
        never = loop.create_future()
        with pytest.raises(NothingHappensError):
            loop.run_until_complete(never)


def test_a_process_that_stands_still_does_what_it_missed_when_it_goes_on() -> None:
    with closing(VirtualLoop()) as loop:
        process, done = Process("one"), list[float]()

        async def work() -> None:
            for _ in range(3):
                await asyncio.sleep(1.0)
                done.append(loop.time())

        async def main() -> None:
            loop.run_in(process, work(), name="work")
            await asyncio.sleep(1.5)
            process.fate = Fate.STANDS_STILL
            await asyncio.sleep(10.0)
            assert done == [1.0]
            loop.resume(process)
            await asyncio.sleep(5.0)

        loop.run_until_complete(main())
        assert done == [1.0, 11.5, 12.5]


def test_a_process_that_is_gone_does_nothing_more() -> None:
    with closing(VirtualLoop()) as loop:
        process, done = Process("one"), list[str]()

        async def work() -> None:
            try:
                await asyncio.sleep(2.0)
            finally:
                done.append("cleaned up")

        async def main() -> None:
            loop.run_in(process, work(), name="work")
            await asyncio.sleep(1.0)
            process.fate = Fate.GONE
            await asyncio.sleep(10.0)

        loop.run_until_complete(main())
        assert not done
        loop.wind_up()
