"""The chart on a real cluster, under play; after each disruption the checker looks at everything (see README.md)."""

from __future__ import annotations

import asyncio
import json
import os

import pytest
import yaml

from tests.cluster.cluster import HELM, run
from tests.cluster.installation import AFTER, BEFORE, CHART, IMAGE, Installation, components
from tests.cluster.loaded import LoadedInstallation
from tests.cluster.reaching import EDGE, Reach, expected_of
from tests.cluster.results import Results

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(1500, func_only=True),
    pytest.mark.asyncio(loop_scope="module"),
]
PERMUTATIONS = sorted(path.name for path in (CHART / "ci").glob("*-values.yaml"))
CALM_S = float(os.environ.get("CLUSTER_CALM_S", "30"))


async def test_every_pod_runs_under_the_restricted_level(installation: Installation, results: Results) -> None:
    labels = (await installation.namespace.get("namespace", installation.namespace.name))["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    found = {pod.component for pod in await installation.pods()}
    assert found == set(components())
    assert {pod.image for pod in await installation.pods()} == {f"{IMAGE}:{BEFORE}"}
    results.others.append(("installed with dependencies as pods, Pod Security `restricted` enforced", "all pods ready"))


async def test_helm_test_plays_a_hand(installation: Installation, results: Results) -> None:
    said = await installation.test()
    assert "Phase:          Succeeded" in said, said
    results.others.append(("`helm test`", "played a hand through the gateway"))


@pytest.mark.parametrize("permutation", PERMUTATIONS)
async def test_the_cluster_takes_every_object_of_the_chart(installation: Installation, permutation: str) -> None:
    """Objects of operators that this cluster does not run are left out, and the test pod, which needs the others."""
    namespace = installation.namespace
    known = set((await namespace.kubectl("api-resources", "--no-headers", "--output=name")).split())
    options = [f"--namespace={namespace.name}", f"--kube-version={await namespace.version()}"]
    options += ["--set=fullnameOverride=permuted", f"--values={CHART / 'ci' / permutation}"]
    rendered = await run(HELM, "template", "permuted", str(CHART), *options)
    groups = {f".{each.partition('.')[2]}" if "." in each else "" for each in known}
    objects = [each for each in yaml.safe_load_all(rendered) if each and each["kind"] != "Pod"]
    taken = [each for each in objects if _group(each["apiVersion"]) in groups]
    assert len(taken) > len(objects) / 2
    items = json.dumps({"apiVersion": "v1", "kind": "List", "items": taken})
    await namespace.kubectl("apply", "--dry-run=server", "--filename=-", stdin=items)


async def test_undisturbed_tables_are_played_and_nothing_is_lost(loaded: LoadedInstallation) -> None:
    async with loaded.during("nothing, for comparison"):
        await asyncio.sleep(CALM_S)


async def test_an_upgrade_to_a_new_image_under_play(loaded: LoadedInstallation) -> None:
    async with loaded.during("`helm upgrade` to a new image tag: every pod is replaced", moving=True):
        await loaded.installation.upgrade(AFTER)
    assert {pod.image for pod in await loaded.installation.pods()} == {f"{IMAGE}:{AFTER}"}


async def test_a_worker_pod_deleted_without_grace(loaded: LoadedInstallation) -> None:
    worker = await loaded.busiest_worker()
    async with loaded.during("the pod of the busiest table worker deleted with grace 0", moving=True):
        await loaded.installation.delete_at_once(worker)


async def test_an_evicted_worker(loaded: LoadedInstallation) -> None:
    worker = await loaded.busiest_worker()
    async with loaded.during("the busiest table worker evicted, as a node drain does", moving=True):
        await loaded.installation.evict(worker)


async def test_workers_scaled_from_two_to_three_to_one(loaded: LoadedInstallation) -> None:
    async with loaded.during("table workers scaled from two to three to one", moving=True):
        await loaded.installation.scale("table", 3)
        await loaded.tables.play_on()
        # Else the cluster might keep the very worker that has all tables.
        await loaded.installation.leaves_first(await loaded.busiest_worker())
        await loaded.installation.scale("table", 1)
    assert len(await loaded.installation.pods("table")) == 1


async def test_the_clocks_halved(loaded: LoadedInstallation) -> None:
    async with loaded.during("clock replicas halved, two to one"):
        await loaded.installation.scale("clock", 1)


async def test_a_killed_gateway(loaded: LoadedInstallation) -> None:
    gateway = await loaded.busiest_gateway()
    async with loaded.during("the pod of the busiest gateway killed", reconnecting=True):
        await loaded.installation.delete_at_once(gateway)


async def test_the_policies_open_the_edges_of_the_architecture_alone(
    loaded: LoadedInstallation, results: Results
) -> None:
    """Every service reaches whom it calls and where its state is, a stranger nothing but the players' port."""
    installation = loaded.installation
    reach = Reach(installation)
    edges = 0
    async with loaded.during("policies checked: every pod tries to reach every port"):
        for component in components():
            wanted = expected_of(component)
            assert await reach.becomes(component, wanted) == wanted, component
            edges += len(wanted)
        players = {f"{name} {EDGE}" for name, facts in components().items() if facts.get("edge")}
        stores = set(installation.backing.ports)
        inside = await reach.of_stranger(installation.namespace)
        outside = await reach.of_stranger(installation.backing.namespace)
        # The dependencies are not the chart's to guard.
        assert (inside - stores, outside - stores) == (players, players)
    results.others.append(("edges of the architecture, tried from every pod", f"{edges} open, every other closed"))
    results.others.append(
        ("a stranger's pod, beside the release and in another namespace", "reaches the players' port alone")
    )


async def test_a_roll_back_under_play(loaded: LoadedInstallation, results: Results) -> None:
    if await loaded.installation.revision() == 1:
        await loaded.installation.upgrade(AFTER)
    async with loaded.during("`helm rollback` to the first revision: every pod is replaced", moving=True):
        await loaded.installation.roll_back(1)
    assert {pod.image for pod in await loaded.installation.pods()} == {f"{IMAGE}:{BEFORE}"}
    said = await loaded.installation.test()
    assert "Phase:          Succeeded" in said, said
    results.others.append(("`helm test` after the roll-back", "played a hand through the gateway"))


def _group(version: str) -> str:
    group, separator, _ = version.partition("/")
    return f".{group}" if separator else ""
