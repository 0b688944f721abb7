"""Who calls: services by tokens that they sign with the shared key, players by the access tokens of accounts.

Both are checked here, in every service. A method serves only the callers on its list; there is no default.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from libs.chassis.errors import PermissionDenied, Unauthenticated, Unavailable
from libs.chassis.interceptors import Context
from libs.chassis.settings import SettingsError

CALLER_METADATA = "eastwind-caller"
USER_METADATA = "authorization"
CLIENT_ADDRESS_METADATA = "eastwind-client-address"
"""The IP address of the player's connection, as the gateway saw it; accounts bounds log-ins by it."""

ISSUER = "eastwind-accounts"
AUDIENCE = "eastwind"
ANY_SERVICE = "*"

_CALLER_AUDIENCE = "eastwind-services"
_CALLER_LIFETIME_S = 120
_REUSE_CALLER_TOKEN_S = 30
_CLOCK_LEEWAY_S = 30

Jwks = Mapping[str, Any]
JwksLoader = Callable[[], Awaitable[Jwks]]
AllowList = Mapping[str, frozenset[str] | set[str]]
"""Full method name ("/eastwind.table.v1.TableService/Act") to the services that may call it; `ANY_SERVICE` is all."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A player as an access token names them; `expires_at` is unix seconds."""

    account_id: str
    name: str
    guest: bool
    session_id: str
    expires_at: int


Value = TypeVar("Value")


