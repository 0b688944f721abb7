"""Stores what the events tell: every finished hand, whole, whatever it looks like (field case C098)."""

from __future__ import annotations

import time
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from eastwind.events.v1 import envelope_pb2
from eastwind.history.v1 import record_pb2
from eastwind.table.v1 import event_pb2
from libs.chassis.events import HANDS, MATCHES, RATINGS, EventRecord, PoisonMessage, once
from libs.chassis.telemetry import Metrics
from libs.chassis.telemetry_contract import metrics as contract
from services.history.tables import matches, record_players, records, unit_changes

CONSUMER: Final = "history"
_LONGEST_ID: Final = 200
_EXPECTED: Final = {HANDS: "hand_finished", MATCHES: "match_finished", RATINGS: "ratings_changed"}


class Store:
    """The handler of the hands, matches and ratings topics."""

    def __init__(self, engine: AsyncEngine, metrics: Metrics) -> None:
        self._engine = engine
        self._delivery = metrics.histogram(contract.HAND_DELIVERY)

    async def __call__(self, event: EventRecord) -> None:
        """Handle one message. Errors of the database go to the consumer, which tries again without moving on.

        Raises `PoisonMessage` for what no service says. A record that this release cannot read is not among that: a
        later one wrote it, and its bytes are kept for whoever can read them.
        """
        envelope = envelope_pb2.Envelope.FromString(event.payload)
        kind = envelope.WhichOneof("payload")
        if kind != _EXPECTED[event.topic]:
            raise PoisonMessage(f"{event.topic} carries {_EXPECTED[event.topic]}, not {kind}")
        _check_id(envelope.event_id, "the event")
        async with self._engine.begin() as connection:
            if not await once(connection, envelope.event_id, consumer=CONSUMER):
                return
            match kind:
                case "hand_finished":
                    await _store_record(connection, envelope.hand_finished.record)
                case "match_finished":
                    await _store_match(connection, envelope.match_finished.match)
                case "ratings_changed":
                    await _store_changes(connection, envelope.ratings_changed)
        if kind == "hand_finished":
            self._delivery.observe(max(0.0, time.time() - envelope.occurred_ms / 1000))


async def _store_record(connection: AsyncConnection, record: record_pb2.HandRecord) -> None:
    _check_id(record.record_id, "the record")
    settled = _settlement(record)
    row = {
        "record_id": record.record_id,
        "format": record.format,
        "ruleset": record.ruleset,
        "table_id": record.table_id,
        "hand": record.hand,
        "unit_id": record.unit_id,
        "carries_changes": record.rated and (record.unit_id == record.record_id or bool(record.match_places)),
        "started_ms": record.started_ms,
        "ended_ms": record.ended_ms,
        "private": record.settings.private,
        "rated": record.rated,
        "names": [player.name for player in record.players],
        "changes": list(settled.changes),
        "winner": settled.winner if settled.HasField("winner") else None,
        "content": record.SerializeToString(),
    }
    statement = insert(records).values(row).on_conflict_do_nothing().returning(records.c.record_id)
    if (await connection.execute(statement)).first() is None:
        return
    accounts = sorted({player.account_id for player in record.players if player.account_id})
    if accounts:
        players = [
            {"account_id": account, "ended_ms": record.ended_ms, "record_id": record.record_id} for account in accounts
        ]
        await connection.execute(sa.insert(record_players).values(players))


async def _store_match(connection: AsyncConnection, match: record_pb2.MatchRecord) -> None:
    _check_id(match.match_id, "the match")
    row = {
        "match_id": match.match_id,
        "ruleset": match.ruleset,
        "table_id": match.table_id,
        "ended_ms": match.ended_ms,
        "content": match.SerializeToString(),
    }
    await connection.execute(insert(matches).values(row).on_conflict_do_nothing())


async def _store_changes(connection: AsyncConnection, changed: envelope_pb2.RatingsChanged) -> None:
    _check_id(changed.unit_id, "the unit")
    row = {"unit_id": changed.unit_id, "table_id": changed.table_id, "content": changed.SerializeToString()}
    await connection.execute(insert(unit_changes).values(row).on_conflict_do_nothing())


def _settlement(record: record_pb2.HandRecord) -> event_pb2.HandSettled:
    for recorded in reversed(record.events):
        if recorded.event.WhichOneof("event") == "hand_settled":
            return recorded.event.hand_settled
    return event_pb2.HandSettled()


def _check_id(text: str, what: str) -> None:
    if not text or len(text) > _LONGEST_ID:
        raise PoisonMessage(f"{what} has no id")
