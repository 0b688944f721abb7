"""The dependencies, the chart and the load on the cluster that KUBECONFIG names, for all tests of a run."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.cluster.backing import Backing
from tests.cluster.cluster import Namespace
from tests.cluster.installation import Installation
from tests.cluster.loaded import LoadedInstallation
from tests.cluster.results import Results

_RESULTS = pytest.StashKey[Results]()


@pytest.fixture(scope="session")
def results(pytestconfig: pytest.Config) -> Results:
    """What this run does and sees."""
    found = pytestconfig.stash.setdefault(_RESULTS, Results())
    found.facts.setdefault("load average of the machine at the start", _load())
    return found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def _backing() -> AsyncIterator[Backing]:
    backing = Backing(Namespace("eastwind-test-data"))
    try:
        await backing.start()
        yield backing
    finally:
        await backing.namespace.remove()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def installation(_backing: Backing, results: Results) -> AsyncIterator[Installation]:
    """The chart, installed with the older image. Nobody plays unless `loaded` is asked for."""
    installation = Installation(Namespace("eastwind-test"), _backing)
    try:
        await installation.install()
        nodes = len((await installation.namespace.get("nodes"))["items"])
        results.facts["cluster"] = f"Kubernetes {await installation.namespace.version()}, nodes: {nodes}"
        yield installation
    finally:
        await installation.namespace.remove()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def _loaded(
    installation: Installation, results: Results, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[LoadedInstallation]:
    loaded = LoadedInstallation(installation, results, tmp_path_factory.mktemp("store"))
    try:
        await loaded.play()
        yield loaded
    finally:
        await loaded.stop_playing()


@pytest_asyncio.fixture(loop_scope="module")
async def loaded(_loaded: LoadedInstallation) -> LoadedInstallation:
    """The installation under play, whole again whatever the test before did."""
    await _loaded.installation.restore()
    return _loaded


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print what was done and seen, and keep it when asked."""
    results = config.stash.get(_RESULTS, None)
    if results is not None and results.rows:
        results.facts["load average of the machine at the end"] = _load()
        counts = {outcome: len(terminalreporter.stats.get(outcome, [])) for outcome in ("passed", "failed", "error")}
        results.facts["tests"] = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        terminalreporter.section("results")
        terminalreporter.write_line(results.text())
        results.keep()


def _load() -> str:
    return " ".join(f"{each:.1f}" for each in os.getloadavg())
