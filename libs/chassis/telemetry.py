"""Traces and metrics of one service.

Each service object has its own tracer and its own metrics registry, because the embedded stack runs several services
in one process. Metric labels are few and bounded: method, code, topic, variant, speed, outcome. Ids (table, account,
event) belong in traces and logs.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import grpc
import grpc.aio
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector

from libs.chassis.interceptors import Context

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_ALLOWED_LABELS = frozenset(
    {"service", "method", "code", "topic", "variant", "speed", "outcome", "reason", "kind", "queue"}
)
_propagator = TraceContextTextMapPropagator()


class Metrics:
    """The metrics registry of one service, with the metrics that every service has."""

    def __init__(self, service: str) -> None:
        self.service = service
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        Info("eastwind_service", "Which service this is", registry=self.registry).info({"service": service})
        self.rpc_server_seconds = self.histogram(
            "eastwind_rpc_server_seconds", "Calls taken, by method and status code", ("method", "code")
        )
        self.rpc_server_active = self.gauge("eastwind_rpc_server_active", "Calls and streams being served", ("method",))
        self.rpc_client_seconds = self.histogram(
            "eastwind_rpc_client_seconds", "Calls made, by method and status code", ("method", "code")
        )

    def counter(self, name: str, text: str, labels: Iterable[str] = ()) -> Counter:
        """A counter of this service; raises ValueError for a label that is not known to be bounded."""
        return Counter(name, text, _checked(labels), registry=self.registry)

    def gauge(self, name: str, text: str, labels: Iterable[str] = ()) -> Gauge:
        """A gauge of this service; raises ValueError for a label that is not known to be bounded."""
        return Gauge(name, text, _checked(labels), registry=self.registry)

    def histogram(
        self, name: str, text: str, labels: Iterable[str] = (), buckets: Iterable[float] = _SECONDS
    ) -> Histogram:
        """A histogram of this service; raises ValueError for a label that is not known to be bounded."""
        return Histogram(name, text, _checked(labels), registry=self.registry, buckets=tuple(buckets))


def _checked(labels: Iterable[str]) -> tuple[str, ...]:
    names = tuple(labels)
    unknown = set(names) - _ALLOWED_LABELS
    if unknown:
        raise ValueError(f"metric labels are bounded sets of values, and {sorted(unknown)} is not known to be one")
    return names


class Telemetry:
    """Tracer and metrics of one service. Without `otlp_endpoint` no trace leaves the process."""

    def __init__(self, service: str, *, otlp_endpoint: str = "") -> None:
        self.service = service
        self.metrics = Metrics(service)
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": f"eastwind-{service}"}), shutdown_on_exit=False
        )
        if otlp_endpoint:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

            exporter = OTLPSpanExporter(endpoint=otlp_endpoint, insecure=otlp_endpoint.startswith("http://"))
            self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self.tracer = self._provider.get_tracer("eastwind")

    async def close(self) -> None:
        """Send what is left of the traces and stop."""
        await asyncio.to_thread(self._provider.shutdown)

    @contextmanager
    def span(
        self,
        name: str,
        *,
        kind: trace.SpanKind = trace.SpanKind.INTERNAL,
        parent: Mapping[str, str] | None = None,
    ) -> Iterator[trace.Span]:
        """A span, child of the trace headers in `parent` if given, else of the current span."""
        origin = _propagator.extract(parent) if parent is not None else None
        with self.tracer.start_as_current_span(name, context=origin, kind=kind) as span:
            yield span


def trace_headers() -> dict[str, str]:
    """The W3C trace headers (`traceparent`, `tracestate`) of the current span; empty outside a trace."""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return carrier


def current_trace_id() -> str:
    """The id of the current trace as 32 hexadecimal digits, or ""."""
    span_context = trace.get_current_span().get_span_context()
    return f"{span_context.trace_id:032x}" if span_context.is_valid else ""


class TelemetryLayer:
    """Times every call of a server and runs it in a span that continues the caller's trace."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry

    @asynccontextmanager
    async def around(self, method: str, context: Context) -> AsyncIterator[None]:
        metrics = self._telemetry.metrics
        active = metrics.rpc_server_active.labels(method)
        active.inc()
        started = time.perf_counter()
        headers = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        span = self._telemetry.tracer.start_span(
            method.lstrip("/"), context=_propagator.extract(headers), kind=trace.SpanKind.SERVER
        )
        token = otel_context.attach(trace.set_span_in_context(span))
        failed: grpc.StatusCode | None = None
        try:
            yield
        except grpc.aio.AbortError:
            raise
        except GeneratorExit:
            failed = grpc.StatusCode.CANCELLED
            raise
        except BaseException:
            failed = grpc.StatusCode.CANCELLED if context.cancelled() else grpc.StatusCode.UNKNOWN
            raise
        finally:
            otel_context.detach(token)
            code = failed or _code_of(context)
            span.set_attribute("rpc.grpc.status_code", code.name)
            span.end()
            active.dec()
            metrics.rpc_server_seconds.labels(method, code.name).observe(time.perf_counter() - started)


def _code_of(context: Context) -> grpc.StatusCode:
    """The runtime gives the code as a number, an enum value, or nothing yet."""
    code: Any = context.code()
    if isinstance(code, grpc.StatusCode):
        return code
    return _BY_NUMBER.get(code or 0, grpc.StatusCode.UNKNOWN)


_BY_NUMBER = {code.value[0]: code for code in grpc.StatusCode}
