"""A service's database at its start and later: wait for it, bring its schema up to date, know whether it answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncEngine

from libs.chassis.database import is_retriable, migrate, require_schema
from libs.chassis.errors import Unavailable

_RETRY_START_S = 0.5
_log = structlog.get_logger(__name__)


async def migrate_when_there(
    url: str, folder: Path, *, version_table: str, wait_s: float, migrate_here: bool = True
) -> None:
    """Bring the schema up to date as soon as the database answers, or without `migrate_here` wait until somebody did.

    Raises `Unavailable` when that has not come to pass after `wait_s`.
    """
    prepare = migrate if migrate_here else require_schema
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + wait_s
    while True:
        try:
            await prepare(url, folder, version_table=version_table)
            return
        except Unavailable as error:
            if loop.time() >= give_up_at:
                raise
            _log.warning("waiting for the database", reason=error.message)
        await asyncio.sleep(_RETRY_START_S)


class DatabaseProbe:
    """Knows whether the database answers; readiness depends on that, liveness never."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self.answers = True
        """What the last probe found."""

    async def run(self, every_s: float) -> None:
        """Ask again and again, forever. For a `TaskOwner`."""
        while True:
            await asyncio.sleep(every_s)
            answers = await self._asked()
            if answers is not self.answers:
                _log.warning("database answers again" if answers else "database does not answer")
            self.answers = answers

    async def _asked(self) -> bool:
        try:
            async with self._engine.connect() as connection:
                await connection.execute(sa.text("select 1"))
        except Exception as error:
            if not is_retriable(error):
                raise
            return False
        return True
