"""The checker: reads the store's file, the databases and the clients' notes, and says what must not be.

It asks no service and shares no code with one; what it needs of the formats it reads by itself. Play may go on
meanwhile: whatever was acknowledged, settled or rated before the check is judged, what comes later is left for the
next one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Set
from dataclasses import dataclass
from typing import Final

import asyncpg

from tests.faults.checker import comparing
from tests.faults.checker.append_only_file import AppendOnlyFile
from tests.faults.checker.databases import Databases
from tests.faults.checker.notes import Notes
from tests.faults.checker.store_history import StoreHistory

ARRIVAL_S: Final = 120.0
"""So long may a finished hand or unit take to its consumers; a fault may have held them up."""


@dataclass(frozen=True, slots=True)
class Report:
    """What one check looked at, and what it found wrong."""

    violations: tuple[str, ...]
    acknowledged: int
    entries: int
    tables: int
    hands: int
    units: int

    def __str__(self) -> str:
        counts = (
            f"{self.acknowledged} acknowledged actions, {self.entries} entries of {self.tables} logs,"
            f" {self.hands} hands, {self.units} rated units"
        )
        return counts if not self.violations else "\n".join((counts, *self.violations[:50]))


class Checker:
    """One run of the platform, checked as often as wanted."""

    def __init__(self, file: AppendOnlyFile, databases: Databases, notes: Notes) -> None:
        """``file`` is the store's, from its first byte on."""
        self.history = StoreHistory()
        self._file = file
        self._databases = databases
        self._notes = notes
        self._compared: set[str] = set()
        self._given_up: dict[str, set[str]] = {}
        self._told: set[str] = set()

    async def follow(self) -> StoreHistory:
        """Read what the store wrote since the last time."""
        await asyncio.to_thread(lambda: self.history.follow(self._file.read_new()))
        return self.history

    async def check(self) -> Report:
        """Check everything that is settled by now, and wait for its records and ratings to arrive.

        A violation is reported once, by the first check that finds it.
        """
        # First what was promised, then what there is: the file holds all that was acknowledged before it is read.
        acknowledged, refused = list(self._notes.acknowledged), list(self._notes.refused)
        discards = {table_id: set(seen) for table_id, seen in self._notes.discards.items()}
        history = await self.follow()
        found = list(self._notes.wrongs)
        found += comparing.acknowledged_actions(history, acknowledged)
        found += comparing.refused_actions(history, refused)
        found += comparing.seen_discards(history, discards)
        found += comparing.unannounced_hands(history)
        hands = comparing.settled_hands(history)
        units = comparing.logged_units(history.tables.values())
        found += await self._missing("record", hands.keys(), self._databases.record_ids)
        found += await self._missing("rating", units.keys(), self._databases.rated_units)
        found += await self._missing("told change", units.keys(), self._databases.told_units)
        fresh = await self._databases.record_ids() - self._compared
        records = await self._databases.records(fresh)
        ratings = await self._databases.ratings()
        # Whatever is in a database by now must be in the file by now.
        history = await self.follow()
        found += comparing.records_against_log(comparing.settled_hands(history), records)
        found += comparing.ratings_against_log(comparing.logged_units(history.tables.values()), ratings)
        found += history.all_violations()
        self._compared |= fresh
        news = tuple(each for each in dict.fromkeys(found) if each not in self._told)
        self._told.update(news)
        return Report(
            news,
            len(acknowledged),
            history.appends,
            len(history.tables),
            len(hands),
            len(units),
        )

    async def _missing(self, what: str, wanted: Set[str], read: Callable[[], Awaitable[set[str]]]) -> list[str]:
        """Wait until all that is wanted is there; returns what has not come in time."""
        given_up = self._given_up.setdefault(what, set())
        missing = set(wanted) - given_up
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ARRIVAL_S):
                while missing:
                    with contextlib.suppress(OSError, asyncpg.PostgresError):
                        missing -= await read()
                    if missing:
                        await asyncio.sleep(0.25)
        given_up |= missing
        return [f"{what} of {each} never came" for each in sorted(missing)]
