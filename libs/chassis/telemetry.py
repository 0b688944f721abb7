"""Traces and metrics of one service.

Each service object has its own tracer and its own metrics registry, because the embedded stack runs several services
in one process. What there is to be measured is named in `libs.chassis.telemetry_contract`.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
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
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, SamplingResult, TraceIdRatioBased
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue
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
    SpanKind,
)
from libs.chassis.telemetry_contract.spans import RPC_CODE

_propagator = TraceContextTextMapPropagator()
_CHOSEN = "eastwind.chosen"
_RECORDED = "-01"
NO_TRACE = otel_context.Context()
"""The context of what belongs to no trace."""

Attributes = Mapping[str, AttributeValue]


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
    """Tracer and metrics of one service. Without `otlp_endpoint` no trace leaves the process, and none is recorded.

    Of the traces that begin here `trace_ratio` are recorded; one that began elsewhere is recorded when it was there.
    """

    def __init__(self, service: str, *, otlp_endpoint: str = "", trace_ratio: float = 0.01) -> None:
        self.service = service
        self.metrics = Metrics(service)
        self._ratio = trace_ratio if otlp_endpoint else 0.0
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": f"eastwind-{service}"}),
            sampler=ParentBased(root=_Root(self._ratio)),
            shutdown_on_exit=False,
        )
        if otlp_endpoint:
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

            exporter = OTLPSpanExporter(endpoint=otlp_endpoint, insecure=otlp_endpoint.startswith("http://"))
            self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self.tracer = self._provider.get_tracer("eastwind")

    async def close(self) -> None:
        """Send what is left of the traces and stop."""
        await asyncio.to_thread(self._provider.shutdown)

    def chosen_root(self, kind: SpanKind, attributes: Attributes) -> trace.Span | None:
        """The root span of a new trace for one in so many calls, `None` for the others: those cost nothing."""
        if not self._ratio or random.random() >= self._ratio:
            return None
        return self.tracer.start_span(
            kind.name, context=NO_TRACE, kind=trace.SpanKind.SERVER, attributes={**attributes, _CHOSEN: True}
        )

    def child(
        self,
        kind: SpanKind,
        trace_parent: str,
        attributes: Attributes,
        *,
        span_kind: trace.SpanKind = trace.SpanKind.SERVER,
        topic: str = "",
    ) -> trace.Span | None:
        """A span in the trace of a `traceparent` header; `None` when there is none, or that trace is not recorded."""
        if not trace_parent.endswith(_RECORDED):
            return None
        parent = _propagator.extract({"traceparent": trace_parent}, context=NO_TRACE)
        name = kind.name.format(topic=topic)
        return self.tracer.start_span(name, context=parent, kind=span_kind, attributes=attributes)

    @contextmanager
    def span(
        self,
        name: str,
        *,
        kind: trace.SpanKind = trace.SpanKind.INTERNAL,
        parent: Mapping[str, str] | None = None,
        attributes: Attributes | None = None,
    ) -> Iterator[trace.Span]:
        """A span, child of the trace headers in `parent` if given, else of the current span."""
        origin = _propagator.extract(parent) if parent is not None else None
        with self.tracer.start_as_current_span(name, context=origin, kind=kind, attributes=attributes) as span:
            yield span


class _Root(TraceIdRatioBased):
    """Records a share of new traces, and those that were chosen before their span was made."""

    def should_sample(
        self,
        parent_context: otel_context.Context | None,
        trace_id: int,
        name: str,
        kind: trace.SpanKind | None = None,
        attributes: Attributes | None = None,
        links: Sequence[trace.Link] | None = None,
        trace_state: trace.TraceState | None = None,
    ) -> SamplingResult:
        if attributes and attributes.get(_CHOSEN):
            kept = {name: value for name, value in attributes.items() if name != _CHOSEN}
            return SamplingResult(Decision.RECORD_AND_SAMPLE, kept)
        return super().should_sample(parent_context, trace_id, name, kind, attributes, links, trace_state)


def trace_parent_of(span: trace.Span | None) -> str:
    """The `traceparent` header by which another process continues a recorded span; "" for none."""
    if span is None:
        return ""
    context = span.get_span_context()
    return f"00-{context.trace_id:032x}-{context.span_id:016x}{_RECORDED}"


def exemplar_of(span: trace.Span | None) -> dict[str, str] | None:
    """What a histogram remembers of the trace that an observation belongs to; `None` when it is not recorded."""
    if span is None:
        return None
    context = span.get_span_context()
    return {"trace_id": f"{context.trace_id:032x}"} if context.trace_flags.sampled else None


def current_trace_parent() -> str:
    """The `traceparent` header of the current span when its trace is recorded, else ""."""
    span = trace.get_current_span()
    return trace_parent_of(span) if span.get_span_context().trace_flags.sampled else ""


@contextmanager
def in_span(span: trace.Span | None) -> Iterator[None]:
    """Make a span the current one, or no span at all, whatever was current before."""
    token = otel_context.attach(NO_TRACE if span is None else trace.set_span_in_context(span, NO_TRACE))
    try:
        yield
    finally:
        otel_context.detach(token)


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
            span.set_attribute(RPC_CODE, code.name)
            span.end()
            active.dec()
            own.rpc_server_seconds.labels(method, code.name).observe(time.perf_counter() - started, exemplar_of(span))


def _code_of(context: Context) -> grpc.StatusCode:
    """The runtime gives the code as a number, an enum value, or nothing yet."""
    code: Any = context.code()
    if isinstance(code, grpc.StatusCode):
        return code
    return _BY_NUMBER.get(code or 0, grpc.StatusCode.UNKNOWN)


_BY_NUMBER = {code.value[0]: code for code in grpc.StatusCode}
