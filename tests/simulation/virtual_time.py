"""An event loop on virtual time, and the processes that live on it.

Nothing waits: when no callback is ready, time jumps to the next timer. Every callback belongs to a process by its
context, so that a process can stand still (none of its callbacks run, what comes in waits) or be gone.
"""

from __future__ import annotations

import asyncio
import enum
import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from typing import Any, Final

EPOCH_MS: Final = 1_700_000_000_000
"""The unix time in milliseconds at which every simulation begins."""
MOST_CALLBACKS_AT_ONCE: Final = 1_000_000
"""More callbacks than this without any passing of time are a busy loop."""

TICK_S: Final = 1e-6
"""The least time between two messages on one connection."""

Connect = Callable[[Callable[[], asyncio.BaseProtocol]], Awaitable[tuple[asyncio.Transport, asyncio.BaseProtocol]]]


class NothingHappensError(RuntimeError):
    """No callback is ready and no timer is set: real code would wait for ever."""


class BusyLoopError(RuntimeError):
    """Callbacks follow each other without end while no time passes."""


class Fate(enum.Enum):
    """What a process does."""

    RUNS = "runs"
    STANDS_STILL = "stands still"
    GONE = "gone"


class Process:
    """One simulated process: whose callbacks are run, kept for later, or never run again.

    ``context`` belongs to its callbacks; whatever they start belongs to the process, too.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.fate = Fate.RUNS
        self.kept: deque[asyncio.Handle] = deque()
        self.context: Context = copy_context()
        self.context.run(_PROCESS.set, self)

    def __repr__(self) -> str:
        return f"<{self.name} {self.fate.value}>"

    @property
    def runs(self) -> bool:
        return self.fate is Fate.RUNS

    @property
    def is_gone(self) -> bool:
        return self.fate is Fate.GONE


_PROCESS: ContextVar[Process | None] = ContextVar("process", default=None)


NETWORK: Final = Process("network")
"""What happens between processes belongs to nobody, and never stands still."""


def this_process() -> Process:
    """The process whose callback runs. Raises RuntimeError outside of all processes."""
    process = _PROCESS.get()
    if process is None:
        raise RuntimeError("this is no callback of a simulated process")
    return process


class _Handle(asyncio.Handle):
    """A callback, made without what the standard library notes for debugging."""

    __slots__ = ()

    def __init__(self, callback: Any, args: Any, loop: VirtualLoop, context: Context | None) -> None:
        self._callback = callback
        self._args = args
        self._loop = loop
        self._context = copy_context() if context is None else context
        self._cancelled = False
        self._repr = self._source_traceback = None


class _Timer(asyncio.TimerHandle):
    """A callback of a later moment, made in the same way."""

    __slots__ = ()

    def __init__(self, when: float, callback: Any, args: Any, loop: VirtualLoop, context: Context | None) -> None:
        self._when = when
        self._scheduled = False
        self._callback = callback
        self._args = args
        self._loop = loop
        self._context = copy_context() if context is None else context
        self._cancelled = False
        self._repr = self._source_traceback = None


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop whose time moves only when nothing else is left to do.

    ``time`` counts seconds from 0. Raises ``NothingHappensError`` instead of waiting for ever, and ``BusyLoopError``.
    """

    # Handles have fields that the standard library keeps to itself.
    _ready: deque[Any]
    _stopping: bool

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._at_once = 0
        self._timers: list[tuple[float, int, Any]] = []
        self._timers_set = 0
        self._tasks_kept: list[asyncio.Task[Any]] = []
        self._processes: set[Process] = set()
        self.connect: Connect | None = None
        self.set_task_factory(self._make_task)  # type: ignore[arg-type]

    def time(self) -> float:
        return self._now

    @property
    def unix_ms(self) -> int:
        """The true unix time of the simulation."""
        return EPOCH_MS + round(self._now * 1000)

    def run_in(self, process: Process, work: Coroutine[Any, Any, Any], *, name: str) -> None:
        """Start a task of that process."""
        self._processes.add(process)
        self._tasks_kept.append(self.create_task(work, name=name, context=process.context))

    def resume(self, process: Process) -> None:
        """Let a process that stood still run: everything that waited for it happens now, in its order."""
        process.fate = Fate.RUNS
        self._ready.extend(process.kept)
        process.kept.clear()

    def wind_up(self) -> None:
        """End every task that is left, also those of processes that are gone; called when nothing counts any more."""
        for process in self._processes:
            self.resume(process)
        for _ in range(100):
            tasks = [task for task in self._tasks_kept if not task.done()]
            if not tasks:
                break
            for task in tasks:
                task.cancel()
            self.run_until_complete(asyncio.wait(tasks, timeout=60.0))
        self._tasks_kept.clear()

    def _make_task(
        self, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], *, context: Context | None = None
    ) -> asyncio.Task[Any]:
        task = asyncio.Task(work, loop=loop, context=context)
        # A task of a process that is gone must not be collected: that would run its clean-up as if it still lived.
        self._tasks_kept.append(task)
        if len(self._tasks_kept) > 20_000:
            self._tasks_kept = [each for each in self._tasks_kept if not each.done()]
        return task

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:
        handle = _Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> asyncio.TimerHandle:
        """Timers of one moment fire in the order in which they were set."""
        timer = _Timer(when, callback, args, self, context)
        self._timers_set += 1
        # Tuples compare without any Python code, which the heap would otherwise run for every other handle.
        heapq.heappush(self._timers, (when, self._timers_set, timer))
        return timer

    def _run_once(self) -> None:
        timers, ready = self._timers, self._ready
        while timers and timers[0][2]._cancelled:
            heapq.heappop(timers)
        if not ready and not self._stopping:
            if not timers:
                raise NothingHappensError("no callback is ready and no timer is set")
            if timers[0][0] > self._now:
                self._now = timers[0][0]
                self._at_once = 0
        while timers and timers[0][0] <= self._now:
            timer = heapq.heappop(timers)[2]
            if not timer._cancelled:
                ready.append(timer)
        count = self._at_once
        while ready:
            handle = ready.popleft()
            if handle._cancelled:
                continue
            count += 1
            if count > MOST_CALLBACKS_AT_ONCE:
                raise BusyLoopError(f"{count} callbacks at {self._now:.3f} s, such as {handle}")
            process = handle._context.get(_PROCESS)
            if process is None or process.fate is Fate.RUNS:
                try:
                    handle._context.run(handle._callback, *handle._args)
                except Exception as error:
                    self.call_exception_handler({"message": f"callback {handle} failed", "exception": error})
            else:
                process.kept.append(handle)
            if self._stopping:
                break
        self._at_once = count

    async def create_connection(self, protocol_factory: Any, *args: Any, **kwargs: Any) -> Any:
        """Connect to the only server that there is, the table store."""
        assert self.connect is not None
        return await self.connect(protocol_factory)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        raise RuntimeError("a simulation has one thread")

    def _process_events(self, event_list: list[Any]) -> None:
        """There are no sockets."""

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""


class ProcessClock:
    """The clock of one process: ``ahead_ms`` off the true time, as clocks are that NTP holds together."""

    def __init__(self, loop: VirtualLoop, ahead_ms: int) -> None:
        self._loop = loop
        self._ahead_ms = ahead_ms

    def now_ms(self) -> int:
        return self._loop.unix_ms + self._ahead_ms
