"""Runs the image as the chart does: read-only, without rights, as its own user."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from types import TracebackType
from typing import Final

import pytest

DOCKER: Final = os.environ.get("BUILDER", "docker")
_CONFINED: Final = (
    "--network=host",
    "--read-only",
    "--tmpfs=/tmp:size=64m",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
)
_TIMEOUT_S: Final = 120.0


def image_name() -> str:
    """The image under test. Fails the test when nobody said which: `make image-test` does."""
    name = os.environ.get("IMAGE", "")
    if not name:
        pytest.fail("IMAGE names no image; run `make image-test`")
    return name


def once(*command: str, environment: Mapping[str, str] | None = None) -> str:
    """Run one command in a container of its own and return what it printed; its failure fails the test."""
    ran = subprocess.run(
        [DOCKER, "run", "--rm", *_CONFINED, *_variables(environment or {}), image_name(), *command],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert ran.returncode == 0, f"{command}: {ran.stdout}{ran.stderr}"
    return ran.stdout


class Containers:
    """Services in containers; all of them end with the context."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def __enter__(self) -> Containers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for container in self._ids.values():
            subprocess.run([DOCKER, "rm", "--force", container], capture_output=True, timeout=_TIMEOUT_S, check=False)

    def start(self, service: str, environment: Mapping[str, str]) -> None:
        """Start a service; returns before it is ready."""
        command = ["python", "-m", f"services.{service}"]
        ran = subprocess.run(
            [DOCKER, "run", "--detach", *_CONFINED, *_variables(environment), image_name(), *command],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
        self._ids[service] = ran.stdout.strip()

    def logs(self, service: str) -> str:
        """What a service has said."""
        ran = subprocess.run(
            [DOCKER, "logs", self._ids[service]], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
        return ran.stdout + ran.stderr

    def stop(self, service: str, grace_s: int) -> int:
        """SIGTERM, as Kubernetes does; returns the exit code."""
        container = self._ids[service]
        subprocess.run(
            [DOCKER, "stop", f"--time={grace_s}", container], capture_output=True, timeout=_TIMEOUT_S, check=True
        )
        ran = subprocess.run(
            [DOCKER, "inspect", "--format={{.State.ExitCode}}", container],
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=True,
        )
        return int(ran.stdout)


def _variables(environment: Mapping[str, str]) -> list[str]:
    return [f"--env={name}={value}" for name, value in environment.items()]
