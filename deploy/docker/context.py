"""Prepares what the image is built from, in `.build/image`: `make images` calls it.

Wheels are fetched by pip, as it is set up on this machine, for the image's Python and system; every one has a hash of
the lock. The project's own wheel is built from the tree, and the parts list is made from the locks.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import click

from deploy.docker.parts import parts_list

ROOT: Final = Path(__file__).parents[2]
_ONLY_WHEELS: Final = ("--only-binary=:all:", "--no-deps", "--require-hashes", "--quiet", "--disable-pip-version-check")
_SYSTEMS: Final = ("manylinux_2_17", "manylinux2014", "manylinux_2_28", "manylinux_2_34", "linux")
"""Wheels for these run on Debian 12 and later, and on whatever has a C library as new."""


@click.command()
@click.option("--python", "python_version", default="3.11", show_default=True, help="Python of the base image.")
@click.option("--machine", default="x86_64", show_default=True, help="Machine that the image is for.")
@click.option("--folder", default=ROOT / ".build" / "image", type=click.Path(path_type=Path), help="Where it is made.")
def main(python_version: str, machine: str, folder: Path) -> None:
    """Make the folder that the image is built from."""
    for name in ("wheels", "tools", "project"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    shutil.copy(ROOT / "requirements.lock", folder / "requirements.lock")
    (folder / "uv.lock").write_text(entry_of(ROOT / "requirements-dev.lock", "uv"))
    _download(folder / "requirements.lock", folder / "wheels", python_version, machine)
    _download(folder / "uv.lock", folder / "tools", python_version, machine)
    uv = str(Path(sys.executable).with_name("uv"))
    build = [uv, "build", "--wheel", "--quiet", "--no-build-isolation", "--offline", f"--out-dir={folder / 'project'}"]
    subprocess.run(build, cwd=ROOT, check=True)
    (folder / "sbom.cdx.json").write_text(parts_list(ROOT))


def entry_of(lock: Path, package: str) -> str:
    """The lines of a lock file that are about one package."""
    lines, wanted = [], False
    for line in lock.read_text().splitlines(keepends=True):
        if not line.startswith((" ", "#")):
            wanted = line.startswith(f"{package}==")
        if wanted:
            lines.append(line)
    return "".join(lines)


def _download(lock: Path, folder: Path, python_version: str, machine: str) -> None:
    systems = [f"--platform={system}_{machine}" for system in _SYSTEMS]
    target = [f"--python-version={python_version}", "--implementation=cp", *systems]
    fetch = [sys.executable, "-m", "pip", "download", *_ONLY_WHEELS, *target]
    subprocess.run([*fetch, f"--dest={folder}", f"--requirement={lock}"], check=True)


if __name__ == "__main__":
    main()
