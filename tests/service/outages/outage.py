"""Taking the servers under a fleet away, and what players then see."""

from __future__ import annotations

import asyncio
import time
from typing import Final

import aiohttp

from deploy.local.server import BackingServer
from deploy.local.stack import BackingStack
from eastwind.table.v1 import event_pb2, view_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import action_pb2
from services.cli.edge_client import EdgeClient
from tests.backing import Keeper
from tests.service.fleet import House, merged

SETTINGS: Final = merged(
    {"": {"outbox_retain_s": 0.0, "database_probe_s": 0.05, "kafka_session_timeout_s": 10.0, "rpc_timeout_s": 9.0}}
)
PATIENCE_S: Final = 60.0


class Outages:
    """Kills servers and starts them again."""

    def __init__(self, keeper: Keeper, stack: BackingStack) -> None:
        self._keeper = keeper
        self.stack = stack
        self._away: list[BackingServer] = []

    async def begin(self, server: BackingServer) -> None:
        """Take a server away with `kill -9`."""
        self._away.append(server)
        await asyncio.to_thread(self._keeper.run, server.kill())

    async def end(self) -> None:
        """Have all servers back."""
        while self._away:
            await asyncio.to_thread(self._keeper.run, self._away[-1].start())
            self._away.pop()


def events_of(house: House, player: EdgeClient, name: str) -> list[event_pb2.TableEvent]:
    """The events of one kind that a player was told."""
    return [event for event in house.heard[player].events if event.HasField(name)]  # type: ignore[arg-type]


def a_discard(view: view_pb2.TableView) -> table_pb2.TableCommand:
    """A discard that the open decision allows."""
    option = next(each for each in view.decision.options if each.action.type == action_pb2.ACTION_TYPE_DISCARD)
    return table_pb2.TableCommand(choose=table_pb2.Choose(decision=view.decision.decision, action=option.action))


async def deadline_passed(view: view_pb2.TableView) -> None:
    """Wait until the time of the open decision would be over, and a little longer."""
    await asyncio.sleep(max(0.0, view.decision.deadline_ms / 1000 - time.time()) + 0.7)


async def readiness(http: aiohttp.ClientSession, address: str, failing: list[str]) -> None:
    """Wait until a service says that just these checks fail."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with http.get(f"http://{address}/readyz") as answer:
                if (await answer.json())["failing"] == failing:
                    return
            await asyncio.sleep(0.05)
