"""The chart, installed as an operator installs it, and what happens to its pods."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.cluster.backing import Backing
from tests.cluster.cluster import CommandFailed, Namespace, Object

ROOT: Final = Path(__file__).parents[2]
CHART: Final = ROOT / "helm" / "eastwind"
RELEASE: Final = "eastwind"
IMAGE: Final = os.environ.get("IMAGE", "localhost/eastwind")
BEFORE: Final = os.environ.get("CLUSTER_TAG_BEFORE", "0.1.0-before")
AFTER: Final = os.environ.get("CLUSTER_TAG_AFTER", "0.1.0-after")
"""Two images that differ in their version alone."""
COPIES: Final[Mapping[str, int]] = {"clock": 2, "gateway": 2, "table": 2}
"""Services that run more than once, as `values.yaml` says."""
_WAIT_S: Final = 300
_LOOK_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod of a service."""

    name: str
    component: str
    address: str
    image: str


def components() -> dict[str, dict[str, Any]]:
    """The services, who calls them and where they keep their state, as the chart's list says."""
    found: dict[str, dict[str, Any]] = yaml.safe_load((CHART / "files" / "components.yaml").read_text())
    return found


class Installation:
    """One release of the chart in a namespace of its own."""

    def __init__(self, namespace: Namespace, backing: Backing) -> None:
        self.namespace = namespace
        self.backing = backing

    async def install(self) -> None:
        """Install it with the older image; returns when every pod takes traffic."""
        await self.namespace.make()
        await self.namespace.apply(
            (
                _secret("eastwind-service-key", {"service-key": secrets.token_urlsafe(32)}),
                _secret("eastwind-password", {"username": "eastwind", "password": self.backing.password}),
            )
        )
        await self._helm("install", RELEASE, str(CHART), *_values(BEFORE))

    async def upgrade(self, tag: str) -> None:
        """Have all pods replaced by such with another image; returns when the old ones are gone."""
        old = [pod.name for pod in await self.pods()]
        await self._helm("upgrade", RELEASE, str(CHART), *_values(tag))
        await self.namespace.gone(old)

    async def roll_back(self, revision: int) -> None:
        """Go back to an earlier revision of the release; returns when the pods of the later one are gone."""
        old = [pod.name for pod in await self.pods()]
        await self._helm("rollback", RELEASE, str(revision))
        await self.namespace.gone(old)

    async def test(self) -> str:
        """Run the chart's test; returns what it said."""
        return await self.namespace.helm("test", RELEASE, "--logs", f"--timeout={_WAIT_S}s", deadline_s=_WAIT_S + 30)

    async def scale(self, component: str, copies: int) -> None:
        """Have so many copies of a service; returns when new ones take traffic and superfluous ones are gone."""
        before = {pod.name for pod in await self.pods(component)}
        await self.namespace.kubectl("scale", _deployment(component), f"--replicas={copies}")
        await self.settled(component)
        await self.namespace.gone(before - {pod.name for pod in await self.pods(component)})

    async def leaves_first(self, pod: Pod) -> None:
        """Have a pod be among those that go when its service gets fewer copies."""
        await self.namespace.kubectl("annotate", "pod", pod.name, "controller.kubernetes.io/pod-deletion-cost=-100")

    async def delete_at_once(self, pod: Pod) -> None:
        """Delete a pod without any grace; returns when another has taken its place."""
        copies = len(await self.pods(pod.component))
        await self.namespace.kubectl("delete", "pod", pod.name, "--grace-period=0", "--force")
        await self._replaced(pod, copies)

    async def evict(self, pod: Pod) -> None:
        """Evict a pod as a node drain does; returns when it is gone and another has taken its place."""
        eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod.name}}
        copies = len(await self.pods(pod.component))
        path = f"/api/v1/namespaces/{self.namespace.name}/pods/{pod.name}/eviction"
        await self.namespace.kubectl("create", "--raw", path, "--filename=-", stdin=json.dumps(eviction))
        await self._replaced(pod, copies)
        await self.namespace.gone([pod.name])

    async def settled(self, *of: str) -> None:
        """Wait until these services, or all, have all their copies."""
        await self.namespace.rolled_out(*(_deployment(component) for component in of or components()))

    async def restore(self) -> None:
        """Whatever was scaled has its own number of copies again."""
        for component, copies in COPIES.items():
            if len(await self.pods(component)) != copies:
                await self.scale(component, copies)
        await self.settled()

    async def pods(self, component: str = "") -> list[Pod]:
        """The pods of a service, or of all, that are not about to end."""
        selector = f"app.kubernetes.io/instance={RELEASE},app.kubernetes.io/component"
        found = await self.namespace.get("pods", f"--selector={selector}{f'={component}' if component else ''}")
        return [
            Pod(
                each["metadata"]["name"],
                each["metadata"]["labels"]["app.kubernetes.io/component"],
                each["status"].get("podIP", ""),
                each["spec"]["containers"][0]["image"],
            )
            for each in found["items"]
            if "deletionTimestamp" not in each["metadata"]
            and each["metadata"]["labels"]["app.kubernetes.io/component"] in components()
        ]

    async def revision(self) -> int:
        """The number of the release's current revision."""
        status = await self.namespace.helm("status", RELEASE, "--output=json", deadline_s=60)
        return int(json.loads(status)["version"])

    async def node_port(self) -> int:
        """The port on the nodes where players connect."""
        return int((await self.namespace.get("service", RELEASE))["spec"]["ports"][0]["nodePort"])

    async def execute(self, pod: Pod, *command: str) -> str:
        """Run a program in a service's container; returns what it printed."""
        return await self.namespace.kubectl("exec", pod.name, "--", *command)

    async def _replaced(self, pod: Pod, copies: int) -> None:
        """Wait until so many others take traffic. A rollout's status may still be that of before."""
        names: set[str] = set()
        async with asyncio.timeout(_WAIT_S):
            while len(names) < copies:
                await asyncio.sleep(_LOOK_S)
                names = {each.name for each in await self.pods(pod.component)} - {pod.name}
        await self.namespace.ready(names, _WAIT_S)
        await self.settled(pod.component)

    async def _helm(self, *arguments: str) -> None:
        try:
            await self.namespace.helm(*arguments, "--wait", f"--timeout={_WAIT_S}s", deadline_s=_WAIT_S + 30)
        except CommandFailed as error:
            error.add_note(await self.namespace.state())
            raise


def _deployment(component: str) -> str:
    return f"deployment/{RELEASE}-{component}"


def _values(tag: str) -> list[str]:
    own = Path(__file__).with_name("values.yaml")
    return [f"--values={own}", f"--set-string=image.repository={IMAGE},image.tag={tag}"]


def _secret(name: str, entries: Mapping[str, str]) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": dict(entries)}
