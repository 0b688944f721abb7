"""A whole platform under the load of many tables, with the checker beside it."""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from deploy.local.processes import ProcessFleet
from deploy.local.stack import BackingStack
from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store import WorkerRegistry
from tests.backing import BACKING
from tests.faults.bot_tables import BotTables, Mark, Pace
from tests.faults.checker.append_only_file import AppendOnlyFile
from tests.faults.checker.checker import Checker, Report
from tests.faults.checker.databases import Databases
from tests.faults.checker.store_history import StoreHistory
from tests.faults.figures import Figures

CASUAL_TABLES: Final = 90
RATED_TABLES: Final = 14
PACE: Final = Pace(0.3, 0.9)
COPIES: Final = {"table": 2, "gateway": 2, "clock": 2}
SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "": {"log_level": "info", "log_format": "json"},
    "accounts": {"access_token_s": 3600},
    # Rated tables pause after discards so that nobody learns of claims; here hands are to end, so the pauses are short.
    "table": {"pacing_least_ms": 0, "pacing_most_ms": 50, "bot_think_least_ms": 500, "bot_think_most_ms": 1500},
    "gateway": {"call_rate": 1000, "call_burst": 1000},
    "table-1": {"worker_id": "table-1"},
    "table-2": {"worker_id": "table-2"},
}


class LoadedPlatform:
    """Processes, tables that are being played, and what is known of both."""

    def __init__(
        self, stack: BackingStack, fleet: ProcessFleet, settings: dict[str, dict[str, Any]], figures: Figures
    ) -> None:
        self.stack = stack
        self.fleet = fleet
        self.settings = settings
        self.figures = figures
        self._checker: Checker | None = None
        self._tables: BotTables | None = None

    @classmethod
    def make(cls, data_dir: Path, figures: Figures) -> LoadedPlatform:
        """A platform that does not run yet."""
        # Without `fsync` PostgreSQL would also answer before a commit is written, and lose it when it is killed.
        stack = BackingStack(data_dir, backing=BACKING, appendfsync="always", fsync=True)
        settings = {place: dict(fields) for place, fields in copy.deepcopy(dict(SETTINGS)).items()}
        return cls(stack, ProcessFleet(stack, settings=settings, copies=COPIES), settings, figures)

    @property
    def append_only_folder(self) -> Path:
        """Where the store keeps what it was told."""
        return self.stack.valkey.folder / "appendonlydir"

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

    async def keep_everything(self) -> None:
        """Have the store keep its whole file; to be repeated after each of its starts."""
        async with RedisClient(self.stack.valkey_url) as client:
            await client.call(b"CONFIG", b"SET", b"auto-aof-rewrite-percentage", b"0", key=b"", deadline_s=10.0)

    async def play(self) -> None:
        """Seat the clients; returns when every table is under way."""
        tables = BotTables(self.fleet.edge_urls, casual=CASUAL_TABLES, rated=RATED_TABLES, pace=PACE)
        self._tables = tables
        databases = Databases(self.stack.postgres_url("history"), self.stack.postgres_url("ratings"))
        self._checker = Checker(AppendOnlyFile(self.append_only_folder), databases, tables.notes)
        await tables.__aenter__()
        await tables.play_on()

    async def stop_playing(self) -> None:
        """Take the clients away."""
        if self._tables is not None:
            await self._tables.__aexit__(None, None, None)

    async def check(self) -> Report:
        """Start again what does not run, wait until every table goes on, and have everything checked.

        Raises ``AssertionError`` with the violations.
        """
        await self.restore()
        await self.tables.play_on()
        report = await self.checker.check()
        assert not report.violations, str(report)
        return report

    async def restore(self) -> None:
        """Start again what does not run; returns when both workers are known."""
        for server in self.stack.servers:
            await server.start()
        await self.keep_everything()
        for process in self.fleet.processes:
            if process.pid is None:
                await self.fleet.restart(process.service, int(process.name.rpartition("-")[2]))
        await self.workers_live(2)

    async def workers_live(self, count: int) -> None:
        """Wait until so many workers are in the registry."""
        async with RedisClient(self.stack.valkey_url) as client, asyncio.timeout(60):
            live = await WorkerRegistry(client).live()
            while len(live) < count:
                await asyncio.sleep(0.05)
                live = await WorkerRegistry(client).live()

    async def move_all_to(self, number: int, **settings: Any) -> None:
        """Have every table live at one worker, which is started anew with these settings in place of the usual ones."""
        other = 3 - number
        usual = self.settings[f"table-{number}"]
        self.settings[f"table-{number}"] = {**usual, **settings}
        try:
            await self.fleet.terminate("table", number)
            await self.fleet.restart("table", number)
        finally:
            self.settings[f"table-{number}"] = usual
        await self.workers_live(2)
        await self.fleet.terminate("table", other)
        await self.tables.play_on()
        await self.fleet.restart("table", other)
        await self.workers_live(2)

    async def tables_of(self, number: int) -> frozenset[str]:
        """The tables of the load that a worker has, as the store's file says."""
        history = await self.checker.follow()
        name = f"table-{number}"
        return frozenset(table_id for table_id in self.tables.table_ids if history.tables[table_id].worker == name)

    async def busiest_worker(self) -> int:
        """The number of the worker with the most tables."""
        counts = {number: len(await self.tables_of(number)) for number in (1, 2)}
        return max(counts, key=lambda number: counts[number])

    async def failovers(self, mark: Mark) -> list[float]:
        """Wait until every table of a mark goes on; returns for each how many seconds after the mark a client knew of
        the first action that was accepted after it, ascending.

        A client that comes back gets the table whole, with the actions that were accepted before it came in it: so the
        logs say when the first one was accepted, and what a table sent after that shows it. Where a store was away,
        what is sent first may be an action from before the mark: then the next one counts.
        """
        try:
            while True:
                await self.tables.moved_on(mark, last=False)
                history = await self.checker.follow()
                known = {table_id: self._known_after(mark, table_id, history) for table_id in mark.wanted}
                if None not in known.values():
                    return sorted(after_s for after_s in known.values() if after_s is not None)
                mark.look_again(table_id for table_id, after_s in known.items() if after_s is None)
        finally:
            self.tables.forget(mark)

    def _known_after(self, mark: Mark, table_id: str, history: StoreHistory) -> float | None:
        later = (at_ms for at_ms in history.tables[table_id].actions if at_ms > mark.at_s * 1000)
        first_ms = next(later, None)
        return None if first_ms is None else mark.known_after(table_id, first_ms / 1000)

    async def metric(self, processes: Iterable[tuple[str, int]], name: str) -> float:
        """The sum of a counter or gauge over processes; all labels together."""
        total = 0.0
        for place in processes:
            url = f"http://127.0.0.1:{self.fleet[place].http_port}/metrics"
            async with self.tables.http.get(url) as answer:
                for line in (await answer.text()).splitlines():
                    if line.startswith((f"{name} ", f"{name}{{")):
                        total += float(line.rpartition(" ")[2])
        return total

    async def rate(self, for_s: float) -> float:
        """Log entries a second over so many seconds."""
        began, before = time.monotonic(), (await self.checker.follow()).appends
        await asyncio.sleep(for_s)
        return ((await self.checker.follow()).appends - before) / (time.monotonic() - began)
