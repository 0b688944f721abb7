"""gRPC health that ends its watches when the server drains, so that they do not hold up the drain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc  # type: ignore[import-untyped]

from libs.chassis.interceptors import Context

LIVENESS = "liveness"
"""The name by which a probe asks whether the process answers at all, whatever it waits for."""
READINESS = "readiness"
"""The name by which a probe asks whether the service wants traffic now."""

_UNKNOWN: int = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
_SERVING: int = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: int = health_pb2.HealthCheckResponse.NOT_SERVING


class Health(health_pb2_grpc.HealthServicer):  # type: ignore[misc]
    """NOT_SERVING until `serving` is set, and for good after `drain`. Knows the whole server ("") and its services.

    Beside these it answers probes: "liveness" is SERVING as long as the server answers, "readiness" while the service
    is ready, once it has said how to tell (`ready_when`). A watch of these names hears of changes of the server alone.
    """

    def __init__(self) -> None:
        self._services: set[str] = {""}
        self._ready: Callable[[], bool] = lambda: False
        self._serving = False
        self._draining = False
        self._changed = asyncio.Event()

    @property
    def serving(self) -> bool:
        return self._serving and not self._draining

    def add(self, service: str) -> None:
        """Answer for this service, too."""
        self._services.add(service)

    def ready_when(self, check: Callable[[], bool]) -> None:
        """Say how to tell whether the service is ready; `check` answers at once, without any I/O."""
        self._ready = check

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
        if service == LIVENESS:
            return _SERVING
        if service == READINESS:
            return _SERVING if self.serving and self._ready() else _NOT_SERVING
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
