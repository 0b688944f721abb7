"""Looking behind the edge: which worker has a table, and asking one to take it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import aiohttp

from deploy.local.fleet import Fleet
from deploy.local.roster import common_settings
from deploy.local.stack import BackingStack
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import table_service_pb2_grpc
from eastwind.type.v1 import reason_pb2
from libs.chassis.channels import Channels
from libs.chassis.redis_client import RedisClient
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.table_store import TableStore
from libs.chassis.telemetry import Telemetry
from services.table.app import TableWorker

PATIENCE_S: Final = 40.0


class Workers:
    """The table workers of a fleet as the store knows them."""

    def __init__(self, fleet: Fleet, stack: BackingStack, redis: RedisClient, channels: Channels) -> None:
        self._fleet = fleet
        self._redis = redis
        self._store = TableStore(redis)
        self._channels = channels

    @property
    def all(self) -> list[TableWorker]:
        """Those that run."""
        return self._fleet.services["table"]

    async def owner(self, table_id: str) -> TableWorker:
        """The worker that owns a table."""
        owner = await self._store.owner(table_id)
        assert owner is not None
        return next(worker for worker in self.all if worker.worker_id == owner.worker)

    async def tick(self, table_id: str, worker: TableWorker) -> reason_pb2.Reason.ValueType:
        """Have a worker look at a table, whoever has it; returns why it did not."""
        stub = table_service_pb2_grpc.TableServiceStub(self._channels.at(worker.grpc_address))
        request = table_pb2.TickRequest(tables=[table_pb2.DueTable(table_id=table_id)], take_over=True)
        (reason,) = (await stub.Tick(request, timeout=10.0)).reasons
        return reason

    async def take_over(self, table_id: str, worker: TableWorker) -> None:
        """Have a worker take a table from whoever has it, as the clock does when the owner does not answer."""
        for _ in range(2):
            reason = await self.tick(table_id, worker)
            if reason == reason_pb2.REASON_UNSPECIFIED:
                return
            # It had the table before and has just found out that it lost it since.
            assert reason == reason_pb2.REASON_NOT_OWNER
        raise AssertionError("the worker did not take the table")

    async def keys(self, table_id: str) -> set[bytes]:
        """The keys of a table in the table store. Matchmaking notes elsewhere, for a while, that a table is closed."""
        cursor, found = b"0", set()
        while True:
            cursor, keys = await self._redis.call(b"SCAN", cursor, b"MATCH", f"*{table_id}*", b"COUNT", 1000, key=b"x")
            found |= {key for key in keys if not key.startswith(b"ew:{matchmaking}:")}
            if cursor == b"0":
                return found

    async def gone(self, table_id: str) -> None:
        """Wait until the store holds nothing of a table; matchmaking hears of its end a little later."""
        async with asyncio.timeout(PATIENCE_S):
            left = await self.keys(table_id)
            while left:
                await asyncio.sleep(0.05)
                left = await self.keys(table_id)


@asynccontextmanager
async def open_workers(fleet: Fleet, stack: BackingStack) -> AsyncIterator[Workers]:
    """The workers of a fleet, for the length of the block."""
    telemetry = Telemetry("test")
    settings = read(ServiceSettings, **common_settings(stack))
    channels = Channels("clock", settings, telemetry)
    redis = RedisClient(stack.valkey_url, client_name="test")
    await redis.open()
    try:
        yield Workers(fleet, stack, redis, channels)
    finally:
        await redis.close()
        await channels.close()
        await telemetry.close()


async def metric(http: aiohttp.ClientSession, address: str, name: str, **labels: str) -> float:
    """The value of a metric of a service; 0 when it has none yet."""
    async with http.get(f"http://{address}/metrics") as answer:
        text = await answer.text()
    wanted = "".join(f'(?=[^}}]*{label}="{value}")' for label, value in labels.items())
    found = re.search(rf"^{name}(?:{{{wanted}[^}}]*}})? (\S+)$", text, re.MULTILINE)
    return float(found.group(1)) if found else 0.0


async def metric_reaches(http: aiohttp.ClientSession, address: str, name: str, least: float, **labels: str) -> None:
    """Wait until a metric is at least that."""
    async with asyncio.timeout(PATIENCE_S):
        value = await metric(http, address, name, **labels)
        while value < least:
            await asyncio.sleep(0.05)
            value = await metric(http, address, name, **labels)
