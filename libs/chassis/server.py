"""The gRPC server of a service: health, reflection, identity, errors, traces, metrics and a graceful drain."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import grpc
import grpc.aio
import structlog
from grpc_health.v1 import health_pb2_grpc  # type: ignore[import-untyped]
from grpc_reflection.v1alpha import reflection  # type: ignore[import-untyped]

from libs.chassis.auth import AccessTokenVerifier, AllowList, AuthLayer, ServiceKey
from libs.chassis.error_layer import ErrorLayer
from libs.chassis.errors import ErrorAdapter
from libs.chassis.health import Health
from libs.chassis.interceptors import CallLayer, LayeredInterceptor
from libs.chassis.settings import ServiceSettings
from libs.chassis.telemetry import Telemetry, TelemetryLayer
from libs.chassis.transport import server_credentials, server_options

_HEALTH = "grpc.health.v1.Health"
_REFLECTION = "grpc.reflection.v1alpha.ServerReflection"
_log = structlog.get_logger(__name__)

Servicer = TypeVar("Servicer")


class GrpcServer:
    """A server that refuses every caller that `allow` does not list for the method.

    `add` the servicers, `start`, and `stop` when the service drains. Health is NOT_SERVING until `start` returns, and
    again, before anything else happens, when `stop` begins.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        telemetry: Telemetry,
        *,
        allow: AllowList,
        access_tokens: AccessTokenVerifier | None = None,
        error_adapters: Sequence[ErrorAdapter] = (),
    ) -> None:
        self._settings = settings
        self._allow = allow
        self._pid = os.getpid()
        key = ServiceKey(settings.service_key.get_secret_value())
        open_layers: list[CallLayer] = [TelemetryLayer(telemetry), ErrorLayer(error_adapters)]
        guarded = [*open_layers, AuthLayer(key, allow, access_tokens)]
        self._server = grpc.aio.server(
            interceptors=[_Choice(LayeredInterceptor(guarded))],
            options=server_options(settings.grpc_connection_age_s),
        )
        self._recorder = _Recorder(self._server)
        self._drains = telemetry.metrics.draining
        self.health = Health()
        self.draining = asyncio.Event()
        """Set when the server begins to stop: handlers of long streams end themselves then."""
        self.port = 0

    def add(self, add_to_server: Callable[[Servicer, Any], None], servicer: Servicer) -> None:
        """Register a servicer by its generated `add_…Servicer_to_server` function.

        Raises ValueError when a method of the service is not in the allow-list: an empty set of callers says "nobody".
        """
        known = len(self._recorder.methods)
        add_to_server(servicer, self._recorder)
        missing = sorted(set(self._recorder.methods[known:]) - set(self._allow))
        if missing:
            raise ValueError(f"no callers are listed for {', '.join(missing)}")

    @property
    def address(self) -> str:
        """`host:port` by which other services reach this server, once it has started."""
        host = self._settings.advertise_host or self._settings.host
        return f"{host}:{self.port}"

    async def start(self) -> int:
        """Listen, then turn healthy. Returns the port. Raises OSError when the port is taken."""
        if os.getpid() != self._pid:
            raise RuntimeError("a gRPC server must not cross a fork: make it in the process that uses it")
        unknown = sorted(set(self._allow) - set(self._recorder.methods))
        if unknown:
            raise ValueError(f"the allow-list names methods that this server has not: {', '.join(unknown)}")
        health_pb2_grpc.add_HealthServicer_to_server(self.health, self._server)
        for service in self._recorder.services:
            self.health.add(service)
        reflection.enable_server_reflection([*self._recorder.services, _HEALTH, _REFLECTION], self._server)
        listen = f"{self._settings.host}:{self._settings.grpc_port}"
        credentials = server_credentials(self._settings)
        try:
            if credentials is None:
                self.port = self._server.add_insecure_port(listen)
            else:
                self.port = self._server.add_secure_port(listen, credentials)
        except RuntimeError as error:
            raise OSError(f"cannot listen on {listen}: {error}") from None
        await self._server.start()
        self.health.set_serving(True)
        _log.info("grpc server listens", address=self.address, services=list(self._recorder.services))
        return self.port

    async def stop(self, grace_s: float) -> None:
        """Drain: NOT_SERVING first, then no new calls, then wait for running ones at most `grace_s`, then cut them."""
        self._drains.set(1)
        self.health.drain()
        self.draining.set()
        await asyncio.sleep(0)
        await self._server.stop(grace_s)


class _Recorder:
    """Stands in for the server while a servicer is added, to learn the names of its services and methods."""

    def __init__(self, server: grpc.aio.Server) -> None:
        self._server = server
        self.services: list[str] = []
        self.methods: list[str] = []

    def add_generic_rpc_handlers(self, handlers: Sequence[Any]) -> None:
        self.services += (handler.service_name() for handler in handlers)
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, service: str, handlers: dict[str, Any]) -> None:
        self.methods += (f"/{service}/{method}" for method in handlers)
        self._server.add_registered_method_handlers(service, handlers)


class _Choice(grpc.aio.ServerInterceptor):
    """Probes and tools reach health and reflection without a token; everything else goes through the layers."""

    def __init__(self, guarded: LayeredInterceptor) -> None:
        self._guarded = guarded
        self._open = (f"/{_HEALTH}/", "/grpc.reflection.")

    async def intercept_service(self, continuation: Any, handler_call_details: grpc.HandlerCallDetails) -> Any:
        if str(handler_call_details.method).startswith(self._open):
            return await continuation(handler_call_details)
        return await self._guarded.intercept_service(continuation, handler_call_details)
