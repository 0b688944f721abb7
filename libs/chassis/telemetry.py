"""Traces and metrics of one service.

Each service object has its own tracer and its own metrics registry, because the embedded stack runs several services
in one process. What there is to be measured is named in `libs.chassis.telemetry_contract`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from itertools import product
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
from prometheus_client.core import CounterMetricFamily
from prometheus_client.core import Metric as PrometheusMetric
from prometheus_client.gc_collector import GCCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from libs.chassis.interceptors import Context
from libs.chassis.telemetry_contract import metrics
from libs.chassis.telemetry_contract.model import (
    SERVICES,
    CounterMetric,
    GaugeMetric,
    HistogramMetric,
    Metric,
)

_propagator = TraceContextTextMapPropagator()


class Metrics:
    """The metrics registry of one service, with the metrics that every service has."""

    def __init__(self, service: str) -> None:
        self.service = service
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)
        Info(
            metrics.SERVICE_INFO.name.removesuffix("_info"),
            metrics.SERVICE_INFO.help,
            registry=self.registry,
        ).info({"service": service})
        self.draining = self.gauge(metrics.DRAINING)
        self.rpc_server_seconds = self.histogram(metrics.RPC_SERVER)
        self.rpc_server_active = self.gauge(metrics.RPC_SERVER_ACTIVE)
        self.rpc_client_seconds = self.histogram(metrics.RPC_CLIENT)

    def counter(self, metric: CounterMetric) -> Counter:
        """The counter, exported from zero on where all values of its labels are known. Raises ValueError for one that
        this service does not have."""
        made = Counter(metric.name, metric.help, self._labels_of(metric), registry=self.registry)
        if metric.labels and all(label.values for label in metric.labels):
            for values in product(*(label.values for label in metric.labels)):
                made.labels(*values)
        return made

    def counted(self, metric: CounterMetric, read: Callable[[], float]) -> None:
        """Export as that counter what is counted elsewhere; `read` is called at each scrape. Raises as `counter`."""
        self._labels_of(metric)
        self.registry.register(_Counted(metric, read))

    def gauge(self, metric: GaugeMetric) -> Gauge:
        """The gauge. Raises as `counter`."""
        return Gauge(metric.name, metric.help, self._labels_of(metric), registry=self.registry)

    def histogram(self, metric: HistogramMetric) -> Histogram:
        """The histogram. Raises as `counter`."""
        made = Histogram(
            metric.name, metric.help, self._labels_of(metric), registry=self.registry, buckets=metric.buckets
        )
        if metric.labels and all(label.values for label in metric.labels):
            for values in product(*(label.values for label in metric.labels)):
                made.labels(*values)
        return made

    def _labels_of(self, metric: Metric) -> tuple[str, ...]:
        if self.service in SERVICES and self.service not in metric.services:
            raise ValueError(f"{metric.name} is no metric of {self.service}")
        return metric.label_names


class _Counted(Collector):
    """A counter whose count is kept elsewhere."""

    def __init__(self, metric: CounterMetric, read: Callable[[], float]) -> None:
        self._metric = metric
        self._read = read

    def describe(self) -> Iterable[PrometheusMetric]:
        return [CounterMetricFamily(self._metric.name, self._metric.help)]

    def collect(self) -> Iterable[PrometheusMetric]:
        return [CounterMetricFamily(self._metric.name, self._metric.help, value=self._read())]


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
        own = self._telemetry.metrics
        active = own.rpc_server_active.labels(method)
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
            own.rpc_server_seconds.labels(method, code.name).observe(time.perf_counter() - started)


def _code_of(context: Context) -> grpc.StatusCode:
    """The runtime gives the code as a number, an enum value, or nothing yet."""
    code: Any = context.code()
    if isinstance(code, grpc.StatusCode):
        return code
    return _BY_NUMBER.get(code or 0, grpc.StatusCode.UNKNOWN)


_BY_NUMBER = {code.value[0]: code for code in grpc.StatusCode}
