"""One simulation: a fleet of workers, clocks and gateways, tables with players, faults, and what comes of it."""

from __future__ import annotations

import asyncio
import traceback
from collections import Counter
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import structlog

from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import table_service_pb2_grpc
from eastwind.type.v1 import settings_pb2
from libs.chassis.errors import EastwindError
from libs.chassis.redis_client import RedisClient
from libs.chassis.routing import TableRouter
from libs.chassis.table_store import TableStore, WorkerRegistry
from libs.mahjong.engine.table_state import TablePhase
from tests.simulation import invariants
from tests.simulation.chance import all_chance_from, stream
from tests.simulation.edge import Connection
from tests.simulation.faults import PROFILES, Faults
from tests.simulation.journal import Journal
from tests.simulation.network import Network, SimulatedChannels
from tests.simulation.players import Nature, Player
from tests.simulation.processes import (
    STORE_URL,
    ClockReplica,
    Gateway,
    Helpers,
    House,
    Tokens,
    Worker,
    clock_settings,
    worker_settings,
)
from tests.simulation.store import SimulatedStore
from tests.simulation.trace import Trace
from tests.simulation.virtual_time import Process, VirtualLoop

HANDS: Final = 144
TABLES: Final = 36
"""How many hands, at how many tables at once, a plan has that does not say."""
MOST_SECONDS: Final = 3600.0
"""A simulation whose hands are not played by then, in virtual seconds, hangs."""
LAST_HANDS_S: Final = 240.0
"""Once nothing goes wrong any more, every running hand ends within so many virtual seconds."""
LAST_FRAMES_S: Final = 40.0
"""And every player knows its table within so many."""
_RULESETS: Final = ("hkos-3-v1", *("classical",) * 7)
"""By turns. Most tables play without a least number of faan: their hands end sooner, and more of them fit a test."""
_EASY: Final = settings_pb2.BOT_LEVEL_EASY
_NONE: Final = settings_pb2.BOT_LEVEL_UNSPECIFIED
_SPEEDS: Final = (settings_pb2.SPEED_BULLET, settings_pb2.SPEED_BLITZ, settings_pb2.SPEED_STANDARD)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is simulated. The same plan always does the same."""

    seed: int
    hands: int = HANDS
    tables: int = TABLES
    profile: str = "everything"
    workers: int = 3


@dataclass(slots=True)
class Report:
    """What came of a simulation. ``broken`` are the laws that it broke, none when all is well."""

    plan: Plan
    broken: list[str]
    digest: str
    lines: list[str]
    hands: int = 0
    seconds: float = 0.0
    events: int = 0
    counts: Counter[str] = field(default_factory=Counter)


class Simulation:
    """A plan being carried out, on the real store at ``store_url``, which is emptied."""

    def __init__(self, plan: Plan, store_url: str, *, keep_trace: bool = False) -> None:
        self.plan = plan
        self.loop = VirtualLoop()
        self.trace = Trace(self.loop.time, keep=keep_trace)
        self.journal = Journal(self.loop)
        chance = stream(plan.seed, "fleet")
        network = Network(self.loop, stream(plan.seed, "network"), self.trace)
        store = SimulatedStore(self.loop, store_url, stream(plan.seed, "store"), self.trace, self.journal)
        self.loop.connect = store.connect
        self.house = House(self.loop, network, store, self.trace, chance, Tokens())
        self.faults = Faults(self, PROFILES[plan.profile], stream(plan.seed, "faults"))
        self.workers: list[Worker] = []
        self.clocks: list[ClockReplica] = []
        self.gateways: list[Gateway] = []
        self._all_gateways: list[Gateway] = []
        self.players: list[Player] = []
        self.closing = False
        self.crashes: list[str] = []
        self._people = Process("players")
        self._edge_chance = stream(plan.seed, "edge")
        self._connections: list[Connection] = []
        self._started: Counter[str] = Counter()
        self._over: set[str] = set()
        self._unsure: list[Player] = []

    def run(self) -> Report:
        """Carry the plan out."""
        loop = self.loop
        loop.set_exception_handler(self._crashed)
        with all_chance_from(self.plan.seed, lambda: loop.unix_ms), self._logs_in_the_trace():
            try:
                loop.run_until_complete(self._play())
                broken = self.journal.broken + self.crashes
            except Exception as error:
                broken = [
                    *self.journal.broken,
                    *self.crashes,
                    f"the simulation ended at {loop.time():.3f} s: {error!r}",
                ]
            report = Report(self.plan, broken, self.trace.digest, list(self.trace.lines))
            report.hands, report.seconds, report.events = self.journal.hands, loop.time(), self.trace.count
            report.counts = self._counts()
            self.house.network.close()
            self.house.store.close()
            loop.wind_up()
            loop.close()
        return report

    # The fleet, as faults and players see it:

    def start_worker(self) -> Worker:
        """A new table worker."""
        settings = worker_settings(bot_think_least_ms=50, bot_think_most_ms=300)
        worker = Worker(self.house, self._name("worker"), settings)
        self.workers = [each for each in self.workers if not each.process.is_gone]
        self.workers.append(worker)
        return worker

    def start_clock(self) -> ClockReplica:
        """A new replica of the clock."""
        clock = ClockReplica(self.house, self._name("clock"), clock_settings(clock_poll_ms=800))
        self.clocks = [each for each in self.clocks if not each.process.is_gone]
        self.clocks.append(clock)
        return clock

    def start_gateway(self) -> Gateway:
        """A new gateway."""
        gateway = Gateway(self.house, self._name("gateway"))
        self._all_gateways.append(gateway)
        self.gateways = [each for each in self.gateways if not each.process.is_gone]
        self.gateways.append(gateway)
        return gateway

    def break_connections(self, share: float) -> None:
        """Break so many of the players' connections."""
        for connection in tuple(self._connections):
            if self._edge_chance.random() < share:
                connection.broke("the network of the player")

    def connect(self, player: Player) -> Connection:
        """A player's new connection, to any gateway."""
        chance = self._edge_chance
        gateway = chance.choice(self.gateways)
        away = chance.uniform(0.002, 0.04)

        def delay_s() -> float:
            return away * chance.uniform(1.0, 1.3)

        connection = Connection(self.loop, self.house.network, self._people, gateway, player, delay_s)
        if gateway.process.is_gone:
            self.loop.call_later(0.1, connection.broke, "refused", context=self._people.context)
        self._connections = [each for each in self._connections if each.open]
        self._connections.append(connection)
        return connection

    # What happens:

    async def _play(self) -> None:
        Helpers(self.house)
        for _ in range(self.plan.workers):
            self.start_worker()
        for _ in range(2):
            self.start_clock()
            self.start_gateway()
        self.loop.run_in(self._people, self._open_tables(), name="open-tables")
        self.loop.run_in(self._people, self._watch_gateways(), name="watch-gateways")
        self.faults.begin()
        trouble = self.loop.create_task(self.faults.run(), name="faults")
        if not await self._until(self._enough_begun, MOST_SECONDS):
            self.crashes.append(f"only {self.journal.hands} of {self.plan.hands} hands ended; {self._stuck()}")
        trouble.cancel()
        self.faults.end()
        self.closing = True
        if not await self._until(self._all_over, LAST_HANDS_S):
            self.crashes.append(f"hands go on though nothing is wrong any more: {self._stuck()}")
        self._people.context.run(self._leave)
        self._unsure = list(self.players)
        if not await self._until(self._all_know, LAST_FRAMES_S):
            self.crashes += invariants.unequal_views(self.journal, self._unsure)
        if not self.journal.broken and not self.crashes:
            profile = self.faults.profile
            self.crashes += invariants.check(
                self.journal, self.players, self.house.store, self.faults.outages, late=profile.late > 0
            )

    async def _until(self, done: Any, seconds: float) -> bool:
        """Wait until it is done, or a law is broken; ``False`` when it takes too long."""
        ends = self.loop.time() + seconds
        while not done():
            if self.journal.broken or self.crashes:
                return True
            if self.loop.time() > ends:
                return False
            await asyncio.sleep(0.25)
        return True

    def _enough_begun(self) -> bool:
        """As many hands as planned are over, or will be when those that are played now have ended."""
        logs = self.journal.tables.values()
        playing = sum(log.state is not None and log.state.phase is TablePhase.PLAYING for log in logs)
        return self.journal.hands + playing >= self.plan.hands

    def _all_over(self) -> bool:
        """Every table has ended the hand that it was playing; some begin another one by themselves."""
        for log in self.journal.tables.values():
            if log.state is None or log.state.phase is not TablePhase.PLAYING:
                self._over.add(log.table_id)
        return len(self._over) == len(self.journal.tables)

    def _all_know(self) -> bool:
        """Every player has seen its table as it was at that moment."""
        self._unsure = [player for player in self._unsure if invariants.unequal_views(self.journal, [player])]
        return not self._unsure

    def _stuck(self) -> str:
        return "; ".join(
            f"{log.table_id} of {log.owner} stands at {log.sequence} since {log.last_at_s:.1f} s, awaiting "
            f"{log.state.awaited}, due {(log.state.next_due_ms or 0) - self.loop.unix_ms} ms from now"
            for log in self.journal.tables.values()
            if log.state is not None and log.state.phase is TablePhase.PLAYING
        )

    def _leave(self) -> None:
        """Between two hands players leave; in a match they stay, for it would be played to its end."""
        for player in self.players:
            state = self.journal.tables[player.table_id].state
            if state is not None and not state.in_match and state.phase is TablePhase.READY:
                player.leave()

    async def _open_tables(self) -> None:
        """What matchmaking does: make tables, again and again under the same id until it is told that it is made."""
        redis = RedisClient(STORE_URL, client_name="players")
        await redis.open()
        chance = stream(self.plan.seed, "tables")
        router = TableRouter(TableStore(redis), WorkerRegistry(redis))
        channels = SimulatedChannels(self.house.network, self._people, {})
        for number in range(self.plan.tables):
            table_id = f"simulatedtable{number:08d}"
            players = [f"{number}-{seat}" for seat in range(4)]
            settings = settings_pb2.TableSettings(
                ruleset=_RULESETS[number % len(_RULESETS)],
                speed=chance.choice(_SPEEDS),
                rated=chance.random() < 0.5,
                uniform_pacing=chance.random() < 0.25,
            )
            bots = 1 if chance.random() < 0.05 else 0
            request = table_pb2.CreateTableRequest(
                table_id=table_id,
                settings=settings,
                players=[
                    settings_pb2.Player(account_id=name, name=name, bot_level=_EASY if seat >= 4 - bots else _NONE)
                    for seat, name in enumerate(players)
                ],
                first_dealer=chance.randrange(4),
            )
            while True:
                try:
                    worker = await router.place()
                    stub = table_service_pb2_grpc.TableServiceStub(channels.at(worker.address))
                    await stub.CreateTable(request)
                    break
                except EastwindError:
                    await asyncio.sleep(0.3)
            for seat in range(4 - bots):
                self._seat(table_id, players[seat], seat)

    def _seat(self, table_id: str, account: str, seat: int) -> None:
        player = Player(
            self.loop,
            self,
            self.trace,
            account,
            self.house.tokens.token(account),
            table_id,
            seat,
            Nature(),
            stream(self.plan.seed, f"player {account}"),
        )
        self.players.append(player)
        player.start()

    async def _watch_gateways(self) -> None:
        """What the kernel of a gateway that is gone tells its players."""
        noticed: set[Gateway] = set()
        while True:
            await asyncio.sleep(0.1)
            gone = {gateway for gateway in self._all_gateways if gateway.process.is_gone} - noticed
            if gone:
                noticed |= gone
                for connection in tuple(self._connections):
                    if connection.gateway in gone:
                        connection.broke("the gateway is gone")

    def _name(self, kind: str) -> str:
        self._started[kind] += 1
        return f"{kind}-{self._started[kind]}"

    def _counts(self) -> Counter[str]:
        counts = Counter(self.faults.count)
        for player in self.players:
            counts["acknowledged"] += len(player.acknowledged)
            counts["connections"] += player.connections
            counts["gaps"] += player.gaps
            for reason, number in player.refusals.items():
                counts[f"refused {reason}"] += number
        for log in self.journal.tables.values():
            counts["entries"] += log.sequence
            counts["granted ms"] += log.granted_ms
            for resolved in log.resolved.values():
                counts["answered" if resolved.by_player else "timed out"] += 1
        counts["claims"] = sum(self.journal.claims.values())
        return counts

    def _crashed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.crashes.append(f"at {self.loop.time():.3f} s: {context.get('message')}: {context.get('exception')!r}")

    @contextmanager
    def _logs_in_the_trace(self) -> Iterator[None]:
        """Logs go into the trace; one of an error is a broken law."""
        before = structlog.get_config()

        def take(_: Any, level: str, event: MutableMapping[str, Any]) -> Any:
            words = " ".join(f"{name}={value}" for name, value in event.items() if name != "exc_info")
            if level in ("error", "critical"):
                self.crashes.append(f"at {self.loop.time():.3f} s: {words} {_where(event.get('exc_info'))}")
            self.trace.note("log", f"{level} {words}")
            raise structlog.DropEvent

        structlog.configure(processors=[take], cache_logger_on_first_use=False)
        try:
            yield
        finally:
            structlog.configure(**before)


def _where(error: object) -> str:
    """An error with the places that it came through."""
    if not isinstance(error, BaseException):
        return ""
    places = [f"{Path(each.filename).name}:{each.lineno}" for each in traceback.extract_tb(error.__traceback__)]
    return f"{error!r} through {' '.join(places)}"
