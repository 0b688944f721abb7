"""What happened in a simulation, line by line, and its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable


class Trace:
    """Takes down what happens. Two runs that did the same have the same ``digest``.

    Lines are kept when ``keep`` is set; otherwise only their digest and number are.
    """

    def __init__(self, time: Callable[[], float], *, keep: bool = False) -> None:
        self._time = time
        self._keep = keep
        self._hash = hashlib.blake2b(digest_size=16)
        self.count = 0
        self.lines: list[str] = []

    def note(self, process: str, what: str) -> None:
        """One thing happened in or to that process."""
        line = f"{self._time():12.6f} {process:<12} {what}"
        self._hash.update(line.encode())
        self._hash.update(b"\n")
        self.count += 1
        if self._keep:
            self.lines.append(line)

    @property
    def digest(self) -> str:
        """The digest of all lines so far."""
        return self._hash.hexdigest()
