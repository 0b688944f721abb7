"""Settings of a table worker."""

from __future__ import annotations

from pydantic import Field

from libs.chassis.settings import ServiceSettings


class TableWorkerSettings(ServiceSettings):
    """What a table worker can be told. Durations end in their unit."""

    table_capacity: int = Field(default=10_000, gt=0, description="tables that this worker says it can hold")
    rollout: str = Field(default="", description="shared by the workers of one rolling update")
    table_lease_ms: int = Field(default=5_000, ge=500, description="how long an ownership lasts without renewal")
    table_mailbox: int = Field(default=64, gt=0, description="commands that may wait at one table")
    table_passivate_after_s: float = Field(default=60.0, gt=0, description="idle time before a table leaves memory")
    attach_queue: int = Field(default=4_096, gt=0, description="messages that may wait for one gateway")
    bot_think_least_ms: int = Field(default=450, ge=0, description="the shortest time a computer player thinks")
    bot_think_most_ms: int = Field(default=1_200, ge=0, description="the longest time a computer player thinks")
    pacing_least_ms: int = Field(default=500, ge=0, description="the shortest pause after a discard")
    pacing_most_ms: int = Field(default=1_300, ge=0, description="the longest pause after a discard")
    outbox_bound: int = Field(
        default=50_000,
        gt=0,
        description="messages in the outbox, retained ones included, from which on no table and no hand begins",
    )
