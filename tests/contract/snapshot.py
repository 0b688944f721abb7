"""The contracts as they were promised: ``python -m tests.contract.snapshot`` takes them down anew.

Do so with every change that ``buf breaking`` lets pass, so that what was added is promised too. A change that it does
not let pass needs a new version of the package (``v2``) beside the old one, not a new snapshot.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROTOS = ROOT / "protos"
SNAPSHOT = Path(__file__).with_name("contracts.binpb")


def buf(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run buf, which needs no network for this."""
    command = Path(sys.executable).with_name("buf")
    return subprocess.run([command, *arguments], capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)


def build(target: Path) -> None:
    """Write the contracts' descriptors into a file."""
    built = buf("build", str(PROTOS), "--exclude-source-info", "--output", str(target))
    if built.returncode:
        raise SystemExit(built.stdout + built.stderr)


if __name__ == "__main__":
    build(SNAPSHOT)
