"""A TCP proxy in front of a server, which falls silent on a connection when it sees certain bytes."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"


class SilencingProxy:
    """Passes everything on, until `silence(marker)`: the next connections that send the marker hear nothing more.

    With `deliver` the bytes with the marker still reach the server, and only its answer is lost. Like a network that is
    cut, it does not tell the server when the client of a silent connection goes away, unless `tells_ends`.
    """

    def __init__(self, url: str, *, tells_ends: bool = False) -> None:
        self._tells_ends = tells_ends
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._target = (parts.hostname, parts.port)
        self._url = parts
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._marker = b""
        self._deliver = False
        self._left = 0
        self.silenced = asyncio.Semaphore(0)
        """Released once for each connection that fell silent."""
        self.url = ""

    async def __aenter__(self) -> SilencingProxy:
        self._server = await asyncio.start_server(self._serve, LOOPBACK, 0)
        port = self._server.sockets[0].getsockname()[1]
        self.url = self._url._replace(netloc=f"{self._url.netloc.rpartition('@')[0]}@{LOOPBACK}:{port}").geturl()
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def silence(self, marker: bytes, *, times: int = 1, deliver: bool = False) -> None:
        """Fall silent on the next `times` connections that send the marker."""
        self._marker, self._left, self._deliver = marker, times, deliver

    async def cut(self) -> None:
        """End all connections, so that the next ones begin anew, without prepared statements."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._writers.add(writer)
        try:
            up_reader, up_writer = await asyncio.open_connection(*self._target)
            silent = asyncio.Event()
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pass(reader, up_writer, silent, watch=True))
                    group.create_task(self._pass(up_reader, writer, silent, watch=False))
            finally:
                up_writer.transport.abort()
        except* (OSError, asyncio.CancelledError):
            pass
        finally:
            self._writers.discard(writer)
            writer.transport.abort()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, silent: asyncio.Event, *, watch: bool
    ) -> None:
        while data := await reader.read(65536):
            if watch and not silent.is_set() and self._left and self._marker in data:
                self._left -= 1
                silent.set()
                if self._deliver:
                    writer.write(data)
                self.silenced.release()
            elif not silent.is_set():
                writer.write(data)
                await writer.drain()
        if not silent.is_set() or self._tells_ends:
            writer.close()
