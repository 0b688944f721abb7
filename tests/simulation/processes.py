"""The processes of a simulation, each made of the service's own parts as its ``app.py`` puts them together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eastwind.bots.v1 import bots_service_pb2_grpc
from eastwind.scoring.v1 import scoring_service_pb2_grpc
from eastwind.table.v1 import table_service_pb2_grpc
from libs.chassis.auth import AccessTokenSigner, AccessTokenVerifier, Identity
from libs.chassis.clocks import Clock
from libs.chassis.drain import TaskOwner
from libs.chassis.redis_client import RedisClient
from libs.chassis.routing import TableRouter
from libs.chassis.settings import read
from libs.chassis.table_store import DeadlineIndex, TableStore, WorkerRegistry, Writer
from libs.chassis.telemetry import Metrics, Telemetry
from libs.mahjong.bots import choose
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.views import SeatView
from services.bots.service import BotsServicer
from services.bots.service import adapt_error as adapt_bots_error
from services.bots.thinking import Thinker
from services.clock.settings import ClockSettings
from services.clock.ticking import Ticker
from services.gateway.measuring import Measures as GatewayMeasures
from services.gateway.table_links import TableLinks
from services.scoring.service import ScoringServicer
from services.scoring.service import adapt_error as adapt_scoring_error
from services.table.live_tables import LiveTables
from services.table.measuring import Measures as TableMeasures
from services.table.peers import Peers
from services.table.refusals import adapt
from services.table.service import TableServicer
from services.table.settings import TableWorkerSettings
from tests.simulation.network import Network, Server, SimulatedChannels
from tests.simulation.store import SimulatedStore
from tests.simulation.trace import Trace
from tests.simulation.virtual_time import Fate, Process, ProcessClock, VirtualLoop

STORE_URL: Final = "redis://simulated/0"
SCORING: Final = "scoring:1"
BOTS: Final = "bots:1"
_SERVICES: Final[dict[str, Sequence[str]]] = {"scoring": (SCORING,), "bots": (BOTS,)}
_FAR_AHEAD: Final = 4_000_000_000
MOST_AHEAD_MS: Final = 15
"""How far a process's clock may be off."""


@dataclass(frozen=True, slots=True)
class House:
    """What all processes of a simulation live in."""

    loop: VirtualLoop
    network: Network
    store: SimulatedStore
    trace: Trace
    chance: Random
    tokens: Tokens

    def clock(self) -> Clock:
        """A clock for one process."""
        return ProcessClock(self.loop, self.chance.randint(-MOST_AHEAD_MS, MOST_AHEAD_MS))

    def pause(self, process: Process) -> None:
        """As SIGSTOP does."""
        if process.runs:
            process.fate = Fate.STANDS_STILL
            self.trace.note(process.name, "stands still")

    def resume(self, process: Process) -> None:
        """As SIGCONT does."""
        if process.fate is Fate.STANDS_STILL:
            self.trace.note(process.name, "goes on")
            self.loop.resume(process)

    def kill(self, process: Process, *, silently: bool = False) -> None:
        """As SIGKILL does; ``silently`` as when the machine loses its power: nobody tells the others."""
        if not process.is_gone:
            process.fate = Fate.GONE
            self.trace.note(process.name, "is gone" + (", unheard" if silently else ""))
            self.network.vanished(process, silently=silently)


class Tokens:
    """Signs access tokens, and makes verifiers for them."""

    def __init__(self) -> None:
        self._signer = AccessTokenSigner(Ed25519PrivateKey.from_private_bytes(b"simulated".ljust(32)), "simulated")

    def token(self, account: str) -> str:
        """The token of an account, valid for ever."""
        return self._signer.sign(Identity(account, account, False, "session", _FAR_AHEAD))

    def verifier(self) -> AccessTokenVerifier:
        async def load() -> dict[str, object]:
            return {"keys": [self._signer.public_jwk()]}

        return AccessTokenVerifier(load)


