"""A service that ends under a call did not answer: the caller is told to try again, not that something is broken."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import grpc
import grpc.aio
import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from deploy.local.ports import LOOPBACK
from eastwind.accounts.v1 import accounts_service_pb2_grpc
from tests.service.fleet import House, StartFleet, merged

pytestmark = pytest.mark.asyncio(loop_scope="module")

REFRESH = "/api/eastwind.accounts.v1.AccountsService/RefreshSession"
ENDS = (grpc.StatusCode.CANCELLED, grpc.StatusCode.UNAVAILABLE)


class Ending(accounts_service_pb2_grpc.AccountsServiceServicer):
    """Ends every call as gRPC ends those of a server that goes away, in one way after the other."""

    def __init__(self) -> None:
        self.calls = 0

    async def RefreshSession(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        self.calls += 1
        await context.abort(ENDS[self.calls % len(ENDS)])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(start_fleet: StartFleet) -> AsyncIterator[Fleet]:
    server = grpc.aio.server()
    accounts_service_pb2_grpc.add_AccountsServiceServicer_to_server(Ending(), server)
    port = server.add_insecure_port(f"{LOOPBACK}:0")
    await server.start()
    yield await start_fleet(merged({"gateway": {"accounts_address": (f"{LOOPBACK}:{port}",)}}))
    await server.stop(0.0)


async def test_a_call_whose_service_went_away_can_be_made_again(house: House) -> None:
    for _ in ENDS:
        async with house.http.post(house.calls.base_url + REFRESH, json={"refreshToken": "a token"}) as answer:
            assert (answer.status, (await answer.json())["reason"]) == (503, "UNAVAILABLE")
