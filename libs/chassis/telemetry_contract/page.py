"""The contract as a page for operators: ``python -m libs.chassis.telemetry_contract.page deploy/docs/metrics.md``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from libs.chassis.telemetry_contract.metrics import FOREIGN, METRICS
from libs.chassis.telemetry_contract.model import EVERY, HistogramMetric, Label, Metric
from libs.chassis.telemetry_contract.spans import SPANS

_HEAD = """# Metrics and spans

Generated from `libs/chassis/telemetry_contract`; change it there and run `make telemetry-docs`. Every service exports
its metrics on `/metrics` of its HTTP port, as Prometheus text or, when asked for in `Accept`, as OpenMetrics with
exemplars. Times are in seconds. No label ever carries an id: tables, accounts and events are found through traces and
logs. A counter whose label values are all listed is exported from zero on.

Besides these, every service exports the client library's {foreign}.
"""


def page() -> str:
    """The whole page."""
    foreign = " and ".join(f"`{prefix}*`" for prefix in FOREIGN)
    return "\n".join([_HEAD.format(foreign=foreign), *_metrics(), *_spans()]) + "\n"


def _metrics() -> Iterable[str]:
    for services, title in _groups():
        yield f"## {title}\n"
        yield "| metric | type | labels | what it tells |"
        yield "|---|---|---|---|"
        for metric in METRICS.values():
            if metric.services == services:
                yield f"| `{metric.name}` | {metric.type} | {_labels(metric.labels)} | {_told(metric)} |"
        yield ""


def _groups() -> list[tuple[frozenset[str], str]]:
    """The sets of services that share metrics, in the order of the contract."""
    sets = dict.fromkeys(metric.services for metric in METRICS.values())
    return [(each, "every service" if each == EVERY else ", ".join(sorted(each))) for each in sets]


def _told(metric: Metric) -> str:
    if not isinstance(metric, HistogramMetric):
        return metric.help
    return f"{metric.help} Buckets: {', '.join(f'{bound:g}' for bound in metric.buckets)}."


def _labels(labels: tuple[Label, ...]) -> str:
    return "; ".join(
        f"`{label.name}`: " + (", ".join(f"`{value}`" for value in label.values) if label.values else label.of)
        for label in labels
    )


def _spans() -> Iterable[str]:
    yield "## Spans\n"
    yield "| span | services | attributes | what it covers |"
    yield "|---|---|---|---|"
    for span in SPANS:
        services = "every service" if span.services == EVERY else ", ".join(sorted(span.services))
        attributes = ", ".join(f"`{name}`" for name in span.attributes)
        yield f"| `{span.name}` | {services} | {attributes} | {span.help} |"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
