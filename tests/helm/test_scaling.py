"""Who decides how many copies run."""

from __future__ import annotations

import pytest

from libs.chassis.events.topics import PARTITIONS
from libs.chassis.telemetry_contract import metrics
from tests.helm.rendering import Chart
from tests.helm.test_workloads import FACTS, SERVICES

pytestmark = pytest.mark.helm


@pytest.mark.parametrize("service", SERVICES)
def test_c122_the_chart_says_no_number_of_copies_while_an_autoscaler_does(chart: Chart, service: str) -> None:
    for permutation in ("minimal", "full"):
        rendered = chart.render(permutation)
        assert "replicas" not in rendered.component("Deployment", service)["spec"]
    scaler = chart.render().component("HorizontalPodAutoscaler", service)["spec"]
    assert scaler["minReplicas"] == 2
    assert scaler["maxReplicas"] == 8
    assert scaler["metrics"] == [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}
    ]
    assert scaler["scaleTargetRef"]["name"] == f"ew-eastwind-{service}"


@pytest.mark.parametrize("service", SERVICES)
def test_c122_without_an_autoscaler_it_does(chart: Chart, service: str) -> None:
    rendered = chart.render("fixed")
    assert not rendered.kind("HorizontalPodAutoscaler")
    assert rendered.component("Deployment", service)["spec"]["replicas"] == (5 if service == "table" else 3)


def test_c122_one_service_may_stand_still_while_the_others_are_scaled(chart: Chart) -> None:
    rendered = chart.render("adapter")
    assert rendered.component("Deployment", "clock")["spec"]["replicas"] == 2
    assert "eastwind-clock" not in rendered.kind("HorizontalPodAutoscaler")
    assert "eastwind-scoring" in rendered.kind("HorizontalPodAutoscaler")


def test_table_workers_are_scaled_by_tables_and_loop_lag_with_keda(chart: Chart) -> None:
    rendered = chart.render("full")
    assert "ew-eastwind-table" not in rendered.kind("HorizontalPodAutoscaler")
    tables, lag = rendered.one("ScaledObject", "ew-eastwind-table")["spec"]["triggers"]
    series = '{namespace="play", pod=~"ew-eastwind-table-.+"}'
    assert tables["metadata"]["query"] == f"sum({metrics.LIVE_TABLES.name}{series})"
    assert tables["metadata"]["threshold"] == "2500"
    assert f"{metrics.LOOP_LAG.name}_bucket{series}" in lag["metadata"]["query"]
    assert lag["metadata"]["threshold"] == "50"


def test_table_workers_are_scaled_by_tables_and_loop_lag_with_the_adapter(chart: Chart) -> None:
    scaler = chart.render("adapter").one("HorizontalPodAutoscaler", "eastwind-table")["spec"]
    assert [(each["pods"]["metric"]["name"], each["pods"]["target"]["averageValue"]) for each in scaler["metrics"]] == [
        (metrics.LIVE_TABLES.name, "1500"),
        (f"{metrics.LOOP_LAG.name}_p99", "50m"),
    ]


def test_consumers_are_never_more_than_there_are_partitions(chart: Chart) -> None:
    for service, facts in FACTS.items():
        if facts.get("kafka") and facts.get("database"):
            assert chart.render().component("HorizontalPodAutoscaler", service)["spec"]["maxReplicas"] <= PARTITIONS


def test_a_worker_holds_more_tables_than_it_is_scaled_at(chart: Chart) -> None:
    capacity = int(chart.render().environment("table")["EASTWIND_TABLE_CAPACITY"])
    (threshold,) = {
        each["metadata"]["threshold"]
        for each in chart.render("full").one("ScaledObject", "ew-eastwind-table")["spec"]["triggers"]
        if each["name"] == "live-tables"
    }
    assert int(threshold) * 2 <= capacity
