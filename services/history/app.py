"""The history service as one object to start and stop."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from eastwind.history.v1 import history_service_pb2_grpc
from libs.chassis import database
from libs.chassis.account_keys import account_tokens
from libs.chassis.auth import AccessTokenVerifier, AllowList
from libs.chassis.channels import Channels
from libs.chassis.database_upkeep import DatabaseProbe, migrate_when_there
from libs.chassis.events import HANDS, MATCHES, RATINGS, EventConsumer, EventProducer, forget_consumed
from libs.chassis.httpside import HttpSide
from libs.chassis.page_tokens import PageTokens
from libs.chassis.server import GrpcServer
from libs.chassis.service import ServiceObject
from libs.chassis.settings import SettingsError
from libs.chassis.telemetry import Telemetry
from services.history.service import HistoryServicer, adapt_error
from services.history.settings import HistorySettings
from services.history.storing import CONSUMER, Store
from services.history.verifying import Verifier

_SERVICE = "/eastwind.history.v1.HistoryService"
CALLERS: AllowList = {
    f"{_SERVICE}/GetRecord": {"gateway"},
    f"{_SERVICE}/ListRecords": {"gateway"},
    f"{_SERVICE}/ExportRecord": {"gateway"},
    f"{_SERVICE}/VerifyRecord": {"gateway"},
}
"""Which services may call which method."""

MIGRATIONS = Path(__file__).parent / "migrations"


class HistoryService(ServiceObject[HistorySettings]):
    """One instance of the service. Several may live in one process, and several on one database."""

    name = "history"
    _server: GrpcServer
    _http: HttpSide

    def __init__(self, settings: HistorySettings, *, access_tokens: AccessTokenVerifier | None = None) -> None:
        """Players are known by `access_tokens`; without it, by the keys that accounts gives."""
        if not settings.database_url:
            raise SettingsError("EASTWIND_DATABASE_URL is not set, and records are kept in PostgreSQL.")
        super().__init__(settings)
        self._telemetry = Telemetry(self.name, otlp_endpoint=settings.otlp_endpoint, trace_ratio=settings.trace_ratio)
        self._http = HttpSide(settings, self._telemetry.metrics)
        self._channels = Channels(self.name, settings, self._telemetry)
        self._server = GrpcServer(
            settings,
            self._telemetry,
            allow=CALLERS,
            access_tokens=access_tokens or account_tokens(self._channels, ttl_s=settings.jwks_ttl_s),
            error_adapters=[adapt_error],
        )
        self._engine = database.engine(
            settings.database_url,
            pool_size=settings.database_pool,
            overflow=0,
            command_timeout_s=settings.database_timeout_s,
            abandoned_after_s=settings.database_abandoned_s,
        )
        self._probe = DatabaseProbe(self._engine)
        self._producer = EventProducer(settings.kafka_bootstrap, self._telemetry, idempotent=settings.kafka_idempotent)
        self._consumer = EventConsumer(
            settings.kafka_bootstrap,
            CONSUMER,
            [HANDS, MATCHES, RATINGS],
            Store(self._engine, self._telemetry.metrics),
            self._producer,
            self._telemetry,
            session_timeout_s=settings.kafka_session_timeout_s,
        )
        self._verifier = Verifier(settings.verifications)
        servicer = HistoryServicer(self._engine, PageTokens(settings), self._verifier)
        self._server.add(history_service_pb2_grpc.add_HistoryServiceServicer_to_server, servicer)
        self._watch(self._consumer.failed)

    async def _start(self) -> None:
        """Return when records can be read; new ones are stored as soon as the broker is there."""
        self._lifecycle.on_stop("telemetry", self._telemetry.close)
        self._lifecycle.on_stop("channels", self._channels.close)
        self._lifecycle.on_stop("verifier", self._verifier.close)
        self._lifecycle.on_stop("database", self._engine.dispose)
        self._http.add_check("grpc", lambda: self._server.health.serving)
        self._http.add_check("database", lambda: self._probe.answers)
        await self._http.start()
        self._lifecycle.on_stop("http", self._http.stop)
        await migrate_when_there(
            self._settings.database_url,
            MIGRATIONS,
            version_table="history_version",
            wait_s=self._settings.database_wait_s,
            migrate_here=self._settings.database_migrate,
        )
        self._lifecycle.on_stop("producer", lambda: self._producer.stop(5.0), timeout_s=6.0)
        self._lifecycle.on_stop("tasks", self._tasks.close)
        self._tasks.start(self._probe.run(self._settings.database_probe_s), name="history-probe")
        self._tasks.start(self._tidy(), name="history-upkeep")
        await self._consumer.start()
        self._lifecycle.on_stop("consumer", self._consumer.stop, timeout_s=15.0)
        await self._server.start()

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(self._settings.upkeep_every_s)
            try:
                async with self._engine.begin() as connection:
                    await forget_consumed(connection, older_than=timedelta(seconds=self._settings.repeats_kept_s))
            except Exception as error:
                if not database.is_retriable(error):
                    raise
