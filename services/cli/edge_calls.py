"""Calls of the public edge over HTTP, as any player may make them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

import aiohttp
from google.protobuf.message import DecodeError, Message
from yarl import URL

from eastwind.accounts.v1 import accounts_service_pb2

CALL_TIMEOUT_S: Final = 10.0
_PROTOBUF: Final = "application/protobuf"
_ACCOUNTS: Final = "eastwind.accounts.v1.AccountsService"

Response = TypeVar("Response", bound=Message)


class EdgeUnreachableError(Exception):
    """No server answered, or one that is none of ours; the message is for people."""


class EdgeRefusedError(Exception):
    """The server refused; ``reason`` is a name of the contract's ``Reason`` without its prefix."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{detail or 'refused'} ({reason})")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class EdgeSession:
    """A signed-in account. ``expires_ms`` is when the access token ends, Unix ms."""

    account_id: str
    name: str
    access_token: str
    refresh_token: str
    expires_ms: int


class EdgeCalls:
    """The calls of one server at ``base_url``, such as ``http://127.0.0.1:8808``."""

    def __init__(self, base_url: str, http: aiohttp.ClientSession) -> None:
        self.base_url = base_url.rstrip("/")
        self._http = http

    @property
    def origin(self) -> str:
        """The origin of the server's own page as a browser names it: without a port that goes without saying."""
        return str(URL(self.base_url).origin())

    async def call(self, method: str, request: Message, response: type[Response], access_token: str = "") -> Response:
        """Return the answer to ``package.Service/Method``. Raises ``EdgeRefusedError`` and ``EdgeUnreachableError``."""
        headers = {"Content-Type": _PROTOBUF}
        if access_token:
            headers["Authorization"] = f"Bearer {access_token}"
        try:
            async with self._http.post(
                f"{self.base_url}/api/{method}",
                data=request.SerializeToString(),
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=CALL_TIMEOUT_S),
            ) as answer:
                if answer.status == 200:
                    return response.FromString(await answer.read())
                refusal = await answer.json() if answer.content_type == "application/json" else {}
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError, DecodeError) as error:
            raise EdgeUnreachableError(f"no Eastwind answers at {self.base_url}: {error}") from error
        if "reason" not in refusal:
            raise EdgeUnreachableError(f"{self.base_url} is no Eastwind: it answered with status {answer.status}")
        raise EdgeRefusedError(str(refusal["reason"]), str(refusal.get("message", "")))

    async def register_guest(self, name: str) -> EdgeSession:
        """Make a guest account; without a name the server chooses one."""
        request = accounts_service_pb2.RegisterGuestRequest(name=name)
        made = await self.call(f"{_ACCOUNTS}/RegisterGuest", request, accounts_service_pb2.RegisterGuestResponse)
        return _session(made.session)

    async def refresh(self, session: EdgeSession) -> EdgeSession:
        """Renew a session; the old refresh token is spent."""
        request = accounts_service_pb2.RefreshSessionRequest(refresh_token=session.refresh_token)
        renewed = await self.call(f"{_ACCOUNTS}/RefreshSession", request, accounts_service_pb2.RefreshSessionResponse)
        return _session(renewed.session)


def _session(message: accounts_service_pb2.Session) -> EdgeSession:
    return EdgeSession(
        message.account_id, message.name, message.access_token, message.refresh_token, message.access_expires_ms
    )
