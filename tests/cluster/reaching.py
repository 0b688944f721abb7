"""Who reaches what: every pod tries to connect to every port of every other, and the answers make a matrix."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Final

from tests.cluster.cluster import Namespace, Object
from tests.cluster.installation import AFTER, IMAGE, Installation, Pod, components

GRPC, METRICS, EDGE = "grpc", "metrics", "edge"
PORTS: Final = {GRPC: 50051, METRICS: 8080, EDGE: 8808}
STORES: Final = {"redis": "valkey", "kafka": "kafka", "database": "postgresql"}
"""What the chart's list calls them, and which dependency each is."""
_TRY_S: Final = 3.0
_TRIES: Final = 10
_AGAIN_S: Final = 2.0
# Runs in the pod. Reads {name: [[host, port], …]}, prints the names of which every address was reached and, apart, of
# which some were.
_PROBE: Final = """
import json, socket, sys
from concurrent.futures import ThreadPoolExecutor

def reached(address):
    try:
        socket.create_connection(address, timeout=float(sys.argv[2])).close()
        return True
    except OSError:
        return False

wanted = json.loads(sys.argv[1])
with ThreadPoolExecutor(32) as pool:
    answers = {name: [pool.submit(reached, tuple(each)) for each in addresses] for name, addresses in wanted.items()}
    answers = {name: [each.result() for each in them] for name, them in answers.items()}
print(json.dumps([[name for name, them in answers.items() if of(them)] for of in (all, any)]))
"""

Reached = frozenset[str]


class Uneven(Exception):
    """A pod reaches some copies of a service and not others."""


def expected_of(component: str) -> Reached:
    """What a service may reach: who it calls by gRPC, and where its state is; nothing else."""
    facts = components()
    calls = {f"{name} {GRPC}" for name, each in facts.items() if component in each.get("callers", [])}
    return frozenset(calls | {store for fact, store in STORES.items() if facts[component].get(fact)})


class Reach:
    """Asks pods of an installation, and strangers, what they reach."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation

    async def of_service(self, component: str) -> Reached:
        """What every pod of a service reaches. Raises `Uneven`."""
        pods = await self._installation.pods(component)
        answers = {await self._ask(self._installation.namespace, pod.name, pod) for pod in pods}
        if len(answers) != 1:
            raise Uneven(f"pods of {component} reach {answers}")
        return answers.pop()

    async def of_stranger(self, namespace: Namespace) -> Reached:
        """What a pod reaches that has nothing to do with the release. Raises `Uneven`."""
        await namespace.apply([_stranger()])
        try:
            await namespace.ready(["stranger"], within_s=90)
            return await self._ask(namespace, "stranger", None)
        finally:
            await namespace.kubectl("delete", "pod", "stranger", "--grace-period=0", "--force")

    async def becomes(self, component: str, wanted: Reached) -> Reached:
        """What a service reaches once that is what is wanted, or after a while: policies of new pods take a moment."""
        for _ in range(_TRIES):
            with contextlib.suppress(Uneven):
                if await self.of_service(component) == wanted:
                    return wanted
            await asyncio.sleep(_AGAIN_S)
        return await self.of_service(component)

    async def _ask(self, namespace: Namespace, pod: str, own: Pod | None) -> Reached:
        wanted = json.dumps(await self._targets(own))
        printed = await namespace.kubectl("exec", pod, "--", "python", "-c", _PROBE, wanted, str(_TRY_S))
        whole, part = json.loads(printed)
        if whole != part:
            raise Uneven(f"{pod} reaches some copies alone of {sorted(set(part) - set(whole))}")
        return frozenset(whole)

    async def _targets(self, own: Pod | None) -> Mapping[str, list[tuple[str, int]]]:
        """Every port of every pod except of the asking one itself; the dependencies by their services' names."""
        targets: dict[str, list[tuple[str, int]]] = {}
        facts = components()
        for pod in await self._installation.pods():
            if own is not None and pod.name == own.name:
                continue
            for port in (GRPC, METRICS, EDGE):
                if port == METRICS or facts[pod.component].get(port):
                    targets.setdefault(f"{pod.component} {port}", []).append((pod.address, PORTS[port]))
        backing = self._installation.backing
        for name in STORES.values():
            targets[name] = [(f"{name}.{backing.namespace.name}.svc", backing.ports[name])]
        return targets


def _stranger() -> Object:
    container = {
        "name": "stranger",
        "image": f"{IMAGE}:{AFTER}",
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", "3600"],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    spec = {
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 10808, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "stranger"}, "spec": spec}
