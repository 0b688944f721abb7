"""Every service of Eastwind in the test's own loop, and players who come to it over the public edge.

A test module that uses these fixtures runs its tests in one loop:
``pytestmark = pytest.mark.asyncio(loop_scope="module")``.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final, Protocol
from uuid import uuid4

import aiohttp
import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from deploy.local.ports import LOOPBACK
from deploy.local.stack import BackingStack
from eastwind.edge.v1 import frames_pb2
from eastwind.history.v1 import history_service_pb2 as history_pb2
from eastwind.history.v1 import record_pb2
from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from eastwind.table.v1 import event_pb2, view_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import action_pb2, settings_pb2
from libs.chassis.clocks import Clock
from libs.contracts.bot_views import hand_view_from_proto
from libs.contracts.tiles import action_to_proto
from libs.contracts.view_folding import coming_hand
from libs.mahjong.bots import Level, choose
from services.cli.edge_calls import EdgeCalls, EdgeRefusedError
from services.cli.edge_client import EdgeClient
from services.cli.playing import HandResult, Policy, SeatPlayer
from tests.backing import BACKING, QUICK_BROKER, Keeper

HKOS: Final = "hkos-3-v1"
HISTORY: Final = "eastwind.history.v1.HistoryService"
MATCHMAKING: Final = "eastwind.matchmaking.v1.MatchmakingService"
QUICK: Final[dict[str, dict[str, Any]]] = {
    "": {**QUICK_BROKER, "log_level": "error", "rpc_timeout_s": 9.0},
    "table": {"bot_think_least_ms": 0, "bot_think_most_ms": 2, "pacing_least_ms": 0, "pacing_most_ms": 0},
    "clock": {"clock_poll_ms": 2},
    "matchmaking": {"queue_poll_s": 0.02, "queue_fill_after_s": 60.0},
    "gateway": {"call_rate": 1_000.0, "call_burst": 1_000, "socket_rate": 500.0, "socket_burst": 500},
}
"""Settings under which nobody has to wait."""


class FastClock:
    """Unix milliseconds that run ``rate`` times as fast as they do elsewhere."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._wall_ms = time.time_ns() // 1_000_000
        self._monotonic_ns = time.monotonic_ns()

    def now_ms(self) -> int:
        return self._wall_ms + (time.monotonic_ns() - self._monotonic_ns) * self._rate // 1_000_000


class ShiftedClock:
    """Unix milliseconds that a test puts forward."""

    def __init__(self) -> None:
        self._clock = FastClock(1)
        self._ahead_ms = 0

    def now_ms(self) -> int:
        return self._clock.now_ms() + self._ahead_ms

    def advance(self, milliseconds: int) -> None:
        self._ahead_ms += milliseconds


class HandClock:
    """Unix milliseconds that move by hand alone."""

    def __init__(self) -> None:
        self._now_ms = time.time_ns() // 1_000_000

    def now_ms(self) -> int:
        return self._now_ms

    def set(self, now_ms: int) -> None:
        """Move to that moment; never back."""
        self._now_ms = max(self._now_ms, now_ms)


