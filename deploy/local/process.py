"""One child process that runs a backing server: launched, watched, stopped, and cleaned up after a crash of ours."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_SPAWN = Path(__file__).with_name("spawn.py")
_LOG_KEPT_BYTES = 8 << 20
_POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Account:
    """The system account that a server runs as when we are root and it may not be.

    With `reach` it may also pass through folders that only root may enter.
    """

    uid: int
    gid: int
    reach: bool


def spawn_command(command: Sequence[str], death_signal: signal.Signals, account: Account | None) -> list[str]:
    """`command` wrapped so that it dies with this process (Linux) and runs as `account` if one is given."""
    wrapped = [sys.executable, "-I", "-S", str(_SPAWN), "--parent", str(os.getpid())]
    wrapped += ["--death-signal", str(int(death_signal))]
    if account is not None:
        wrapped += ["--uid", str(account.uid), "--gid", str(account.gid)]
        if account.reach:
            wrapped.append("--reach")
    return [*wrapped, "--", *command]


class ServerProcess:
    """A child whose output goes to a log file and whose pid is on record until it has ended.

    On Linux the kernel sends it `stop_signal` when the thread that called `launch` ends, however that happens: launch
    from a thread that lives as long as the server is needed. Elsewhere the next `end_leftover` does that work.
    """

    def __init__(self, pid_file: Path, log: Path, stop_signal: signal.Signals) -> None:
        self.log = log
        self._pid_file = pid_file
        self._stop_signal = stop_signal
        self._child: subprocess.Popen[bytes] | None = None
        self._log_start = 0

    @property
    def pid(self) -> int | None:
        """The process id while it runs, else None."""
        return self._child.pid if self._child is not None and self._child.poll() is None else None

    @property
    def exit_code(self) -> int | None:
        """How the last run ended (negative: by that signal), None while it runs or before it ran."""
        return self._child.poll() if self._child is not None else None

    def launch(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        account: Account | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start `command`, in `environment` instead of ours if given. Its output is appended to the log."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self._pid_file.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists() and self.log.stat().st_size > _LOG_KEPT_BYTES:
            self.log.replace(self.log.with_name(self.log.name + ".1"))
        with self.log.open("ab") as output:
            self._log_start = output.tell()
            self._child = subprocess.Popen(
                spawn_command(command, self._stop_signal, account),
                cwd=cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Its own session: Ctrl-C reaches us alone, and we stop it after the services that need it.
                start_new_session=True,
            )
        self._pid_file.write_text(json.dumps({"pid": self._child.pid, "command": list(command)}))

    async def stop(self, timeout_seconds: float) -> None:
        """End it in its orderly way, or by SIGKILL when that takes longer than `timeout_seconds`."""
        await self._end(self._stop_signal, timeout_seconds)

    async def kill(self) -> None:
        """`kill -9`, for tests of what survives that. Returns when the process is gone."""
        await self._end(signal.SIGKILL, 10.0)

    async def wait(self) -> int:
        """Wait until it has ended by itself or otherwise; returns the exit code."""
        if self._child is None:
            raise RuntimeError("the server was never launched")
        while True:
            code = self._child.poll()
            if code is not None:
                return code
            await asyncio.sleep(10 * _POLL_SECONDS)

    async def end_leftover(self, timeout_seconds: float) -> None:
        """End the server of an earlier run that outlived its parent. The caller holds the lock of the data folder."""
        try:
            record = json.loads(self._pid_file.read_text())
            pid, command = int(record["pid"]), [str(argument) for argument in record["command"]]
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError):
            self._pid_file.unlink()
            return
        deadline = time.monotonic() + timeout_seconds
        signalled = False
        while _runs(pid, command):
            with contextlib.suppress(ProcessLookupError):
                if time.monotonic() > deadline:
                    os.kill(pid, signal.SIGKILL)
                elif not signalled:
                    os.kill(pid, self._stop_signal)
                    signalled = True
            await asyncio.sleep(_POLL_SECONDS)
        self._pid_file.unlink(missing_ok=True)

    def log_tail(self, lines: int = 12) -> str:
        """The last lines that the current or last run wrote."""
        try:
            with self.log.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(self._log_start, size - 16_384))
                text = file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    async def _end(self, first: signal.Signals, timeout_seconds: float) -> None:
        child = self._child
        if child is None:
            return
        if child.poll() is None:
            child.send_signal(first)
            deadline = time.monotonic() + timeout_seconds
            while child.poll() is None:
                if time.monotonic() > deadline:
                    child.kill()
                await asyncio.sleep(_POLL_SECONDS)
        self._pid_file.unlink(missing_ok=True)


def _runs(pid: int, command: list[str]) -> bool:
    """Whether `pid` is a live process started as `command`: a pid alone may have been given to somebody else since."""
    try:
        if Path("/proc/self").exists():
            # A zombie has an empty command line: it is gone for our purpose.
            found = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").rstrip("\0").split("\0")
            return found == command
        listed = subprocess.run(
            ["ps", "-p", str(pid), "-o", "command="], capture_output=True, text=True, check=False, timeout=5
        )
    except (FileNotFoundError, ProcessLookupError):
        return False
    return listed.stdout.strip() == " ".join(command)
