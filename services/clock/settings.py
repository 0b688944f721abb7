"""Settings of the clock service."""

from __future__ import annotations

from pydantic import Field

from libs.chassis.settings import ServiceSettings


class ClockSettings(ServiceSettings):
    """What the clock can be told."""

    clock_poll_ms: int = Field(default=20, ge=1, le=1000, description="the longest sleep between two looks")
    clock_batch: int = Field(default=512, gt=0, description="deadlines taken at once")
    clock_visibility_ms: int = Field(default=1_500, ge=100, description="how long a taken deadline is this replica's")
