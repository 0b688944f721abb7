"""Tables that nobody plays at any more (field case C128)."""

from __future__ import annotations

import pytest

from deploy.local.stack import BackingStack
from eastwind.table.v1 import view_pb2
from eastwind.type.v1 import reason_pb2, settings_pb2
from tests.service.fleet import QUICK, ShiftedClock, StartFleet, open_house
from tests.service.table.workers import metric_reaches, open_workers

pytestmark = pytest.mark.asyncio(loop_scope="module")

MINUTE_MS = 60_000


async def test_c128_a_table_expires_a_day_after_the_last_action_and_leaves_nothing(
    start_fleet: StartFleet, backing_stack: BackingStack
) -> None:
    clock = ShiftedClock()
    fleet = await start_fleet(QUICK, clock=clock)
    async with open_house(fleet) as house, open_workers(fleet, backing_stack) as workers:
        player, witness, viewer = [await house.guest() for _ in range(3)]
        table_id = await house.create(player, speed=settings_pb2.SPEED_UNTIMED, computers=settings_pb2.BOT_LEVEL_EASY)
        table = await player.watch(table_id)
        await house.deal(table_id, [player])
        await table.until(lambda view: len(view.decision.options) > 0)
        assert await workers.keys(table_id)

        await fleet.stop_one("table", grace_s=5.0)
        await fleet.add("table")
        passing = await house.create(witness, speed=settings_pb2.SPEED_STANDARD, computers=settings_pb2.BOT_LEVEL_EASY)
        ready_step = await witness.watch(passing)
        clock.advance((23 * 60 + 59) * MINUTE_MS)
        await ready_step.until(lambda view: view.phase == view_pb2.TABLE_PHASE_CLOSED)
        assert (await player.resync(table_id)).phase == view_pb2.TABLE_PHASE_PLAYING
        assert (await viewer.watch(table_id)).view.phase == view_pb2.TABLE_PHASE_PLAYING

        clock.advance(2 * MINUTE_MS)
        closed = await table.until(lambda view: view.phase == view_pb2.TABLE_PHASE_CLOSED)
        assert closed.close_reason == reason_pb2.REASON_EXPIRED
        again = await house.create(player)
        assert again != table_id, "who played there is free"
        await player.watch(again)

        clock.advance(11 * MINUTE_MS)
        address = workers.all[0].http_address
        await metric_reaches(house.http, address, "eastwind_table_moves_total", 2, outcome="discarded")
        await workers.gone(table_id)
        await workers.gone(passing)
        assert await workers.keys(again)