class _Remembered(Generic[Value]):
    """Verified tokens, so that a signature is checked once; bounded, and never past the token's end."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._values: OrderedDict[str, tuple[float, Value]] = OrderedDict()

    def get(self, token: str) -> Value | None:
        found = self._values.get(token)
        if found is None:
            return None
        if found[0] <= time.time():
            del self._values[token]
            return None
        return found[1]

    def put(self, token: str, expires_at: float, value: Value) -> None:
        self._values[token] = (expires_at, value)
        while len(self._values) > self._bound:
            self._values.popitem(last=False)


class ServiceKey:
    """The key that all services share. Several, comma separated, allow rotation: the first signs, all verify."""

    def __init__(self, value: str) -> None:
        parts = [part.strip() for part in value.split(",") if part.strip()]
        if not parts or any(len(part) < 16 for part in parts):
            raise SettingsError(
                "EASTWIND_SERVICE_KEY must be set to at least 16 characters, the same for all services."
            )
        self._keys = [hashlib.sha256(b"eastwind caller token:" + part.encode()).digest() for part in parts]
        self._verified: _Remembered[str] = _Remembered(1024)

    def sign(self, service: str) -> str:
        """A short-lived token that says "this is `service`"."""
        now = int(time.time())
        claims = {"iss": service, "aud": _CALLER_AUDIENCE, "iat": now, "exp": now + _CALLER_LIFETIME_S}
        return jwt.encode(claims, self._keys[0], algorithm="HS256")

    def verify(self, token: str) -> str:
        """The service that signed the token. Raises `Unauthenticated`."""
        known = self._verified.get(token)
        if known is not None:
            return known
        for key in self._keys:
            try:
                claims = jwt.decode(
                    token,
                    key,
                    algorithms=["HS256"],
                    audience=_CALLER_AUDIENCE,
                    leeway=_CLOCK_LEEWAY_S,
                    options={"require": ["iss", "exp", "aud"]},
                )
            except jwt.InvalidSignatureError:
                continue
            except jwt.InvalidTokenError:
                break
            service = str(claims["iss"])
            self._verified.put(token, float(claims["exp"]), service)
            return service
        raise Unauthenticated("the caller token is not valid")


class CallerToken:
    """The token of this service, signed anew before it gets old."""

    def __init__(self, key: ServiceKey, service: str) -> None:
        self._key = key
        self._service = service
        self._token = ""
        self._signed_at = float("-inf")

    def current(self) -> str:
        now = time.monotonic()
        if now - self._signed_at > _REUSE_CALLER_TOKEN_S:
            self._token = self._key.sign(self._service)
            self._signed_at = now
        return self._token


class AccessTokenSigner:
    """Signs the access tokens of players; only accounts has the private key."""

    def __init__(self, private_key: Ed25519PrivateKey, key_id: str) -> None:
        self._private_key = private_key
        self.key_id = key_id

    def sign(self, identity: Identity) -> str:
        """The token of an identity, valid until its `expires_at`."""
        claims = {
            "iss": ISSUER,
            "aud": AUDIENCE,
            "sub": identity.account_id,
            "name": identity.name,
            "guest": identity.guest,
            "sid": identity.session_id,
            "iat": int(time.time()),
            "exp": identity.expires_at,
        }
        return jwt.encode(claims, self._private_key, algorithm="EdDSA", headers={"kid": self.key_id})

    def public_jwk(self) -> dict[str, str]:
        """The public key as a JSON Web Key (RFC 8037)."""
        jwk = jwt.algorithms.OKPAlgorithm.to_jwk(self._private_key.public_key(), as_dict=True)
        return {**{k: str(v) for k, v in jwk.items()}, "kid": self.key_id, "use": "sig", "alg": "EdDSA"}


class AccessTokenVerifier:
    """Checks access tokens against the public keys of accounts.

    Keys are loaded at the first need, again after `ttl_s`, and when a token names an unknown key, but then at most
    every `min_refresh_s`, so that made-up key ids cannot flood accounts. When loading fails, the keys at hand go on.
    """

    def __init__(self, load_jwks: JwksLoader, *, ttl_s: float = 300.0, min_refresh_s: float = 5.0) -> None:
        self._load_jwks = load_jwks
        self._ttl_s = ttl_s
        self._min_refresh_s = min_refresh_s
        self._keys: dict[str, jwt.PyJWK] = {}
        self._loaded_at = float("-inf")
        self._tried_at = float("-inf")
        self._loading = asyncio.Lock()
        self._verified: _Remembered[Identity] = _Remembered(16384)

    async def verify(self, token: str) -> Identity:
        """The identity of a token.

        Raises `Unauthenticated` when the token is malformed, forged or expired; `Unavailable` when no key could be
        loaded at all.
        """
        known = self._verified.get(token)
        if known is not None:
            return known
        try:
            key_id = str(jwt.get_unverified_header(token).get("kid", ""))
        except jwt.InvalidTokenError:
            raise Unauthenticated("the access token is malformed") from None
        key = await self._key(key_id)
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=["EdDSA"],
                audience=AUDIENCE,
                issuer=ISSUER,
                options={"require": ["exp", "sub", "sid", "aud", "iss"]},
            )
        except jwt.ExpiredSignatureError:
            raise Unauthenticated("the access token has expired") from None
        except jwt.InvalidTokenError:
            raise Unauthenticated("the access token is not valid") from None
        identity = Identity(
            account_id=str(claims["sub"]),
            name=str(claims.get("name", "")),
            guest=bool(claims.get("guest", False)),
            session_id=str(claims["sid"]),
            expires_at=int(claims["exp"]),
        )
        self._verified.put(token, identity.expires_at, identity)
        return identity

    async def _key(self, key_id: str) -> jwt.PyJWK:
        now = time.monotonic()
        if key_id not in self._keys or now - self._loaded_at > self._ttl_s:
            await self._refresh()
        key = self._keys.get(key_id)
        if key is not None:
            return key
        if not self._keys:
            raise Unavailable("the keys of accounts could not be loaded")
        raise Unauthenticated("the access token is signed by an unknown key")

    async def _refresh(self) -> None:
        async with self._loading:
            now = time.monotonic()
            if now - self._tried_at < self._min_refresh_s:
                return
            self._tried_at = now
            try:
                jwks = await self._load_jwks()
                keys = {str(jwk["kid"]): jwt.PyJWK(dict(jwk), algorithm="EdDSA") for jwk in jwks["keys"]}
            except Exception as error:
                if not self._keys:
                    raise Unavailable("the keys of accounts could not be loaded") from error
                return
            self._keys = keys
            self._loaded_at = now


@dataclass(frozen=True, slots=True)
class _CallFacts:
    context: object
    caller: str
    identity: Identity | None


_facts: ContextVar[_CallFacts | None] = ContextVar("eastwind_call_facts", default=None)


def caller_of(context: Context) -> str:
    """The service that makes this call. Raises `Unauthenticated` when there is none (an open method)."""
    facts = _facts.get()
    if facts is None or facts.context is not context or not facts.caller:
        raise Unauthenticated("no service stands behind this call")
    return facts.caller


def identity_of(context: Context) -> Identity:
    """The player for whom this call is made. Raises `Unauthenticated` when no access token came with it."""
    facts = _facts.get()
    if facts is None or facts.context is not context or facts.identity is None:
        raise Unauthenticated("this call needs a player's access token")
    return facts.identity


class AuthLayer:
    """Refuses callers that a method does not list, and identifies the player when an access token comes along."""

    def __init__(self, key: ServiceKey, allow: AllowList, access_tokens: AccessTokenVerifier | None) -> None:
        self._key = key
        self._allow = {method: frozenset(callers) for method, callers in allow.items()}
        self._access_tokens = access_tokens

    @asynccontextmanager
    async def around(self, method: str, context: Context) -> AsyncIterator[None]:
        metadata = dict(context.invocation_metadata() or ())
        allowed = self._allow.get(method)
        if allowed is None:
            raise PermissionDenied("this method has no callers")
        token = metadata.get(CALLER_METADATA)
        if not isinstance(token, str):
            raise Unauthenticated("no caller token came with the call")
        caller = self._key.verify(token)
        if caller not in allowed and ANY_SERVICE not in allowed:
            raise PermissionDenied(f"{caller} may not call this method")
        identity = None
        bearer = metadata.get(USER_METADATA)
        if isinstance(bearer, str) and self._access_tokens is not None:
            scheme, _, access_token = bearer.partition(" ")
            if scheme.lower() != "bearer":
                raise Unauthenticated("the authorization metadata is not a bearer token")
            identity = await self._access_tokens.verify(access_token.strip())
        reset = _facts.set(_CallFacts(context, caller, identity))
        try:
            yield
        finally:
            try:
                _facts.reset(reset)
            except ValueError:
                _facts.set(None)
