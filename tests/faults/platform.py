"""The platform under test: backing servers, processes, and a look into the table store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from deploy.local.processes import ProcessFleet
from deploy.local.stack import BackingStack
from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store import TableStore, WorkerRegistry

SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "": {"log_level": "info", "log_format": "json"},
    "gateway": {"call_rate": 1000, "call_burst": 1000, "socket_rate": 1000, "socket_burst": 1000},
    # The name in the registry tells which process a table lives in.
    "table-1": {"worker_id": "table-1"},
    "table-2": {"worker_id": "table-2"},
}


@dataclass(frozen=True, slots=True)
class Platform:
    """A running platform."""

    stack: BackingStack
    fleet: ProcessFleet

    async def worker_of(self, table_id: str) -> int:
        """The number of the table worker that has the table."""
        async with RedisClient(self.stack.valkey_url) as client:
            return int((await TableStore(client).owner(table_id)).worker.rpartition("-")[2])

    async def restore(self) -> None:
        """Start again what does not run."""
        for process in self.fleet.processes:
            if process.pid is None:
                await self.fleet.restart(process.service, int(process.name.rpartition("-")[2]))
        async with RedisClient(self.stack.valkey_url) as client:
            assert len(await WorkerRegistry(client).live()) >= 2
