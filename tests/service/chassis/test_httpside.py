"""The probes and the metrics over HTTP."""

from __future__ import annotations

import aiohttp

from libs.chassis.httpside import HttpSide
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.telemetry import Telemetry
from libs.chassis.telemetry_contract.metrics import REDIS_SENDS


async def test_c124_readiness_may_fail_while_liveness_stays() -> None:
    telemetry = Telemetry("ratings")
    side = HttpSide(read(ServiceSettings), telemetry.metrics)
    database_is_there = False
    side.add_check("database", lambda: database_is_there)
    base = f"http://127.0.0.1:{await side.start()}"
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{base}/healthz") as answer:
            assert answer.status == 200
        async with session.get(f"{base}/readyz") as answer:
            assert (answer.status, (await answer.json())["failing"]) == (503, ["database"])
        database_is_there = True
        async with session.get(f"{base}/readyz") as answer:
            assert answer.status == 200
        async with session.get(f"{base}/metrics") as answer:
            assert 'eastwind_service_info{service="ratings"} 1.0' in await answer.text()
    await side.stop()
    await telemetry.close()


async def test_two_services_in_one_process_have_metrics_of_their_own() -> None:
    table, clock = Telemetry("table"), Telemetry("clock")
    table.metrics.counter(REDIS_SENDS).inc()
    clock.metrics.counter(REDIS_SENDS)
    assert table.metrics.registry.get_sample_value(REDIS_SENDS.name) == 1
    assert clock.metrics.registry.get_sample_value(REDIS_SENDS.name) == 0
    await table.close()
    await clock.close()
