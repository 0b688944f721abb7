"""What every service object does at its start and stop."""

from __future__ import annotations

import asyncio

import grpc.aio
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from libs.chassis.health import LIVENESS, READINESS
from libs.chassis.httpside import HttpSide
from libs.chassis.server import GrpcServer
from libs.chassis.service import ServiceObject
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.telemetry import Telemetry

PROBES = ("", READINESS, LIVENESS)


class Small(ServiceObject[ServiceSettings]):
    """A service without methods; `flaw` is raised once everything else runs."""

    name = "small"
    flaw: Exception | None = None

    async def _start(self) -> None:
        telemetry = Telemetry(self.name)
        self._lifecycle.on_stop("telemetry", telemetry.close)
        self._lifecycle.on_stop("tasks", self._tasks.close)
        self._http = HttpSide(self._settings, telemetry.metrics)
        self._lifecycle.on_stop("http", self._http.stop)
        await self._http.start()
        self._server = GrpcServer(self._settings, telemetry, allow={})
        await self._server.start()
        if self.flaw is not None:
            raise self.flaw

    def crash(self) -> None:
        """Have a task end with an exception."""
        self._tasks.start(self._crashes(), name="crashes")

    async def _crashes(self) -> None:
        raise ValueError("a bug")


@pytest.fixture
async def small() -> Small:
    return Small(read(ServiceSettings, service_key="a key of sixteen characters"))


async def listens(address: str) -> bool:
    host, port = address.rsplit(":", 1)
    try:
        _, writer = await asyncio.open_connection(host, int(port))
    except ConnectionRefusedError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def test_it_listens_until_it_is_stopped(small: Small) -> None:
    await small.start()
    addresses = (small.grpc_address, small.http_address)
    assert [await listens(address) for address in addresses] == [True, True]
    await small.stop(1.0)
    assert [await listens(address) for address in addresses] == [False, False]


async def test_a_start_that_fails_late_leaves_no_server(small: Small) -> None:
    small.flaw = OSError("a port is taken")
    with pytest.raises(OSError, match="a port is taken"):
        await small.start()
    assert not await listens(small.grpc_address)


async def test_a_crashed_task_fails_the_service(small: Small) -> None:
    await small.start()
    small.crash()
    async with asyncio.timeout(10):
        assert str(await small.failed) == "a bug"
    await small.stop(0.0)


async def test_c117_probes_by_grpc_tell_start_readiness_and_liveness_apart(small: Small) -> None:
    await small.start()
    assert small._http is not None
    wanted = True
    small._http.add_check("wanted", lambda: wanted)
    async with grpc.aio.insecure_channel(small.grpc_address) as channel:
        ask = health_pb2_grpc.HealthStub(channel)

        async def answers() -> list[str]:
            found = [await ask.Check(health_pb2.HealthCheckRequest(service=name), timeout=10) for name in PROBES]
            return [health_pb2.HealthCheckResponse.ServingStatus.Name(each.status) for each in found]

        assert await answers() == ["SERVING", "SERVING", "SERVING"]
        wanted = False
        assert await answers() == ["SERVING", "NOT_SERVING", "SERVING"]
    await small.stop(0)
