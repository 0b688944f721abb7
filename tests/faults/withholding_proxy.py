"""A TCP proxy in front of the store that can keep back what a client asks, or what it is answered."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final, Self

_LOOPBACK: Final = "127.0.0.1"
_CHUNK: Final = 1 << 16
_APART_S: Final = 1e-6


class WithholdingProxy:
    """Passes everything on until told otherwise. Use it as ``async with``; clients connect to ``port``.

    Like a network that holds packets, it does not tell the server when a client goes away, until ``drop``.
    """

    def __init__(self, port: int) -> None:
        """``port`` is the server's."""
        self._target = port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._upstreams: list[asyncio.StreamWriter] = []
        self._held: list[tuple[asyncio.StreamWriter, bytes]] = []
        self._keeps_requests = self._keeps_replies = False
        self.holding = asyncio.Event()
        """Set once something was kept back."""
        self._answered = asyncio.Event()
        self.port = 0
        self.delay_s = 0.0
        """So long is everything kept back that the server answers."""

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, _LOOPBACK, 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.drop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def keep_requests(self) -> None:
        """From now on nothing that a client asks reaches the server."""
        self._keeps_requests = True

    def keep_replies(self) -> None:
        """From now on nothing that the server answers reaches a client."""
        self._keeps_replies = True

    async def deliver(self) -> None:
        """Give the server what was kept back, however late it is; returns when it has answered one that is gone."""
        self._keeps_requests = False
        for writer, data in self._held:
            writer.write(data)
        self._held.clear()
        async with asyncio.timeout(30):
            await self._answered.wait()

    def drop(self) -> None:
        """Forget what was kept back, and end all connections to the server."""
        self._held.clear()
        for writer in self._upstreams:
            writer.transport.abort()
        self._upstreams.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        upstream_reader, upstream = await asyncio.open_connection(_LOOPBACK, self._target)
        self._upstreams.append(upstream)
        try:
            await asyncio.gather(self._requests(reader, writer, upstream), self._replies(upstream_reader, writer))
        except (OSError, asyncio.CancelledError):
            # It ends here either way; the server that started it would log a cancellation as an error.
            pass
        finally:
            writer.transport.abort()
            upstream.transport.abort()

    async def _requests(
        self, reader: asyncio.StreamReader, client: asyncio.StreamWriter, upstream: asyncio.StreamWriter
    ) -> None:
        while data := await _read(reader):
            if self._keeps_requests:
                self._held.append((upstream, data))
                self.holding.set()
            else:
                upstream.write(data)
                await upstream.drain()
        client.transport.abort()

    async def _replies(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        due = 0.0
        while data := await _read(reader):
            if self._keeps_replies:
                self.holding.set()
            elif writer.is_closing():
                self._answered.set()
            else:
                # Late, but not fewer of them: each waits for itself alone, and none overtakes another.
                due = max(due + _APART_S, loop.time() + self.delay_s)
                loop.call_at(due, writer.write, data)


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(_CHUNK)
    except ConnectionError:
        return b""
