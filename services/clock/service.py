"""``ClockService``: what this replica finds due, and how late it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from eastwind.clock.v1 import clock_service_pb2, clock_service_pb2_grpc
from services.clock.ticking import Ticker

_NAME: Final = "/eastwind.clock.v1.ClockService"
ALLOW: Final = {f"{_NAME}/WatchDeadlines": {"operator"}, f"{_NAME}/GetLateness": {"operator"}}
"""Who may call what."""
Context = Any


class ClockServicer(clock_service_pb2_grpc.ClockServiceServicer):
    """The contract's methods on one ticker."""

    def __init__(self, ticker: Ticker, draining: asyncio.Event) -> None:
        self._ticker = ticker
        self._draining = draining

    async def WatchDeadlines(  # noqa: N802
        self, request: clock_service_pb2.WatchDeadlinesRequest, context: Context
    ) -> AsyncIterator[clock_service_pb2.WatchDeadlinesResponse]:
        queue = self._ticker.watch()
        draining = asyncio.ensure_future(self._draining.wait())
        try:
            while not draining.done():
                taking = asyncio.ensure_future(queue.get())
                await asyncio.wait({taking, draining}, return_when=asyncio.FIRST_COMPLETED)
                if not taking.done():
                    taking.cancel()
                    return
                resolved = taking.result()
                if not request.table_id or request.table_id == resolved.table_id:
                    yield resolved
        finally:
            draining.cancel()
            self._ticker.unwatch(queue)

    async def GetLateness(  # noqa: N802
        self, request: clock_service_pb2.GetLatenessRequest, context: Context
    ) -> clock_service_pb2.GetLatenessResponse:
        report = self._ticker.lateness.report()
        return clock_service_pb2.GetLatenessResponse(
            count=report.count, p50_ms=report.p50_ms, p99_ms=report.p99_ms, max_ms=report.max_ms
        )
