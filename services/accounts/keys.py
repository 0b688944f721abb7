"""The keys that sign access tokens: one signs, all that may have signed a token that still lives verify.

They live in the database, so that replicas share them and a restart keeps them, or are given by a setting. A key's id
is the thumbprint of its public half (RFC 7638), which all replicas compute alike.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import sqlalchemy as sa
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from libs.chassis.auth import AccessTokenSigner
from libs.chassis.clocks import Clock
from libs.chassis.settings import SettingsError
from services.accounts.settings import AccountsSettings
from services.accounts.tables import signing_keys

_KEY_LOCK = 0x6561_6B65
_PEM = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.+?-----END [A-Z ]*PRIVATE KEY-----", re.DOTALL)
# A replica reads the keys now and then; until it has, it signs with the key before the newest.
_LATE_SIGNERS_MS = 3_600_000


class SigningKeys(Protocol):
    """What signs access tokens and what checks them."""

    @property
    def signer(self) -> AccessTokenSigner:
        """Signs with the newest key that verifiers know. Only after `refresh`."""
        ...

    async def refresh(self) -> None:
        """Learn which keys there are now."""
        ...

    def jwks(self) -> dict[str, Any]:
        """The public keys as a JSON Web Key Set, the newest first."""
        ...


def signing_keys_of(settings: AccountsSettings, database: AsyncEngine, clock: Clock) -> SigningKeys:
    """The keys that the settings give, else those of the database.

    Raises `SettingsError` for a file that cannot be read and for what is no Ed25519 private key in PEM.
    """
    given = settings.signing_key.get_secret_value()
    variable = "EASTWIND_SIGNING_KEY"
    if settings.signing_key_file:
        variable = "EASTWIND_SIGNING_KEY_FILE"
        try:
            given = Path(settings.signing_key_file).read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{variable} names a file that cannot be read: {type(error).__name__}.") from None
    if given or settings.signing_key_file:
        return GivenKeys(given, variable)
    return DatabaseKeys(settings, database, clock)


class GivenKeys:
    """Keys that a setting gives, for as long as it gives them."""

    def __init__(self, pem: str, variable: str) -> None:
        try:
            self._signers = [_signer(block) for block in _PEM.findall(pem)]
        except ValueError as error:
            raise SettingsError(f"{variable} is wrong: {error}.") from None
        if not self._signers:
            raise SettingsError(f"{variable} holds no PEM private key.")

    @property
    def signer(self) -> AccessTokenSigner:
        return self._signers[0]

    async def refresh(self) -> None:
        """Nothing changes while the process runs."""

    def jwks(self) -> dict[str, Any]:
        return _jwks(self._signers)


class DatabaseKeys:
    """Keys that replicas share in the database. The first `refresh` makes one when there is none.

    A key of the age `signing_key_age_s` is followed by a new one, which signs once it has been published for
    `signing_key_lead_s`: verifiers read the keys again only now and then, and would refuse a token of a key that they
    have not heard of. The old key verifies until the tokens that it signed have expired; its row goes when the next
    key is made.
    """

    def __init__(self, settings: AccountsSettings, database: AsyncEngine, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._age_ms = round(settings.signing_key_age_s * 1000)
        self._lead_ms = round(settings.signing_key_lead_s * 1000)
        self._token_ms = round(settings.access_token_s * 1000)
        self._signers: list[AccessTokenSigner] = []
        self._created_ms: list[int] = []

    @property
    def signer(self) -> AccessTokenSigner:
        known_since = self._clock.now_ms() - self._lead_ms
        ages = zip(self._signers, self._created_ms, strict=True)
        # Where there was none before, the first key signs at once: nobody has read a set without it.
        return next((signer for signer, created_ms in ages if created_ms <= known_since), self._signers[-1])

    async def refresh(self) -> None:
        async with self._database.begin() as connection:
            rows = await self._rows(connection)
            if not rows or rows[0].created_ms + self._age_ms <= self._clock.now_ms():
                rows = await self._follow(connection)
        known = {signer.key_id: signer for signer in self._signers}
        gone = self._gone(rows)
        kept = [row for row in rows if row.key_id not in gone]
        self._signers = [known.get(row.key_id) or _signer(row.private_pem) for row in kept]
        self._created_ms = [row.created_ms for row in kept]

    def jwks(self) -> dict[str, Any]:
        return _jwks(self._signers)

    async def _rows(self, connection: AsyncConnection) -> Sequence[Any]:
        newest_first = sa.select(signing_keys).order_by(signing_keys.c.created_ms.desc(), signing_keys.c.key_id)
        return (await connection.execute(newest_first)).all()

    async def _follow(self, connection: AsyncConnection) -> Sequence[Any]:
        """Add a key and remove those that nothing is signed with any more, unless another replica just did."""
        await connection.execute(sa.text("select pg_advisory_xact_lock(:key)"), {"key": _KEY_LOCK})
        now = self._clock.now_ms()
        rows = await self._rows(connection)
        if rows and rows[0].created_ms + self._age_ms > now:
            return rows
        pem = _new_pem()
        await connection.execute(
            sa.insert(signing_keys).values(key_id=_signer(pem).key_id, private_pem=pem, created_ms=now)
        )
        gone = self._gone(rows)
        if gone:
            await connection.execute(sa.delete(signing_keys).where(signing_keys.c.key_id.in_(gone)))
        return await self._rows(connection)

    def _gone(self, rows: Sequence[Any]) -> set[str]:
        """The ids of the keys whose last tokens have expired."""
        last = self._clock.now_ms() - self._token_ms - _LATE_SIGNERS_MS
        return {older.key_id for newer, older in pairwise(rows) if newer.created_ms < last}


def jwks_json(keys: SigningKeys) -> str:
    """The key set as the text that `GetKeys` answers."""
    return json.dumps(keys.jwks(), separators=(",", ":"))


def _jwks(signers: list[AccessTokenSigner]) -> dict[str, Any]:
    return {"keys": [signer.public_jwk() for signer in signers]}


def _new_pem() -> str:
    private = Ed25519PrivateKey.generate()
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode("ascii")


def _signer(pem: str) -> AccessTokenSigner:
    """Raises ValueError for anything but an Ed25519 private key."""
    try:
        private = serialization.load_pem_private_key(pem.encode("ascii"), password=None)
    except (ValueError, TypeError) as error:
        raise ValueError("a private key cannot be read") from error
    if not isinstance(private, Ed25519PrivateKey):
        raise ValueError("a private key is not Ed25519")
    return AccessTokenSigner(private, _thumbprint(private))


def _thumbprint(private: Ed25519PrivateKey) -> str:
    public = private.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    x = base64.urlsafe_b64encode(public).rstrip(b"=").decode()
    members = json.dumps({"crv": "Ed25519", "kty": "OKP", "x": x}, separators=(",", ":"))
    return base64.urlsafe_b64encode(hashlib.sha256(members.encode()).digest()).rstrip(b"=").decode()
