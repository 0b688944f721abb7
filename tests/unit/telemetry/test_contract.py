"""The telemetry contract: what may be declared, and that the page for operators says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from libs.chassis.events.topics import EVENT_TOPICS
from libs.chassis.telemetry import Telemetry
from libs.chassis.telemetry_contract import labels, metrics
from libs.chassis.telemetry_contract.model import CounterMetric, GaugeMetric, HistogramMetric, Label
from libs.chassis.telemetry_contract.page import page
from libs.chassis.telemetry_contract.spans import SPANS
from libs.mahjong.bots import Level

ROOT = Path(__file__).parents[3]


def test_the_page_of_metrics_is_current() -> None:
    assert (ROOT / "deploy/docs/metrics.md").read_text(encoding="utf-8") == page(), "run make telemetry-docs"


@pytest.mark.parametrize("name", ["table_id", "account_id", "table", "account", "event_id", "socket_id", "Id", "name"])
def test_c127_no_label_can_carry_an_id(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        Label(name, "many")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (CounterMetric, "eastwind_moves"),
        (GaugeMetric, "eastwind_moves_total"),
        (GaugeMetric, "moves"),
        (HistogramMetric, "eastwind_lateness_ms"),
        (HistogramMetric, "eastwind_lateness"),
        (CounterMetric, "eastwind_Moves_total"),
    ],
)
def test_a_name_that_prometheus_would_not_use_is_refused(kind: type[CounterMetric], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        kind(name, "Something.")


def test_every_metric_and_span_is_told_in_a_sentence() -> None:
    texts = {metric.name: metric.help for metric in metrics.METRICS.values()} | {span.name: span.help for span in SPANS}
    assert [name for name, text in texts.items() if not text.endswith(".") or "\n" in text or "|" in text] == []


def test_buckets_are_in_order_and_hold_the_limits_of_the_objectives() -> None:
    for metric in metrics.METRICS.values():
        if isinstance(metric, HistogramMetric):
            assert list(metric.buckets) == sorted(set(metric.buckets)), metric.name
    assert 0.25 in metrics.EDGE_ACTION.buckets
    assert 0.05 in metrics.DEADLINE_LATENESS.buckets
    assert 10.0 in metrics.HAND_DELIVERY.buckets


def test_labels_with_listed_values_list_all_that_there_are() -> None:
    assert labels.TOPICS == EVENT_TOPICS
    assert labels.LEVEL.values == tuple(level.name.lower() for level in Level)


async def test_a_service_has_the_metrics_that_are_declared_for_it_and_counts_them_from_zero() -> None:
    telemetry = Telemetry("scoring")
    with pytest.raises(ValueError, match="no metric of scoring"):
        telemetry.metrics.counter(metrics.TABLE_MOVES)
    table = Telemetry("table")
    table.metrics.counter(metrics.TABLE_MOVES)
    assert table.metrics.registry.get_sample_value(metrics.TABLE_MOVES.name, {"outcome": "fenced"}) == 0
    counted = 41
    table.metrics.counted(metrics.REDIS_COMMANDS, lambda: counted)
    counted += 1
    assert table.metrics.registry.get_sample_value(metrics.REDIS_COMMANDS.name) == 42
    await telemetry.close()
    await table.close()
