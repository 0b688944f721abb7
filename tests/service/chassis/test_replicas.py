"""Replicas that come and go under load: each gets its share, and nobody's call fails (field case C117)."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from google.protobuf.wrappers_pb2 import StringValue

from deploy.local.ports import free_port
from libs.chassis.auth import ANY_SERVICE
from libs.chassis.channels import Channels
from libs.chassis.errors import EastwindError
from libs.chassis.server import GrpcServer
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.telemetry import Telemetry
from libs.chassis.transport import client_options
from tests.service.chassis.echo import ALL, SAY, Echo, EchoStub, add_echo
from tests.service.chassis.names import NameServer, open_names
from tests.service.chassis.waiting import until

KEY = "a key that all services share"
SOON_S = 60.0
AGE_S = 1.0
CALLERS = 8


class Replicas:
    """Servers of one service, each at an address of its own, behind one name."""

    def __init__(self, names: NameServer) -> None:
        self._names = names
        self._port = free_port()
        self._telemetry = Telemetry("echo")
        self.running: dict[str, GrpcServer] = {}
        self.echoes: dict[str, Echo] = {}

    @property
    def target(self) -> str:
        return self._names.target(self._port)

    async def start(self, number: int) -> str:
        """Start a replica and list it; returns its address."""
        host = f"127.0.0.{number}"
        server = GrpcServer(
            read(ServiceSettings, service_key=KEY, host=host, grpc_port=self._port, grpc_connection_age_s=AGE_S),
            self._telemetry,
            allow={method: {ANY_SERVICE} for method in ALL},
        )
        self.echoes[host] = Echo()
        server.add(add_echo, self.echoes[host])
        await server.start()
        self.running[host] = server
        self._names.addresses = list(self.running)
        return host

    async def stop(self, host: str) -> None:
        """Take a replica out of the list and drain it."""
        server = self.running.pop(host)
        self._names.addresses = list(self.running)
        await server.stop(10.0)

    def heard(self) -> dict[str, int]:
        """How many calls each running replica has had."""
        return {host: len(self.echoes[host].heard) for host in self.running}

    async def close(self) -> None:
        for server in self.running.values():
            await server.stop(0)
        await self._telemetry.close()


class Load:
    """Some callers that call without a pause."""

    def __init__(self, target: str) -> None:
        self._channels = Channels("gateway", read(ServiceSettings, service_key=KEY, rpc_timeout_s=30.0), Telemetry("x"))
        self._stub = EchoStub(self._channels.at(target, idempotent=[SAY.strip("/")]))
        self.answered = 0
        self.failures: Counter[str] = Counter()
        self._calling = [asyncio.create_task(self._call()) for _ in range(CALLERS)]

    async def _call(self) -> None:
        while True:
            try:
                await self._stub.Say(StringValue(value="hello"))
                self.answered += 1
            except EastwindError as error:
                self.failures[str(error)] += 1

    async def close(self) -> None:
        for task in self._calling:
            task.cancel()
        await asyncio.gather(*self._calling, return_exceptions=True)
        await self._channels.close()


@pytest_asyncio.fixture
async def replicas() -> AsyncIterator[Replicas]:
    async with open_names() as names:
        replicas = Replicas(names)
        yield replicas
        await replicas.close()


async def hears(replicas: Replicas, host: str) -> None:
    """Wait until a replica gets calls."""

    async def heard() -> bool:
        return bool(replicas.echoes[host].heard)

    await until(heard, seconds=SOON_S)


@pytest.mark.timeout(240)
async def test_c117_new_replicas_get_their_share_and_a_roll_fails_no_call(replicas: Replicas) -> None:
    await replicas.start(1)
    load = Load(replicas.target)
    try:
        await hears(replicas, "127.0.0.1")
        for number in (2, 3, 4):
            await replicas.start(number)
        for host in replicas.running:
            await hears(replicas, host)

        before, answered = replicas.heard(), load.answered

        async def many() -> bool:
            return load.answered - answered >= 800

        await until(many, seconds=SOON_S)
        shares = {host: heard - before[host] for host, heard in replicas.heard().items()}
        mean = sum(shares.values()) / len(shares)
        assert all(abs(share - mean) <= 0.2 * mean for share in shares.values()), shares

        for number, old in enumerate(list(replicas.running), start=5):
            await hears(replicas, await replicas.start(number))
            await replicas.stop(old)
            left = len(replicas.echoes[old].heard)
            answered = load.answered
            await until(many, seconds=SOON_S)
            assert len(replicas.echoes[old].heard) == left, "one that is gone gets nothing"
        assert not load.failures
    finally:
        await load.close()


def test_c117_a_client_asks_again_for_addresses_well_within_a_minute() -> None:
    age_s = read(ServiceSettings, service_key=KEY).grpc_connection_age_s
    between_s = dict(client_options())["grpc.dns_min_time_between_resolutions_ms"] / 1000
    # Connections end at their age, give or take a tenth; then the client looks the name up again.
    assert age_s * 1.1 + between_s < 60
