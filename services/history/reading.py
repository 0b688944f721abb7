"""What the service answers from its tables, and to whom: a private table's records are for those who played there.

Whoever may not see a record learns the same as from an id that never was (field case C136).
"""

from __future__ import annotations

from dataclasses import dataclass

import grpc
import sqlalchemy as sa
from google.protobuf.message import DecodeError
from sqlalchemy.ext.asyncio import AsyncEngine

from eastwind.events.v1 import envelope_pb2
from eastwind.history.v1 import record_pb2
from eastwind.ratings.v1 import ratings_service_pb2
from libs.chassis.errors import EastwindError, NotFound
from services.history.tables import record_players, records, unit_changes


class RecordUnknown(NotFound):
    """No record of that id for this viewer."""

    reason = "RECORD_UNKNOWN"

    def __init__(self) -> None:
        super().__init__("no record of this id")


class RecordDamaged(EastwindError):
    """The stored bytes are no record."""

    code = grpc.StatusCode.DATA_LOSS

    def __init__(self, record_id: str) -> None:
        super().__init__(f"the stored record {record_id} is damaged")


@dataclass(frozen=True, slots=True)
class Summary:
    """One line of a list; `changes` by seat, empty when the record has no settlement that we can read."""

    record_id: str
    ruleset: str
    table_id: str
    hand: int
    ended_ms: int
    names: tuple[str, ...]
    changes: tuple[int, ...]
    winner: int | None
    rated: bool


@dataclass(frozen=True, slots=True)
class Filter:
    """Which records; "" is any."""

    account_id: str
    table_id: str


async def record_of(engine: AsyncEngine, record_id: str, viewer: str) -> record_pb2.HandRecord:
    """The record, for an account or ("") for somebody unknown. Raises `RecordUnknown` and `RecordDamaged`."""
    statement = sa.select(records.c.content).where(records.c.record_id == record_id, _may_see(viewer))
    async with engine.connect() as connection:
        content = await connection.scalar(statement)
    if content is None:
        raise RecordUnknown
    try:
        return record_pb2.HandRecord.FromString(content)
    except DecodeError as error:
        raise RecordDamaged(record_id) from error


async def changes_of(engine: AsyncEngine, record_id: str) -> list[ratings_service_pb2.RatingChange]:
    """What the unit that the record ended did to ratings, by seat; empty while that is not known."""
    statement = (
        sa.select(unit_changes.c.content)
        .join(records, records.c.unit_id == unit_changes.c.unit_id)
        .where(records.c.record_id == record_id, records.c.carries_changes)
    )
    async with engine.connect() as connection:
        content = await connection.scalar(statement)
    return [] if content is None else list(envelope_pb2.RatingsChanged.FromString(content).changes)


async def summaries(
    engine: AsyncEngine, wanted: Filter, viewer: str, before: tuple[int, str] | None, limit: int
) -> list[Summary]:
    """Records that the viewer may see, newest first; `before` is the end and id of the one shown last."""
    statement = sa.select(
        *(column for column in records.c if column is not records.c.content),
    ).where(_may_see(viewer))
    ended_ms: sa.ColumnElement[int] = records.c.ended_ms
    if wanted.account_id:
        statement = statement.join(record_players, record_players.c.record_id == records.c.record_id)
        statement = statement.where(record_players.c.account_id == wanted.account_id)
        ended_ms = record_players.c.ended_ms
    if wanted.table_id:
        statement = statement.where(records.c.table_id == wanted.table_id)
    if before is not None:
        statement = statement.where(
            sa.tuple_(ended_ms, records.c.record_id) < sa.tuple_(sa.literal(before[0]), sa.literal(before[1]))
        )
    statement = statement.order_by(ended_ms.desc(), records.c.record_id.desc()).limit(limit)
    async with engine.connect() as connection:
        rows = (await connection.execute(statement)).all()
    return [
        Summary(
            row.record_id,
            row.ruleset,
            row.table_id,
            row.hand,
            row.ended_ms,
            tuple(row.names),
            tuple(row.changes),
            row.winner,
            row.rated,
        )
        for row in rows
    ]


def _may_see(viewer: str) -> sa.ColumnElement[bool]:
    if not viewer:
        return sa.not_(records.c.private)
    played = sa.exists().where(record_players.c.record_id == records.c.record_id, record_players.c.account_id == viewer)
    return sa.not_(records.c.private) | played.correlate(records)
