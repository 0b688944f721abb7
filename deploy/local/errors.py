"""What can go wrong with a backing server, as types with fields. `str(error)` is fit to be shown to whoever ran it."""

from __future__ import annotations

from pathlib import Path


class BackingServerError(Exception):
    """Root of every error that this package raises about a backing server."""


class ServerBinaryMissingError(BackingServerError):
    """The package that carries the server's program is not installed, or has none for this machine."""

    def __init__(self, server: str, package: str, detail: str, remedy: str = "run `make setup`") -> None:
        self.server = server
        self.package = package
        super().__init__(
            f"{server}: no program for this machine: {detail}. It comes with the package {package}; {remedy}."
        )


class PortInUseError(BackingServerError):
    """Another program listens on the port that was asked for."""

    def __init__(self, server: str, port: int) -> None:
        self.server = server
        self.port = port
        super().__init__(
            f"{server}: port {port} on 127.0.0.1 is in use by another program. "
            "Stop that program or choose another port."
        )


class DataFolderInUseError(BackingServerError):
    """Another running process holds the lock of the data folder."""

    def __init__(self, what: str, folder: Path, owner_pid: int | None) -> None:
        self.folder = folder
        self.owner_pid = owner_pid
        who = f"process {owner_pid}" if owner_pid is not None else "another process"
        super().__init__(
            f"{what} is already running in {folder} ({who}). Stop it first, or give this one another data folder."
        )


class DataFolderUnusableError(BackingServerError):
    """The data folder cannot be used as it is: wrong owner, out of reach, or of another server version."""

    def __init__(self, server: str, folder: Path, reason: str) -> None:
        self.server = server
        self.folder = folder
        self.reason = reason
        super().__init__(f"{server}: cannot use {folder}: {reason}")


class ServerStartError(BackingServerError):
    """The server ended, or did not answer in time, while it was being started."""

    def __init__(self, server: str, reason: str, log: Path, log_tail: str) -> None:
        self.server = server
        self.reason = reason
        self.log = log
        self.log_tail = log_tail
        super().__init__(f"{server}: {reason}. The last lines of {log}:\n{log_tail}")


class DataCorruptError(ServerStartError):
    """The server refused its own data. Nothing was changed or deleted."""

    def __init__(self, server: str, folder: Path, log: Path, log_tail: str) -> None:
        self.folder = folder
        super().__init__(
            server,
            f"the data in {folder} is damaged and was left as it is; restore a copy, "
            "or move that folder away to begin anew",
            log,
            log_tail,
        )
