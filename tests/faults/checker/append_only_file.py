"""What the table store wrote, read from its append-only file: every change that was ever made, also to logs that were
trimmed or deleted since. No server and no code of the platform stands between the file and the checker.

The store must run with ``appendonly yes`` and must not rewrite the file (``auto-aof-rewrite-percentage 0``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


class RewrittenFile(Exception):
    """The file was rewritten or does not begin at the beginning: what it once held is gone."""


class TornFile(Exception):
    """The bytes at this place are no command."""


class AppendOnlyFile:
    """Reads the commands of a folder's append-only file in order, and goes on where it stopped the last time."""

    def __init__(self, folder: Path) -> None:
        """``folder`` holds ``appendonly.aof.manifest``."""
        self._folder = folder
        self._offset = 0

    def read_new(self) -> Iterator[list[bytes]]:
        """Yield the commands that came since the last call, name first. What is half there at the end, a command or a
        transaction, is left for later.

        Raises ``RewrittenFile`` and ``TornFile``.
        """
        with self._path().open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        transaction: list[list[bytes]] | None = None
        taken = 0
        for command, size in commands(data):
            taken += size
            name = command[0].upper()
            if name == b"MULTI":
                transaction = []
            elif name != b"EXEC" and transaction is not None:
                transaction.append(command)
            else:
                yield from [command] if transaction is None else transaction
                transaction = None
            if transaction is None:
                self._offset, taken = self._offset + taken, 0

    def _path(self) -> Path:
        manifest = (self._folder / "appendonly.aof.manifest").read_text()
        parts = [line.split() for line in manifest.splitlines() if line.startswith("file ")]
        logs = [part[1] for part in parts if part[5] == "i"]
        if len(logs) != 1 or not logs[0].endswith(".1.incr.aof"):
            raise RewrittenFile(f"the store keeps {logs}")
        return self._folder / logs[0]


def commands(data: bytes) -> Iterator[tuple[list[bytes], int]]:
    """Yield each whole command with the number of bytes that it took, annotations included. Raises ``TornFile``."""
    at = taken = 0
    while True:
        end = data.find(b"\r\n", at)
        if end < 0:
            return
        if data[at : at + 1] == b"#":
            at = end + 2
            continue
        if data[at : at + 1] != b"*":
            raise TornFile(f"no command at byte {at}: {data[at : at + 20]!r}")
        parts: list[bytes] = []
        place = end + 2
        for _ in range(int(data[at + 1 : end])):
            end = data.find(b"\r\n", place)
            if end < 0:
                return
            if data[place : place + 1] != b"$":
                raise TornFile(f"no argument at byte {place}: {data[place : place + 20]!r}")
            start = end + 2
            place = start + int(data[place + 1 : end]) + 2
            if place > len(data):
                return
            parts.append(data[start : place - 2])
        yield parts, place - taken
        at = taken = place
