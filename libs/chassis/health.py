"""gRPC health that ends its watches when the server drains, so that they do not hold up the drain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from libs.chassis.interceptors import Context

_UNKNOWN: int = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
_SERVING: int = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: int = health_pb2.HealthCheckResponse.NOT_SERVING


class Health(health_pb2_grpc.HealthServicer):  # type: ignore[misc]
    """NOT_SERVING until `serving` is set, and for good after `drain`. Knows the whole server ("") and its services."""

    def __init__(self) -> None:
        self._services: set[str] = {""}
        self._serving = False
        self._draining = False
        self._changed = asyncio.Event()

    @property
    def serving(self) -> bool:
        return self._serving and not self._draining

    def add(self, service: str) -> None:
        """Answer for this service, too."""
        self._services.add(service)

    def set_serving(self, serving: bool) -> None:
        """Tell whether calls are welcome."""
        self._serving = serving
        self._notify()

    def drain(self) -> None:
        """NOT_SERVING from now on; watches get that and end."""
        self._draining = True
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _status(self, service: str) -> int:
        if service not in self._services:
            return _UNKNOWN
        return _SERVING if self.serving else _NOT_SERVING

    async def Check(  # noqa: N802
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> health_pb2.HealthCheckResponse:
        status = self._status(request.service)
        if status == _UNKNOWN:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such service")
        return health_pb2.HealthCheckResponse(status=status)

    async def Watch(  # noqa: N802
        self, request: health_pb2.HealthCheckRequest, context: Context
    ) -> AsyncIterator[health_pb2.HealthCheckResponse]:
        last: int | None = None
        while True:
            changed = self._changed
            status = self._status(request.service)
            if status != last:
                last = status
                yield health_pb2.HealthCheckResponse(status=status)
            if self._draining:
                return
            await changed.wait()
