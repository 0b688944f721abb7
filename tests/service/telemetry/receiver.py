"""A real OTLP receiver: the collector's gRPC contract, which keeps what comes in."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from deploy.local.ports import LOOPBACK


@dataclass(frozen=True, slots=True)
class Span:
    """A span as it was exported."""

    service: str
    name: str
    span_id: str
    parent_id: str
    attributes: dict[str, str]


class Receiver(trace_service_pb2_grpc.TraceServiceServicer):
    """Spans by trace id. `start` returns the endpoint."""

    def __init__(self) -> None:
        self.traces: dict[str, list[Span]] = defaultdict(list)
        self._server = grpc.aio.server()
        self._came = asyncio.Event()

    async def start(self) -> str:
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(self, self._server)  # type: ignore[no-untyped-call]
        port = self._server.add_insecure_port(f"{LOOPBACK}:0")
        await self._server.start()
        return f"http://{LOOPBACK}:{port}"

    async def stop(self) -> None:
        await self._server.stop(0)

    async def Export(
        self, request: trace_service_pb2.ExportTraceServiceRequest, context: Any
    ) -> trace_service_pb2.ExportTraceServiceResponse:
        for resource in request.resource_spans:
            about = {each.key: each.value.string_value for each in resource.resource.attributes}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    attributes = {each.key: each.value.string_value for each in span.attributes}
                    service = about["service.name"].removeprefix("eastwind-")
                    parent = span.parent_span_id.hex()
                    kept = Span(service, span.name, span.span_id.hex(), parent, attributes)
                    self.traces[span.trace_id.hex()].append(kept)
        self._came.set()
        return trace_service_pb2.ExportTraceServiceResponse()

    async def find(self, wanted: Callable[[list[Span]], bool], within_s: float) -> tuple[str, list[Span]] | None:
        """A trace like that, with its id, once it came; `None` when it does not come in time."""
        try:
            async with asyncio.timeout(within_s):
                while True:
                    self._came.clear()
                    for trace_id, spans in self.traces.items():
                        if wanted(spans):
                            return trace_id, spans
                    await self._came.wait()
        except TimeoutError:
            return None
