"""Settings of the ratings service, beside the common `EASTWIND_*` variables."""

from __future__ import annotations

from pydantic import Field

from libs.chassis.settings import ServiceSettings


class RatingsSettings(ServiceSettings):
    """Each field is the variable `EASTWIND_<FIELD>`. Times are seconds."""

    database_pool: int = Field(default=10, ge=1, le=200)
    database_timeout_s: float = Field(default=10.0, gt=0, description="how long a statement may take")
    database_abandoned_s: float = Field(
        default=15.0, gt=0, description="a transaction that goes silent is rolled back by the server after so long"
    )
    database_probe_s: float = Field(default=2.0, gt=0, description="how often readiness asks the database")
    database_wait_s: float = Field(default=60.0, ge=0, description="how long the start waits for the database")
    outbox_poll_s: float = Field(default=0.5, gt=0, description="how often the outbox is looked at unasked")
    broker_check_s: float = Field(default=15.0, gt=0, description="how often it is asked whether the broker forgot all")
    upkeep_every_s: float = Field(default=3600.0, gt=0, description="how often what is no longer needed is removed")
    repeats_kept_s: float = Field(
        default=30 * 86_400.0, gt=0, description="repeats of an event are recognised for so long by its event id"
    )
