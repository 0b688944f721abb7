"""Drops repeats inside the database transaction of their effect."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

consumed_events = sa.Table(
    "consumed_events",
    sa.MetaData(),
    sa.Column("consumer", sa.Text, primary_key=True),
    sa.Column("event_id", sa.Text, primary_key=True),
    sa.Column("consumed_at", sa.DateTime(timezone=True), nullable=False, server_default=sa.func.now(), index=True),
)
"""Create it in a service's migration with `consumed_events.create(op.get_bind())`."""


async def once(connection: AsyncConnection, event_id: str, *, consumer: str) -> bool:
    """True the first time that `consumer` sees this event; false for a repeat, which must have no effect.

    Call it first in the transaction of the effect: both are committed, or neither is. Two deliveries at the same time
    wait for each other.
    """
    statement = insert(consumed_events).values(consumer=consumer, event_id=event_id).on_conflict_do_nothing()
    result = await connection.execute(statement.returning(consumed_events.c.event_id))
    return result.first() is not None


async def forget_consumed(connection: AsyncConnection, *, older_than: timedelta) -> int:
    """Remove notes that are older than any repeat can be; returns how many."""
    before = datetime.now(UTC) - older_than
    result = await connection.execute(sa.delete(consumed_events).where(consumed_events.c.consumed_at < before))
    return result.rowcount
