"""The scoring service as one object to start and stop."""

from __future__ import annotations

from eastwind.scoring.v1 import scoring_service_pb2_grpc
from libs.chassis.auth import AllowList
from libs.chassis.httpside import HttpSide
from libs.chassis.server import GrpcServer
from libs.chassis.service import ServiceObject
from libs.chassis.telemetry import Telemetry
from services.scoring.service import ScoringServicer, adapt_error
from services.scoring.settings import ScoringSettings

_SERVICE = "/eastwind.scoring.v1.ScoringService"
_READERS = {"gateway", "table", "operator"}
CALLERS: AllowList = {
    f"{_SERVICE}/ScoreHand": _READERS,
    f"{_SERVICE}/ExplainHand": _READERS,
    f"{_SERVICE}/SettleHand": {"table"},
    f"{_SERVICE}/ScoreMany": _READERS,
    f"{_SERVICE}/ListVariants": _READERS,
}
"""Which services may call which method."""


class ScoringService(ServiceObject[ScoringSettings]):
    """One instance of the service. Several may live in one process."""

    name = "scoring"
    _server: GrpcServer
    _http: HttpSide

    def __init__(self, settings: ScoringSettings) -> None:
        super().__init__(settings)
        self._telemetry = Telemetry(self.name, otlp_endpoint=settings.otlp_endpoint, trace_ratio=settings.trace_ratio)
        self._http = HttpSide(settings, self._telemetry.metrics)
        self._server = GrpcServer(settings, self._telemetry, allow=CALLERS, error_adapters=[adapt_error])
        servicer = ScoringServicer(self._server.draining)
        self._server.add(scoring_service_pb2_grpc.add_ScoringServiceServicer_to_server, servicer)

    async def _start(self) -> None:
        """Return when hands can be scored."""
        self._lifecycle.on_stop("telemetry", self._telemetry.close)
        self._http.add_check("grpc", lambda: self._server.health.serving)
        self._lifecycle.on_stop("http", self._http.stop)
        await self._http.start()
        await self._server.start()
