"""What the three backing servers have in common: lock, leftovers, port, launch, readiness, stop."""

from __future__ import annotations

import asyncio
import signal
import time
from abc import ABC, abstractmethod
from pathlib import Path
from types import TracebackType
from typing import ClassVar, Self

from deploy.local.errors import BackingServerError, DataCorruptError, PortInUseError, ServerStartError
from deploy.local.lock import FolderLock
from deploy.local.ports import free_port, port_is_free
from deploy.local.process import Account, ServerProcess

_PORT_ATTEMPTS = 5


class BackingServer(ABC):
    """A real server on 127.0.0.1 that lives as long as this object is started.

    It keeps its files in `<data_dir>/<name>/`, its log in `<data_dir>/logs/<name>.log`, and its lock and pid in
    `<data_dir>/run/`. `start` and `stop` may be called again, also from another event loop; the port, once chosen,
    stays the same. Usable as `async with`.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    stop_signal: ClassVar[signal.Signals]
    corruption_marks: ClassVar[tuple[str, ...]] = ()
    start_seconds: ClassVar[float] = 60.0
    stop_seconds: ClassVar[float] = 15.0

    def __init__(self, data_dir: Path, port: int = 0) -> None:
        """`port` 0 means: any free one, chosen at the first start."""
        self.data_dir = data_dir.absolute()
        self.folder = self.data_dir / self.name
        self.port = port
        self._port_was_given = port != 0
        run = self.data_dir / "run"
        self._lock = FolderLock(run / f"{self.name}.lock", self.title)
        self._process = ServerProcess(
            run / f"{self.name}.pid", self.data_dir / "logs" / f"{self.name}.log", self.stop_signal
        )

    @property
    def pid(self) -> int | None:
        """The process id while the server runs, else None."""
        return self._process.pid

    @property
    def log(self) -> Path:
        """Where the server logs to."""
        return self._process.log

    async def start(self) -> None:
        """Start the server and return when it answers; does nothing when it runs already.

        Raises a `BackingServerError` that says what is wrong; then nothing is left running.
        """
        if self.pid is not None:
            return
        self._lock.acquire()
        try:
            await self._process.end_leftover(self.stop_seconds)
            self.folder.mkdir(parents=True, exist_ok=True)
            account = await self._prepare()
            await self._launch_on_a_port(account)
        except BaseException:
            await self._process.kill()
            self._lock.release()
            raise

    async def stop(self) -> None:
        """Stop the server in its orderly way; does nothing when it does not run."""
        try:
            await self._process.stop(self.stop_seconds)
        finally:
            self._lock.release()

    async def kill(self) -> None:
        """`kill -9`, for tests of faults. `start` brings the server back on the same port with the same data."""
        await self._process.kill()
        self._lock.release()

    async def wait(self) -> int:
        """Wait until the server has ended, by `stop` or by itself; returns its exit code."""
        return await self._process.wait()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _prepare(self) -> Account | None:
        """Make the data folder ready; returns the account to run as, None for our own."""
        return None

    @abstractmethod
    def _command(self) -> list[str]:
        """The program and its arguments, for `self.port`."""

    @abstractmethod
    async def _answers(self) -> bool:
        """Whether the server serves requests now. Must not take longer than a second or two."""

    def _may_start_later(self, log_tail: str) -> bool:
        """Whether a start that ended with this log may succeed when it is simply tried again."""
        return False

    async def _launch_on_a_port(self, account: Account | None) -> None:
        deadline = time.monotonic() + self.start_seconds
        attempts = 0
        while True:
            if self.port == 0:
                self.port = free_port()
            elif not port_is_free(self.port):
                raise PortInUseError(self.title, self.port)
            self._process.launch(self._command(), cwd=self.folder, account=account)
            try:
                await self._await_ready(deadline)
            except PortInUseError:
                attempts += 1
                if self._port_was_given or attempts == _PORT_ATTEMPTS:
                    raise
                self.port = 0
            except ServerStartError as error:
                if not self._may_start_later(error.log_tail) or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.1)
            else:
                self._port_was_given = True
                return

    async def _await_ready(self, deadline: float) -> None:
        pause = 0.01
        while True:
            ready = await self._answers()
            if self.pid is None:
                raise self._why_it_ended()
            if ready:
                return
            if time.monotonic() > deadline:
                raise ServerStartError(
                    self.title,
                    f"did not answer within {self.start_seconds:.0f} s",
                    self.log,
                    self._process.log_tail(),
                )
            await asyncio.sleep(pause)
            pause = min(0.1, pause * 1.5)

    def _why_it_ended(self) -> BackingServerError:
        tail = self._process.log_tail()
        if "address already in use" in tail.lower() or "AddrInUse" in tail:
            return PortInUseError(self.title, self.port)
        if any(mark in tail for mark in self.corruption_marks):
            return DataCorruptError(self.title, self.folder, self.log, tail)
        return ServerStartError(self.title, f"ended at once with exit code {self._process.exit_code}", self.log, tail)
