"""What the service answers from its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from services.ratings.model import PROVISIONAL_UNITS, Rating
from services.ratings.tables import rating_changes, ratings


@dataclass(frozen=True, slots=True)
class Standing:
    """An account's rating on the ladder of a ruleset."""

    account_id: str
    ladder: str
    ruleset: str
    rating: Rating


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a rating, by which unit; `before` as shown, `change_id` rises with time on a ladder."""

    change_id: int
    account_id: str
    ruleset: str
    unit_id: str
    before: int
    after: Rating
    placement_tenths: int
    changed_ms: int


async def standings(engine: AsyncEngine, accounts: Sequence[str], ladder: str) -> list[Standing]:
    """The ratings that these accounts have, on one ladder or ("") on all, in the order of accounts and ladders."""
    statement = sa.select(ratings).where(ratings.c.account_id.in_(accounts))
    if ladder:
        statement = statement.where(ratings.c.ladder == ladder)
    return await _standings(engine, statement.order_by(ratings.c.account_id, ratings.c.ladder))


async def leaderboard(engine: AsyncEngine, ladder: str, after: tuple[float, str] | None, limit: int) -> list[Standing]:
    """The best of a ladder, best first, without provisional ratings; `after` is the rating and account shown last."""
    statement = sa.select(ratings).where(ratings.c.ladder == ladder, ratings.c.units >= PROVISIONAL_UNITS)
    if after is not None:
        mu, account = after
        statement = statement.where(
            (ratings.c.mu < mu) | ((ratings.c.mu == mu) & (ratings.c.account_id > account)),
        )
    return await _standings(engine, statement.order_by(ratings.c.mu.desc(), ratings.c.account_id).limit(limit))


async def changes(engine: AsyncEngine, account: str, ladder: str, before: int | None, limit: int) -> list[Change]:
    """An account's changes, newest first, on one ladder or ("") on all; `before` is the change shown last."""
    columns = rating_changes.c
    statement = sa.select(rating_changes).where(columns.account_id == account)
    if ladder:
        statement = statement.where(columns.ladder == ladder)
    if before is not None:
        statement = statement.where(columns.change_id < before)
    async with engine.connect() as connection:
        rows = (await connection.execute(statement.order_by(columns.change_id.desc()).limit(limit))).all()
    return [
        Change(
            change_id=row.change_id,
            account_id=row.account_id,
            ruleset=row.ruleset,
            unit_id=row.unit_id,
            before=round(row.mu_before),
            after=Rating(row.mu_after, row.sigma_after, row.units_after),
            placement_tenths=row.placement_tenths,
            changed_ms=row.changed_ms,
        )
        for row in rows
    ]


async def _standings(engine: AsyncEngine, statement: sa.Select[tuple[object, ...]]) -> list[Standing]:
    async with engine.connect() as connection:
        rows = (await connection.execute(statement)).all()
    return [Standing(row.account_id, row.ladder, row.ruleset, Rating(row.mu, row.sigma, row.units)) for row in rows]
