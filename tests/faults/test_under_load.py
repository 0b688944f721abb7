"""Faults under play by more than a hundred tables; after each the checker looks at everything (see README.md)."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from tests.faults.checker import comparing
from tests.faults.figures import spread
from tests.faults.loaded import LoadedPlatform
from tests.faults.withholding_proxy import WithholdingProxy

pytestmark = [
    pytest.mark.faults,
    pytest.mark.load,
    pytest.mark.timeout(900, func_only=True),
    pytest.mark.asyncio(loop_scope="module"),
]
KILLS = int(os.environ.get("FAULTS_KILLS", "20"))
SLOW_S = 0.7
"""An append that takes so long counts as slow."""
WAITING = 20
"""So many clients are to have an unanswered command when a worker dies in the middle of an append."""


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
    calm: list[float] = []
    before = len(loaded.tables.notes.acknowledged)
    number = await loaded.busiest_worker()
    for _ in range(KILLS):
        calm += await loaded.failovers(loaded.tables.mark())
        mark = loaded.tables.mark(await loaded.tables_of(number))
        await loaded.fleet.kill("table", number)
        failovers += await loaded.failovers(mark)
        await loaded.fleet.restart("table", number)
        await loaded.workers_live(2)
        # All tables are at the other one now.
        number = 3 - number
    report = await loaded.check()
    loaded.figures.add(
        f"failover of a live table, {KILLS} × `kill -9` of a worker with all tables",
        spread(failovers),
        goal="p99 < 2 s",
        command="c120_twenty",
    )
    loaded.figures.add(
        "the same from a moment without a kill: how long players think", spread(calm), command="c120_twenty"
    )
    loaded.figures.add(
        f"acknowledged actions lost in {KILLS} kills",
        f"0 of {report.acknowledged - before}",
        goal="0",
        command="c120_twenty",
    )


async def test_a_worker_killed_before_its_appends_reach_the_store(loaded: LoadedPlatform) -> None:
    """Nothing of them happened; every command is carried out by the next worker, once."""
    async with WithholdingProxy(loaded.stack.valkey.port) as proxy:
        await loaded.move_all_to(1, redis_url=f"redis://127.0.0.1:{proxy.port}/0")
        proxy.keep_requests()
        await asyncio.gather(proxy.holding.wait(), loaded.tables.commands_wait(WAITING))
        mark = loaded.tables.mark()
        await loaded.fleet.kill("table", 1)
        proxy.drop()
        failovers = await loaded.failovers(mark)
    await loaded.check()
    loaded.figures.add("failover, killed before the append", spread(failovers), command="before_its_appends")


async def test_a_worker_killed_after_its_appends_before_the_store_answers(loaded: LoadedPlatform) -> None:
    """They happened and nobody knows; the next worker acknowledges the same commands and does not repeat them."""
    async with WithholdingProxy(loaded.stack.valkey.port) as proxy:
        await loaded.move_all_to(1, redis_url=f"redis://127.0.0.1:{proxy.port}/0")
        acknowledged = len(loaded.tables.notes.acknowledged)
        proxy.keep_replies()
        await asyncio.gather(proxy.holding.wait(), loaded.tables.commands_wait(WAITING))
        await loaded.checker.follow()
        mark = loaded.tables.mark()
        durable = {
            (client.table_id, f"{client.account_id}:{command_id}")
            for client in loaded.tables.clients
            for command_id in client.pending
            if f"{client.account_id}:{command_id}" in loaded.checker.history.tables[client.table_id].commands
        }
        await loaded.fleet.kill("table", 1)
        failovers = await loaded.failovers(mark)
    await loaded.check()
    later = loaded.tables.notes.acknowledged[acknowledged:]
    answered = durable & {(note.table_id, f"{note.account_id}:{note.command_id}") for note in later}
    assert answered == durable, "a command that the dead worker had carried out was not acknowledged"
    loaded.figures.add("failover, killed after the append", spread(failovers), command="after_its_appends")
    loaded.figures.add(
        "commands carried out by the dead worker, acknowledged by the next",
        str(len(durable)),
        command="after_its_appends",
    )


async def test_c107_appends_that_arrive_after_another_worker_took_the_tables(loaded: LoadedPlatform) -> None:
    """They are refused: the tables have another owner and another epoch."""
    async with WithholdingProxy(loaded.stack.valkey.port) as proxy:
        await loaded.move_all_to(1, redis_url=f"redis://127.0.0.1:{proxy.port}/0")
        proxy.keep_requests()
        await asyncio.gather(proxy.holding.wait(), loaded.tables.commands_wait(WAITING))
        mark = loaded.tables.mark()
        await loaded.fleet.kill("table", 1)
        await loaded.tables.moved_on(mark)
        await proxy.deliver()
        await loaded.check()


async def test_c107_a_worker_that_slept_ten_seconds_cannot_write(loaded: LoadedPlatform) -> None:
    number = await loaded.busiest_worker()
    tables = await loaded.tables_of(number)
    mark = loaded.tables.mark(tables)
    loaded.fleet.pause("table", number)
    try:
        await asyncio.sleep(10)
        failovers = await loaded.failovers(mark)
        history = await loaded.checker.follow()
        epochs = {table_id: history.tables[table_id].epoch for table_id in tables}
        assert await loaded.tables_of(number) == frozenset()
    finally:
        loaded.fleet.resume("table", number)
    await loaded.tables.play_on()
    report = await loaded.check()
    history = loaded.checker.history
    assert all(history.tables[table_id].epoch >= epoch for table_id, epoch in epochs.items())
    loaded.figures.add(
        "a worker stands still for ten seconds: next action at its tables", spread(failovers), command="slept_ten"
    )
    assert report.tables >= 100


async def test_a_slow_store_gets_no_more_appends_than_there_are_commands(loaded: LoadedPlatform) -> None:
    """The time of slow appends is given back, and giving it back does not keep the store slow."""
    async with WithholdingProxy(loaded.stack.valkey.port) as proxy:
        await loaded.move_all_to(1, redis_url=f"redis://127.0.0.1:{proxy.port}/0")
        history = await loaded.checker.follow()
        appends, grants = history.appends, history.grants
        proxy.delay_s = SLOW_S
        for _ in range(3):
            await loaded.tables.play_on()
        history = await loaded.checker.follow()
        grants, appends = history.grants - grants, history.appends - appends
        proxy.delay_s = 0.0
        await loaded.move_all_to(2)
    await loaded.check()
    # One in front of each command at the most, and one for each time that a table was taken over.
    assert grants <= appends - grants + 2 * len(loaded.tables.table_ids), f"{grants} of {appends} give time back"
    loaded.figures.add(
        f"store that answers {SLOW_S:.1f} s late: entries that give time back",
        f"{grants} of {appends}",
        goal="about half at the most",
        command="slow_store",
    )


@pytest.mark.parametrize("service", ["gateway", "matchmaking", "ratings", "history", "scoring", "bots", "accounts"])
async def test_play_goes_on_while_a_killed_service_is_away(loaded: LoadedPlatform, service: str) -> None:
    mark = loaded.tables.mark()
    await loaded.fleet.kill(service)
    waits = await loaded.failovers(mark)
    await loaded.fleet.restart(service)
    await loaded.check()
    loaded.figures.add(f"{service} killed: next action at a table", spread(waits), command=f"away and {service}")


async def test_deadlines_pass_late_and_once_when_both_clocks_are_killed(loaded: LoadedPlatform) -> None:
    for number in (1, 2):
        await loaded.fleet.kill("clock", number)
    await loaded.tables.play_on()
    for number in (1, 2):
        await loaded.fleet.restart("clock", number)
    await loaded.check()


async def test_c108_nothing_is_acknowledged_while_the_store_is_away(loaded: LoadedPlatform) -> None:
    await loaded.stack.valkey.kill()
    await loaded.tables.commands_wait(WAITING)
    acknowledged = list(loaded.tables.notes.acknowledged)
    # Nobody can write to the file now, so whatever was acknowledged until here must be in it already.
    assert comparing.acknowledged_actions(await loaded.checker.follow(), acknowledged) == []
    mark = loaded.tables.mark()
    await loaded.stack.valkey.start()
    await loaded.keep_everything()
    waits = await loaded.failovers(mark)
    await loaded.check()
    loaded.figures.add("store killed: next action after its start", spread(waits), command="store_is_away")


async def test_play_goes_on_without_the_broker_and_its_events_arrive_later(loaded: LoadedPlatform) -> None:
    known = comparing.settled_hands(await loaded.checker.follow()).keys()
    await loaded.stack.broker.kill()
    await loaded.tables.play_on()
    async with asyncio.timeout(120):
        ended = comparing.settled_hands(await loaded.checker.follow()).keys() - known
        while not ended:
            await asyncio.sleep(0.25)
            ended = comparing.settled_hands(await loaded.checker.follow()).keys() - known
    await loaded.stack.broker.start()
    began = time.monotonic()
    await loaded.check()
    loaded.figures.add(
        "broker killed: hands that ended meanwhile; all records and ratings there after",
        f"{len(ended)}; {time.monotonic() - began:.1f} s",
        command="without_the_broker",
    )


async def test_play_goes_on_without_the_databases_and_consumers_catch_up(loaded: LoadedPlatform) -> None:
    await loaded.stack.postgres.kill()
    waits = await loaded.failovers(loaded.tables.mark())
    async with loaded.tables.http.post(
        f"{loaded.fleet.edge_urls[0]}/api/eastwind.accounts.v1.AccountsService/RegisterGuest", json={"name": "Late"}
    ) as answer:
        assert answer.status == 503, await answer.text()
        assert (await answer.json())["reason"] == "UNAVAILABLE"
    await loaded.stack.postgres.start()
    await loaded.check()
    loaded.figures.add("databases killed: next action at a table", spread(waits), command="without_the_databases")


async def test_c126_two_workers_are_replaced_and_no_client_sees_more_than_a_resync(loaded: LoadedPlatform) -> None:
    wholes = []
    for number in (1, 2):
        before = loaded.tables.experiences()
        assert await loaded.fleet.terminate("table", number) == 0
        await loaded.tables.play_on()
        await loaded.fleet.restart("table", number)
        await loaded.workers_live(2)
        await loaded.tables.play_on()
        for seen in loaded.tables.experienced_since(before):
            assert (seen.connections, seen.table_ends, seen.refused, seen.timeouts) == (0, 0, 0, 0), seen
            # The view comes whole, too, when a choice was overtaken by the claim of another seat.
            assert seen.wholes <= 1 + seen.overtaken, seen
            wholes.append(seen.wholes - seen.overtaken)
    await loaded.check()
    loaded.figures.add(
        "rolling restart of two workers: resyncs of a client and restart; closed sockets, refusals, timeouts",
        f"at most {max(wholes)}, {sum(wholes) / len(wholes):.2f} on average; 0",
        goal="at most a resync",
        command="c126",
    )


async def test_everything_is_replaced_one_after_the_other(loaded: LoadedPlatform) -> None:
    for process in loaded.fleet.processes:
        number = int(process.name.rpartition("-")[2])
        assert await loaded.fleet.terminate(process.service, number) == 0, process.name
        await loaded.tables.play_on()
        await loaded.fleet.restart(process.service, number)
    for server in (loaded.stack.broker, loaded.stack.postgres, loaded.stack.valkey):
        await server.stop()
        await server.start()
        await loaded.keep_everything()
        await loaded.tables.play_on()
    await loaded.check()
