"""A table worker as one object to start and stop."""

from __future__ import annotations

import asyncio

import structlog

from eastwind.table.v1 import table_service_pb2_grpc
from libs.chassis.account_keys import account_tokens
from libs.chassis.channels import Channels
from libs.chassis.clocks import Clock, SteadyClock, export_step
from libs.chassis.events import EventProducer, OutboxRelay
from libs.chassis.httpside import HttpSide
from libs.chassis.identifiers import new_worker_id
from libs.chassis.redis_client import RedisClient
from libs.chassis.server import GrpcServer
from libs.chassis.service import ServiceObject
from libs.chassis.table_store import Outbox, TableStore, WorkerRegistry, Writer, check_server
from libs.chassis.telemetry import Telemetry
from libs.mahjong import variants  # noqa: F401  (registers the rulesets)
from services.table.backlog import Backlog
from services.table.live_tables import LiveTables
from services.table.measuring import Measures
from services.table.peers import Peers
from services.table.refusals import adapt
from services.table.service import ALLOW, TableServicer
from services.table.settings import TableWorkerSettings

_log = structlog.get_logger(__name__)


class TableWorker(ServiceObject[TableWorkerSettings]):
    """One table worker. Several may live in one process."""

    name = "table"

    def __init__(self, settings: TableWorkerSettings, *, clock: Clock | None = None) -> None:
        super().__init__(settings)
        self._clock = clock or SteadyClock()
        self.worker_id = settings.worker_id or new_worker_id("table")
        self._tables: LiveTables | None = None
        self._relay: OutboxRelay | None = None

    async def _start(self) -> None:
        """Return when this worker is in the registry and takes tables."""
        settings, lifecycle = self._settings, self._lifecycle
        telemetry = Telemetry(self.name, otlp_endpoint=settings.otlp_endpoint, trace_ratio=settings.trace_ratio)
        lifecycle.on_stop("telemetry", telemetry.close)
        export_step(self._clock, telemetry.metrics)
        http = HttpSide(settings, telemetry.metrics)
        lifecycle.on_stop("http", http.stop)
        redis = RedisClient(settings.redis_url, client_name=self.worker_id, metrics=telemetry.metrics)
        lifecycle.on_stop("redis", redis.close)
        await redis.open()
        await check_server(redis)
        channels = Channels(self.name, settings, telemetry)
        lifecycle.on_stop("channels", channels.close)
        producer = EventProducer(settings.kafka_bootstrap, telemetry, idempotent=settings.kafka_idempotent)
        lifecycle.on_stop("producer", producer.stop, timeout_s=15.0)
        registry = WorkerRegistry(redis)
        outbox = Outbox(redis)
        relay = OutboxRelay(
            outbox,
            producer,
            self.worker_id,
            settings.kafka_bootstrap,
            telemetry,
            registry=registry,
            retain_s=settings.outbox_retain_s,
        )
        await relay.start()
        lifecycle.on_stop("relay", relay.stop, timeout_s=15.0)
        lifecycle.on_stop("tasks", self._tasks.close)
        backlog = Backlog(outbox, settings.outbox_bound)
        self._tasks.start(backlog.watch(), name="backlog")
        store = TableStore(redis)
        peers = Peers(channels, telemetry.metrics)
        measures = Measures(telemetry)
        tables = LiveTables(
            settings,
            self.worker_id,
            store,
            Writer(store, self.worker_id, metrics=telemetry.metrics, on_outbox=relay.nudge),
            registry,
            self._clock,
            self._tasks,
            measures,
            settle=peers.settle,
            think=peers.think,
            backlog_full=lambda: backlog.full,
        )
        self._server = GrpcServer(settings, telemetry, allow=ALLOW, error_adapters=[adapt])
        servicer = TableServicer(
            tables,
            account_tokens(channels, ttl_s=settings.jwks_ttl_s),
            self._clock,
            self._tasks,
            self._server.draining,
            settings.attach_queue,
            measures,
        )
        self._server.add(table_service_pb2_grpc.add_TableServiceServicer_to_server, servicer)
        await self._server.start()
        http.add_check("serving", lambda: self._server is not None and self._server.health.serving)
        http.add_check("draining", lambda: not tables.draining)
        http.add_check("outbox", lambda: not backlog.full)
        await http.start()
        self._http = http
        tables.announce(self.grpc_address)
        await tables.heartbeat()
        self._tables = tables
        self._tasks.start(tables.keep_alive(), name="keep-alive")

    async def stop(self, grace_s: float) -> None:
        """Hand all tables over, finish the calls that run, send what the outbox holds, and free everything."""
        if self._tables is not None:
            try:
                async with asyncio.timeout(max(1.0, grace_s)):
                    await self._tables.drain()
            except TimeoutError:
                # Their leases run out; whoever needs the tables then takes them.
                _log.error("not all tables were handed over in time", left=len(self._tables))
        if self._server is not None:
            await self._server.stop(min(grace_s, 5.0))
        await self._lifecycle.stop()