class Worker:
    """A table worker."""

    def __init__(self, house: House, name: str, settings: TableWorkerSettings) -> None:
        self.process = Process(name)
        self.address = f"{name}:1"
        self.tables: LiveTables | None = None
        self._house = house
        self._settings = settings
        self._draining: asyncio.Event | None = None
        house.loop.run_in(self.process, self._start(), name="start")

    async def _start(self) -> None:
        house, name = self._house, self.process.name
        tasks = TaskOwner(name)
        clock = house.clock()
        redis = await _connected(name)
        channels = SimulatedChannels(house.network, self.process, _SERVICES)
        measures = TableMeasures(Telemetry("table"))
        metrics = measures.telemetry.metrics
        store = TableStore(redis)
        peers = Peers(channels, metrics)
        registry = WorkerRegistry(redis)
        writer = Writer(store, name, metrics=metrics)
        tables = LiveTables(
            self._settings,
            name,
            store,
            writer,
            registry,
            clock,
            tasks,
            measures,
            settle=peers.settle,
            think=peers.think,
            backlog_full=lambda: False,
        )
        self._draining = asyncio.Event()
        servicer = TableServicer(
            tables, house.tokens.verifier(), clock, tasks, self._draining, self._settings.attach_queue, measures
        )
        server: Any = Server(self.process, self.address, [adapt])
        table_service_pb2_grpc.add_TableServiceServicer_to_server(servicer, server)
        house.network.serve(server)
        tables.announce(self.address)
        tasks.start(tables.keep_alive(), name="keep-alive")
        self.tables = tables
        house.trace.note(name, "serves")

    def drain(self) -> None:
        """As SIGTERM does."""
        self._house.trace.note(self.process.name, "drains")
        self._house.loop.run_in(self.process, self._drain(), name="drain")

    async def _drain(self) -> None:
        if self.tables is not None and self._draining is not None:
            await self.tables.drain()
            self._draining.set()
            await asyncio.sleep(0.5)
        self._house.kill(self.process)


class ClockReplica:
    """A replica of the clock service."""

    def __init__(self, house: House, name: str, settings: ClockSettings) -> None:
        self.process = Process(name)
        self._house = house
        self._settings = settings
        house.loop.run_in(self.process, self._start(), name="start")

    async def _start(self) -> None:
        house, name = self._house, self.process.name
        redis = await _connected(name)
        tasks = TaskOwner(name)
        channels = SimulatedChannels(house.network, self.process, _SERVICES)
        router = TableRouter(TableStore(redis), WorkerRegistry(redis))
        ticker = Ticker(self._settings, DeadlineIndex(redis), router, channels, house.clock(), tasks, Metrics("clock"))
        tasks.start(ticker.run(), name="ticker")
        house.trace.note(name, "serves")


class Gateway:
    """A gateway's links to the workers; what is in front of them is in ``edge``."""

    def __init__(self, house: House, name: str) -> None:
        self.process = Process(name)
        self.links: TableLinks | None = None
        self._house = house
        house.loop.run_in(self.process, self._start(), name="start")

    async def _start(self) -> None:
        house, name = self._house, self.process.name
        redis = await _connected(name)
        tasks = TaskOwner(name)
        channels = SimulatedChannels(house.network, self.process, _SERVICES)
        measures = GatewayMeasures(Telemetry("gateway"))
        links = TableLinks(TableRouter(TableStore(redis), WorkerRegistry(redis)), channels, tasks, measures)
        tasks.start(links.look_after_workers(), name="look-after-workers")
        self.links = links
        house.trace.note(name, "serves")


class _ThinksAtOnce(Thinker):
    """Thinks in the thread of the simulation."""

    async def choose(self, view: SeatView, level: int, seed: int) -> Action:
        return choose(view, level, seed=seed)


class Helpers:
    """The scoring and the bots service, in one process each."""

    def __init__(self, house: House) -> None:
        self.scoring = Process("scoring")
        self.bots = Process("bots")
        self._house = house
        house.loop.run_in(self.scoring, self._start_scoring(), name="start")
        house.loop.run_in(self.bots, self._start_bots(), name="start")

    async def _start_scoring(self) -> None:
        server: Any = Server(self.scoring, SCORING, [adapt_scoring_error])
        servicer = ScoringServicer(asyncio.Event())
        scoring_service_pb2_grpc.add_ScoringServiceServicer_to_server(servicer, server)
        self._house.network.serve(server)

    async def _start_bots(self) -> None:
        server: Any = Server(self.bots, BOTS, [adapt_bots_error])
        servicer = BotsServicer(_ThinksAtOnce(1.0, 64), Metrics("bots"))
        bots_service_pb2_grpc.add_BotsServiceServicer_to_server(servicer, server)
        self._house.network.serve(server)


def worker_settings(**changes: object) -> TableWorkerSettings:
    """Settings of a table worker under simulation."""
    return read(TableWorkerSettings, **changes)


def clock_settings(**changes: object) -> ClockSettings:
    """Settings of a clock replica under simulation."""
    return read(ClockSettings, **changes)


async def _connected(name: str) -> RedisClient:
    """A client of the store, once the store lets it in: a process that starts meanwhile is started again."""
    while True:
        redis = RedisClient(STORE_URL, client_name=name)
        try:
            await redis.open()
            return redis
        except Exception:
            await redis.close()
            await asyncio.sleep(0.5)
