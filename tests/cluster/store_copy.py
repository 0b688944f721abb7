"""The table store's append-only file, copied out of its pod bit by bit as it grows."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.cluster.backing import STORE_FOLDER
from tests.cluster.cluster import KUBECTL
from tests.faults.checker.append_only_file import AppendOnlyFile, RewrittenFile

_LOG: Final = "appendonly.aof.1.incr.aof"
_MANIFEST: Final = "appendonly.aof.manifest"
_CALL_S: Final = 60.0


class CopiedAppendOnlyFile(AppendOnlyFile):
    """Copies what is new before it reads."""

    def __init__(self, folder: Path, namespace: str, pod: str) -> None:
        """``folder`` takes the copy."""
        super().__init__(folder)
        self._copy = folder
        self._command = [KUBECTL, f"--namespace={namespace}", "exec", pod, "--"]

    def read_new(self) -> Iterator[list[bytes]]:
        """As the base class; also raises ``subprocess.SubprocessError`` when the pod cannot be asked."""
        self._copy_new()
        yield from super().read_new()

    def _copy_new(self) -> None:
        script = f"cat {STORE_FOLDER}/{_MANIFEST} && stat --format=%s {STORE_FOLDER}/{_LOG}"
        *manifest, size = self._ask("sh", "-c", script).decode().splitlines()
        (self._copy / _MANIFEST).write_text("\n".join(manifest) + "\n")
        log = self._copy / _LOG
        with log.open("ab") as file:
            have = file.tell()
            if int(size) < have:
                raise RewrittenFile(f"the store's file has {size} bytes and had {have}")
            # An answer may end early: what it lacks is asked for again.
            while have < int(size):
                have += file.write(self._ask("tail", f"--bytes=+{have + 1}", f"{STORE_FOLDER}/{_LOG}"))

    def _ask(self, *command: str) -> bytes:
        return subprocess.run([*self._command, *command], stdout=subprocess.PIPE, timeout=_CALL_S, check=True).stdout
