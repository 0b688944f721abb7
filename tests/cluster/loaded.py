"""The installation under play: many tables through the players' port, with the checker of the fault tests beside."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from tests.cluster.installation import Installation, Pod
from tests.cluster.results import Results, Row
from tests.cluster.store_copy import CopiedAppendOnlyFile
from tests.faults.bot_tables import BotTables, Experience, Pace
from tests.faults.checker.checker import Checker
from tests.faults.checker.databases import Databases

TABLES: Final = int(os.environ.get("CLUSTER_TABLES", "60"))
RATED: Final = max(1, TABLES // 8)
"""So many of them are rated and have four clients; the others have one, and three computers."""
PACE: Final = Pace(0.5, 1.5)
NODE: Final = os.environ.get("CLUSTER_NODE", "127.0.0.1")
"""The address where the cluster's NodePorts are."""
WITHIN_S: Final = 180.0


class LoadedInstallation:
    """An installation, the tables that are being played on it, and what is known of both."""

    def __init__(self, installation: Installation, results: Results, folder: Path) -> None:
        """``folder`` takes the copy of the store's file."""
        self.installation = installation
        self._results = results
        self._folder = folder
        self._tables: BotTables | None = None
        self._checker: Checker | None = None

    @property
    def tables(self) -> BotTables:
        """The load."""
        assert self._tables is not None
        return self._tables

    @property
    def checker(self) -> Checker:
        """What judges it."""
        assert self._checker is not None
        return self._checker

    async def play(self) -> None:
        """Seat the clients; returns when every table is under way."""
        backing = self.installation.backing
        edge = f"http://{NODE}:{await self.installation.node_port()}"
        tables = self._tables = BotTables([edge], casual=TABLES - RATED, rated=RATED, pace=PACE)
        database = f"postgresql://eastwind:{backing.password}@{NODE}:{await backing.node_port('postgresql')}"
        file = CopiedAppendOnlyFile(self._folder, backing.namespace.name, "valkey-0")
        self._checker = Checker(file, Databases(f"{database}/history", f"{database}/ratings"), tables.notes)
        await tables.__aenter__()
        await tables.play_on(WITHIN_S)
        clients = len(tables.clients)
        self._results.facts["load"] = f"{len(tables.table_ids)} tables, {RATED} of them rated; {clients} clients"

    async def stop_playing(self) -> None:
        """Take the clients away."""
        if self._tables is not None:
            await self._tables.__aexit__(None, None, None)

    @contextlib.asynccontextmanager
    async def during(self, done: str, *, moving: bool = False, reconnecting: bool = False) -> AsyncIterator[None]:
        """Watch the tables while something is done to the installation, and judge it afterwards.

        What is done succeeds before this ends: then an action has to be accepted at every table and the checker to find
        nothing. No client is refused what was its due or timed out, and for each worker that its table left, and each
        gateway that it left itself, it sees at most a resync. When ``moving``, a table has to have left its worker,
        when ``reconnecting``, a client its gateway.
        Raises ``AssertionError``.
        """
        tables = self.tables
        before, acknowledged = tables.experiences(), len(tables.notes.acknowledged)
        owners = {table_id: table.owners for table_id, table in (await self.checker.follow()).tables.items()}
        began = time.time()
        yield
        seconds = time.time() - began
        await tables.play_on(WITHIN_S)
        report = await self.checker.check()
        seen = tables.experienced_since(before)
        history = self.checker.history
        moves = {each: history.tables[each].owners - owners.get(each, 0) for each in tables.table_ids}
        self._results.rows.append(
            Row(
                done,
                seconds,
                report.acknowledged - acknowledged,
                report.violations,
                sum(moves.values()),
                self._longest_pause_s(began),
                max(_resyncs(each) for each in seen),
                max(each.connections for each in seen),
                sum(each.timeouts for each in seen),
            )
        )
        assert not report.violations, str(report)
        assert not moving or any(moves.values()), "no table moved"
        assert not reconnecting or any(each.connections for each in seen), "no client came again"
        for client, each in zip(tables.clients, seen, strict=True):
            moved = moves[client.table_id]
            assert (each.refused, each.timeouts) == (0, 0), (client.table_id, each, client.closes)
            assert _resyncs(each) <= moved + each.connections, (client.table_id, moved, each, client.closes)

    def _longest_pause_s(self, since_s: float) -> float:
        """The longest time between two accepted actions at one table, of which the second came after that moment."""
        tables = (self.checker.history.tables[table_id] for table_id in self.tables.table_ids)
        return max(
            (later - earlier) / 1000
            for table in tables
            for earlier, later in itertools.pairwise(table.actions)
            if later > since_s * 1000
        )

    async def busiest_worker(self) -> Pod:
        """The worker with the most tables, as the store's file says."""
        history = await self.checker.follow()
        owners = [history.tables[table_id].worker for table_id in self.tables.table_ids]
        return max(await self.installation.pods("table"), key=lambda pod: owners.count(pod.name))

    async def busiest_gateway(self) -> Pod:
        """The gateway with the most sockets, as it says itself."""
        counts = {pod: await self._sockets(pod) for pod in await self.installation.pods("gateway")}
        return max(counts, key=lambda pod: counts[pod])

    async def _sockets(self, gateway: Pod) -> float:
        read = (
            "import urllib.request as r; print(r.urlopen('http://127.0.0.1:8080/metrics', timeout=10).read().decode())"
        )
        metrics = await self.installation.execute(gateway, "python", "-c", read)
        return next(float(line.split()[1]) for line in metrics.splitlines() if line.startswith("eastwind_sockets "))


def _resyncs(seen: Experience) -> int:
    """The view also comes whole when a choice was overtaken by the claim of another seat."""
    return seen.wholes - seen.overtaken
