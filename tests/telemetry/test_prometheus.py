"""Every panel and every alert has data in a Prometheus that scrapes all services while people and computers play."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import aiohttp
import pytest
import pytest_asyncio

from deploy.grafana.panels import BOARDS
from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import view_pb2
from eastwind.type.v1 import action_pb2, settings_pb2
from libs.chassis.telemetry_contract.metrics import EDGE_ACTION
from services.cli.edge_client import EdgeClient
from services.cli.playing import Policy
from tests.service.fleet import (
    HKOS,
    QUICK,
    House,
    StartFleet,
    backing_stack,  # noqa: F401  fixtures reach the tests by their names
    easy,
    merged,
    open_house,
    silent,
    start_fleet,  # noqa: F401
)
from tests.service.telemetry.receiver import Receiver
from tests.telemetry.draw import board_svg
from tests.telemetry.files import Asked, alerts, panels
from tests.telemetry.prometheus import Prometheus, scraping

pytestmark = [pytest.mark.telemetry, pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]

PATIENCE_S = 180.0
ENOUGH_HANDS = 10_000
UNHURRIED = {**QUICK["table"], "bot_think_least_ms": 150, "bot_think_most_ms": 300}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def house(start_fleet: StartFleet) -> AsyncIterator[House]:  # noqa: F811
    """Players at a fleet of two gateways and two table workers, some of whose traces are recorded."""
    receiver = Receiver()
    every = {**QUICK[""], "otlp_endpoint": await receiver.start(), "trace_ratio": 0.1}
    settings = merged({"": every, "gateway": {**QUICK["gateway"], "socket_heartbeat_s": 1.0}, "table": UNHURRIED})
    async with open_house(await start_fleet(settings, {"gateway": 2, "table": 2})) as house:
        yield house
    await receiver.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def prometheus(
    house: House, started_s: float, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Prometheus]:
    """Prometheus, once it has seen every process; people play from then on."""
    assert started_s
    targets = {name: [each.http_address for each in copies] for name, copies in house.fleet.services.items()}
    async with scraping(targets, tmp_path_factory.mktemp("prometheus")) as prometheus:
        await prometheus.until("sum(up)", sum(map(len, targets.values())), PATIENCE_S)
        async with asyncio.TaskGroup() as playing:
            parts = (_rated(house, prometheus), _with_computers(house), _rude(house))
            tasks = [playing.create_task(part) for part in parts]
            yield prometheus
            for task in tasks:
                task.cancel()


async def unhurried(view: view_pb2.TableView) -> action_pb2.Action:
    """An easy player who leaves the machine some time."""
    await asyncio.sleep(0.2)
    return await easy(view)


async def _rated(house: House, prometheus: Prometheus) -> None:
    """Four people of the rated queue. The first waits until it is seen that he does."""
    players = await asyncio.gather(*(house.guest() for _ in range(4)))
    first = asyncio.create_task(players[0].enter_queue(HKOS, rated=True))
    await prometheus.until("max(eastwind_queue_waiting)", 1, PATIENCE_S)
    await asyncio.gather(first, *(player.enter_queue(HKOS, rated=True) for player in players[1:]))
    await _play(house, first.result(), players, [unhurried] * 4)


async def _with_computers(house: House) -> None:
    """Somebody who never answers, among computers: the clock plays for him."""
    guest = await house.guest(url=house.fleet.edge_urls[1])
    table_id = await house.create(guest, speed=settings_pb2.SPEED_BULLET, computers=settings_pb2.BOT_LEVEL_EASY)
    await _play(house, table_id, [guest], [silent])


async def _play(house: House, table_id: str, players: Sequence[EdgeClient], policies: Sequence[Policy]) -> None:
    await house.play(table_id, players, policies, hands=ENOUGH_HANDS)


async def _rude(house: House) -> None:
    """Somebody whose commands are refused, whose sockets are closed, and whose session is renewed."""
    guest = await house.guest()
    table_id = await house.create(guest)
    await guest.watch(table_id)
    while True:
        stale = table_pb2.TableCommand(choose=table_pb2.Choose(decision=10**6))
        assert (await guest.command(table_id, stale)).reason
        await guest.resync(table_id)
        with contextlib.suppress(aiohttp.ClientError):
            async with house.http.ws_connect(
                f"{house.fleet.edge_url}/ws", protocols=["eastwind.v1.proto"], origin=house.fleet.edge_url
            ) as ws:
                await ws.send_bytes(frames_pb2.ClientFrame(ping=frames_pb2.Ping(id=1)).SerializeToString())
                await ws.receive()
        await asyncio.sleep(1.0)


async def _empty(prometheus: Prometheus, asked: Sequence[Asked], queries: Sequence[str]) -> list[str]:
    """Which queries still have no data after all the patience that there is."""
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE_S
    missing = dict(zip(queries, asked, strict=True))
    while True:
        for query in list(missing):
            if await prometheus.has_data(query):
                del missing[query]
        if not missing or loop.time() > until:
            return [f"{each.where}: {query}" for query, each in missing.items()]
        await asyncio.sleep(2.0)


async def test_every_panel_has_data(prometheus: Prometheus) -> None:
    asked = panels()
    assert await _empty(prometheus, asked, [each.expr for each in asked]) == []


async def test_every_alert_has_something_to_look_at(prometheus: Prometheus) -> None:
    asked = [Asked(rule["alert"], rule["expr"]) for rule in alerts()]
    assert await _empty(prometheus, asked, [each.measured for each in asked]) == []


async def test_prometheus_loads_every_rule_and_finds_no_fault_in_it(prometheus: Prometheus) -> None:
    groups = (await prometheus.get("rules"))["groups"]
    found = [rule for group in groups for rule in group["rules"]]
    assert {rule["name"] for rule in found if rule["type"] == "alerting"} == {rule["alert"] for rule in alerts()}
    assert [rule["name"] for rule in found if rule.get("lastError")] == []


async def test_latencies_lead_to_traces(prometheus: Prometheus) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = await prometheus.get(
                "query_exemplars", query=f"{EDGE_ACTION.name}_bucket", start="0", end="4000000000"
            )
            if any(exemplar["labels"]["trace_id"] for each in found for exemplar in each["exemplars"]):
                return
            await asyncio.sleep(1.0)


async def test_every_dashboard_can_be_drawn(
    prometheus: Prometheus, started_s: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    asked = panels()
    assert await _empty(prometheus, asked, [each.expr for each in asked]) == []
    folder = Path(os.environ.get("EASTWIND_PICTURES") or tmp_path_factory.mktemp("pictures"))
    for board in BOARDS:
        picture = await board_svg(prometheus, board, started_s, time.time())
        drawn = ET.fromstring(picture)
        lines = [len(panel.findall("{*}polyline")) for panel in drawn.findall("{*}g")]
        assert len(lines) == len(board.panels)
        assert all(lines), board.name
        (folder / f"{board.name}.svg").write_text(picture)


@pytest.fixture(scope="module")
def started_s() -> float:
    """When the module began, unix seconds."""
    return time.time()
