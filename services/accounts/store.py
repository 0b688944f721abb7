"""Accounts as rows. Every function works inside the transaction of the connection that it is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from services.accounts.names import Name
from services.accounts.tables import accounts


@dataclass(frozen=True, slots=True)
class Account:
    """A player; a guest is one without a password."""

    account_id: str
    name: Name
    password_hash: str | None

    @property
    def guest(self) -> bool:
        return self.password_hash is None


async def insert_account(connection: AsyncConnection, account: Account, now_ms: int) -> bool:
    """Add the account; false when its name is taken."""
    statement = (
        insert(accounts)
        .values(
            account_id=account.account_id,
            name=account.name.shown,
            name_key=account.name.key,
            password_hash=account.password_hash,
            created_ms=now_ms,
            registered_ms=None if account.guest else now_ms,
        )
        .on_conflict_do_nothing(index_elements=[accounts.c.name_key])
        .returning(accounts.c.account_id)
    )
    return (await connection.execute(statement)).first() is not None


async def upgrade_guest(connection: AsyncConnection, account: Account, now_ms: int) -> bool:
    """Give a guest its name and password; false when it is no guest any more.

    Raises sqlalchemy's `IntegrityError` when somebody else has the name; the transaction is void then.
    """
    statement = (
        sa.update(accounts)
        .where(accounts.c.account_id == account.account_id, accounts.c.password_hash.is_(None))
        .values(
            name=account.name.shown,
            name_key=account.name.key,
            password_hash=account.password_hash,
            registered_ms=now_ms,
        )
        .returning(accounts.c.account_id)
    )
    return (await connection.execute(statement)).first() is not None


async def replace_hash(connection: AsyncConnection, account: Account, password_hash: str) -> None:
    """Put another hash of the same password in the place of the one that `account` was read with."""
    await connection.execute(
        sa.update(accounts)
        .where(accounts.c.account_id == account.account_id, accounts.c.password_hash == account.password_hash)
        .values(password_hash=password_hash)
    )


async def account_by_key(connection: AsyncConnection, name_key: str) -> Account | None:
    """The account whose name has this key."""
    return await _read(connection, accounts.c.name_key == name_key)


async def account_by_id(connection: AsyncConnection, account_id: str) -> Account | None:
    """The account with this id."""
    return await _read(connection, accounts.c.account_id == account_id)


async def _read(connection: AsyncConnection, where: sa.ColumnElement[bool]) -> Account | None:
    row: Any = (await connection.execute(sa.select(accounts).where(where))).first()
    if row is None:
        return None
    return Account(row.account_id, Name(row.name, row.name_key), row.password_hash)
