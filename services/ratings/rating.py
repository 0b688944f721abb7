"""Applies a rated unit: exactly once, to four rows at a time, with what is to be told in the same transaction."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
import structlog
from prometheus_client import Counter
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from eastwind.events.v1 import envelope_pb2
from eastwind.ratings.v1 import ratings_service_pb2
from libs.chassis.events import RATINGS, EventRecord, PoisonMessage, once
from libs.chassis.identifiers import new_event_id
from libs.chassis.telemetry import Telemetry, trace_headers
from libs.chassis.telemetry_contract import metrics as contract
from services.ratings.model import Rating, RatingModel
from services.ratings.outbox import Outbox
from services.ratings.tables import rated_units, rating_changes, ratings
from services.ratings.units import RatedUnit, ladder_of, unit_of

CONSUMER: Final = "ratings"
_LONGEST_ID: Final = 200
_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Change:
    """What a unit did to one player."""

    account_id: str
    placement: int
    before: Rating
    after: Rating


class Rater:
    """The handler of the hands and matches topics."""

    def __init__(self, engine: AsyncEngine, model: RatingModel, outbox: Outbox, telemetry: Telemetry) -> None:
        self._engine = engine
        self._model = model
        self._outbox = outbox
        self._units: Counter = telemetry.metrics.counter(contract.RATED_UNITS)
        self._changes = telemetry.metrics.counter(contract.RATING_CHANGES)
        self._delivery = telemetry.metrics.histogram(contract.RATING_DELIVERY)

    async def __call__(self, event: EventRecord) -> None:
        """Handle one message. Errors of the database go to the consumer, which tries again without moving on."""
        envelope = envelope_pb2.Envelope.FromString(event.payload)
        if not envelope.event_id or len(envelope.event_id) > _LONGEST_ID:
            raise PoisonMessage("the event has no id")
        unit = unit_of(event.topic, envelope)
        outcome = "not_rated"
        if unit is not None:
            outcome = "rated" if await self._apply(unit, envelope) else "repeated"
        self._units.labels(outcome).inc()

    async def _apply(self, unit: RatedUnit, envelope: envelope_pb2.Envelope) -> bool:
        """Rate the unit; false when it had been rated before, under this event's id or another."""
        async with self._engine.begin() as connection:
            if not await once(connection, envelope.event_id, consumer=CONSUMER):
                return False
            if not await _is_new(connection, unit, envelope.event_id):
                return False
            before = await self._lock(connection, unit)
            after = self._model.update(before, unit.placements)
            changes = [_Change(*each) for each in zip(unit.accounts, unit.placements, before, after, strict=True)]
            await _write(connection, unit, changes)
            await self._tell(connection, unit, changes, envelope.sequence)
        self._outbox.nudge()
        self._changes.labels(unit.ruleset).inc(len(changes))
        self._delivery.observe(max(0.0, time.time() - unit.ended_ms / 1000))
        return True

    async def _lock(self, connection: AsyncConnection, unit: RatedUnit) -> list[Rating]:
        """The four ratings by seat, locked in the order of accounts, so that no two units wait for each other.

        Whether an account has a rating is decided by the insert, never by a look that may have
        failed (field case C088).
        """
        ladder, start = ladder_of(unit.ruleset), self._model.start
        first = [
            {
                "ladder": ladder,
                "account_id": account,
                "ruleset": unit.ruleset,
                "mu": start.mu,
                "sigma": start.sigma,
                "units": 0,
                "changed_ms": unit.ended_ms,
            }
            for account in sorted(unit.accounts)
        ]
        await connection.execute(insert(ratings).values(first).on_conflict_do_nothing())
        rows = await connection.execute(
            sa.select(ratings.c.account_id, ratings.c.mu, ratings.c.sigma, ratings.c.units)
            .where(ratings.c.ladder == ladder, ratings.c.account_id.in_(unit.accounts))
            .order_by(ratings.c.account_id)
            .with_for_update()
        )
        found = {row.account_id: Rating(row.mu, row.sigma, row.units) for row in rows}
        return [found[account] for account in unit.accounts]

    async def _tell(self, connection: AsyncConnection, unit: RatedUnit, changes: list[_Change], sequence: int) -> None:
        trace: Mapping[str, str] = trace_headers()
        envelope = envelope_pb2.Envelope(
            event_id=new_event_id(),
            aggregate_id=unit.table_id,
            sequence=sequence,
            occurred_ms=unit.ended_ms,
            trace_parent=trace.get("traceparent", ""),
            rules_version=unit.ruleset,
            ratings_changed=envelope_pb2.RatingsChanged(
                unit_id=unit.unit_id,
                table_id=unit.table_id,
                changes=[_message(unit, change) for change in changes],
            ),
        )
        await self._outbox.add(connection, RATINGS, envelope, trace)


async def _is_new(connection: AsyncConnection, unit: RatedUnit, event_id: str) -> bool:
    statement = (
        insert(rated_units)
        .values(
            unit_id=unit.unit_id,
            ladder=ladder_of(unit.ruleset),
            table_id=unit.table_id,
            event_id=event_id,
            ended_ms=unit.ended_ms,
        )
        .on_conflict_do_nothing()
        .returning(rated_units.c.unit_id)
    )
    return (await connection.execute(statement)).first() is not None


async def _write(connection: AsyncConnection, unit: RatedUnit, changes: list[_Change]) -> None:
    ladder = ladder_of(unit.ruleset)
    update = (
        sa.update(ratings)
        .where(ratings.c.ladder == ladder, ratings.c.account_id == sa.bindparam("of_account"))
        .values(
            ruleset=unit.ruleset,
            mu=sa.bindparam("new_mu"),
            sigma=sa.bindparam("new_sigma"),
            units=sa.bindparam("new_units"),
            changed_ms=unit.ended_ms,
        )
    )
    await connection.execute(
        update,
        [
            {
                "of_account": change.account_id,
                "new_mu": change.after.mu,
                "new_sigma": change.after.sigma,
                "new_units": change.after.units,
            }
            for change in changes
        ],
    )
    rows = [
        {
            "unit_id": unit.unit_id,
            "account_id": change.account_id,
            "ladder": ladder,
            "ruleset": unit.ruleset,
            "mu_before": change.before.mu,
            "mu_after": change.after.mu,
            "sigma_after": change.after.sigma,
            "units_after": change.after.units,
            "placement_tenths": change.placement,
            "changed_ms": unit.ended_ms,
        }
        for change in changes
    ]
    await connection.execute(insert(rating_changes).values(rows))


def _message(unit: RatedUnit, change: _Change) -> ratings_service_pb2.RatingChange:
    return ratings_service_pb2.RatingChange(
        account_id=change.account_id,
        ruleset=unit.ruleset,
        unit_id=unit.unit_id,
        before=change.before.shown,
        after=change.after.shown,
        uncertainty=change.after.uncertainty,
        changed_ms=unit.ended_ms,
        placement_tenths=change.placement,
        provisional=change.after.provisional,
    )
