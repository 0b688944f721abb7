"""Matchmaking replicas, table workers and what they need, in this process on real servers; and players of them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eastwind.accounts.v1 import accounts_service_pb2, accounts_service_pb2_grpc
from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from eastwind.matchmaking.v1 import matchmaking_service_pb2_grpc
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import view_pb2
from eastwind.type.v1 import settings_pb2
from libs.chassis.auth import USER_METADATA, AccessTokenSigner, Identity
from libs.chassis.channels import Channels
from libs.chassis.clocks import Clock
from libs.chassis.errors import Unavailable
from libs.chassis.events import ensure_topics
from libs.chassis.redis_client import RedisClient
from libs.chassis.routing import TableRouter
from libs.chassis.server import GrpcServer
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.table_store import TableStore, WorkerRegistry
from libs.chassis.telemetry import Telemetry
from services.matchmaking.app import MatchmakingService
from services.matchmaking.settings import MatchmakingSettings
from services.matchmaking.table_calls import TableCalls
from services.table.app import TableWorker
from services.table.settings import TableWorkerSettings
from tests.backing import QUICK_BROKER

KEY = "a key that all services share"
RULESET = "hkos-3-v1"
_NOBODY = "127.0.0.1:9"
_ALLOW: dict[str, set[str]] = {
    f"/{service.full_name}/{method.name}": {"*"}
    for service in accounts_service_pb2.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


async def eventually(found: Callable[[], Awaitable[Any]], *, within_s: float = 20.0) -> Any:
    """Ask again and again until the answer is true; returns it."""
    async with asyncio.timeout(within_s):
        while True:
            answer = await found()
            if answer:
                return answer
            await asyncio.sleep(0.02)


class Keys(accounts_service_pb2_grpc.AccountsServiceServicer):
    """The keys of accounts, whose private half the test has: it makes the tokens of as many players as it likes."""

    def __init__(self) -> None:
        self.signer = AccessTokenSigner(Ed25519PrivateKey.generate(), "test")

    async def GetKeys(self, request: Any, context: Any) -> accounts_service_pb2.GetKeysResponse:
        return accounts_service_pb2.GetKeysResponse(jwks_json=json.dumps({"keys": [self.signer.public_jwk()]}))


class Player:
    """One account, calling the replicas in turn as the gateway does for it."""

    def __init__(self, running: Running, name: str, guest: bool) -> None:
        self.account_id = f"account-{name}"
        self.name = name
        identity = Identity(self.account_id, name, guest, f"session-{name}", int(time.time()) + 3600)
        self._metadata = [(USER_METADATA, f"Bearer {running.keys.signer.sign(identity)}")]
        self._running = running

    def _call(self, method: str, request: Any, replica: int | None) -> Any:
        return getattr(self._running.stub(replica), method)(request, metadata=self._metadata)

    async def queue(self, *, rated: bool = False, replica: int | None = None) -> matchmaking_pb2.EnterQueueResponse:
        request = matchmaking_pb2.EnterQueueRequest(ruleset=RULESET, rated=rated)
        answer: matchmaking_pb2.EnterQueueResponse = await self._call("EnterQueue", request, replica)
        return answer

    async def leave_queue(self) -> None:
        await self._call("LeaveQueue", matchmaking_pb2.LeaveQueueRequest(), None)

    def watch(self, replica: int | None = None) -> Any:
        return self._call("WatchQueue", matchmaking_pb2.WatchQueueRequest(), replica)

    async def outcome(self, replica: int | None = None) -> matchmaking_pb2.WatchQueueResponse:
        """Watch the ticket until it waits no more, across restarts of the replica that answers."""
        while True:
            try:
                async for status in self.watch(replica):
                    if status.state != matchmaking_pb2.QUEUE_STATE_WAITING:
                        answer: matchmaking_pb2.WatchQueueResponse = status
                        return answer
            except Exception as error:
                if not getattr(error, "retriable", False):
                    raise
            await asyncio.sleep(0.05)

    async def create(
        self, request_id: str = "first", *, fill_with: int = 0, replica: int | None = None, **settings: Any
    ) -> matchmaking_pb2.CreateTableResponse:
        wanted: dict[str, Any] = {"ruleset": RULESET, "speed": settings_pb2.SPEED_STANDARD} | settings
        request = matchmaking_pb2.CreateTableRequest(
            request_id=request_id,
            settings=settings_pb2.TableSettings(**wanted),
            fill_with=fill_with,  # type: ignore[arg-type]
        )
        answer: matchmaking_pb2.CreateTableResponse = await self._call("CreateTable", request, replica)
        return answer

    async def tables(self, size: int = 0, token: str = "", ruleset: str = "") -> matchmaking_pb2.ListTablesResponse:
        request = matchmaking_pb2.ListTablesRequest(page_size=size, page_token=token, ruleset=ruleset)
        answer: matchmaking_pb2.ListTablesResponse = await self._call("ListTables", request, None)
        return answer

    async def join(self, table_id: str = "", code: str = "") -> matchmaking_pb2.JoinTableResponse:
        request = matchmaking_pb2.JoinTableRequest(table_id=table_id, code=code)
        answer: matchmaking_pb2.JoinTableResponse = await self._call("JoinTable", request, None)
        return answer

    async def leave(self, table_id: str) -> matchmaking_pb2.LeaveTableResponse:
        request = matchmaking_pb2.LeaveTableRequest(table_id=table_id)
        answer: matchmaking_pb2.LeaveTableResponse = await self._call("LeaveTable", request, None)
        return answer

    async def fill(self, table_id: str, level: int = 1) -> int:
        request = matchmaking_pb2.FillWithBotsRequest(table_id=table_id, level=level)  # type: ignore[arg-type]
        return int((await self._call("FillWithBots", request, None)).filled)

    async def seat(self) -> str:
        """The table where the account sits, as matchmaking says."""
        return str((await self._call("GetSeat", matchmaking_pb2.GetSeatRequest(), None)).table_id)

    async def view(self, table_id: str) -> view_pb2.TableView:
        """The table as the account sees it."""
        return await self._running.table_calls.view(table_id, self.account_id)

    async def ready(self, table_id: str) -> None:
        """Say ready for the first hand."""
        command = table_pb2.TableCommand(ready=table_pb2.Ready(hand=1))
        await self._running.table_calls.act(table_id, self.account_id, command)


class Running:
    """The services of one test."""

    def __init__(self, valkey_url: str, kafka_bootstrap: str) -> None:
        self.keys = Keys()
        self._common: dict[str, Any] = {
            "redis_url": valkey_url,
            "kafka_bootstrap": (kafka_bootstrap,),
            **QUICK_BROKER,
            "service_key": KEY,
            "scoring_address": (_NOBODY,),
            "bots_address": (_NOBODY,),
        }
        self._bootstrap = kafka_bootstrap
        self.replicas: list[MatchmakingService] = []
        self.workers: list[TableWorker] = []
        self._turn = 0

    async def start(self, *, replicas: int = 1, workers: int = 1, clock: Clock | None = None, **settings: Any) -> None:
        """Start that many of each. ``settings`` are matchmaking's; waits are short unless they say otherwise."""
        self._clock = clock
        await ensure_topics((self._bootstrap,), timeout_s=15.0)
        self.base = read(ServiceSettings, **self._common)
        self._key_server = GrpcServer(self.base, Telemetry("accounts"), allow=_ALLOW)
        self._key_server.add(accounts_service_pb2_grpc.add_AccountsServiceServicer_to_server, self.keys)
        await self._key_server.start()
        self._common["accounts_address"] = (self._key_server.address,)
        self._settings = {"queue_poll_s": 0.05, "queue_fill_after_s": 60.0} | settings
        self._channels = Channels("gateway", read(ServiceSettings, **self._common), Telemetry("gateway"))
        self._as_matchmaking = Channels("matchmaking", read(ServiceSettings, **self._common), Telemetry("matchmaking"))
        self.redis = RedisClient(str(self._common["redis_url"]))
        await self.redis.open()
        router = TableRouter(TableStore(self.redis), WorkerRegistry(self.redis))
        self.table_calls = TableCalls(router, self._as_matchmaking)
        for _ in range(workers):
            await self.add_worker()
        for _ in range(replicas):
            self.replicas.append(await self._new_replica())

        async def known() -> bool:
            try:
                await self.player("first").seat()
            except Unavailable:
                return False
            return True

        # The keys of accounts are loaded with the first call; a slow machine may need a second one.
        await eventually(known)

    async def add_worker(self) -> None:
        """Start one more table worker."""
        worker = TableWorker(read(TableWorkerSettings, **self._common))
        await worker.start()
        self.workers.append(worker)

    async def _new_replica(self) -> MatchmakingService:
        replica = MatchmakingService(read(MatchmakingSettings, **self._common, **self._settings), clock=self._clock)
        await replica.start()
        return replica

    async def restart(self, number: int, *, away_s: float = 0.0) -> None:
        """End a replica in whatever it does and put a new one in its place."""
        old = self.replicas[number]
        await old.stop(0.0)
        await asyncio.sleep(away_s)
        self.replicas[number] = await self._new_replica()

    def player(self, name: str, *, guest: bool = False) -> Player:
        return Player(self, name, guest)

    def stub(self, number: int | None = None) -> Any:
        """A replica's stub: the one of that number, or the next in turn."""
        if number is None:
            self._turn += 1
            number = self._turn
        replica = self.replicas[number % len(self.replicas)]
        channel = self._channels.at(replica.grpc_address, timeout_s=20)
        return matchmaking_service_pb2_grpc.MatchmakingServiceStub(channel)

    async def stop(self) -> None:
        for replica in self.replicas:
            await replica.stop(1.0)
        for worker in self.workers:
            await worker.stop(1.0)
        await self._channels.close()
        await self._as_matchmaking.close()
        await self.redis.close()
        await self._key_server.stop(0.0)
