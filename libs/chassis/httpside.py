"""The HTTP port of every service: `/metrics`, `/healthz` and `/readyz`.

`/metrics` is Prometheus text, or OpenMetrics with exemplars for who accepts it. `/healthz` tells only that the process
runs: it never asks a database, so an outage elsewhere restarts nobody. `/readyz` tells whether the service wants
traffic now, and why not.
"""

from __future__ import annotations

from collections.abc import Callable

from aiohttp import web
from prometheus_client.exposition import choose_encoder

from libs.chassis.http_port import HttpPort
from libs.chassis.loop_lag import LoopLag
from libs.chassis.settings import ServiceSettings
from libs.chassis.telemetry import Metrics

ReadyCheck = Callable[[], bool]
"""Answers at once from what the service knows; it must not do any I/O."""


class HttpSide:
    """Serves the probes and the metrics of one service, the loop's lag among them. More routes may be added to `app`
    before `start`."""

    def __init__(self, settings: ServiceSettings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._checks: dict[str, ReadyCheck] = {}
        self._loop_lag = LoopLag(metrics)
        self.app = web.Application()
        self.app.add_routes(
            [
                web.get("/metrics", self._serve_metrics),
                web.get("/healthz", self._serve_health),
                web.get("/readyz", self._serve_readiness),
            ]
        )
        self._port = HttpPort(self.app)
        self.port = 0

    def add_check(self, name: str, check: ReadyCheck) -> None:
        """The service is ready only while every check says so; `name` is shown when one does not."""
        self._checks[name] = check

    @property
    def ready(self) -> bool:
        """Whether every check says so."""
        return not self._failing()

    def _failing(self) -> list[str]:
        return sorted(name for name, check in self._checks.items() if not check())

    async def start(self) -> int:
        """Listen; returns the port."""
        self.port = await self._port.start(self._settings.host, self._settings.http_port)
        self._loop_lag.start()
        return self.port

    async def stop(self) -> None:
        """Close the port."""
        self._loop_lag.stop()
        await self._port.stop()

    async def _serve_metrics(self, request: web.Request) -> web.Response:
        encode, content_type = choose_encoder(request.headers.get("Accept", ""))
        return web.Response(body=encode(self._metrics.registry), headers={"Content-Type": content_type})

    async def _serve_health(self, _request: web.Request) -> web.Response:
        return web.json_response({"alive": True})

    async def _serve_readiness(self, _request: web.Request) -> web.Response:
        failing = self._failing()
        return web.json_response({"ready": not failing, "failing": failing}, status=503 if failing else 200)
