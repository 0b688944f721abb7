"""Client channels: round robin over all replicas, keepalive, deadlines, typed errors, and this service's own token.

A unary call without a deadline is an error; the channel's default deadline applies when the call names none. A stream
has no deadline of its own: keepalive finds a dead peer, and the stream's owner ends it. Retries are left to gRPC and
happen only for methods that are named as idempotent.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Collection, Generator, Sequence
from typing import Any

import grpc
import grpc.aio
from opentelemetry import trace

from libs.chassis.auth import CALLER_METADATA, CallerToken, ServiceKey
from libs.chassis.errors import DeadlineMissing, from_rpc_error
from libs.chassis.settings import ServiceSettings
from libs.chassis.telemetry import Telemetry, exemplar_of, trace_headers
from libs.chassis.telemetry_contract.spans import RPC_CODE
from libs.chassis.transport import client_credentials, client_options


def target_of(addresses: Sequence[str]) -> str:
    """The gRPC target of a list of `host:port` or of one `dns:///name:port`.

    Raises ValueError for several host names: a list can only hold numeric addresses, names belong into one DNS name.
    """
    cleaned = [address.replace("localhost", "127.0.0.1", 1) for address in addresses]
    if len(cleaned) == 1:
        address = cleaned[0]
        if "://" in address or address.startswith(("dns:", "ipv4:", "unix:")):
            return address
        if not _numeric(address):
            return f"dns:///{address}"
    if not cleaned or not all(_numeric(address) for address in cleaned):
        raise ValueError("several addresses of a service must be numeric; use one dns:///name:port for names")
    return "ipv4:" + ",".join(cleaned)


def _numeric(address: str) -> bool:
    try:
        ipaddress.IPv4Address(address.rpartition(":")[0])
    except ValueError:
        return False
    return True


def service_config(idempotent: Collection[str]) -> str:
    """Round robin, and retries for the idempotent methods when the server goes away before it answers.

    A method is "package.Service/Method"; "package.Service" stands for all of its methods.
    """
    names = []
    for method in sorted(idempotent):
        service, _, name = method.strip("/").partition("/")
        names.append({"service": service, "method": name} if name else {"service": service})
    config: dict[str, Any] = {"loadBalancingConfig": [{"round_robin": {}}]}
    if names:
        policy = {
            "maxAttempts": 3,
            "initialBackoff": "0.05s",
            "maxBackoff": "0.5s",
            "backoffMultiplier": 2,
            # A server that begins to stop cancels what it had taken from the wire and not begun.
            "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"],
        }
        config["methodConfig"] = [{"name": names, "retryPolicy": policy}]
    return json.dumps(config)


class ServiceChannel:
    """A channel for generated stubs: `TableServiceStub(channel)`.

    Calls raise `EastwindError` subclasses instead of `grpc.RpcError`.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        *,
        settings: ServiceSettings,
        telemetry: Telemetry,
        token: CallerToken,
        idempotent: Collection[str] = (),
        timeout_s: float | None = None,
        certified_name: str = "",
    ) -> None:
        options: list[tuple[str, Any]] = [*client_options(), ("grpc.service_config", service_config(idempotent))]
        credentials = client_credentials(settings)
        if credentials is not None and certified_name:
            options.append(("grpc.ssl_target_name_override", certified_name))
        target = target_of(addresses)
        self._channel = (
            grpc.aio.insecure_channel(target, options=options)
            if credentials is None
            else grpc.aio.secure_channel(target, credentials, options=options)
        )
        self._telemetry = telemetry
        self._token = token
        self._timeout_s = timeout_s
        self._pid = os.getpid()

    async def close(self, grace_s: float | None = None) -> None:
        """Close; calls that run get `grace_s` seconds to finish."""
        await self._channel.close(grace_s)

    async def ready(self, timeout_s: float) -> None:
        """Wait until a replica is connected. Raises TimeoutError."""
        async with asyncio.timeout(timeout_s):
            await self._channel.channel_ready()

    def unary_unary(self, method: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        return self._single(method, self._channel.unary_unary(method, *args, **kwargs))

    def stream_unary(self, method: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        return self._single(method, self._channel.stream_unary(method, *args, **kwargs))

    def unary_stream(self, method: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        return self._stream(self._channel.unary_stream(method, *args, **kwargs))

    def stream_stream(self, method: str, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        return self._stream(self._channel.stream_stream(method, *args, **kwargs))

    def _single(self, method: str, behaviour: Any) -> Callable[..., Any]:
        def call(request: Any, *, timeout: float | None = None, metadata: Any = None, **kwargs: Any) -> TypedCall:
            limit = timeout if timeout is not None else self._timeout_s
            if limit is None:
                raise DeadlineMissing(f"{method} was called without a deadline")
            return TypedCall(
                self._telemetry,
                method,
                lambda: behaviour(request, timeout=limit, metadata=self._metadata(metadata), **kwargs),
            )

        return call

    def _stream(self, behaviour: Any) -> Callable[..., Any]:
        def call(request: Any = None, *, metadata: Any = None, **kwargs: Any) -> TypedStream:
            return TypedStream(behaviour(request, metadata=self._metadata(metadata), **kwargs))

        return call

    def _metadata(self, metadata: Any) -> list[tuple[str, str | bytes]]:
        if os.getpid() != self._pid:
            raise RuntimeError("a gRPC channel must not cross a fork: make it in the process that uses it")
        return [*(metadata or ()), *trace_headers().items(), (CALLER_METADATA, self._token.current())]


class TypedCall:
    """A unary call: await it for the response. It is sent when it is awaited."""

    def __init__(self, telemetry: Telemetry, method: str, send: Callable[[], Any]) -> None:
        self._telemetry = telemetry
        self._method = method
        self._send = send

    def __await__(self) -> Generator[Any, None, Any]:
        return self._response().__await__()

    async def _response(self) -> Any:
        started = time.perf_counter()
        code = grpc.StatusCode.OK
        with self._telemetry.span(self._method.lstrip("/"), kind=trace.SpanKind.CLIENT) as span:
            try:
                return await self._send()
            except grpc.aio.AioRpcError as error:
                code = error.code()
                raise from_rpc_error(error) from None
            except asyncio.CancelledError:
                code = grpc.StatusCode.CANCELLED
                raise
            finally:
                elapsed = time.perf_counter() - started
                span.set_attribute(RPC_CODE, code.name)
                seconds = self._telemetry.metrics.rpc_client_seconds.labels(self._method, code.name)
                seconds.observe(elapsed, exemplar_of(span))


class TypedStream:
    """A stream: iterate over it, or `read` and `write`; errors are typed, the end of the stream is `grpc.aio.EOF`."""

    def __init__(self, call: Any) -> None:
        self.call = call

    async def read(self) -> Any:
        try:
            return await self.call.read()
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from None

    async def write(self, message: Any) -> None:
        """Send a message. Raises the typed error when the stream has ended."""
        try:
            await self.call.write(message)
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from None

    async def done_writing(self) -> None:
        await self.call.done_writing()

    def cancel(self) -> bool:
        """End the stream; true when it was still open."""
        return bool(self.call.cancel())

    def done(self) -> bool:
        return bool(self.call.done())

    async def wait_for_connection(self) -> None:
        """Wait until a server took the stream. Raises the typed error when none did."""
        try:
            await self.call.wait_for_connection()
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from None

    async def __aiter__(self) -> AsyncIterator[Any]:
        try:
            async for message in self.call:
                yield message
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from None


class Channels:
    """All channels of a service: one per service that it calls, or per address of one worker."""

    def __init__(self, service: str, settings: ServiceSettings, telemetry: Telemetry) -> None:
        self._settings = settings
        self._telemetry = telemetry
        self._token = CallerToken(ServiceKey(settings.service_key.get_secret_value()), service)
        self._open: dict[tuple[str, ...], ServiceChannel] = {}

    def to(self, service: str, *, idempotent: Collection[str] = (), timeout_s: float | None = None) -> Any:
        """The channel to a service by its name, over all addresses in `EASTWIND_<SERVICE>_ADDRESS`.

        Give it to a generated stub. `timeout_s` is the default deadline of a call (None: `EASTWIND_RPC_TIMEOUT_S`);
        `idempotent` names methods that gRPC may try again. Raises `SettingsError` when the address is not set.
        """
        return self._channel(self._settings.addresses(service), idempotent, timeout_s)

    def at(self, address: str, *, idempotent: Collection[str] = (), timeout_s: float | None = None) -> Any:
        """The channel to one process by its `host:port`, as a worker registry tells it.

        With TLS, its certificate has to be for `EASTWIND_TLS_WORKER_NAME`: no certificate names the address of a pod.
        """
        return self._channel((address,), idempotent, timeout_s, self._settings.tls_worker_name)

    async def drop(self, address: str) -> None:
        """Close the channel to one process that is gone."""
        channel = self._open.pop((address,), None)
        if channel is not None:
            await channel.close()

    async def close(self) -> None:
        """Close all channels."""
        channels, self._open = list(self._open.values()), {}
        for channel in channels:
            await channel.close()

    def _channel(
        self,
        addresses: tuple[str, ...],
        idempotent: Collection[str],
        timeout_s: float | None,
        certified_name: str = "",
    ) -> ServiceChannel:
        channel = self._open.get(addresses)
        if channel is None:
            channel = ServiceChannel(
                addresses,
                settings=self._settings,
                telemetry=self._telemetry,
                token=self._token,
                idempotent=idempotent,
                timeout_s=timeout_s if timeout_s is not None else self._settings.rpc_timeout_s,
                certified_name=certified_name,
            )
            self._open[addresses] = channel
        return channel
