"""The bots service as one object to start and stop."""

from __future__ import annotations

import asyncio

from eastwind.bots.v1 import bots_service_pb2_grpc
from libs.chassis.auth import AllowList
from libs.chassis.drain import Lifecycle
from libs.chassis.httpside import HttpSide
from libs.chassis.server import GrpcServer
from libs.chassis.telemetry import Telemetry
from services.bots.service import BotsServicer, adapt_error
from services.bots.settings import BotsSettings
from services.bots.thinking import Thinker

CALLERS: AllowList = {"/eastwind.bots.v1.BotsService/Decide": {"table"}}
"""Which services may call which method."""


class BotsService:
    """One instance of the service. Several may live in one process."""

    name = "bots"

    def __init__(self, settings: BotsSettings) -> None:
        self._settings = settings
        self._lifecycle = Lifecycle()
        self._http_port = 0
        self._telemetry = Telemetry(self.name, otlp_endpoint=settings.otlp_endpoint)
        self._server = GrpcServer(settings, self._telemetry, allow=CALLERS, error_adapters=[adapt_error])
        self._thinker = Thinker(settings.decide_timeout_s, settings.decide_queue)
        servicer = BotsServicer(self._thinker, self._telemetry.metrics)
        self._server.add(bots_service_pb2_grpc.add_BotsServiceServicer_to_server, servicer)
        self.failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    @property
    def grpc_address(self) -> str:
        """`host:port` of the gRPC server, once started."""
        return self._server.address

    @property
    def http_address(self) -> str:
        """`host:port` of probes and metrics, once started."""
        return f"{self._settings.advertise_host or self._settings.host}:{self._http_port}"

    async def start(self) -> None:
        """Return when decisions can be made, the tables they need being ready.

        Raises `OSError` when a port is taken; then nothing is left running.
        """
        self._lifecycle.on_stop("telemetry", self._telemetry.close)
        self._lifecycle.on_stop("thinking", self._thinker.close)
        try:
            http = HttpSide(self._settings, self._telemetry.metrics)
            http.add_check("grpc", lambda: self._server.health.serving)
            self._lifecycle.on_stop("http", http.stop)
            self._http_port = await http.start()
            await self._thinker.start()
            await self._server.start()
        except BaseException:
            await self._lifecycle.stop()
            raise

    async def stop(self, grace_s: float) -> None:
        """Finish the calls that run, at most `grace_s` seconds, and free everything."""
        self._lifecycle.on_stop("grpc", lambda: self._server.stop(grace_s), timeout_s=grace_s + 5.0)
        await self._lifecycle.stop()
