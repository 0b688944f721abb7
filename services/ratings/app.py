"""The ratings service as one object to start and stop."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from sqlalchemy.ext.asyncio import AsyncEngine

from eastwind.ratings.v1 import ratings_service_pb2_grpc
from libs.chassis import database
from libs.chassis.auth import AllowList
from libs.chassis.database_upkeep import DatabaseProbe, migrate_when_there
from libs.chassis.events import HANDS, MATCHES, EventConsumer, EventProducer, forget_consumed
from libs.chassis.httpside import HttpSide
from libs.chassis.page_tokens import PageTokens
from libs.chassis.server import GrpcServer
from libs.chassis.service import ServiceObject
from libs.chassis.settings import SettingsError
from libs.chassis.telemetry import Telemetry
from services.ratings.model import RatingModel
from services.ratings.outbox import Outbox
from services.ratings.rating import CONSUMER, Rater
from services.ratings.service import RatingsServicer, adapt_error
from services.ratings.settings import RatingsSettings

_SERVICE = "/eastwind.ratings.v1.RatingsService"
_READERS = {"gateway", "matchmaking"}
CALLERS: AllowList = {
    f"{_SERVICE}/GetRatings": _READERS,
    f"{_SERVICE}/ListLeaderboard": _READERS,
    f"{_SERVICE}/GetHistory": _READERS,
}
"""Which services may call which method."""

MIGRATIONS = Path(__file__).parent / "migrations"


class RatingsService(ServiceObject[RatingsSettings]):
    """One instance of the service. Several may live in one process, and several on one database."""

    name = "ratings"
    _server: GrpcServer
    _http: HttpSide

    def __init__(self, settings: RatingsSettings) -> None:
        if not settings.database_url:
            raise SettingsError("EASTWIND_DATABASE_URL is not set, and ratings are kept in PostgreSQL.")
        super().__init__(settings)
        self._telemetry = Telemetry(self.name, otlp_endpoint=settings.otlp_endpoint, trace_ratio=settings.trace_ratio)
        self._http = HttpSide(settings, self._telemetry.metrics)
        self._server = GrpcServer(settings, self._telemetry, allow=CALLERS, error_adapters=[adapt_error])
        self._engine = database.engine(
            settings.database_url,
            pool_size=settings.database_pool,
            overflow=0,
            command_timeout_s=settings.database_timeout_s,
            abandoned_after_s=settings.database_abandoned_s,
        )
        self._probe = DatabaseProbe(self._engine)
        self._producer = EventProducer(settings.kafka_bootstrap, self._telemetry, idempotent=settings.kafka_idempotent)
        self._outbox = Outbox(settings, self._engine, self._producer, self._telemetry)
        self._consumer = EventConsumer(
            settings.kafka_bootstrap,
            CONSUMER,
            [HANDS, MATCHES],
            Rater(self._engine, RatingModel(), self._outbox, self._telemetry),
            self._producer,
            self._telemetry,
            session_timeout_s=settings.kafka_session_timeout_s,
        )
        servicer = RatingsServicer(self._engine, PageTokens(settings))
        self._server.add(ratings_service_pb2_grpc.add_RatingsServiceServicer_to_server, servicer)
        self._watch(self._outbox.failed, self._consumer.failed)

    async def _start(self) -> None:
        """Return when ratings can be read; units are consumed as soon as the broker is there."""
        self._lifecycle.on_stop("telemetry", self._telemetry.close)
        self._lifecycle.on_stop("database", self._engine.dispose)
        self._http.add_check("grpc", lambda: self._server.health.serving)
        self._http.add_check("database", lambda: self._probe.answers)
        await self._http.start()
        self._lifecycle.on_stop("http", self._http.stop)
        await migrate_when_there(
            self._settings.database_url,
            MIGRATIONS,
            version_table="ratings_version",
            wait_s=self._settings.database_wait_s,
            migrate_here=self._settings.database_migrate,
        )
        self._lifecycle.on_stop("producer", lambda: self._producer.stop(5.0), timeout_s=6.0)
        self._lifecycle.on_stop("tasks", self._tasks.close)
        await self._outbox.start()
        self._lifecycle.on_stop("outbox", self._outbox.stop, timeout_s=6.0)
        self._tasks.start(self._probe.run(self._settings.database_probe_s), name="ratings-probe")
        self._tasks.start(self._tidy(), name="ratings-upkeep")
        await self._consumer.start()
        self._lifecycle.on_stop("consumer", self._consumer.stop, timeout_s=15.0)
        await self._server.start()

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(self._settings.upkeep_every_s)
            await self._remove_old(self._engine)

    async def _remove_old(self, engine: AsyncEngine) -> None:
        try:
            async with engine.begin() as connection:
                await forget_consumed(connection, older_than=timedelta(seconds=self._settings.repeats_kept_s))
                await self._outbox.remove_sent(connection)
        except Exception as error:
            if not database.is_retriable(error):
                raise
