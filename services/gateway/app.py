"""A gateway as one object to start and stop."""

from __future__ import annotations

from eastwind.type.v1 import reason_pb2
from libs.chassis.account_keys import account_tokens
from libs.chassis.channels import Channels
from libs.chassis.clocks import Clock, SteadyClock, export_step
from libs.chassis.events import RATINGS, EventFeed
from libs.chassis.httpside import HttpSide
from libs.chassis.redis_client import RedisClient
from libs.chassis.routing import TableRouter
from libs.chassis.service import ServiceObject
from libs.chassis.table_store import TableStore, WorkerRegistry
from libs.chassis.telemetry import Telemetry
from services.gateway.calls import Calls
from services.gateway.edge import Edge
from services.gateway.matchmaking import Matchmaking
from services.gateway.measuring import Measures
from services.gateway.rates import RateLimits
from services.gateway.rating_feed import RatingFeed
from services.gateway.settings import GatewaySettings
from services.gateway.surroundings import Surroundings
from services.gateway.table_links import TableLinks


class GatewayService(ServiceObject[GatewaySettings]):
    """One gateway. Several may live in one process, and any number may run side by side."""

    name = "gateway"

    def __init__(self, settings: GatewaySettings, *, clock: Clock | None = None) -> None:
        super().__init__(settings)
        self._clock = clock or SteadyClock()
        self._edge: Edge | None = None

    @property
    def edge_address(self) -> str:
        """`host:port` that players connect to, once started."""
        assert self._edge is not None
        return f"{self._settings.edge_host}:{self._edge.port}"

    async def _start(self) -> None:
        """Return when players can connect."""
        settings, lifecycle = self._settings, self._lifecycle
        telemetry = Telemetry(self.name, otlp_endpoint=settings.otlp_endpoint, trace_ratio=settings.trace_ratio)
        lifecycle.on_stop("telemetry", telemetry.close)
        export_step(self._clock, telemetry.metrics)
        redis = RedisClient(settings.redis_url, client_name=self.name, metrics=telemetry.metrics)
        lifecycle.on_stop("redis", redis.close)
        await redis.open()
        channels = Channels(self.name, settings, telemetry)
        lifecycle.on_stop("channels", channels.close)
        measures = Measures(telemetry)
        links = TableLinks(TableRouter(TableStore(redis), WorkerRegistry(redis)), channels, self._tasks, measures)
        around = Surroundings(
            access_tokens=account_tokens(channels, ttl_s=settings.jwks_ttl_s),
            links=links,
            matchmaking=Matchmaking(channels),
            measures=measures,
        )
        calls = Calls(channels, settings, RateLimits(settings.call_rate, settings.call_burst))
        edge = Edge(settings, around, calls, self._clock)
        measures.sockets.set_function(lambda: len(edge.sockets))
        measures.watches.set_function(lambda: sum(socket.watching for socket in edge.sockets))
        feed = EventFeed(settings.kafka_bootstrap, [RATINGS], RatingFeed(edge.sockets).handle, telemetry)
        await feed.start()
        lifecycle.on_stop("feed", feed.stop)
        self._tasks.start(links.look_after_workers(), name="look-after-workers")
        lifecycle.on_stop("tasks", self._tasks.close)
        lifecycle.on_stop("links", links.close)
        lifecycle.on_stop("edge", edge.stop)
        await edge.start()
        self._tasks.start(edge.cut_silent_connections(), name="cut-silent-connections")
        self._edge = edge
        http = HttpSide(settings, telemetry.metrics)
        http.add_check("edge", lambda: not edge.draining)
        telemetry.metrics.draining.set_function(lambda: float(edge.draining))
        lifecycle.on_stop("http", http.stop)
        await http.start()
        self._http = http

    async def stop(self, grace_s: float) -> None:
        """Send everybody elsewhere, each at a slightly different time, and free everything."""
        if self._edge is not None:
            await self._edge.drain(reason_pb2.REASON_GOING_AWAY, "this server is going away", min(grace_s, 5.0))
        await self._lifecycle.stop()
