"""Two thousand armed deadlines, two clocks: each deadline passes once, and how late it does is measured."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

import aiohttp
import pytest

from deploy.local.roster import common_settings
from eastwind.clock.v1 import clock_service_pb2, clock_service_pb2_grpc
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import table_service_pb2_grpc
from eastwind.type.v1 import settings_pb2
from libs.chassis.channels import Channels
from libs.chassis.identifiers import new_table_id
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.telemetry import Telemetry
from libs.chassis.telemetry_contract import metrics as contract
from tests.faults.checker.append_only_file import AppendOnlyFile
from tests.faults.checker.store_history import StoreHistory
from tests.faults.loaded import LoadedPlatform

pytestmark = [pytest.mark.faults, pytest.mark.load, pytest.mark.timeout(600, func_only=True)]
ARMED: Final = 2000
SPREAD_S: Final = 24.0
"""The tables are made, and their deadlines pass, over so long; the ready step that each of them waits in is 30 s."""
GOAL_S: Final = 0.05
_AT_ONCE: Final = 8


def request(number: int) -> table_pb2.CreateTableRequest:
    """A table of four people who never come: it closes when its ready step ends."""
    return table_pb2.CreateTableRequest(
        table_id=new_table_id(),
        settings=settings_pb2.TableSettings(ruleset="hkos-3-v1", speed=settings_pb2.SPEED_STANDARD),
        players=[
            settings_pb2.Player(account_id=f"late-{number}-{seat}", name=f"Late {number} {seat}") for seat in range(4)
        ],
    )


async def make_tables(addresses: list[str], channels: Channels) -> list[str]:
    """Make the tables, evenly over the time that they are spread over if the machine can; returns their ids."""
    began, gate = time.monotonic(), asyncio.Semaphore(_AT_ONCE)
    made = []

    async def make(number: int) -> None:
        await asyncio.sleep(max(0.0, began + SPREAD_S * number / ARMED - time.monotonic()))
        stub = table_service_pb2_grpc.TableServiceStub(channels.at(addresses[number % len(addresses)]))
        async with gate:
            wanted = request(number)
            await stub.CreateTable(wanted, timeout=20.0)
            made.append(wanted.table_id)

    await asyncio.gather(*(make(number) for number in range(ARMED)))
    return made


async def until(true: Callable[[], bool], follow: Callable[[], None], within_s: float) -> None:
    """Follow the store until something is true of its history."""
    async with asyncio.timeout(within_s):
        await asyncio.to_thread(follow)
        while not true():
            await asyncio.sleep(0.5)
            await asyncio.to_thread(follow)


async def share_in_time(urls: list[str]) -> tuple[int, float]:
    """How many deadlines the exported metric counts, and the share of them that was in time."""
    counted = in_time = 0.0
    name = contract.DEADLINE_LATENESS.name
    async with aiohttp.ClientSession() as http:
        for url in urls:
            async with http.get(url) as answer:
                for line in (await answer.text()).splitlines():
                    if line.startswith(f"{name}_bucket") and f'le="{GOAL_S}"' in line:
                        in_time += float(line.rpartition(" ")[2])
                    elif line.startswith(f"{name}_count"):
                        counted += float(line.rpartition(" ")[2])
    return round(counted), in_time / max(1.0, counted)


async def test_two_thousand_armed_deadlines_pass_once_each(unloaded: LoadedPlatform) -> None:
    fleet = unloaded.fleet
    file, history = AppendOnlyFile(unloaded.append_only_folder), StoreHistory()

    def follow() -> None:
        history.follow(file.read_new())

    def open_tables() -> int:
        return sum(not table.closed for table in history.tables.values())

    telemetry, settings = Telemetry("test"), read(ServiceSettings, **common_settings(unloaded.stack))
    makers, operators = (Channels(name, settings, telemetry) for name in ("matchmaking", "operator"))
    clocks = [fleet["clock", number] for number in (1, 2)]
    try:
        made = await make_tables([f"127.0.0.1:{fleet['table', number].grpc_port}" for number in (1, 2)], makers)
        follow()
        armed = open_tables()
        await until(lambda: not open_tables() and len(history.tables) == ARMED, follow, 240)
        reports = [
            await clock_service_pb2_grpc.ClockServiceStub(operators.at(f"127.0.0.1:{clock.grpc_port}")).GetLateness(
                clock_service_pb2.GetLatenessRequest(), timeout=10.0
            )
            for clock in clocks
        ]
    finally:
        await makers.close()
        await operators.close()
        await telemetry.close()
    assert history.all_violations() == []
    assert sorted(history.tables) == sorted(made)
    counted, share = await share_in_time([f"http://127.0.0.1:{clock.http_port}/metrics" for clock in clocks])
    assert counted >= ARMED
    unloaded.figures.add(
        f"lateness of {counted} deadlines, {armed} armed at once, two clocks",
        f"p50 {max(each.p50_ms for each in reports):.0f} ms, p99 {max(each.p99_ms for each in reports):.0f} ms,"
        f" max {max(each.max_ms for each in reports):.0f} ms; {share:.1%} within {GOAL_S * 1000:.0f} ms",
        goal="p99 < 50 ms",
        command="two_thousand",
    )
