"""The clock service as one object to start and stop."""

from __future__ import annotations

from eastwind.clock.v1 import clock_service_pb2_grpc
from libs.chassis.channels import Channels
from libs.chassis.clocks import Clock, SteadyClock, export_step
from libs.chassis.httpside import HttpSide
from libs.chassis.redis_client import RedisClient
from libs.chassis.routing import TableRouter
from libs.chassis.server import GrpcServer
from libs.chassis.service import ServiceObject
from libs.chassis.table_store import DeadlineIndex, TableStore, WorkerRegistry, check_server
from libs.chassis.telemetry import Telemetry
from services.clock.service import ALLOW, ClockServicer
from services.clock.settings import ClockSettings
from services.clock.ticking import Ticker


class ClockService(ServiceObject[ClockSettings]):
    """One replica of the clock. Several may live in one process, and any number may run side by side."""

    name = "clock"

    def __init__(self, settings: ClockSettings, *, clock: Clock | None = None) -> None:
        super().__init__(settings)
        self._clock = clock or SteadyClock()

    async def _start(self) -> None:
        """Return when deadlines are being resolved."""
        settings, lifecycle = self._settings, self._lifecycle
        telemetry = Telemetry(self.name, otlp_endpoint=settings.otlp_endpoint, trace_ratio=settings.trace_ratio)
        lifecycle.on_stop("telemetry", telemetry.close)
        export_step(self._clock, telemetry.metrics)
        redis = RedisClient(settings.redis_url, client_name=self.name, metrics=telemetry.metrics)
        lifecycle.on_stop("redis", redis.close)
        await redis.open()
        await check_server(redis)
        channels = Channels(self.name, settings, telemetry)
        lifecycle.on_stop("channels", channels.close)
        router = TableRouter(TableStore(redis), WorkerRegistry(redis))
        ticker = Ticker(settings, DeadlineIndex(redis), router, channels, self._clock, self._tasks, telemetry.metrics)
        server = GrpcServer(settings, telemetry, allow=ALLOW)
        server.add(clock_service_pb2_grpc.add_ClockServiceServicer_to_server, ClockServicer(ticker, server.draining))
        self._server = server
        await server.start()
        http = HttpSide(settings, telemetry.metrics)
        http.add_check("serving", lambda: server.health.serving)
        http.add_check("store", lambda: ticker.reaches_store)
        lifecycle.on_stop("http", http.stop)
        await http.start()
        self._http = http
        self._tasks.start(ticker.run(), name="ticker")
        self._tasks.start(ticker.count_deadlines(), name="count-deadlines")
        lifecycle.on_stop("ticker", self._tasks.close)

    async def stop(self, grace_s: float) -> None:
        """Stop taking deadlines (other replicas, or this one later, resolve them) and free everything."""
        if self._server is not None:
            await self._server.stop(min(grace_s, 5.0))
        await self._lifecycle.stop()
