"""Ratings services to try, on a real database and a real broker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from eastwind.ratings.v1 import ratings_service_pb2 as messages
from eastwind.ratings.v1 import ratings_service_pb2_grpc
from libs.chassis.channels import Channels
from libs.chassis.events import EventProducer
from libs.chassis.settings import read
from libs.chassis.telemetry import Telemetry
from services.ratings.app import RatingsService
from services.ratings.model import RatingModel
from services.ratings.outbox import Outbox
from services.ratings.rating import Rater
from services.ratings.settings import RatingsSettings
from services.ratings.tables import rating_changes
from tests.backing import QUICK_BROKER
from tests.service.chassis.waiting import until

SERVICE_KEY = "a key that all services share"
NOWHERE = ("127.0.0.1:1",)
QUICK = {
    "service_key": SERVICE_KEY,
    **QUICK_BROKER,
    "broker_check_s": 0.3,
    "outbox_poll_s": 0.05,
}


def settings_for(database_url: str, bootstrap: str = "", **values: Any) -> RatingsSettings:
    servers = (bootstrap,) if bootstrap else NOWHERE
    return read(RatingsSettings, **{**QUICK, "database_url": database_url, "kafka_bootstrap": servers, **values})


class Running:
    """Services that run, all stopped at the end of the test."""

    def __init__(self) -> None:
        self._services: list[RatingsService] = []
        self._channels: list[Channels] = []

    async def start(self, database_url: str, bootstrap: str = "", **values: Any) -> RatingsService:
        """Another replica."""
        service = RatingsService(settings_for(database_url, bootstrap, **values))
        await service.start()
        self._services.append(service)
        return service

    async def stop(self, service: RatingsService) -> None:
        self._services.remove(service)
        await service.stop(1.0)

    def stub(self, service: RatingsService, caller: str = "gateway") -> Any:
        channels = Channels(caller, read(RatingsSettings, service_key=SERVICE_KEY), Telemetry(caller))
        self._channels.append(channels)
        return ratings_service_pb2_grpc.RatingsServiceStub(channels.at(service.grpc_address, timeout_s=20))

    async def stop_all(self) -> None:
        for channels in self._channels:
            await channels.close()
        for service in list(self._services):
            await self.stop(service)


@dataclass(frozen=True)
class Bench:
    """The part of the service that rates, without a broker, and the service that reads beside it."""

    rate: Rater
    stub: Any
    engine: AsyncEngine

    async def ratings(self, *accounts: str, ruleset: str = "hkos-3-v1") -> list[messages.Rating]:
        request = messages.GetRatingsRequest(account_ids=accounts, ruleset=ruleset)
        return list((await self.stub.GetRatings(request)).ratings)


def rater(settings: RatingsSettings, engine: AsyncEngine) -> Rater:
    """The handler of a service, to be called by the test itself."""
    telemetry = Telemetry("rater")
    producer = EventProducer(NOWHERE, telemetry, idempotent=False)
    return Rater(engine, RatingModel(), Outbox(settings, engine, producer, telemetry), telemetry)


async def changes_in(engine: AsyncEngine) -> dict[tuple[str, str], tuple[float, float]]:
    """Every change as it is stored: unit and account to the rating before and after."""
    async with engine.connect() as connection:
        rows = (await connection.execute(sa.select(rating_changes))).all()
    return {(row.unit_id, row.account_id): (row.mu_before, row.mu_after) for row in rows}


async def until_rated(engine: AsyncEngine, *units: str, seconds: float = 60.0) -> None:
    """Wait until these units have changed ratings."""

    async def rated() -> bool:
        return set(units) <= {unit for unit, _account in await changes_in(engine)}

    await until(rated, seconds=seconds)
