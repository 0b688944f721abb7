"""Who owns a task, in which order a service stops, and how a process runs one.

Services are plain objects with `start` and `stop`; signals are handled outside of them, because the embedded stack runs
several in one process.
"""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

import structlog

from libs.chassis.logs import configure
from libs.chassis.settings import SettingsError, SettingsType, load

_log = structlog.get_logger(__name__)

StopHook = Callable[[], Awaitable[Any]]
DrainHook = Callable[[float], Awaitable[Any]]


class Service(Protocol):
    """What a process runs."""

    @property
    def name(self) -> str: ...

    @property
    def failed(self) -> asyncio.Future[BaseException]:
        """Gets the exception when a task that the service cannot do without has crashed."""
        ...

    async def start(self) -> None:
        """Return when the service takes work."""
        ...

    async def stop(self, grace_s: float) -> None:
        """Drain within `grace_s` seconds and free everything."""
        ...


class TaskOwner:
    """Holds tasks strongly, awaits or cancels all of them, and tells when one crashed.

    `failed` gets the first exception that ended a task; a service puts that into its own `failed`.
    """

    def __init__(self, name: str = "tasks") -> None:
        self._name = name
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False
        self.failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    def __len__(self) -> int:
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, Any], *, name: str) -> None:
        """Run `work` as a task of this owner. Raises RuntimeError when the owner is closed."""
        _ = self.spawn(work, name=name)

    def spawn(self, work: Coroutine[Any, Any, Any], *, name: str) -> asyncio.Task[Any]:
        """Like `start`, and returns the task, for one that must be awaited or cancelled by itself."""
        if self._closed:
            work.close()
            raise RuntimeError(f"{self._name} takes no new tasks")
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            _log.error("task crashed", owner=self._name, task=task.get_name(), exc_info=error)
            if not self.failed.done():
                self.failed.set_result(error)

    async def join(self) -> None:
        """Wait until every task has ended by itself."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def close(self, grace_s: float = 0.0) -> None:
        """Take no new tasks, give the running ones `grace_s` seconds to end, then cancel and await them."""
        self._closed = True
        if grace_s > 0 and self._tasks:
            await asyncio.wait(set(self._tasks), timeout=grace_s)
        while self._tasks:
            tasks = set(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)


class Lifecycle:
    """Stops what was started, last first, each step within its own time; a step that fails does not stop the rest."""

    def __init__(self) -> None:
        self._steps: list[tuple[str, DrainHook, float]] = []

    def on_stop(self, name: str, hook: StopHook, *, timeout_s: float = 5.0) -> None:
        """Add a step. Add it right after the start that it undoes."""
        self._steps.append((name, lambda _grace_s: hook(), timeout_s))

    def on_drain(self, name: str, hook: DrainHook, *, timeout_s: float = 5.0) -> None:
        """Add a step that is given what is left of the grace, in seconds, and gets `timeout_s` on top of it."""
        self._steps.append((name, hook, timeout_s))

    async def stop(self, grace_s: float = 0.0) -> None:
        """Run all steps, the last added first; drains share `grace_s`. Once run, a step is forgotten."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + grace_s
        while self._steps:
            name, hook, timeout_s = self._steps.pop()
            grace_left = max(0.0, ends - loop.time())
            try:
                async with asyncio.timeout(grace_left + timeout_s):
                    await hook(grace_left)
            except TimeoutError:
                _log.error("stop step took too long", step=name)
            except Exception as error:
                _log.error("stop step failed", step=name, exc_info=error)


async def run(service: Service, *, grace_s: float, started: Callable[[], None] = lambda: None) -> int:
    """Run a service until SIGTERM or SIGINT, or until it fails. Returns the exit code of the process.

    ``started`` is called when the service runs. A second signal ends the drain at once.
    """
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()
    insisted = asyncio.Event()

    def on_signal() -> None:
        (insisted if asked.is_set() else asked).set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, on_signal)
    try:
        waiting = loop.create_task(asked.wait(), name="signal")
        failed: asyncio.Future[Any] = service.failed
        starting = loop.create_task(service.start(), name=f"start-{service.name}")
        await asyncio.wait({starting, waiting}, return_when=asyncio.FIRST_COMPLETED)
        starting.cancel()
        error = (await asyncio.gather(starting, return_exceptions=True))[0]
        if isinstance(error, Exception):
            _log.error("service did not start", service=service.name, exc_info=error)
            waiting.cancel()
            await _stop(service, grace_s, insisted)
            return 1
        if error is None:
            started()
            _log.info("service runs", service=service.name)
            await asyncio.wait({waiting, failed}, return_when=asyncio.FIRST_COMPLETED)
        crashed = failed.done()
        waiting.cancel()
        _log.info("service drains", service=service.name, crashed=crashed)
        clean = await _stop(service, grace_s, insisted)
        return 0 if clean and not crashed else 1
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


def _settle_memory() -> None:
    """Take what was made at the start out of every later garbage collection, and let that come less often.

    A service makes many small objects that live for one call and die by their count of references; looking for cycles
    after every 700 of them cost a table worker a seventh of its time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


async def _stop(service: Service, grace_s: float, insisted: asyncio.Event) -> bool:
    """Stop the service; false when it was cut short."""
    stopping = asyncio.ensure_future(service.stop(grace_s))
    impatience = asyncio.ensure_future(insisted.wait())
    try:
        await asyncio.wait({stopping, impatience}, timeout=grace_s + 10.0, return_when=asyncio.FIRST_COMPLETED)
        if not stopping.done():
            _log.error("drain was cut short", service=service.name)
            stopping.cancel()
            await asyncio.gather(stopping, return_exceptions=True)
            return False
        error = stopping.exception()
        if error is not None:
            _log.error("drain failed", service=service.name, exc_info=error)
        return error is None
    finally:
        impatience.cancel()
        await asyncio.gather(impatience, return_exceptions=True)


def run_service(name: str, make: Callable[[SettingsType], Service], kind: type[SettingsType]) -> None:
    """The main function of a service process: reads its settings from the environment, runs it, exits the process.

    `name` is how its logs call it. `make` is called inside the event loop, so that no channel or connection is made
    before it (or crosses a fork). A wrong setting is told on stderr, with exit code 2.
    """
    settings = load(kind)
    configure(service=name, level=settings.log_level, form=settings.log_format)

    async def main() -> int:
        return await run(make(settings), grace_s=settings.drain_grace_s, started=_settle_memory)

    try:
        import uvloop
    except ImportError:
        start = asyncio.run
    else:
        start = uvloop.run
    try:
        code = start(main())
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        code = 2
    sys.exit(code)
