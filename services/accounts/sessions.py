"""Sessions and the refresh tokens that renew them.

A refresh token is 256 random bits, and only its hash is stored. It renews its session once: its successor is issued and
it is spent. A spent token that comes again was stolen or copied, so the whole session is revoked. One thing looks alike
and is harmless: the same call once more, because its answer was lost. Therefore the successor is a function of the
token and of a secret of the session: within `refresh_retry_s`, and while nobody has used the successor, a repeated call
gets the same successor again. There is never a second line of tokens, and a thief still meets the owner at the next
use.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from enum import Enum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from libs.chassis.clocks import Clock
from services.accounts.settings import AccountsSettings
from services.accounts.tables import refresh_tokens, sessions

_TOKEN_BYTES = 32
_REMOVED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Grant:
    """A session of an account, and the token that will renew it."""

    account_id: str
    session_id: str
    refresh_token: str


class Refusal(Enum):
    """Why a refresh token renews nothing."""

    UNKNOWN = "unknown"
    OVER = "over"
    REUSED = "reused"


class Sessions:
    """Opens, renews and ends sessions, inside the transaction of the connection that each method is given."""

    def __init__(self, settings: AccountsSettings, clock: Clock) -> None:
        self._clock = clock
        self._idle_ms = round(settings.session_idle_s * 1000)
        self._retry_ms = round(settings.refresh_retry_s * 1000)

    async def open(self, connection: AsyncConnection, account_id: str) -> Grant:
        """Begin a session."""
        now = self._clock.now_ms()
        session_id = secrets.token_urlsafe(16)
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        await connection.execute(
            sa.insert(sessions).values(
                session_id=session_id,
                account_id=account_id,
                chain_secret=secrets.token_bytes(32),
                created_ms=now,
                expires_ms=now + self._idle_ms,
            )
        )
        await self._issue(connection, session_id, token, now)
        return Grant(account_id, session_id, token)

    async def renew(self, connection: AsyncConnection, token: str) -> Grant | Refusal:
        """Spend the token for its successor. Commit also after a refusal: it may have revoked the session."""
        now = self._clock.now_ms()
        hashed = _hash(token)
        session = await self._locked(connection, hashed)
        if session is None:
            return Refusal.UNKNOWN
        if session.revoked_ms is not None or session.expires_ms <= now:
            return Refusal.OVER
        successor = _successor(session.chain_secret, token)
        grant = Grant(session.account_id, session.session_id, successor)
        # Read after the lock was got: another call may have spent it while this one waited.
        used_ms = await _used_ms(connection, hashed)
        if used_ms is not None:
            if max(0, now - used_ms) < self._retry_ms and await _used_ms(connection, _hash(successor)) is None:
                return grant
            await self._revoke(connection, session.session_id, now)
            return Refusal.REUSED
        await connection.execute(
            sa.update(refresh_tokens).where(refresh_tokens.c.token_hash == hashed).values(used_ms=now)
        )
        await self._issue(connection, session.session_id, successor, now)
        await connection.execute(
            sa.update(sessions)
            .where(sessions.c.session_id == session.session_id)
            .values(expires_ms=now + self._idle_ms)
        )
        await connection.execute(
            sa.delete(refresh_tokens).where(
                refresh_tokens.c.session_id == session.session_id, refresh_tokens.c.used_ms < now - self._idle_ms
            )
        )
        return grant

    async def end(self, connection: AsyncConnection, token: str) -> None:
        """End the session of the token, spent or not. A token that is unknown ends nothing."""
        session = await self._locked(connection, _hash(token))
        if session is not None and session.revoked_ms is None:
            await self._revoke(connection, session.session_id, self._clock.now_ms())

    async def is_open(self, connection: AsyncConnection, session_id: str, account_id: str) -> bool:
        """Whether the account has this session and it is not over."""
        found = await connection.execute(
            sa.select(sessions.c.session_id).where(
                sessions.c.session_id == session_id,
                sessions.c.account_id == account_id,
                sessions.c.revoked_ms.is_(None),
                sessions.c.expires_ms > self._clock.now_ms(),
            )
        )
        return found.first() is not None

    async def remove_expired(self, connection: AsyncConnection) -> int:
        """Remove sessions past their time, at most a thousand; returns how many."""
        expired = (
            sa.select(sessions.c.session_id)
            .where(sessions.c.expires_ms <= self._clock.now_ms())
            .limit(_REMOVED_AT_ONCE)
            .with_for_update(skip_locked=True)
        )
        removed = await connection.execute(sa.delete(sessions).where(sessions.c.session_id.in_(expired)))
        return removed.rowcount

    async def _locked(self, connection: AsyncConnection, hashed: bytes) -> Any:
        of_token = sa.select(refresh_tokens.c.session_id).where(refresh_tokens.c.token_hash == hashed)
        statement = sa.select(sessions).where(sessions.c.session_id == of_token.scalar_subquery()).with_for_update()
        return (await connection.execute(statement)).first()

    async def _issue(self, connection: AsyncConnection, session_id: str, token: str, now_ms: int) -> None:
        await connection.execute(
            sa.insert(refresh_tokens).values(token_hash=_hash(token), session_id=session_id, issued_ms=now_ms)
        )

    async def _revoke(self, connection: AsyncConnection, session_id: str, now_ms: int) -> None:
        await connection.execute(
            sa.update(sessions).where(sessions.c.session_id == session_id).values(revoked_ms=now_ms)
        )


async def _used_ms(connection: AsyncConnection, hashed: bytes) -> int | None:
    used_ms: int | None = await connection.scalar(
        sa.select(refresh_tokens.c.used_ms).where(refresh_tokens.c.token_hash == hashed)
    )
    return used_ms


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _successor(chain_secret: bytes, token: str) -> str:
    digest = hmac.digest(chain_secret, token.encode(), "sha256")
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
