"""PostgreSQL is away: play goes on, sign-in says so, and records and ratings catch up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from eastwind.accounts.v1 import accounts_service_pb2
from services.cli.edge_calls import EdgeRefusedError
from tests.service.fleet import House
from tests.service.outages.outage import Outages, readiness

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

ACCOUNTS = "eastwind.accounts.v1.AccountsService"


async def test_play_goes_on_sign_in_says_so_and_consumers_catch_up(house: House, outages: Outages) -> None:
    services: dict[str, list[Any]] = house.fleet.services
    table_id, players = await house.four(rated=True)
    await outages.begin(outages.stack.postgres)
    playing = asyncio.create_task(house.play(table_id, players, hands=2))
    for name in ("accounts", "history", "ratings"):
        await readiness(house.http, services[name][0].http_address, ["database"])
    for name in ("table", "clock", "matchmaking"):
        await readiness(house.http, services[name][0].http_address, [])
    log_in = accounts_service_pb2.LogInRequest(name="Wind Rider", password="a long password indeed")
    for signing_in in (
        house.calls.register_guest(""),
        house.calls.call(f"{ACCOUNTS}/LogIn", log_in, accounts_service_pb2.LogInResponse),
        house.calls.refresh(players[0].session),
    ):
        with pytest.raises(EdgeRefusedError) as refused:
            await signing_in
        assert refused.value.reason == "UNAVAILABLE"
        assert refused.value.detail, "people are told what is wrong"
    results = await playing
    await outages.end()
    for result in results[0]:
        assert len((await house.found(result.settled.record_id)).rating_changes) == 4
    for name in ("accounts", "history", "ratings"):
        await readiness(house.http, services[name][0].http_address, [])
    assert not any(service.failed.done() for kind in services.values() for service in kind)
