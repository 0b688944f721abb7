"""Settings of the bots service."""

from __future__ import annotations

from pydantic import Field

from libs.chassis.settings import ServiceSettings


class BotsSettings(ServiceSettings):
    """The common `EASTWIND_*` variables and the bounds of thinking."""

    decide_timeout_s: float = Field(default=1.0, gt=0, le=30, description="how long one decision may take")
    decide_queue: int = Field(default=256, ge=1, le=100_000, description="decisions that may wait; more are refused")
