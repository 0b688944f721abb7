"""A Chromium for browser tests: the system's if there is one, else the one among the web client's packages."""

import functools
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "services/gateway/web"
PACKAGE = WEB / "node_modules/@sparticuz/chromium"
SYSTEM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Tests run as root and in containers as well, where neither the sandbox nor a large /dev/shm can be counted on.
COMMON_ARGS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--font-render-hinting=none")
# The packaged build has no zygote and no GPU process of its own.
PACKAGED_ARGS = ("--no-zygote", "--in-process-gpu", "--use-gl=angle", "--use-angle=swiftshader")

# The package unpacks into TMPDIR, and its libraries only where it believes to be in the cloud that it was made for.
UNPACK = """
import chromium from "@sparticuz/chromium";
process.stdout.write(await chromium.executablePath());
"""


class ChromiumMissing(RuntimeError):
    """Neither the system nor the web client's packages have a Chromium; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Chromium:
    """A Chromium that can be started: where it is, its arguments, and what its environment needs beside our own."""

    executable: Path
    args: tuple[str, ...]
    environment: dict[str, str]

    def launch_options(self) -> dict[str, Any]:
        """The keyword arguments for Playwright's ``chromium.launch``."""
        return {
            "executable_path": str(self.executable),
            "args": list(self.args),
            "env": {**os.environ, **self.environment},
            "headless": True,
        }


@functools.cache
def chromium_executable() -> Chromium:
    """The Chromium to test with, unpacked once into ``.build/`` when it comes from the packages.

    Raises ``ChromiumMissing`` when there is none.
    """
    return system_chromium() or packaged_chromium()


def system_chromium() -> Chromium | None:
    """The first Chromium or Chrome on ``PATH``, or ``None``."""
    found = next((path for name in SYSTEM_NAMES if (path := shutil.which(name))), None)
    return Chromium(Path(found), COMMON_ARGS, {}) if found else None


def packaged_chromium() -> Chromium:
    """The Chromium of the npm package ``@sparticuz/chromium``. Raises ``ChromiumMissing`` without it."""
    if not (PACKAGE / "package.json").exists():
        raise ChromiumMissing("no Chromium on PATH and none in the web client's packages; `make web` installs those")
    version = json.loads((PACKAGE / "package.json").read_text(encoding="utf-8"))["version"]
    home = ROOT / ".build" / f"chromium-{version}"
    if not home.exists():
        _unpack(home)
    environment = {
        "LD_LIBRARY_PATH": os.pathsep.join(filter(None, [f"{home}/al2023/lib", os.environ.get("LD_LIBRARY_PATH")]))
    }
    if not Path("/etc/fonts").exists():
        environment["FONTCONFIG_PATH"] = f"{home}/fonts"
    return Chromium(home / "chromium", COMMON_ARGS + PACKAGED_ARGS, environment)


def _unpack(home: Path) -> None:
    """Unpack the package beside ``home`` and move it there at once, so that parallel tests never see half of it."""
    home.parent.mkdir(parents=True, exist_ok=True)
    node = ROOT / ".venv/bin/node"
    scratch = Path(tempfile.mkdtemp(prefix="chromium-", dir=home.parent))
    try:
        subprocess.run(
            [str(node), "--input-type=module", "--eval", UNPACK],
            cwd=WEB,
            env={**os.environ, "TMPDIR": str(scratch), "AWS_LAMBDA_JS_RUNTIME": "nodejs22.x"},
            check=True,
            capture_output=True,
            timeout=120,
        )
        scratch.chmod(0o755)
        try:
            scratch.rename(home)
        except OSError:
            if not (home / "chromium").exists():  # another process was first when it does
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
