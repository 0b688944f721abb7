"""One process per data folder."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from deploy.local.errors import DataFolderInUseError


class FolderLock:
    """An advisory lock on a file. The kernel gives it back when its holder dies in any way, so none is ever stale."""

    def __init__(self, path: Path, what: str) -> None:
        """`what` names the holder in messages, as in "<what> is already running in <folder>"."""
        self._path = path
        self._what = what
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock; raises `DataFolderInUseError` when another process (or another lock in this one) holds it."""
        if self._descriptor is not None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(descriptor, 32).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise DataFolderInUseError(
                self._what, self._path.parent.parent, int(owner) if owner.isdigit() else None
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Give the lock back; does nothing when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
