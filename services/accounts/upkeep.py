"""What goes on between the calls: is the database there, which keys are there, which sessions are over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import asyncpg
import sqlalchemy as sa
import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from services.accounts.keys import SigningKeys
from services.accounts.sessions import Sessions

_log = structlog.get_logger(__name__)


class Upkeep:
    """Loops for a `TaskOwner`. They live through outages of the database."""

    def __init__(self, database: AsyncEngine, keys: SigningKeys, sessions: Sessions) -> None:
        self._database = database
        self._keys = keys
        self._sessions = sessions
        self.database_answers = True
        """What the last probe found; readiness depends on it, liveness never."""

    async def probe_every(self, seconds: float) -> None:
        """Ask the database whether it is there, forever."""
        while True:
            await asyncio.sleep(seconds)
            answers = await self._passes(self._probe)
            if answers is not self.database_answers:
                _log.warning("database answers again" if answers else "database does not answer")
            self.database_answers = answers

    async def tidy_every(self, seconds: float) -> None:
        """Read the keys again and remove sessions that are over, forever."""
        while True:
            await asyncio.sleep(seconds)
            await self._passes(self._keys.refresh)
            await self._passes(self._remove_expired)

    async def _passes(self, work: Callable[[], Awaitable[None]]) -> bool:
        try:
            await work()
        except (SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
            # Also what does not pass by itself, as a refused password: a new process would not have a better one.
            _log.debug("work in the database failed", error=type(error).__name__)
            return False
        return True

    async def _probe(self) -> None:
        async with self._database.connect() as connection:
            await connection.execute(sa.text("select 1"))

    async def _remove_expired(self) -> None:
        async with self._database.begin() as connection:
            removed = await self._sessions.remove_expired(connection)
        if removed:
            _log.info("expired sessions removed", number=removed)
