"""What history and ratings keep, read with plain SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import asyncpg

from eastwind.history.v1 import record_pb2
from eastwind.table.v1 import event_pb2
from tests.faults.checker.table_log import Move

_MELDS: Final = {"meld_claimed": "claimed", "kong_declared": "declared", "kong_completed": "completed"}
_TILES: Final = {"tile_drawn": "drawn", "bonus_exposed": "bonus", "tile_discarded": "discarded", "hand_won": "won"}


@dataclass(frozen=True, slots=True)
class Record:
    """A hand's record, as far as it is compared with the log."""

    record_id: str
    table_id: str
    hand: int
    moves: tuple[Move, ...]
    changes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """One row of ratings' changes, in the order in which they were made."""

    unit_id: str
    ladder: str
    account_id: str
    mu_before: float
    mu_after: float
    sigma_after: float
    units_after: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A rating as it stands."""

    ladder: str
    account_id: str
    mu: float
    sigma: float
    units: int


@dataclass(frozen=True, slots=True)
class Ratings:
    """All of ratings' tables at one moment."""

    changes: tuple[Change, ...]
    standings: tuple[Standing, ...]
    units: frozenset[str]


def read_record(content: bytes) -> Record:
    """Return what a stored record says."""
    record = record_pb2.HandRecord.FromString(content)
    moves: list[Move] = []
    changes: tuple[int, ...] = ()
    for recorded in record.events:
        name = recorded.event.WhichOneof("event")
        if name == "hand_settled":
            changes = tuple(recorded.event.hand_settled.changes)
        elif name in _TILES or name in _MELDS:
            moves.append(_move(recorded.event, name))
    return Record(record.record_id, record.table_id, record.hand, tuple(moves), changes)


def _move(event: event_pb2.TableEvent, name: str) -> Move:
    what = getattr(event, name)
    if name in _MELDS:
        return _MELDS[name], what.seat, tuple(what.meld.tiles)
    return _TILES[name], what.seat, (what.tile,)


class Databases:
    """Reads both databases. Every method opens a connection of its own, so that an outage leaves nothing behind."""

    def __init__(self, history_url: str, ratings_url: str) -> None:
        self._history_url = history_url
        self._ratings_url = ratings_url

    async def record_ids(self) -> set[str]:
        """The hands of which history has a record."""
        connection = await asyncpg.connect(self._history_url, timeout=10)
        try:
            return {row["record_id"] for row in await connection.fetch("SELECT record_id FROM records")}
        finally:
            await connection.close()

    async def records(self, wanted: set[str]) -> list[Record]:
        """The records with these ids."""
        connection = await asyncpg.connect(self._history_url, timeout=10)
        try:
            rows = await connection.fetch("SELECT content FROM records WHERE record_id = ANY($1)", list(wanted))
            return [read_record(row["content"]) for row in rows]
        finally:
            await connection.close()

    async def told_units(self) -> set[str]:
        """The rated units whose changes history has heard of."""
        connection = await asyncpg.connect(self._history_url, timeout=10)
        try:
            return {row["unit_id"] for row in await connection.fetch("SELECT unit_id FROM unit_changes")}
        finally:
            await connection.close()

    async def rated_units(self) -> set[str]:
        """The units that changed ratings."""
        connection = await asyncpg.connect(self._ratings_url, timeout=10)
        try:
            return {row["unit_id"] for row in await connection.fetch("SELECT unit_id FROM rated_units")}
        finally:
            await connection.close()

    async def ratings(self) -> Ratings:
        """Everything that ratings keeps, as of one moment."""
        connection = await asyncpg.connect(self._ratings_url, timeout=10)
        try:
            async with connection.transaction(isolation="repeatable_read", readonly=True):
                units = await connection.fetch("SELECT unit_id FROM rated_units")
                changes = await connection.fetch(
                    "SELECT unit_id, ladder, account_id, mu_before, mu_after, sigma_after, units_after"
                    " FROM rating_changes ORDER BY change_id"
                )
                standings = await connection.fetch("SELECT ladder, account_id, mu, sigma, units FROM ratings")
        finally:
            await connection.close()
        return Ratings(
            tuple(Change(**row) for row in changes),
            tuple(Standing(**row) for row in standings),
            frozenset(row["unit_id"] for row in units),
        )
