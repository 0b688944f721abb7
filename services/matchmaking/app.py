"""Matchmaking as one object to start and stop."""

from __future__ import annotations

from eastwind.matchmaking.v1 import matchmaking_service_pb2_grpc
from libs.chassis.account_keys import account_tokens
from libs.chassis.channels import Channels
from libs.chassis.clocks import Clock, SteadyClock, export_step
from libs.chassis.events import TABLES, EventConsumer, EventProducer
from libs.chassis.httpside import HttpSide
from libs.chassis.page_tokens import PageTokens
from libs.chassis.redis_client import RedisClient
from libs.chassis.routing import TableRouter
from libs.chassis.server import GrpcServer
from libs.chassis.service import ServiceObject
from libs.chassis.table_store import TableStore, WorkerRegistry
from libs.chassis.telemetry import Telemetry
from services.matchmaking.lobby import Lobby
from services.matchmaking.matcher import Matcher
from services.matchmaking.seats_feed import SeatsFeed
from services.matchmaking.service import ALLOW, MatchmakingServicer
from services.matchmaking.settings import MatchmakingSettings
from services.matchmaking.table_calls import TableCalls
from services.matchmaking.tickets import Tickets


class MatchmakingService(ServiceObject[MatchmakingSettings]):
    """One replica. Several may live in one process, and any number may run side by side."""

    name = "matchmaking"

    def __init__(self, settings: MatchmakingSettings, *, clock: Clock | None = None) -> None:
        super().__init__(settings)
        self._clock = clock or SteadyClock()

    async def _start(self) -> None:
        """Return when players can queue."""
        settings, lifecycle = self._settings, self._lifecycle
        telemetry = Telemetry(self.name, otlp_endpoint=settings.otlp_endpoint, trace_ratio=settings.trace_ratio)
        lifecycle.on_stop("telemetry", telemetry.close)
        export_step(self._clock, telemetry.metrics)
        redis = RedisClient(settings.redis_url, client_name=self.name, metrics=telemetry.metrics)
        lifecycle.on_stop("redis", redis.close)
        await redis.open()
        channels = Channels(self.name, settings, telemetry)
        lifecycle.on_stop("channels", channels.close)
        producer = EventProducer(settings.kafka_bootstrap, telemetry, idempotent=settings.kafka_idempotent)
        lifecycle.on_stop("producer", producer.stop, timeout_s=15.0)
        lobby = Lobby(redis, PageTokens(settings))
        consumer = EventConsumer(
            settings.kafka_bootstrap,
            "matchmaking",
            [TABLES],
            SeatsFeed(lobby).handle,
            producer,
            telemetry,
            session_timeout_s=settings.kafka_session_timeout_s,
        )
        self._watch(consumer.failed)
        await consumer.start()
        lifecycle.on_stop("consumer", consumer.stop, timeout_s=15.0)
        tickets = Tickets(redis, settings.queue_ticket_s)
        tables = TableCalls(TableRouter(TableStore(redis), WorkerRegistry(redis)), channels)
        tokens = account_tokens(channels, ttl_s=settings.jwks_ttl_s)
        server = GrpcServer(settings, telemetry, allow=ALLOW, access_tokens=tokens)
        servicer = MatchmakingServicer(settings, tickets, lobby, tables, self._clock, server.draining)
        server.add(matchmaking_service_pb2_grpc.add_MatchmakingServiceServicer_to_server, servicer)
        self._server = server
        await server.start()
        http = HttpSide(settings, telemetry.metrics)
        http.add_check("serving", lambda: server.health.serving)
        lifecycle.on_stop("http", http.stop)
        await http.start()
        self._http = http
        matcher = Matcher(settings, tickets, tables, producer, self._clock, telemetry.metrics)
        self._tasks.start(matcher.run(), name="matcher")
        lifecycle.on_stop("matcher", self._tasks.close)

    async def stop(self, grace_s: float) -> None:
        """Finish the calls that run; tickets stay, and another replica, or this one later, goes on with them."""
        if self._server is not None:
            await self._server.stop(min(grace_s, 5.0))
        await self._lifecycle.stop()
