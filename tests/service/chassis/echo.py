"""A small service made by hand, with every kind of call, to try the server and the channels with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
from google.protobuf.wrappers_pb2 import StringValue

from libs.chassis.auth import caller_of, identity_of
from libs.chassis.errors import InvalidRequest

SERVICE = "eastwind.test.v1.EchoService"
SAY = f"/{SERVICE}/Say"
WHO = f"/{SERVICE}/Who"
COUNT = f"/{SERVICE}/Count"
CHAT = f"/{SERVICE}/Chat"
GATHER = f"/{SERVICE}/Gather"
ALL = (SAY, WHO, COUNT, CHAT, GATHER)


class RuleViolation(Exception):
    """As a domain would raise it."""

    def __init__(self, reason: str) -> None:
        super().__init__("that is not allowed")
        self.reason = reason


class Echo:
    """Says back what it hears; some words make it misbehave."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.holding = asyncio.Event()
        self._held: asyncio.Semaphore = asyncio.Semaphore(0)
        self.go_on = asyncio.Event()

    async def held_calls(self, number: int) -> None:
        """Wait until so many calls hold."""
        for _ in range(number):
            await self._held.acquire()

    async def Say(self, request: StringValue, context: Any) -> StringValue:
        self.heard.append(request.value)
        if request.value == "invalid":
            raise InvalidRequest("this can never work", metadata={"field": "value"})
        if request.value == "rule":
            raise RuleViolation("WRONG_DECISION")
        if request.value == "bug":
            raise KeyError("secret-seed")
        if request.value == "abort":
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, "by hand")
        if request.value.startswith("hold"):
            self.holding.set()
            self._held.release()
            await self.go_on.wait()
            if request.value == "hold and abort":
                await context.abort(grpc.StatusCode.ALREADY_EXISTS, "by hand")
        return StringValue(value=request.value)

    async def Who(self, request: StringValue, context: Any) -> StringValue:
        if request.value == "service":
            return StringValue(value=caller_of(context))
        return StringValue(value=identity_of(context).account_id)

    async def Count(self, request: StringValue, context: Any) -> AsyncIterator[StringValue]:
        for number in range(int(request.value)):
            yield StringValue(value=str(number))
        if request.value == "3":
            raise InvalidRequest("three is too few")

    async def Chat(self, requests: Any, context: Any) -> AsyncIterator[StringValue]:
        async for request in requests:
            yield StringValue(value=request.value.upper())

    async def Gather(self, requests: Any, context: Any) -> StringValue:
        return StringValue(value=",".join([request.value async for request in requests]))


def add_echo(servicer: Echo, server: Any) -> None:
    """What protoc would generate."""
    codecs = {"request_deserializer": StringValue.FromString, "response_serializer": StringValue.SerializeToString}
    handlers = {
        "Say": grpc.unary_unary_rpc_method_handler(servicer.Say, **codecs),
        "Who": grpc.unary_unary_rpc_method_handler(servicer.Who, **codecs),
        "Count": grpc.unary_stream_rpc_method_handler(servicer.Count, **codecs),
        "Chat": grpc.stream_stream_rpc_method_handler(servicer.Chat, **codecs),
        "Gather": grpc.stream_unary_rpc_method_handler(servicer.Gather, **codecs),
    }
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    server.add_registered_method_handlers(SERVICE, handlers)


class EchoStub:
    """What protoc would generate."""

    def __init__(self, channel: Any) -> None:
        codecs = {"request_serializer": StringValue.SerializeToString, "response_deserializer": StringValue.FromString}
        self.Say = channel.unary_unary(SAY, **codecs)
        self.Who = channel.unary_unary(WHO, **codecs)
        self.Count = channel.unary_stream(COUNT, **codecs)
        self.Chat = channel.stream_stream(CHAT, **codecs)
        self.Gather = channel.stream_unary(GATHER, **codecs)
