"""Faults under play by more than a hundred tables; after each the checker looks at everything (see README.md)."""

from __future__ import annotations

import pytest

from tests.faults.figures import spread
from tests.faults.loaded import LoadedPlatform

pytestmark = [
    pytest.mark.faults,
    pytest.mark.load,
    pytest.mark.timeout(600, func_only=True),
    pytest.mark.asyncio(loop_scope="module"),
]
KILLS = 20


async def test_the_load_is_what_it_says(loaded: LoadedPlatform) -> None:
    rate = await loaded.rate(10.0)
    clients = len(loaded.tables.clients)
    loaded.figures.add(
        "load",
        f"{len(loaded.tables.table_ids)} tables, {clients} clients, {rate:.0f} log entries a second",
        goal="at least 100 tables",
        command="the_load_is",
    )
    report = await loaded.check()
    assert report.tables >= 100


async def test_c120_twenty_killed_workers_lose_no_acknowledged_action(loaded: LoadedPlatform) -> None:
    failovers: list[float] = []
    before = len(loaded.tables.notes.acknowledged)
    number = await loaded.busiest_worker()
    for _ in range(KILLS):
        mark = loaded.tables.mark(await loaded.tables_of(number))
        await loaded.fleet.kill("table", number)
        failovers += await loaded.tables.moved_on(mark)
        await loaded.fleet.restart("table", number)
        await loaded.workers_live(2)
        # All tables are at the other one now.
        number = 3 - number
    report = await loaded.check()
    loaded.figures.add(
        f"failover of a live table, {KILLS} × kill -9 of a worker",
        spread(failovers),
        goal="p99 < 2 s",
        command="c120_twenty",
    )
    loaded.figures.add(
        f"acknowledged actions lost in {KILLS} kills",
        f"0 of {report.acknowledged - before}",
        goal="0",
        command="c120_twenty",
    )
