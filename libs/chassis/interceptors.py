"""Layers around every call that a server takes: each is one async context manager, whatever the kind of call."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any, Protocol

import grpc
import grpc.aio

Context = grpc.aio.ServicerContext[Any, Any]


class CallLayer(Protocol):
    """Entered before the handler runs and left after it, with the handler's exception if there was one."""

    def around(self, method: str, context: Context) -> AbstractAsyncContextManager[None]: ...


class LayeredInterceptor(grpc.aio.ServerInterceptor):
    """Runs every handler inside the layers, the first layer outermost."""

    def __init__(self, layers: Sequence[CallLayer]) -> None:
        self._layers = tuple(layers)
        self._wrapped: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        method = str(handler_call_details.method)
        wrapped = self._wrapped.get(method)
        if wrapped is None:
            handler = await continuation(handler_call_details)
            if handler is None:
                return None
            wrapped = self._wrap(method, handler)
            self._wrapped[method] = wrapped
        return wrapped

    def _wrap(self, method: str, handler: Any) -> grpc.RpcMethodHandler[Any, Any]:
        codecs = {
            "request_deserializer": handler.request_deserializer,
            "response_serializer": handler.response_serializer,
        }
        if handler.request_streaming and handler.response_streaming:
            return grpc.stream_stream_rpc_method_handler(self._stream(method, handler.stream_stream), **codecs)
        if handler.request_streaming:
            return grpc.stream_unary_rpc_method_handler(self._single(method, handler.stream_unary), **codecs)
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(self._stream(method, handler.unary_stream), **codecs)
        return grpc.unary_unary_rpc_method_handler(self._single(method, handler.unary_unary), **codecs)

    async def _enter(self, stack: AsyncExitStack, method: str, context: Context) -> None:
        for layer in self._layers:
            await stack.enter_async_context(layer.around(method, context))

    def _single(self, method: str, behaviour: Any) -> Any:
        async def call(request: Any, context: Context) -> Any:
            async with AsyncExitStack() as stack:
                await self._enter(stack, method, context)
                return await behaviour(request, context)

        return call

    def _stream(self, method: str, behaviour: Any) -> Any:
        if not inspect.isasyncgenfunction(behaviour):
            return self._single(method, behaviour)

        async def generate(request: Any, context: Context) -> AsyncIterator[Any]:
            async with AsyncExitStack() as stack:
                await self._enter(stack, method, context)
                async for response in behaviour(request, context):
                    yield response

        return generate