class Recorder:
    """Keeps every frame that a client was sent, and when it came, in seconds."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.moments: list[float] = []

    def __call__(self, frame: bytes) -> None:
        self.frames.append(frame)
        self.moments.append(time.monotonic())

    @property
    def updates(self) -> list[view_pb2.TableUpdate]:
        """The updates of tables among them, in order."""
        parsed = (frames_pb2.ServerFrame.FromString(frame) for frame in self.frames)
        return [frame.table for frame in parsed if frame.HasField("table")]

    @property
    def events(self) -> list[event_pb2.TableEvent]:
        """All events in the updates, in order."""
        return [event for update in self.updates for event in update.events]


async def easy(view: view_pb2.TableView) -> action_pb2.Action:
    """The policy of an easy computer player, thought out at once."""
    return action_to_proto(choose(hand_view_from_proto(view), Level.EASY, seed=view.decision.decision))


async def silent(view: view_pb2.TableView) -> None:
    """The policy of a player who is not there."""


def merged(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """``QUICK`` with some fields changed."""
    return {name: {**QUICK.get(name, {}), **settings.get(name, {})} for name in {*QUICK, *settings}}


class StartFleet(Protocol):
    """Starts a fleet that is stopped at the end of the module."""

    async def __call__(
        self,
        settings: Mapping[str, Mapping[str, Any]] = ...,
        copies: Mapping[str, int] = ...,
        clock: Clock | None = ...,
    ) -> Fleet: ...


@asynccontextmanager
async def open_house(fleet: Fleet) -> AsyncIterator[House]:
    """Players at a fleet, gone at the end of the block."""
    async with aiohttp.ClientSession() as http:
        house = House(fleet, http)
        try:
            yield house
        finally:
            await house.close()


class House:
    """Players at one fleet; whoever came in is gone after the test."""

    def __init__(self, fleet: Fleet, http: aiohttp.ClientSession, url: str = "") -> None:
        self.fleet = fleet
        self.http = http
        self.calls = EdgeCalls(url or fleet.edge_url, http)
        self.clients: list[EdgeClient] = []
        self.heard: dict[EdgeClient, Recorder] = {}

    async def guest(self, name: str = "", *, url: str = "") -> EdgeClient:
        """A new guest with an open connection; ``heard`` keeps what it is sent."""
        calls = EdgeCalls(url, self.http) if url else self.calls
        recorder = Recorder()
        client = EdgeClient(calls, await calls.register_guest(name), self.http, on_frame=recorder)
        self.heard[client] = recorder
        return await self.enter(client)

    async def enter(self, client: EdgeClient) -> EdgeClient:
        """Connect a client that is closed after the test."""
        self.clients.append(client)
        await client.start()
        return client

    async def create(
        self,
        client: EdgeClient,
        *,
        speed: settings_pb2.Speed.ValueType = settings_pb2.SPEED_STANDARD,
        rated: bool = False,
        pacing: bool = False,
        private: bool = False,
        computers: settings_pb2.BotLevel.ValueType = settings_pb2.BOT_LEVEL_UNSPECIFIED,
    ) -> str:
        """Have a player make a table; returns its id."""
        settings = settings_pb2.TableSettings(
            ruleset=HKOS, speed=speed, rated=rated, uniform_pacing=pacing, private=private
        )
        request = matchmaking_pb2.CreateTableRequest(request_id=uuid4().hex, settings=settings, fill_with=computers)
        made = await self.calls.call(
            f"{MATCHMAKING}/CreateTable", request, matchmaking_pb2.CreateTableResponse, client.session.access_token
        )
        return made.table_id

    async def join(self, client: EdgeClient, table_id: str) -> int:
        """Have a player take a seat; returns which."""
        request = matchmaking_pb2.JoinTableRequest(table_id=table_id)
        joined = await self.calls.call(
            f"{MATCHMAKING}/JoinTable", request, matchmaking_pb2.JoinTableResponse, client.session.access_token
        )
        return joined.seat

    async def four(
        self,
        *,
        speed: settings_pb2.Speed.ValueType = settings_pb2.SPEED_STANDARD,
        rated: bool = False,
        pacing: bool = False,
    ) -> tuple[str, list[EdgeClient]]:
        """Four guests at a table of their own; returns it and the players by seat."""
        guests = await asyncio.gather(*(self.guest() for _ in range(4)))
        table_id = await self.create(guests[0], speed=speed, rated=rated, pacing=pacing)
        await self.joinable(table_id, guests[1])
        for guest in guests[1:]:
            await self.join(guest, table_id)
        seats: dict[int, EdgeClient] = {}
        for guest in guests:
            table = await guest.watch(table_id)
            seats[(await table.until(lambda view: view.HasField("viewer"))).viewer] = guest
        return table_id, [seats[seat] for seat in range(4)]

    async def deal(self, table_id: str, players: Sequence[EdgeClient]) -> int:
        """Have all say ready; returns the seat on turn once the hand has begun, as all players have seen it."""

        def begun(view: view_pb2.TableView) -> bool:
            return view.phase == view_pb2.TABLE_PHASE_PLAYING and view.decision.decision > 0

        for player in players:
            table = await player.watch(table_id)
            view = await table.until(lambda view: view.phase == view_pb2.TABLE_PHASE_READY)
            ready = table_pb2.Ready(hand=coming_hand(view))
            answer = await player.command(table_id, table_pb2.TableCommand(ready=ready))
            assert not answer.reason, answer
        views = [await (await player.watch(table_id)).until(begun) for player in players]
        return views[0].decision.seat

    async def joinable(self, table_id: str, client: EdgeClient) -> None:
        """Wait until the lobby lists a table."""
        async with asyncio.timeout(60):
            while True:
                listed = await self.calls.call(
                    f"{MATCHMAKING}/ListTables",
                    matchmaking_pb2.ListTablesRequest(page_size=100),
                    matchmaking_pb2.ListTablesResponse,
                    client.session.access_token,
                )
                if any(table.table_id == table_id for table in listed.tables):
                    return
                await asyncio.sleep(0.02)

    async def play(
        self, table_id: str, players: Sequence[EdgeClient], policies: Sequence[Policy] = (easy,) * 4, *, hands: int = 1
    ) -> list[list[HandResult]]:
        """Let the players play; returns the results of each."""
        seats = [SeatPlayer(client, table_id, policy) for client, policy in zip(players, policies, strict=True)]
        return await asyncio.gather(*(seat.play(hands) for seat in seats))

    async def found(self, record_id: str) -> history_pb2.GetRecordResponse:
        """What history has of a hand, once it has it, with its rating changes when it is rated."""
        request = history_pb2.GetRecordRequest(record_id=record_id)
        token = self.clients[0].session.access_token
        async with asyncio.timeout(100):
            while True:
                try:
                    found = await self.calls.call(f"{HISTORY}/GetRecord", request, history_pb2.GetRecordResponse, token)
                except EdgeRefusedError as error:
                    if error.reason not in ("RECORD_UNKNOWN", "UNAVAILABLE"):
                        raise
                else:
                    if found.rating_changes or not found.record.rated:
                        return found
                await asyncio.sleep(0.05)

    async def record(self, record_id: str) -> record_pb2.HandRecord:
        """The record of a hand, once history has it."""
        return (await self.found(record_id)).record

    async def close(self) -> None:
        await asyncio.gather(*(client.close() for client in self.clients))


@pytest.fixture(scope="session")
def backing_stack(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackingStack]:
    """Valkey, broker and PostgreSQL for the fleets of this test process."""
    stack = BackingStack(tmp_path_factory.mktemp("stack"), backing=BACKING, fsync=False)
    keeper.run(stack.start())
    yield stack
    keeper.run(stack.stop())


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def start_fleet(backing_stack: BackingStack) -> AsyncIterator[StartFleet]:
    """Fleets with settings of the module's own. Two of one module share tables, accounts and records."""
    async with AsyncExitStack() as started:

        async def start(
            settings: Mapping[str, Mapping[str, Any]] = QUICK,
            copies: Mapping[str, int] = {},
            clock: Clock | None = None,
        ) -> Fleet:
            fleet = Fleet(backing_stack, settings=settings, copies=copies, clock=clock)
            await fleet.start()
            started.push_async_callback(fleet.stop, 1.0)
            return fleet

        yield start
    with socket.create_connection((LOOPBACK, backing_stack.valkey.port), timeout=5) as connection:
        connection.sendall(b"FLUSHALL SYNC\r\n")
        assert connection.recv(64) == b"+OK\r\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(start_fleet: StartFleet) -> Fleet:
    """Every service once, quick."""
    return await start_fleet()


@pytest_asyncio.fixture(loop_scope="module")
async def house(fleet: Fleet) -> AsyncIterator[House]:
    """Players at the module's fleet."""
    async with open_house(fleet) as house:
        yield house
