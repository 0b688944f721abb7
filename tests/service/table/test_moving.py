"""Tables that move from worker to worker while they are played (field cases C107, C126; promises P1, P2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from deploy.local.stack import BackingStack
from eastwind.table.v1 import view_pb2
from eastwind.type.v1 import action_pb2, settings_pb2
from services.cli.edge_client import EdgeClient
from tests.service.fleet import House, StartFleet, easy, merged
from tests.service.table.workers import Workers, metric, metric_reaches, open_workers

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(start_fleet: StartFleet) -> Fleet:
    return await start_fleet(merged({"table": {"table_passivate_after_s": 0.3}}), copies={"table": 2})


@pytest_asyncio.fixture(loop_scope="module")
async def workers(fleet: Fleet, backing_stack: BackingStack) -> AsyncIterator[Workers]:
    async with open_workers(fleet, backing_stack) as workers:
        yield workers


class Interruption:
    """Lets a hand run for some decisions, then does something and lets it run on."""

    def __init__(self, after: int) -> None:
        self._left = after
        self.reached = asyncio.Event()
        self.go_on = asyncio.Event()

    async def play(self, view: view_pb2.TableView) -> action_pb2.Action:
        self._left -= 1
        if self._left <= 0:
            self.reached.set()
            await self.go_on.wait()
        return await easy(view)


def assert_unbroken(house: House, client: EdgeClient, moves: int) -> None:
    """Every update follows from the one before. Whole views came at most twice a move once the hand had begun: for the
    move, and for an answer that was too late by then."""
    sequence, playing, views, settled = None, False, 0, 0
    for update in house.heard[client].updates:
        if update.HasField("view"):
            assert sequence is None or not playing or update.sequence >= sequence
            views += playing
            sequence = update.sequence
        elif sequence is not None and update.sequence >= sequence:
            assert update.sequence == sequence + len(update.events)
            sequence = update.sequence
        kinds = [event.WhichOneof("event") for event in update.events]
        playing = playing or "hand_started" in kinds
        settled += kinds.count("hand_settled")
    assert views <= 2 * moves
    assert settled == 1


async def test_c126_a_worker_that_drains_hands_its_tables_over_and_they_are_played_on(
    house: House, workers: Workers
) -> None:
    table_id, players = await house.four(rated=True)
    interruption = Interruption(after=12)
    playing = asyncio.create_task(house.play(table_id, players, [interruption.play] * 4))
    await interruption.reached.wait()
    leaving = await workers.owner(table_id)
    await house.fleet.stop_one("table", workers.all.index(leaving), grace_s=5.0)
    interruption.go_on.set()
    results = await playing
    assert len({result.settled.record_id for (result,) in results}) == 1
    assert (await workers.owner(table_id)) is workers.all[0]
    for player in players:
        assert_unbroken(house, player, moves=1)
        assert player.connections == 1, "the sockets have stayed open"
    await house.fleet.add("table")


async def test_c107_a_worker_that_lost_its_table_cannot_write_and_lets_it_go(house: House, workers: Workers) -> None:
    table_id, players = await house.four(rated=True)
    interruption = Interruption(after=12)
    playing = asyncio.create_task(house.play(table_id, players, [interruption.play] * 4))
    await interruption.reached.wait()
    old = await workers.owner(table_id)
    new = next(worker for worker in workers.all if worker is not old)
    await workers.take_over(table_id, new)
    assert (await workers.owner(table_id)) is new
    interruption.go_on.set()
    results = await playing
    assert len({result.settled.record_id for (result,) in results}) == 1
    assert (await workers.owner(table_id)) is new
    assert await metric(house.http, old.http_address, "eastwind_table_moves_total", outcome="fenced") == 1
    for player in players:
        assert_unbroken(house, player, moves=1)


async def test_a_table_goes_back_and_forth_ten_times_in_one_hand(house: House, workers: Workers) -> None:
    table_id, players = await house.four()
    moving = asyncio.Event()
    decisions = 0

    async def play(view: view_pb2.TableView) -> action_pb2.Action:
        nonlocal decisions
        decisions += 1
        moving.set()
        return await easy(view)

    async def move() -> int:
        moves = 0
        while moves < 10:
            await moving.wait()
            moving.clear()
            owner = await workers.owner(table_id)
            await workers.take_over(table_id, next(worker for worker in workers.all if worker is not owner))
            moves += 1
        return moves

    playing = asyncio.create_task(house.play(table_id, players, [play] * 4))
    assert await move() == 10
    results = await playing
    assert len({result.settled.record_id for (result,) in results}) == 1
    assert decisions > 10
    for player in players:
        assert_unbroken(house, player, moves=10)


async def test_a_table_that_nobody_watches_leaves_memory_and_comes_back_as_it_was(
    house: House, workers: Workers
) -> None:
    player = await house.guest()
    table_id = await house.create(player, speed=settings_pb2.SPEED_UNTIMED)
    before = (await player.watch(table_id)).view
    owner = await workers.owner(table_id)
    passivated = await metric(house.http, owner.http_address, "eastwind_table_moves_total", outcome="passivated")
    await player.close()
    await metric_reaches(
        house.http, owner.http_address, "eastwind_table_moves_total", passivated + 1, outcome="passivated"
    )
    back = await house.enter(EdgeClient(house.calls, player.session, house.http))
    after = await (await back.watch(table_id)).until(lambda view: view.seats[before.viewer].connected)
    assert after == before
    others = await asyncio.gather(*(house.guest() for _ in range(3)))
    for other in others:
        await house.join(other, table_id)
    results = await house.play(table_id, [back, *others])
    assert len({result.settled.record_id for (result,) in results}) == 1
