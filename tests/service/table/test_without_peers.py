"""Tables whose helpers are down play on: hands are settled, and computers choose."""

from __future__ import annotations

import asyncio

import pytest

from eastwind.type.v1 import settings_pb2
from services.cli.playing import SeatPlayer
from tests.service.fleet import QUICK, FastClock, StartFleet, easy, open_house
from tests.service.table.workers import metric

pytestmark = pytest.mark.asyncio(loop_scope="module")

MOST_HANDS = 12


async def test_without_scoring_the_worker_settles_by_itself(start_fleet: StartFleet) -> None:
    fleet = await start_fleet()
    await fleet.stop_one("scoring")
    async with open_house(fleet) as house:
        table_id, players = await house.four()
        seats = [SeatPlayer(player, table_id, easy) for player in players]
        for _ in range(MOST_HANDS):
            (result,), *_ = await asyncio.gather(*(seat.play(1) for seat in seats))
            if result.won is not None:
                break
        assert result.won is not None
        assert result.settled.winner == result.won.seat
        assert sum(result.settled.changes) == 0
        assert result.settled.scores[result.settled.winner].score.legal
        worker = fleet.services["table"][0].http_address
        assert await metric(house.http, worker, "eastwind_settlements_total", outcome="library") == 1


async def test_without_the_bots_service_computers_choose_all_the_same(start_fleet: StartFleet) -> None:
    fleet = await start_fleet(QUICK, clock=FastClock(4))
    await fleet.stop_one("bots")
    async with open_house(fleet) as house:
        player = await house.guest()
        table_id = await house.create(player, speed=settings_pb2.SPEED_BULLET, computers=settings_pb2.BOT_LEVEL_EASY)
        ((result,),) = await asyncio.wait_for(house.play(table_id, [player], [easy]), 60)
        others = set(range(4)) - {result.view.viewer}
        events = house.heard[player].events
        assert {event.tile_discarded.seat for event in events if event.HasField("tile_discarded")} >= others
        assert others.isdisjoint(event.seat_timed_out.seat for event in events if event.HasField("seat_timed_out"))
        worker = fleet.services["table"][0].http_address
        assert await metric(house.http, worker, "eastwind_bot_misses_total") > 3
