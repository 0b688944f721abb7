"""All services of Eastwind in this process, on real backing servers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from deploy.local.roster import DATABASES, ORDER, common_settings
from deploy.local.stack import BackingStack
from libs.chassis.clocks import Clock
from libs.chassis.events import ensure_topics
from libs.chassis.settings import ServiceSettings, read
from services.accounts.app import AccountsService
from services.accounts.settings import AccountsSettings
from services.bots.app import BotsService
from services.bots.settings import BotsSettings
from services.clock.app import ClockService
from services.clock.settings import ClockSettings
from services.gateway.app import GatewayService
from services.gateway.settings import GatewaySettings
from services.history.app import HistoryService
from services.history.settings import HistorySettings
from services.matchmaking.app import MatchmakingService
from services.matchmaking.settings import MatchmakingSettings
from services.ratings.app import RatingsService
from services.ratings.settings import RatingsSettings
from services.scoring.app import ScoringService
from services.scoring.settings import ScoringSettings
from services.table.app import TableWorker
from services.table.settings import TableWorkerSettings

START_TIMEOUT_S: Final = 60.0
_TOPICS_TIMEOUT_S: Final = 15.0
_TIMED: Final = frozenset(("table", "clock", "matchmaking", "gateway"))
"""The services that measure deadlines, all against one clock."""


class RunningService(Protocol):
    """What the fleet needs of a service."""

    @property
    def failed(self) -> asyncio.Future[BaseException]: ...

    async def start(self) -> None: ...

    async def stop(self, grace_s: float) -> None: ...


_MAKERS: Final[dict[str, tuple[Callable[..., RunningService], type[ServiceSettings]]]] = {
    "accounts": (AccountsService, AccountsSettings),
    "scoring": (ScoringService, ScoringSettings),
    "bots": (BotsService, BotsSettings),
    "ratings": (RatingsService, RatingsSettings),
    "history": (HistoryService, HistorySettings),
    "table": (TableWorker, TableWorkerSettings),
    "clock": (ClockService, ClockSettings),
    "matchmaking": (MatchmakingService, MatchmakingSettings),
    "gateway": (GatewayService, GatewaySettings),
}


class Fleet:
    """Every service once, or as often as ``copies`` says, in this process and event loop.

    ``settings`` are fields of the services' settings, by service or under "" for all of them. ``clock`` replaces the
    clock that deadlines are measured against.
    """

    def __init__(
        self,
        stack: BackingStack,
        *,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
        copies: Mapping[str, int] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock
        self._stack = stack
        self._settings = settings or {}
        self._copies = copies or {}
        self._running: list[RunningService] = []
        self._addresses: dict[str, tuple[str, ...]] = {}
        self.services: dict[str, list[Any]] = {}

    async def start(self) -> None:
        """Return when players can connect. When a service cannot start, none is left running."""
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                await ensure_topics((self._stack.kafka_bootstrap,), timeout_s=_TOPICS_TIMEOUT_S)
                databases = {name: await self._stack.create_database(name) for name in DATABASES}
                for name in ORDER:
                    await self._start(name, databases.get(name, ""))
        except BaseException:
            await self.stop(0.0)
            raise

    async def stop(self, grace_s: float) -> None:
        """Drain the services, the gateways first."""
        while self._running:
            await self._running.pop().stop(grace_s)

    async def stop_one(self, name: str, place: int = 0, *, grace_s: float = 0.0) -> None:
        """Drain one service alone, as an operator would; the others go on without it."""
        service = self.services[name].pop(place)
        self._running.remove(service)
        await service.stop(grace_s)

    async def wait_for_a_failure(self) -> BaseException:
        """Wait until a service cannot go on; returns why. While all is well this waits for ever."""
        failures = [asyncio.shield(service.failed) for service in self._running]
        done, _ = await asyncio.wait(failures, return_when=asyncio.FIRST_COMPLETED)
        return next(iter(done)).result()

    @property
    def edge_urls(self) -> tuple[str, ...]:
        """Where players find the page, one a gateway, once started."""
        return tuple(f"http://{each.edge_address}" for each in self.services["gateway"])

    @property
    def edge_url(self) -> str:
        """The first of them."""
        return self.edge_urls[0]

    async def add(self, name: str, database_url: str = "", **own: Any) -> Any:
        """Start one more of a service, with settings of its own besides those of its kind; returns it."""
        make, kind = _MAKERS[name]
        fields = {
            **common_settings(self._stack),
            **self._addresses,
            **self._settings.get("", {}),
            **self._settings.get(name, {}),
            **own,
        }
        if database_url:
            fields["database_url"] = database_url
        timing = {} if self._clock is None or name not in _TIMED else {"clock": self._clock}
        service = make(read(kind, **fields), **timing)
        await service.start()
        self._running.append(service)
        self.services[name].append(service)
        return service

    async def _start(self, name: str, database_url: str) -> None:
        self.services[name] = []
        for _ in range(self._copies.get(name, 1)):
            await self.add(name, database_url)
        if name != "gateway":
            self._addresses[f"{name}_address"] = tuple(each.grpc_address for each in self.services[name])
