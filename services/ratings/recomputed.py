"""`python -m services.ratings.recomputed` rates every unit in the database again, and compares.

For operators, after a restore. From the placements of all rated units, in the order in which they were rated, every
change and every rating follows to the bit. It needs `EASTWIND_DATABASE_URL` alone, and reads one moment beside a
service that runs.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from libs.chassis import database
from libs.chassis.settings import load
from services.ratings.model import Rating, RatingModel
from services.ratings.settings import RatingsSettings
from services.ratings.tables import rated_units, rating_changes, ratings

_SEATS: Final = 4
_PAGE: Final = 2000


class Recomputation:
    """All ratings as the units make them; `found` says what is stored otherwise, `units` how many were rated."""

    def __init__(self, model: RatingModel) -> None:
        self._model = model
        self._own: dict[tuple[str, str], Rating] = {}
        self._open: dict[str, list[Any]] = {}
        self.units = 0
        self.found: list[str] = []

    def add(self, change: Any) -> None:
        """Take the next change, in the order of their ids; with the last one of its unit the unit is rated."""
        changes = self._open.setdefault(change.unit_id, [])
        changes.append(change)
        if len(changes) < _SEATS:
            return
        del self._open[change.unit_id]
        self.units += 1
        players = [(each.ladder, each.account_id) for each in changes]
        before = [self._own.get(player, self._model.start) for player in players]
        after = self._model.update(before, [each.placement_tenths for each in changes])
        for player, each, mine, made in zip(players, changes, before, after, strict=True):
            self._own[player] = made
            stored = (each.mu_before, each.mu_after, each.sigma_after, each.units_after)
            if stored != (mine.mu, made.mu, made.sigma, made.units):
                self.found.append(f"unit {each.unit_id} took {each.account_id} from {stored[0]} to {stored[1]}")

    def compare(self, rating: Any) -> None:
        """Take a stored rating."""
        mine = self._own.pop((rating.ladder, rating.account_id), self._model.start)
        if (rating.mu, rating.sigma, rating.units) != (mine.mu, mine.sigma, mine.units):
            self.found.append(f"{rating.account_id} has {rating.mu} of {rating.units} units, not {mine.mu}")

    def finish(self, units: int) -> None:
        """Take the number of units that are stored as rated; nothing comes any more."""
        self.found += [f"unit {unit_id} changed {len(changes)} ratings" for unit_id, changes in self._open.items()]
        self.found += [f"{account} was rated and has no rating" for _, account in self._own]
        if units != self.units:
            self.found.append(f"{units} units are stored as rated, {self.units} changed ratings")


async def recompute(settings: RatingsSettings) -> int:
    """Print what differs and how many units were rated again; returns the exit code, 0 when nothing differs."""
    engine = database.engine(settings.database_url, pool_size=1, overflow=0, command_timeout_s=60.0)
    recomputation = Recomputation(RatingModel())
    try:
        async with engine.connect() as plain:
            connection = await plain.execution_options(isolation_level="REPEATABLE READ")
            async for change in _rows(connection, rating_changes, rating_changes.c.change_id):
                recomputation.add(change)
            async for rating in _rows(connection, ratings, ratings.c.ladder):
                recomputation.compare(rating)
            recomputation.finish(int(await connection.scalar(sa.select(sa.func.count()).select_from(rated_units)) or 0))
    finally:
        await engine.dispose()
    for line in recomputation.found:
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{recomputation.units} units rated again, {len(recomputation.found)} differences.\n")
    return 0 if not recomputation.found else 1


async def _rows(connection: AsyncConnection, table: sa.Table, order: sa.Column[Any]) -> AsyncIterator[Any]:
    """The rows of a table, fetched as they are needed."""
    result = await connection.stream(sa.select(table).order_by(order).execution_options(yield_per=_PAGE))
    async for row in result:
        yield row


def main() -> None:
    """The command."""
    settings = load(RatingsSettings)
    if not settings.database_url:
        sys.exit("EASTWIND_DATABASE_URL is not set, and ratings are kept in PostgreSQL.")
    sys.exit(asyncio.run(recompute(settings)))


if __name__ == "__main__":
    main()
