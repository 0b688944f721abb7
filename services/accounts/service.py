"""`eastwind.accounts.v1.AccountsService`: messages in, messages out."""

from __future__ import annotations

from eastwind.accounts.v1 import accounts_service_pb2 as messages
from eastwind.accounts.v1 import accounts_service_pb2_grpc
from libs.chassis.auth import CLIENT_ADDRESS_METADATA, USER_METADATA, AccessTokenVerifier, Identity
from libs.chassis.database import is_retriable
from libs.chassis.errors import EastwindError, PermissionDenied, Unauthenticated, Unavailable
from libs.chassis.interceptors import Context
from services.accounts.accounts import Accounts, Session
from services.accounts.keys import SigningKeys, jwks_json


def adapt_error(error: BaseException) -> EastwindError | None:
    """A database that is away as a status that says so; `None` for other errors."""
    if is_retriable(error):
        return Unavailable("the accounts database does not answer")
    return None


class AccountsServicer(accounts_service_pb2_grpc.AccountsServiceServicer):
    """Answers from `Accounts`.

    An access token is looked at by `Register` alone: whoever renews a session may send along the token that expired.
    """

    def __init__(self, accounts: Accounts, keys: SigningKeys, access_tokens: AccessTokenVerifier) -> None:
        self._accounts = accounts
        self._keys = keys
        self._access_tokens = access_tokens

    async def Register(  # noqa: N802
        self, request: messages.RegisterRequest, context: Context
    ) -> messages.RegisterResponse:
        player = await self._player(context)
        if player is None:
            session = await self._accounts.register(request.name, request.password)
        elif player.guest:
            session = await self._accounts.upgrade(player, request.name, request.password)
        else:
            raise PermissionDenied("this account is registered already")
        return messages.RegisterResponse(session=_to_message(session))

    async def RegisterGuest(  # noqa: N802
        self, request: messages.RegisterGuestRequest, context: Context
    ) -> messages.RegisterGuestResponse:
        return messages.RegisterGuestResponse(session=_to_message(await self._accounts.register_guest(request.name)))

    async def LogIn(  # noqa: N802
        self, request: messages.LogInRequest, context: Context
    ) -> messages.LogInResponse:
        address = _metadata(context, CLIENT_ADDRESS_METADATA)
        session = await self._accounts.log_in(request.name, request.password, address)
        return messages.LogInResponse(session=_to_message(session))

    async def RefreshSession(  # noqa: N802
        self, request: messages.RefreshSessionRequest, context: Context
    ) -> messages.RefreshSessionResponse:
        return messages.RefreshSessionResponse(session=_to_message(await self._accounts.refresh(request.refresh_token)))

    async def LogOut(  # noqa: N802
        self, request: messages.LogOutRequest, context: Context
    ) -> messages.LogOutResponse:
        await self._accounts.log_out(request.refresh_token)
        return messages.LogOutResponse()

    async def GetKeys(  # noqa: N802
        self, request: messages.GetKeysRequest, context: Context
    ) -> messages.GetKeysResponse:
        try:
            # Another replica may have begun to sign with a new key.
            await self._keys.refresh()
        except Exception as error:
            if not is_retriable(error):
                raise
        return messages.GetKeysResponse(jwks_json=jwks_json(self._keys))

    async def _player(self, context: Context) -> Identity | None:
        bearer = _metadata(context, USER_METADATA)
        if not bearer:
            return None
        scheme, _, token = bearer.partition(" ")
        if scheme.lower() != "bearer":
            raise Unauthenticated("the authorization metadata is not a bearer token")
        return await self._access_tokens.verify(token.strip())


def _metadata(context: Context, name: str) -> str:
    value = dict(context.invocation_metadata() or ()).get(name, "")
    return value if isinstance(value, str) else ""


def _to_message(session: Session) -> messages.Session:
    return messages.Session(
        account_id=session.identity.account_id,
        name=session.identity.name,
        guest=session.identity.guest,
        access_token=session.access_token,
        access_expires_ms=session.identity.expires_at * 1000,
        refresh_token=session.refresh_token,
    )
