"""What an operator is told when all ratings are made again from the units."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from libs.chassis import database
from libs.chassis.events import HANDS, MATCHES
from services.ratings.app import MIGRATIONS
from services.ratings.recomputed import recompute
from services.ratings.tables import rating_changes, ratings
from tests.service.ratings.publishing import FOUR, delivered, finished, hand, match, match_finished
from tests.service.ratings.running import rater, settings_for

UNITS = ((24, -8, -8, -8), (-8, 24, -8, -8), (0, 0, 0, 0), (-32, 16, 8, 8))


@pytest.fixture
async def rated(engine: AsyncEngine, postgres_url: str) -> AsyncEngine:
    """A database in which hands on one ladder and a match on another were rated."""
    await database.migrate(postgres_url, MIGRATIONS, version_table="ratings_version")
    rate = rater(settings_for(postgres_url), engine)
    for changes in UNITS:
        await rate(delivered(HANDS, finished(hand(changes))))
    await rate(delivered(HANDS, finished(hand(accounts=("eve", "ann", "fay", "bo")))))
    await rate(delivered(MATCHES, match_finished(match((40, 30, 20, 10)))))
    return engine


async def test_every_rating_follows_from_the_units_to_the_bit(
    rated: AsyncEngine, postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await recompute(settings_for(postgres_url)) == 0
    assert capsys.readouterr().out == "6 units rated again, 0 differences.\n"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (sa.update(ratings).where(ratings.c.account_id == FOUR[0]).values(mu=ratings.c.mu + 1), "ann has"),
        (sa.delete(ratings).where(ratings.c.account_id == FOUR[1]), "bo was rated and has no rating"),
        (sa.delete(rating_changes).where(rating_changes.c.account_id == FOUR[2]), "changed 3 ratings"),
        (sa.update(rating_changes).where(rating_changes.c.change_id == 5).values(mu_after=1.0), "to 1.0"),
        (sa.text("INSERT INTO rated_units VALUES ('lost', 'hkos-3', 'table', 'event', 0)"), "7 units are stored"),
    ],
)
async def test_what_was_changed_otherwise_is_named(
    rated: AsyncEngine, postgres_url: str, capsys: pytest.CaptureFixture[str], damage: sa.Executable, said: str
) -> None:
    async with rated.begin() as connection:
        await connection.execute(damage)
    assert await recompute(settings_for(postgres_url)) == 1
    assert said in capsys.readouterr().out
