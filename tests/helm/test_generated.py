"""What the chart takes from elsewhere is up to date: the tables of its README, dashboards and rules."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
import yaml

from helm.generated import CHART, COPIED, ROOT, described_values, present, wanted
from tests.helm.rendering import Chart

pytestmark = pytest.mark.helm


def test_make_chart_has_nothing_to_do() -> None:
    files = wanted()
    assert present() == set(files)
    stale = [path.name for path, text in files.items() if path.read_text() != text]
    assert not stale, f"out of date: {stale}; run `make chart`"


def test_every_value_is_described() -> None:
    described = {path for path, _ in described_values()}

    def leaves(values: object, path: tuple[str, ...]) -> set[tuple[str, ...]]:
        if path in described or not isinstance(values, Mapping) or not values:
            return {path}
        return {leaf for name in values for leaf in leaves(values[name], (*path, name))}

    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert leaves(values, ()) - described - _OPAQUE == set()


_OPAQUE = {(each, "resources") for each in ("defaults", "migrations")}


def test_the_schema_knows_every_value() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    schema = json.loads((CHART / "values.schema.json").read_text())

    def unknown(part: object, rules: Mapping[str, object], path: str) -> list[str]:
        properties = rules.get("properties")
        if not isinstance(part, Mapping) or not isinstance(properties, Mapping) or "additionalProperties" not in rules:
            return []
        return [f"{path}.{name}" for name in part if name not in properties] + [
            each
            for name in part
            if name in properties
            for each in unknown(part[name], properties[name], f"{path}.{name}")
        ]

    assert unknown(values, schema, "") == []


def test_dashboards_and_rules_reach_the_cluster_unchanged(chart: Chart) -> None:
    rendered = chart.render("full")
    dashboards = {
        name: text for each in rendered.kind("ConfigMap").values() for name, text in each.get("data", {}).items()
    }
    source, pattern = COPIED["dashboards"]
    originals = {path.name: json.loads(path.read_text()) for path in (ROOT / source).glob(pattern)}
    assert {name: json.loads(text) for name, text in dashboards.items()} == originals
    source, pattern = COPIED["rules"]
    rules = [each["spec"] for each in rendered.kind("PrometheusRule").values()]
    expected = [yaml.safe_load(path.read_text()) for path in sorted((ROOT / source).glob(pattern))]
    assert sorted(rules, key=str) == sorted(expected, key=str)


def test_every_metrics_port_is_read(chart: Chart) -> None:
    rendered = chart.render("full")
    monitor = rendered.one("ServiceMonitor", "ew-eastwind")["spec"]
    wanted_labels = monitor["selector"]["matchLabels"].items()
    found = [
        each["spec"]["selector"]["app.kubernetes.io/component"]
        for each in rendered.kind("Service").values()
        if wanted_labels <= each["metadata"]["labels"].items()
    ]
    assert sorted(found) == sorted(yaml.safe_load((CHART / "files" / "components.yaml").read_text()))
    (endpoint,) = monitor["endpoints"]
    assert (endpoint["port"], endpoint["path"]) == ("http", "/metrics")
    # Alerts tell services apart by a label of ours that the operator would set, too.
    assert endpoint["relabelings"] == [{"action": "labeldrop", "regex": "service"}]
