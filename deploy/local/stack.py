"""The three backing servers together."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from deploy.local.backing import EMBEDDED, Backing
from deploy.local.lock import FolderLock
from deploy.local.server import BackingServer


class BackingStack:
    """The three servers of `backing` on one data folder. Usable as `async with`."""

    def __init__(
        self,
        data_dir: Path,
        *,
        backing: Backing = EMBEDDED,
        valkey_port: int = 0,
        broker_port: int = 0,
        postgres_port: int = 0,
        appendfsync: Literal["always", "everysec", "no"] = "everysec",
        fsync: bool = True,
    ) -> None:
        """A port of 0 means: any free one. `fsync` False is for tests."""
        self.data_dir = data_dir.absolute()
        self.valkey = backing.store(self.data_dir, valkey_port, appendfsync=appendfsync)
        self.broker = backing.broker(self.data_dir, broker_port)
        self.postgres = backing.database(self.data_dir, postgres_port, fsync=fsync)
        self._lock = FolderLock(self.data_dir / "run" / "stack.lock", "Eastwind")

    @property
    def servers(self) -> tuple[BackingServer, ...]:
        """The three."""
        return (self.valkey, self.broker, self.postgres)

    @property
    def valkey_url(self) -> str:
        """`redis://127.0.0.1:<port>/0`."""
        return self.valkey.url

    @property
    def kafka_bootstrap(self) -> str:
        """`127.0.0.1:<port>`."""
        return self.broker.bootstrap

    def postgres_url(self, database: str = "postgres") -> str:
        """`postgresql://…` of a database, password included."""
        return self.postgres.url(database)

    async def create_database(self, name: str) -> str:
        """Make the database `name` unless it exists; returns its URL."""
        return await self.postgres.create_database(name)

    async def start(self) -> None:
        """Start the three at once; returns when all answer.

        Raises `DataFolderInUseError` when another process runs a stack in this folder, or the `BackingServerError`
        of the first server that could not start; then none is left running.
        """
        self._lock.acquire()
        try:
            # All of them end their start before a failure of one is handled, so that none is left half started.
            results = await asyncio.gather(*(server.start() for server in self.servers), return_exceptions=True)
            failure = next((result for result in results if isinstance(result, BaseException)), None)
            if failure is not None:
                raise failure
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """Stop the three; does nothing when they do not run."""
        try:
            await asyncio.gather(*(server.stop() for server in self.servers))
        finally:
            self._lock.release()

    async def wait_for_a_stop(self) -> BackingServer:
        """Wait until one of the servers has ended; returns it. While all is well this waits for ever."""
        waits = {asyncio.ensure_future(server.wait()): server for server in self.servers}
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        return waits[next(iter(done))]

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()
