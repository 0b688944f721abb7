"""The bots service as one object to start and stop."""

from __future__ import annotations

from eastwind.bots.v1 import bots_service_pb2_grpc
from libs.chassis.auth import AllowList
from libs.chassis.httpside import HttpSide
from libs.chassis.server import GrpcServer
from libs.chassis.service import ServiceObject
from libs.chassis.telemetry import Telemetry
from services.bots.service import BotsServicer, adapt_error
from services.bots.settings import BotsSettings
from services.bots.thinking import Thinker

CALLERS: AllowList = {"/eastwind.bots.v1.BotsService/Decide": {"table"}}
"""Which services may call which method."""


class BotsService(ServiceObject[BotsSettings]):
    """One instance of the service. Several may live in one process."""

    name = "bots"
    _server: GrpcServer
    _http: HttpSide

    def __init__(self, settings: BotsSettings) -> None:
        super().__init__(settings)
        self._telemetry = Telemetry(self.name, otlp_endpoint=settings.otlp_endpoint, trace_ratio=settings.trace_ratio)
        self._http = HttpSide(settings, self._telemetry.metrics)
        self._server = GrpcServer(settings, self._telemetry, allow=CALLERS, error_adapters=[adapt_error])
        self._thinker = Thinker(settings.decide_timeout_s, settings.decide_queue)
        servicer = BotsServicer(self._thinker, self._telemetry.metrics)
        self._server.add(bots_service_pb2_grpc.add_BotsServiceServicer_to_server, servicer)

    async def _start(self) -> None:
        """Return when decisions can be made, the tables they need being ready."""
        self._lifecycle.on_stop("telemetry", self._telemetry.close)
        self._lifecycle.on_stop("thinking", self._thinker.close)
        self._http.add_check("grpc", lambda: self._server.health.serving)
        self._lifecycle.on_stop("http", self._http.stop)
        await self._http.start()
        await self._thinker.start()
        await self._server.start()
