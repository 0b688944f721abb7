"""Tasks have owners, services stop in order, a process ends with the right code."""

from __future__ import annotations

import asyncio
import gc
import os
import signal

import pytest

from libs.chassis.drain import Lifecycle, TaskOwner, run


async def test_c068_owned_tasks_survive_the_garbage_collector_and_all_run_once() -> None:
    owner = TaskOwner("timers")
    loop = asyncio.get_running_loop()
    expired: list[int] = []

    async def expire(number: int) -> None:
        bell: asyncio.Future[None] = loop.create_future()
        loop.call_later(0.05 + number % 10 / 100, bell.set_result, None)
        await bell
        expired.append(number)

    for number in range(2000):
        owner.start(expire(number), name=f"timer-{number}")
    while len(owner):
        gc.collect(0)
        await asyncio.sleep(0.01)
    assert sorted(expired) == list(range(2000))


async def test_c068_closing_the_owner_leaves_no_task() -> None:
    owner = TaskOwner("timers")
    tasks = [owner.spawn(asyncio.Event().wait(), name=f"timer-{number}") for number in range(2000)]
    await owner.close()
    assert len(owner) == 0
    assert all(task.cancelled() for task in tasks)
    with pytest.raises(RuntimeError, match="takes no new tasks"):
        owner.start(asyncio.sleep(0), name="late")


async def test_a_task_that_crashes_is_told_to_the_service() -> None:
    owner = TaskOwner("tasks")

    async def crash() -> None:
        raise KeyError("gone")

    owner.start(crash(), name="crash")
    assert isinstance(await owner.failed, KeyError)
    await owner.close()


async def test_running_tasks_get_their_grace() -> None:
    owner = TaskOwner("tasks")
    go_on = asyncio.Event()
    done = []

    async def work() -> None:
        await go_on.wait()
        done.append(True)

    owner.start(work(), name="work")
    closing = asyncio.ensure_future(owner.close(grace_s=10))
    await asyncio.sleep(0)
    go_on.set()
    await closing
    assert done == [True]


async def test_a_service_stops_in_reverse_and_past_a_step_that_fails() -> None:
    order: list[str] = []
    lifecycle = Lifecycle()

    def step(name: str, *, fails: bool = False, hangs: bool = False) -> None:
        async def stop() -> None:
            order.append(name)
            if fails:
                raise OSError("broken")
            if hangs:
                await asyncio.Event().wait()

        lifecycle.on_stop(name, stop, timeout_s=0.05)

    step("first")
    step("second", hangs=True)
    step("third", fails=True)
    await lifecycle.stop()
    await lifecycle.stop()
    assert order == ["third", "second", "first"]


async def test_drains_share_the_grace() -> None:
    lifecycle = Lifecycle()
    given: list[float] = []

    async def drain(grace_s: float) -> None:
        given.append(grace_s)
        await asyncio.sleep(0.05)

    lifecycle.on_drain("first", drain)
    lifecycle.on_drain("second", drain)
    await lifecycle.stop(1.0)
    assert 0 < given[1] < given[0] <= 1.0


class Example:
    name = "example"

    def __init__(self, *, fails_at_start: bool = False) -> None:
        self.failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self.started = asyncio.Event()
        self.stopped = asyncio.Event()
        self._fails_at_start = fails_at_start

    async def start(self) -> None:
        if self._fails_at_start:
            raise OSError("the port is taken")
        self.started.set()

    async def stop(self, grace_s: float) -> None:
        self.stopped.set()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_drains_the_service_and_the_exit_code_is_zero(number: signal.Signals) -> None:
    service = Example()
    running = asyncio.ensure_future(run(service, grace_s=5))
    await service.started.wait()
    os.kill(os.getpid(), number)
    assert await running == 0
    assert service.stopped.is_set()


async def test_a_crash_of_the_service_drains_it_and_the_exit_code_is_one() -> None:
    service = Example()
    running = asyncio.ensure_future(run(service, grace_s=5))
    await service.started.wait()
    service.failed.set_result(KeyError("gone"))
    assert await running == 1
    assert service.stopped.is_set()


async def test_a_service_that_cannot_start_frees_what_it_took() -> None:
    service = Example(fails_at_start=True)
    assert await run(service, grace_s=5) == 1
    assert service.stopped.is_set()
