"""Dashboards, alerts, runbooks and objectives name what the contract has, and nothing else."""

from __future__ import annotations

from deploy.grafana.boards import board_json
from deploy.grafana.panels import BOARDS
from deploy.prometheus import objectives
from libs.chassis.telemetry_contract.metrics import FOREIGN, METRICS
from libs.chassis.telemetry_contract.model import HistogramMetric, Metric
from tests.telemetry.files import DASHBOARDS, ROOT, RULES, RUNBOOKS, Asked, alerts, asked_by_rules, panels, recorded

_OF_THE_SCRAPE = {"job", "instance"}
_SERIES: dict[str, Metric] = {series: metric for metric in METRICS.values() for series in metric.series}
_DASHBOARDS_WANTED = {
    "player-experience",
    "tables",
    "clocks-and-claims",
    "matchmaking",
    "ratings-and-events",
    "grpc",
    "redis",
    "kafka",
    "slo-burn",
}


def test_dashboards_are_those_of_their_source() -> None:
    assert {path.stem for path in DASHBOARDS.glob("*.json")} == {board.name for board in BOARDS} == _DASHBOARDS_WANTED
    for board in BOARDS:
        text = (DASHBOARDS / f"{board.name}.json").read_text(encoding="utf-8")
        assert text == board_json(board), "run make telemetry-docs"


def test_slo_rules_are_those_of_the_objectives() -> None:
    assert (RULES / "slo.yaml").read_text(encoding="utf-8") == objectives.rules(), "run make telemetry-docs"


def test_every_query_names_only_what_the_contract_has() -> None:
    problems = []
    records = {rule["record"] for rule in recorded()}
    for asked in [*panels(), *asked_by_rules()]:
        assert asked.selectors, asked
        allowed = set(_OF_THE_SCRAPE)
        for selector in asked.selectors:
            metric = _SERIES.get(selector.name)
            if metric is None:
                if selector.name not in records and selector.name != "up" and not selector.name.startswith(FOREIGN):
                    problems.append(f"{asked.where}: no metric {selector.name}")
                continue
            labels = {*metric.label_names, *(("le",) if isinstance(metric, HistogramMetric) else ())}
            allowed |= labels
            problems += [
                f"{asked.where}: {selector.name} has no label {label}"
                for label in set(selector.labels) - labels - _OF_THE_SCRAPE
            ]
        problems += [f"{asked.where}: groups by {label}" for label in asked.grouped_by - allowed]
    assert problems == []


def test_every_metric_is_drawn_or_watched() -> None:
    named = {selector.name for asked in [*panels(), *asked_by_rules()] for selector in asked.selectors}
    assert [name for name, metric in METRICS.items() if not named & {*metric.series}] == []


def test_every_alert_has_a_runbook_and_every_runbook_an_alert() -> None:
    for alert in alerts():
        text = (ROOT / alert["annotations"]["runbook_url"]).read_text(encoding="utf-8")
        assert text.startswith(f"# {alert['alert']}: ")
        assert [line for line in text.splitlines() if line.startswith("## ")] == [
            "## What it means",
            "## What to look at",
            "## What to do",
        ]
        assert alert["labels"]["severity"] in ("page", "ticket")
        assert alert["annotations"]["summary"].endswith(".")
    assert {path.name for path in RUNBOOKS.glob("*.md")} == {
        alert["annotations"]["runbook_url"].rpartition("/")[2] for alert in alerts()
    }


def test_the_page_of_objectives_tells_the_same() -> None:
    page = (ROOT / "deploy/docs/slo.md").read_text(encoding="utf-8")
    for objective in objectives.OBJECTIVES:
        assert f"| {objective.name} | {objective.promise.rstrip('.')} |" in page
    for burn in objectives.BURNS:
        assert f"| {burn.factor:g} time" in page


def test_a_query_tells_what_it_measures_without_its_threshold() -> None:
    asked = Asked("here", 'max(eastwind_a) > 100 and sum(rate(eastwind_b_total{x="1"}[5m])) < 0.001')
    assert asked.measured == 'max(eastwind_a) and sum(rate(eastwind_b_total{x="1"}[5m]))'
    assert [selector.name for selector in asked.selectors] == ["eastwind_a", "eastwind_b_total"]
