"""What running services export, as an operator's Prometheus reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable

import aiohttp
from prometheus_client import Metric as Family
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from libs.chassis.telemetry_contract.metrics import FOREIGN, METRICS
from libs.chassis.telemetry_contract.model import CounterMetric, InfoMetric, Metric

OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
_ID = re.compile(r"[0-9a-f]{8,}|[0-9]{5,}|[0-9A-Za-z_-]{20,}(?<![a-z])", re.IGNORECASE)
"""What ids of ours look like; names of methods, topics, rulesets and reasons do not."""


async def families(http: aiohttp.ClientSession, address: str) -> dict[str, Family]:
    """The families of a service by the names that the contract has for them, those of the client library left out."""
    async with http.get(f"http://{address}/metrics", headers={"Accept": OPENMETRICS}) as answer:
        assert answer.content_type == "application/openmetrics-text"
        text = await answer.text()
    found = {}
    for family in text_string_to_metric_families(text):  # type: ignore[no-untyped-call]
        ending = {"counter": "_total", "info": "_info"}.get(family.type, "")
        if not family.name.startswith(FOREIGN):
            found[family.name + ending] = family
    return found


def differences(service: str, found: dict[str, Family], secrets: Iterable[str] = ()) -> list[str]:
    """What a service exports otherwise than the contract says; ``secrets`` are ids that were in play."""
    wanted = {name: metric for name, metric in METRICS.items() if service in metric.services}
    problems = [f"{service} lacks {name}" for name in wanted.keys() - found.keys()]
    problems += [f"{service} exports {name} beyond the contract" for name in found.keys() - wanted.keys()]
    for name in wanted.keys() & found.keys():
        problems += [f"{service}: {problem}" for problem in _of_family(wanted[name], found[name], list(secrets))]
    return problems


def _of_family(metric: Metric, family: Family, secrets: list[str]) -> Iterable[str]:
    if family.type != metric.type:
        yield f"{metric.name} is a {family.type}"
    if family.documentation != metric.help:
        yield f"{metric.name} tells something else"
    known = {label.name: label for label in metric.labels}
    for sample in family.samples:
        if isinstance(metric, CounterMetric | InfoMetric) and sample.name.endswith("_created"):
            continue
        labels = {name: value for name, value in sample.labels.items() if name != "le"}
        if set(labels) != set(known):
            yield f"{sample.name} has the labels {sorted(labels)}"
            continue
        for name, value in labels.items():
            if known[name].values and value not in known[name].values:
                yield f"{sample.name} has {name}={value!r}, which is not listed"
            elif _ID.fullmatch(value) or any(secret in value for secret in secrets):
                yield f"{sample.name} has an id in {name}"
