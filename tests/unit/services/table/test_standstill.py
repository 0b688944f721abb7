"""A process that stood still finds it out before anything that waited for it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import closing
from typing import Any

from services.table.standstill import LOOK_EVERY_S, STANDSTILL_S, Standstill
from tests.simulation.virtual_time import Fate, Process, VirtualLoop


def run(main: Coroutine[Any, Any, None]) -> None:
    with closing(VirtualLoop()) as loop:
        loop.run_until_complete(main)


class Worker:
    """A process that looks, and takes commands in."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        assert isinstance(self.loop, VirtualLoop)
        self.process = Process("worker")
        self.told: list[float] = []
        self.owed_at_commands: list[float] = []
        self.standstill = Standstill(self.told.append)
        self.loop.call_soon(self.standstill.begin, context=self.process.context)

    async def stands_still_for(self, seconds: float) -> None:
        self.process.fate = Fate.STANDS_STILL
        await asyncio.sleep(seconds)
        assert isinstance(self.loop, VirtualLoop)
        self.loop.resume(self.process)

    def command_arrives_after(self, seconds: float) -> None:
        self.loop.call_later(seconds, self._command, context=self.process.context)

    def _command(self) -> None:
        self.standstill.notice()
        self.owed_at_commands.append(sum(self.loop.time() - since for since in self.told))


def test_a_worker_that_runs_has_nothing_to_tell() -> None:
    async def main() -> None:
        worker = Worker()
        await asyncio.sleep(60.0)
        worker.standstill.end()
        assert not worker.told

    run(main())


def test_a_standstill_is_told_once_from_the_last_sign_of_life_on() -> None:
    async def main() -> None:
        worker = Worker()
        await asyncio.sleep(10.05)
        await worker.stands_still_for(3.0)
        await asyncio.sleep(10.0)
        (since,) = worker.told
        assert 10.05 - LOOK_EVERY_S <= since <= 10.05
        worker.standstill.end()

    run(main())


def test_every_standstill_of_that_length_is_told() -> None:
    async def main() -> None:
        for place in range(10):
            worker = Worker()
            await asyncio.sleep(1.0 + place * LOOK_EVERY_S / 10)
            await worker.stands_still_for(STANDSTILL_S)
            await asyncio.sleep(1.0)
            assert len(worker.told) == 1
            worker.standstill.end()

    run(main())


def test_a_command_that_waited_finds_it_out_by_itself() -> None:
    async def main() -> None:
        worker = Worker()
        # It arrives before the next look would have been, so it is also carried out before it.
        await asyncio.sleep(10.01)
        worker.command_arrives_after(0.01)
        await worker.stands_still_for(3.0)
        await asyncio.sleep(1.0)
        (owed,) = worker.owed_at_commands
        assert 3.0 <= owed <= 3.0 + LOOK_EVERY_S
        assert len(worker.told) == 1
        worker.standstill.end()

    run(main())


def test_nothing_is_told_once_it_has_ended() -> None:
    async def main() -> None:
        worker = Worker()
        await asyncio.sleep(1.0)
        worker.standstill.end()
        await asyncio.sleep(10.0)
        worker.standstill.notice()
        assert not worker.told

    run(main())
