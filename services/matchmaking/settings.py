"""Settings of matchmaking."""

from __future__ import annotations

from pydantic import Field

from libs.chassis.settings import ServiceSettings


class MatchmakingSettings(ServiceSettings):
    """What matchmaking can be told."""

    queue_fill_after_s: float = Field(default=15.0, gt=0, description="waiting time after which computers fill a table")
    queue_ticket_s: float = Field(default=8.0, gt=0, description="how long a ticket lives that nobody watches")
    queue_poll_s: float = Field(default=0.2, gt=0, description="how often queues and tickets are looked at")
    queue_bot_level: int = Field(default=2, ge=1, le=3, description="how well the computers of Quick Play play")
