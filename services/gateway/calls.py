"""Unary methods that players may call, over HTTP: ``POST /api/<package>.<Service>/<Method>``.

The body is the request as protobuf JSON, or as protobuf with the content type ``application/protobuf``; the answer
comes in the same form. An error is ``{"reason": …, "message": …}`` with the HTTP status that fits.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Final

import grpc
from aiohttp import ClientPayloadError, web
from aiohttp.http_exceptions import HttpProcessingError
from google.protobuf import json_format
from google.protobuf.message import DecodeError, Message

from eastwind.accounts.v1 import accounts_service_pb2
from eastwind.history.v1 import history_service_pb2
from eastwind.matchmaking.v1 import matchmaking_service_pb2
from eastwind.ratings.v1 import ratings_service_pb2
from eastwind.scoring.v1 import scoring_service_pb2
from libs.chassis.auth import CLIENT_ADDRESS_METADATA, USER_METADATA
from libs.chassis.channels import Channels
from libs.chassis.client_address import address_behind, network_of
from libs.chassis.errors import EastwindError, InvalidRequest, Unauthenticated
from services.gateway.rates import RateLimits
from services.gateway.settings import GatewaySettings

MOST_BODY_BYTES: Final = 64 * 1024
PROTOBUF: Final = "application/protobuf"
_OPEN: Final = {
    accounts_service_pb2: ("RegisterGuest", "Register", "LogIn", "RefreshSession", "LogOut"),
    matchmaking_service_pb2: ("CreateTable", "ListTables", "JoinTable", "LeaveTable", "FillWithBots", "GetSeat"),
    ratings_service_pb2: ("GetRatings", "ListLeaderboard", "GetHistory"),
    history_service_pb2: ("GetRecord", "ListRecords", "ExportRecord", "VerifyRecord"),
    scoring_service_pb2: ("ScoreHand", "ExplainHand", "ListVariants"),
}
"""What players may call. Everything else is refused, whatever the services offer each other."""
_READ_ONLY: Final = ("Get", "List", "Export", "Verify", "Score", "Explain")
_STATUS: Final = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.FAILED_PRECONDITION: 409,
    grpc.StatusCode.ALREADY_EXISTS: 409,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.UNIMPLEMENTED: 404,
    grpc.StatusCode.UNAVAILABLE: 503,
    grpc.StatusCode.DEADLINE_EXCEEDED: 504,
    # The call of a service that ended under it; whoever called did not.
    grpc.StatusCode.CANCELLED: 503,
}


@dataclass(frozen=True, slots=True)
class _Method:
    call: Any
    request: type[Message]


class Calls:
    """The HTTP side of the services that players may call."""

    def __init__(self, channels: Channels, settings: GatewaySettings, limits: RateLimits) -> None:
        self._settings = settings
        self._limits = limits
        self._methods: dict[str, _Method] = {}
        for module, names in _OPEN.items():
            for service in module.DESCRIPTOR.services_by_name.values():
                repeatable = [f"{service.full_name}/{name}" for name in names if name.startswith(_READ_ONLY)]
                channel = channels.to(service.full_name.split(".")[1], idempotent=repeatable)
                for name in names:
                    method = service.methods_by_name[name]
                    path = f"{service.full_name}/{name}"
                    self._methods[path] = _Method(
                        channel.unary_unary(
                            f"/{path}",
                            request_serializer=lambda message: message.SerializeToString(),
                            response_deserializer=_message_class(module, method.output_type.name).FromString,
                        ),
                        _message_class(module, method.input_type.name),
                    )

    async def serve(self, request: web.Request) -> web.Response:
        """Answer one call."""
        try:
            return await self._serve(request)
        except EastwindError as error:
            return _error(_STATUS.get(error.code, 500), error.reason, error.message)

    async def _serve(self, request: web.Request) -> web.Response:
        method = self._methods.get(request.match_info["path"])
        if method is None:
            return _error(404, "INVALID_ARGUMENT", "no such method")
        address = client_address(request, self._settings.proxies)
        if not self._limits.take(network_of(address)):
            return _error(429, "RATE_LIMITED", "too many calls; wait a moment")
        binary = request.content_type == PROTOBUF
        message = _parse(method.request, await _body(request, self._settings.call_body_s), binary)
        metadata = [(CLIENT_ADDRESS_METADATA, address)]
        authorization = request.headers.get("Authorization")
        if authorization is not None:
            if not authorization.isascii() or not authorization.isprintable():
                raise Unauthenticated("the authorization header is malformed")
            metadata.append((USER_METADATA, authorization))
        response = await method.call(message, metadata=metadata)
        headers = {"Cache-Control": "no-store"}
        if binary:
            return web.Response(body=response.SerializeToString(), content_type=PROTOBUF, headers=headers)
        text = json_format.MessageToJson(response, indent=None)
        return web.Response(text=text, content_type="application/json", headers=headers)


def client_address(request: web.Request, proxies: int) -> str:
    """The address that limits are counted by."""
    return address_behind(proxies, request.remote or "", ",".join(request.headers.getall("X-Forwarded-For", ())))


async def _body(request: web.Request, within_s: float) -> bytes:
    """Return the whole body, in however many parts it comes; one byte too many is enough to refuse it."""
    if request.content_length is not None and request.content_length > MOST_BODY_BYTES:
        raise InvalidRequest(f"the body is larger than {MOST_BODY_BYTES} bytes")
    body = bytearray()
    try:
        async with asyncio.timeout(within_s):
            while len(body) <= MOST_BODY_BYTES and (part := await request.content.read(MOST_BODY_BYTES)):
                body += part
    except TimeoutError:
        raise InvalidRequest("the body did not come to its end in time") from None
    except (ClientPayloadError, HttpProcessingError, web.RequestPayloadError) as error:
        raise InvalidRequest("the body cannot be read") from error
    return bytes(body)


def _parse(kind: type[Message], body: bytes, binary: bool) -> Message:
    if len(body) > MOST_BODY_BYTES:
        raise InvalidRequest(f"the body is larger than {MOST_BODY_BYTES} bytes")
    try:
        if binary:
            return kind.FromString(body)
        return json_format.Parse(body.decode() or "{}", kind(), max_recursion_depth=20)
    except (DecodeError, json_format.ParseError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest(f"the body is no {kind.DESCRIPTOR.name}: {error}") from error


def _message_class(module: Any, name: str) -> type[Message]:
    kind: type[Message] = getattr(module, name)
    return kind


def _error(status: int, reason: str, message: str) -> web.Response:
    body = json.dumps({"reason": reason, "message": message})
    return web.Response(status=status, text=body, content_type="application/json")
