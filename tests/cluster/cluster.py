"""One Kubernetes, asked through `kubectl` and `helm`. Every call has a deadline."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

KUBECTL: Final = os.environ.get("KUBECTL", "kubectl")
HELM: Final = os.environ.get("HELM", "helm")
_CALL_S: Final = 60.0
_LOG_LINES: Final = 20

Object = Mapping[str, Any]


class CommandFailed(Exception):
    """`kubectl` or `helm` ended with another exit code than 0; `output` are its words."""

    def __init__(self, command: Sequence[str], code: int, output: str) -> None:
        self.code, self.output = code, output
        super().__init__(f"{' '.join(command)} ended with {code}:\n{output}")


class CommandTooSlow(Exception):
    """`kubectl` or `helm` did not end before its deadline and was killed."""


async def run(*command: str, stdin: str | None = None, deadline_s: float = _CALL_S) -> str:
    """Run a program; returns what it printed. Raises `CommandFailed` and `CommandTooSlow`."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL if stdin is None else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(deadline_s):
            output, errors = await process.communicate(None if stdin is None else stdin.encode())
    except TimeoutError:
        raise CommandTooSlow(f"{' '.join(command)} took more than {deadline_s:.0f} s") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    if process.returncode:
        raise CommandFailed(command, process.returncode, (errors + output).decode(errors="replace"))
    return output.decode()


class Namespace:
    """One namespace of the cluster that KUBECONFIG names."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def kubectl(self, *arguments: str, stdin: str | None = None, deadline_s: float = _CALL_S) -> str:
        """Run `kubectl`; returns what it printed. Raises `CommandFailed` and `CommandTooSlow`."""
        return await run(KUBECTL, f"--namespace={self.name}", *arguments, stdin=stdin, deadline_s=deadline_s)

    async def helm(self, *arguments: str, deadline_s: float) -> str:
        """Run `helm`; returns what it printed. Raises `CommandFailed` and `CommandTooSlow`."""
        return await run(HELM, f"--namespace={self.name}", *arguments, deadline_s=deadline_s)

    async def apply(self, objects: Iterable[Object]) -> None:
        """Make or change objects."""
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        await self.kubectl("apply", "--filename=-", stdin=json.dumps(items))

    async def get(self, *arguments: str) -> Any:
        """What `kubectl get` says of an object, or of several."""
        return json.loads(await self.kubectl("get", "--output=json", *arguments))

    async def version(self) -> str:
        """The version of the cluster, as `v1.34.4`."""
        return str(json.loads(await self.kubectl("version", "--output=json"))["serverVersion"]["gitVersion"])

    async def remove(self) -> None:
        """Delete the namespace with all that is in it, and wait until it is gone."""
        await self.kubectl("delete", "namespace", self.name, "--ignore-not-found", "--wait", deadline_s=300)

    async def make(self) -> None:
        """Make it anew, without anything in it; it takes no pod that the restricted level does not."""
        await self.remove()
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        await self.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.name, "labels": labels}}])

    async def rolled_out(self, *workloads: str, within_s: float = 300.0) -> None:
        """Wait until these (`deployment/…`, `statefulset/…`) are as they should be."""
        for workload in workloads:
            await self.kubectl("rollout", "status", workload, f"--timeout={within_s:.0f}s", deadline_s=within_s + 10)

    async def ready(self, pods: Iterable[str], within_s: float) -> None:
        """Wait until these pods take traffic."""
        names = [f"pod/{pod}" for pod in pods]
        await self.kubectl(
            "wait", "--for=condition=Ready", *names, f"--timeout={within_s:.0f}s", deadline_s=within_s + 10
        )

    async def gone(self, pods: Iterable[str], within_s: float = 180.0) -> None:
        """Wait until these pods are no more, their drains included."""
        names = [f"pod/{pod}" for pod in pods]
        if names:
            await self.kubectl("wait", "--for=delete", *names, f"--timeout={within_s:.0f}s", deadline_s=within_s + 10)

    async def state(self) -> str:
        """What a human would look at first when something does not come up."""
        parts = [await self.kubectl("get", "pods", "--output=wide")]
        with contextlib.suppress(CommandFailed):
            parts.append(await self.kubectl("events", "--types=Warning"))
        for pod in (await self.get("pods"))["items"]:
            conditions = {each["type"]: each["status"] for each in pod["status"].get("conditions", [])}
            if conditions.get("Ready") != "True" and pod["status"]["phase"] != "Succeeded":
                name = pod["metadata"]["name"]
                with contextlib.suppress(CommandFailed):
                    log = await self.kubectl("logs", name, "--all-containers", f"--tail={_LOG_LINES}")
                    parts.append(f"{name}:\n{log}")
        return "\n".join(parts)
