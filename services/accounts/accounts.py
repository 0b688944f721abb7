"""What the service does, on values: register, log in, renew, log out.

No transaction and no connection is held while a password is hashed. An account and its first session are made in one
transaction, so a call that fails leaves nothing behind. A call whose answer was lost may be repeated:

- `register`: the name is taken then, by the caller's own account; logging in with the same password opens it.
- `register` for a guest: a repeat with the same name and password is answered with another session.
- `register_guest`: a repeat makes another guest; the first stays unused, and its session expires.
- `log_in`: a repeat opens another session; the first expires unused.
- `refresh`: see `sessions`.
- `log_out`: a repeat ends nothing more.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import grpc
import structlog
from prometheus_client import Counter
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from libs.chassis.auth import Identity
from libs.chassis.clocks import Clock
from libs.chassis.errors import EastwindError, PermissionDenied, Unauthenticated, Unavailable
from libs.chassis.identifiers import new_account_id
from services.accounts.attempts import LogInAttempts
from services.accounts.guest_names import made_up_name
from services.accounts.keys import SigningKeys
from services.accounts.names import Name, NameInvalid, read_name
from services.accounts.passwords import LONGEST, PasswordInvalid, Passwords, read_password
from services.accounts.sessions import Grant, Refusal, Sessions
from services.accounts.settings import AccountsSettings
from services.accounts.store import (
    Account,
    account_by_id,
    account_by_key,
    insert_account,
    replace_hash,
    upgrade_guest,
)

_MADE_UP_NAMES_TRIED = 12
_log = structlog.get_logger(__name__)


class NameTaken(EastwindError):
    """Somebody has this name, or one that looks like it."""

    reason = "NAME_TAKEN"
    code = grpc.StatusCode.ALREADY_EXISTS


class WrongCredentials(Unauthenticated):
    """Name and password do not belong together; which of the two is wrong is not told."""

    reason = "WRONG_CREDENTIALS"


@dataclass(frozen=True, slots=True)
class Session:
    """Everything that the player gets."""

    identity: Identity
    access_token: str
    refresh_token: str


class Accounts:
    """The accounts in one database."""

    def __init__(
        self,
        settings: AccountsSettings,
        database: AsyncEngine,
        keys: SigningKeys,
        passwords: Passwords,
        sessions: Sessions,
        attempts: LogInAttempts,
        clock: Clock,
        refreshes: Counter,
    ) -> None:
        self._database = database
        self._keys = keys
        self._passwords = passwords
        self._sessions = sessions
        self._attempts = attempts
        self._clock = clock
        self._refreshes = refreshes
        self._access_token_ms = round(settings.access_token_s * 1000)
        self._chance = random.SystemRandom()

    async def register(self, name_text: str, password_text: str) -> Session:
        """Make an account. Raises `NameInvalid`, `PasswordInvalid`, `NameTaken`."""
        name, password = read_name(name_text), read_password(password_text)
        await self._check_free(name)
        account = Account(new_account_id(), name, await self._passwords.hash(password))
        session = await self._make(account)
        if session is None:
            raise _taken(name)
        return session

    async def upgrade(self, guest: Identity, name_text: str, password_text: str) -> Session:
        """Give a guest a name and a password; its id stays.

        Raises as `register` does, and `Unauthenticated` when the guest's session is over, `PermissionDenied` when the
        account is none of a guest.
        """
        name, password = read_name(name_text), read_password(password_text)
        async with self._database.begin() as connection:
            account = await account_by_id(connection, guest.account_id)
            if account is None or not await self._sessions.is_open(connection, guest.session_id, guest.account_id):
                raise Unauthenticated("the guest's session is over")
        if account.guest:
            await self._check_free(name, account.account_id)
            upgraded = replace(account, name=name, password_hash=await self._passwords.hash(password))
            session = await self._upgrade(upgraded)
            if session is not None:
                return session
        return await self._repeated_upgrade(account.account_id, name, password)

    async def register_guest(self, name_text: str) -> Session:
        """Make a guest, with a made-up name when none is wished. Raises `NameInvalid`, `NameTaken`."""
        if name_text:
            name = read_name(name_text)
            session = await self._make(Account(new_account_id(), name, None))
            if session is None:
                raise _taken(name)
            return session
        for attempt in range(_MADE_UP_NAMES_TRIED):
            name = read_name(made_up_name(attempt, self._chance))
            session = await self._make(Account(new_account_id(), name, None))
            if session is not None:
                return session
        raise Unavailable("no free name was found, try again or bring a name")

    async def log_in(self, name_text: str, password_text: str, client_address: str) -> Session:
        """Open a session. It takes as long for a name that nobody has.

        Raises `WrongCredentials`, and `ResourceExhausted` after too many failures.
        """
        try:
            name_key = read_name(name_text).key
        except NameInvalid:
            name_key = ""
        try:
            password = read_password(password_text)
        except PasswordInvalid:
            name_key, password = "", password_text[:LONGEST]
        tried = name_key or name_text[:LONGEST]
        self._attempts.begin(tried, client_address)
        decided = False
        try:
            async with self._database.connect() as connection:
                account = await account_by_key(connection, name_key)
            right = await self._passwords.verify(password, account.password_hash if account else None)
            decided = True
        finally:
            if not decided:
                self._attempts.undecided(tried, client_address)
        if account is None or not right:
            raise WrongCredentials("name and password do not belong together")
        self._attempts.succeeded(tried, client_address)
        newer = None
        if account.password_hash is not None and self._passwords.is_outdated(account.password_hash):
            newer = await self._passwords.hash(password)
        async with self._database.begin() as connection:
            if newer is not None:
                await replace_hash(connection, account, newer)
            grant = await self._sessions.open(connection, account.account_id)
        return self._session(account, grant)

    async def refresh(self, refresh_token: str) -> Session:
        """Renew a session. Raises `Unauthenticated` when the token is unknown, spent, or of a session that is over."""
        async with self._database.begin() as connection:
            grant = await self._sessions.renew(connection, refresh_token)
            account = await account_by_id(connection, grant.account_id) if isinstance(grant, Grant) else None
        if isinstance(grant, Refusal) or account is None:
            refusal = grant if isinstance(grant, Refusal) else Refusal.OVER
            self._refreshes.labels(refusal.value).inc()
            if refusal is Refusal.REUSED:
                _log.warning("a spent refresh came again, its session is revoked")
            raise Unauthenticated("the session is over, log in again")
        self._refreshes.labels("renewed").inc()
        return self._session(account, grant)

    async def log_out(self, refresh_token: str) -> None:
        """End the session of the token. Access tokens that it gave out last until they expire."""
        async with self._database.begin() as connection:
            await self._sessions.end(connection, refresh_token)

    async def _check_free(self, name: Name, account_id: str = "") -> None:
        """Spare the hash when another account has the name; in the end the table's unique key decides."""
        async with self._database.connect() as connection:
            owner = await account_by_key(connection, name.key)
        if owner is not None and owner.account_id != account_id:
            raise _taken(name)

    async def _make(self, account: Account) -> Session | None:
        async with self._database.begin() as connection:
            if not await insert_account(connection, account, self._clock.now_ms()):
                return None
            grant = await self._sessions.open(connection, account.account_id)
        return self._session(account, grant)

    async def _upgrade(self, upgraded: Account) -> Session | None:
        """None when the account is no guest any more."""
        try:
            async with self._database.begin() as connection:
                if not await upgrade_guest(connection, upgraded, self._clock.now_ms()):
                    return None
                grant = await self._sessions.open(connection, upgraded.account_id)
        except IntegrityError:
            raise _taken(upgraded.name) from None
        return self._session(upgraded, grant)

    async def _repeated_upgrade(self, account_id: str, name: Name, password: str) -> Session:
        """The answer to an upgrade that has been made already: a session, if it is the very same upgrade."""
        async with self._database.connect() as connection:
            account = await account_by_id(connection, account_id)
        if account is None or account.name.key != name.key:
            raise PermissionDenied("this account is registered already, under another name")
        self._attempts.begin(account.name.key, "")
        if not await self._passwords.verify(password, account.password_hash):
            raise PermissionDenied("this account is registered already, with another password")
        self._attempts.succeeded(account.name.key, "")
        async with self._database.begin() as connection:
            grant = await self._sessions.open(connection, account_id)
        return self._session(account, grant)

    def _session(self, account: Account, grant: Grant) -> Session:
        identity = Identity(
            account_id=account.account_id,
            name=account.name.shown,
            guest=account.guest,
            session_id=grant.session_id,
            expires_at=(self._clock.now_ms() + self._access_token_ms) // 1000,
        )
        return Session(identity, self._keys.signer.sign(identity), grant.refresh_token)


def _taken(name: Name) -> NameTaken:
    return NameTaken("this name is taken, or one that looks like it", metadata={"name": name.shown})
