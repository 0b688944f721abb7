"""Streams that are opened and cancelled again and again leave nothing behind (field case C119)."""

from __future__ import annotations

import asyncio
import gc
import os
from pathlib import Path

import pytest
from google.protobuf.wrappers_pb2 import StringValue

from libs.chassis.auth import ANY_SERVICE
from libs.chassis.channels import Channels
from libs.chassis.errors import Unavailable
from libs.chassis.server import GrpcServer
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.telemetry import Telemetry
from tests.service.chassis.echo import ALL, Echo, EchoStub, add_echo
from tests.service.chassis.waiting import until

KEY = "a key that all services share"
AT_ONCE = 50
WARM_UP = 1_000
MOST_GROWTH = 0.05


def resident_bytes() -> int:
    """What this process holds in memory, once what can be collected is."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


async def open_and_cancel(stub: EchoStub) -> None:
    stream = stub.Chat()
    await stream.write(StringValue(value="a"))
    assert (await stream.read()).value == "A"
    stream.cancel()


async def cycles(stub: EchoStub, number: int) -> None:
    for _ in range(number // AT_ONCE):
        await asyncio.gather(*(open_and_cancel(stub) for _ in range(AT_ONCE)))


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "number", [3_000, pytest.param(50_000, marks=[pytest.mark.load, pytest.mark.faults])], ids=["some", "many"]
)
async def test_c119_cancelled_streams_leak_neither_memory_nor_sockets(number: int) -> None:
    files_before = open_files()
    telemetry = Telemetry("echo")
    settings = read(ServiceSettings, service_key=KEY)
    server = GrpcServer(settings, telemetry, allow={method: {ANY_SERVICE} for method in ALL})
    server.add(add_echo, Echo())
    await server.start()
    channels = Channels("gateway", settings, telemetry)
    stub = EchoStub(channels.at(server.address))
    await cycles(stub, WARM_UP)
    warm, files_warm = resident_bytes(), open_files()
    await cycles(stub, number)
    assert resident_bytes() < warm * (1 + MOST_GROWTH)
    assert open_files() <= files_warm

    await server.stop(0)
    for _ in range(50):
        with pytest.raises(Unavailable):
            await stub.Say(StringValue(value="hello"), timeout=5)
    assert open_files() <= files_warm
    await channels.close()
    await telemetry.close()

    async def all_closed() -> bool:
        return open_files() <= files_before + 4

    await until(all_closed)
