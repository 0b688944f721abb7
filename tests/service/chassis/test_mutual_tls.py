"""Calls between services over mutual TLS, with certificates made for the test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from google.protobuf.wrappers_pb2 import StringValue

from libs.chassis.auth import ANY_SERVICE
from libs.chassis.channels import Channels
from libs.chassis.errors import EastwindError
from libs.chassis.server import GrpcServer
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.telemetry import Telemetry
from tests.service.chassis.authority import Authority
from tests.service.chassis.echo import ALL, Echo, EchoStub, add_echo

KEY = "a key that all services share"
WORKERS = "eastwind-table"


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path, "authority")


@pytest_asyncio.fixture
async def worker(authority: Authority) -> AsyncIterator[GrpcServer]:
    """A server whose certificate names the table workers, and not its address."""
    settings = read(ServiceSettings, service_key=KEY, **authority.sign("worker", WORKERS))
    server = GrpcServer(settings, Telemetry("table"), allow={method: {ANY_SERVICE} for method in ALL})
    server.add(add_echo, Echo())
    await server.start()
    yield server
    await server.stop(0)


async def served(stack: AsyncExitStack, **fields: Any) -> GrpcServer:
    """A server with these settings, stopped with the stack."""
    server = GrpcServer(
        read(ServiceSettings, service_key=KEY, **fields),
        Telemetry("table"),
        allow={method: {ANY_SERVICE} for method in ALL},
    )
    server.add(add_echo, Echo())
    await server.start()
    stack.push_async_callback(server.stop, 0)
    return server


async def say(server: GrpcServer, **fields: Any) -> str:
    """Call the worker by its address with a client of these settings."""
    channels = Channels("gateway", read(ServiceSettings, service_key=KEY, **fields), Telemetry("gateway"))
    try:
        answer = await EchoStub(channels.at(server.address)).Who(StringValue(value="service"), timeout=30)
        return str(answer.value)
    finally:
        await channels.close()


async def test_a_worker_is_called_by_its_address_and_known_by_its_name(
    worker: GrpcServer, authority: Authority
) -> None:
    assert await say(worker, tls_worker_name=WORKERS, **authority.sign("gateway", "eastwind-gateway")) == "gateway"


async def test_a_worker_with_another_name_is_not_believed(worker: GrpcServer, authority: Authority) -> None:
    with pytest.raises(EastwindError):
        await say(worker, tls_worker_name="eastwind-bots", **authority.sign("gateway", "eastwind-gateway"))
    with pytest.raises(EastwindError):
        await say(worker, **authority.sign("gateway", "eastwind-gateway"))


async def test_a_caller_without_a_certificate_of_ours_is_refused(
    worker: GrpcServer, authority: Authority, tmp_path: Path
) -> None:
    with pytest.raises(EastwindError):
        await say(worker)
    stranger = Authority(tmp_path, "stranger").sign("stranger-gateway", "eastwind-gateway")
    stranger["tls_authority"] = str(authority.path)
    with pytest.raises(EastwindError):
        await say(worker, tls_worker_name=WORKERS, **stranger)


async def test_an_authority_is_followed_by_another_in_three_steps(authority: Authority, tmp_path: Path) -> None:
    """Trust both, show the new certificates, trust the new alone: as ``deploy/docs/key-rotation.md`` says."""
    successor = Authority(tmp_path, "successor")
    both = tmp_path / "both.crt"
    both.write_bytes(authority.path.read_bytes() + successor.path.read_bytes())
    old, new = authority.sign("old", WORKERS), successor.sign("new", WORKERS)
    steps = [old, {**old, "tls_authority": str(both)}, {**new, "tls_authority": str(both)}, new]
    async with AsyncExitStack() as stack:
        servers = [await served(stack, **step) for step in steps]
        # While a rolling update goes from one step to the next, processes of both call each other.
        for before in range(3):
            for caller in (before, before + 1):
                for called in (before, before + 1):
                    assert await say(servers[called], tls_worker_name=WORKERS, **steps[caller]) == "gateway"
        with pytest.raises(EastwindError):
            await say(servers[0], tls_worker_name=WORKERS, **steps[3])
