"""Any number of clock replicas: no deadline is lost, none takes effect twice, and each tells how late it was."""

from __future__ import annotations

import asyncio

import pytest

from deploy.local.roster import common_settings
from deploy.local.stack import BackingStack
from eastwind.clock.v1 import clock_service_pb2, clock_service_pb2_grpc
from eastwind.table.v1 import event_pb2
from eastwind.type.v1 import settings_pb2
from libs.chassis.channels import Channels
from libs.chassis.redis_client import RedisClient
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.table_store import DeadlineIndex
from libs.chassis.telemetry import Telemetry
from tests.service.fleet import QUICK, FastClock, StartFleet, open_house, silent
from tests.service.table.workers import metric

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]

RATE = 20
LOST_CLAIMS = 6


async def take_and_die(stack: BackingStack, clock: FastClock) -> None:
    """Be a replica that takes deadlines and is killed before it resolves them, again and again."""
    async with RedisClient(stack.valkey_url) as client:
        index, taken = DeadlineIndex(client), 0
        while taken < LOST_CLAIMS:
            taken += len((await index.claim_due(clock.now_ms(), visibility_ms=1_500)).claims)
            await asyncio.sleep(0.002)


def timed_out(events: list[event_pb2.TableEvent]) -> list[tuple[int, int]]:
    """The decisions and seats whose time ran out, in order."""
    return [
        (event.seat_timed_out.decision, event.seat_timed_out.seat)
        for event in events
        if event.HasField("seat_timed_out")
    ]


async def test_replicas_share_the_deadlines_of_a_hand_and_some_of_them_die(
    start_fleet: StartFleet, backing_stack: BackingStack
) -> None:
    clock = FastClock(RATE)
    fleet = await start_fleet(QUICK, copies={"clock": 3}, clock=clock)
    async with open_house(fleet) as house:
        table_id, players = await house.four(speed=settings_pb2.SPEED_BULLET, rated=True)
        playing = asyncio.create_task(house.play(table_id, players, [silent] * 4))
        await take_and_die(backing_stack, clock)
        await fleet.stop_one("clock")
        await fleet.add("clock")
        results = await playing
        assert len({result.settled.record_id for (result,) in results}) == 1
        resolved = timed_out(house.heard[players[0]].events)
        assert len(resolved) > 12
        assert len(set(resolved)) == len(resolved), "none took effect twice"
        replicas = fleet.services["clock"]
        exported = [
            await metric(house.http, each.http_address, "eastwind_deadline_lateness_seconds_count") for each in replicas
        ]
        channels = Channels("operator", read(ServiceSettings, **common_settings(backing_stack)), Telemetry("test"))
        told = [
            await clock_service_pb2_grpc.ClockServiceStub(channels.at(each.grpc_address)).GetLateness(
                clock_service_pb2.GetLatenessRequest(), timeout=9.0
            )
            for each in replicas
        ]
        await channels.close()
        assert [report.count for report in told] == exported
        assert sum(exported) > 12
        assert all(report.p50_ms <= report.p99_ms <= report.max_ms for report in told)
