"""Decisions that nobody makes: the clock makes them (promise P3; field case C066).

The clock of these tables runs faster than the wall's, so that a whole hand of waiting takes seconds.
"""

from __future__ import annotations

import asyncio

import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from eastwind.type.v1 import settings_pb2
from tests.service.fleet import QUICK, FastClock, StartFleet, easy, open_house, silent

pytestmark = pytest.mark.asyncio(loop_scope="module")

RATE = 20


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fast_fleet(start_fleet: StartFleet) -> Fleet:
    return await start_fleet(QUICK, clock=FastClock(RATE))


async def test_c066_a_hand_of_four_silent_players_runs_to_its_end(fast_fleet: Fleet) -> None:
    async with open_house(fast_fleet) as house:
        table_id, players = await house.four(speed=settings_pb2.SPEED_BULLET, rated=True)
        results = await house.play(table_id, players, [silent] * 4)
    assert len({result.settled.record_id for (result,) in results}) == 1
    kinds = [event.WhichOneof("event") for event in house.heard[players[0]].events]
    assert "seat_answered" not in kinds
    assert kinds.count("seat_timed_out") > 12
    assert kinds.count("hand_settled") == 1


async def test_c066_the_others_play_on_with_a_player_who_is_silent(fast_fleet: Fleet) -> None:
    async with open_house(fast_fleet) as house:
        table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
        seat = 2
        policies = [silent if each == seat else easy for each in range(4)]
        results = await asyncio.wait_for(house.play(table_id, players, policies), 60)
    assert len({result.settled.record_id for (result,) in results}) == 1
    events = house.heard[players[0]].events
    answered = {event.seat_answered.seat for event in events if event.HasField("seat_answered")}
    timed_out = {event.seat_timed_out.seat for event in events if event.HasField("seat_timed_out")}
    assert seat in timed_out
    assert seat not in answered
    assert answered
