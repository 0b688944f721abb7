"""The queries in the files that operators load: dashboards and rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
DASHBOARDS = ROOT / "deploy/grafana/dashboards"
RULES = ROOT / "deploy/prometheus/rules"
RUNBOOKS = ROOT / "deploy/docs/runbooks"
_WORDS = {"by", "without", "and", "or", "unless", "on", "ignoring", "group_left", "group_right", "bool", "offset"}
_COMPARED = re.compile(r"\s*(?:>=|<=|==|!=|>|<)\s*[-+0-9.e]+")


@dataclass(frozen=True, slots=True)
class Selector:
    """A metric in a query, with the labels that it is selected by."""

    name: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query and where it stands."""

    where: str
    expr: str

    @property
    def selectors(self) -> list[Selector]:
        """The metrics that it names."""
        text = re.sub(r"\[[^]]*\]", "", self.expr)
        text = re.sub(r"\b(by|without|on|ignoring)\s*\([^)]*\)", "", text)
        found = []
        for match in re.finditer(r"([a-zA-Z_:][\w:]*)\s*(\{[^}]*\})?(\s*\()?", _blank_strings(text)):
            name, braces, called = match.groups()
            if not called and name not in _WORDS:
                found.append(Selector(name, tuple(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", braces or ""))))
        return found

    @property
    def grouped_by(self) -> set[str]:
        """The labels that it groups by."""
        lists = re.findall(r"\bby\s*\(([^)]*)\)", self.expr)
        return {label.strip() for text in lists for label in text.split(",")}

    @property
    def measured(self) -> str:
        """The query without its thresholds: what it looks at, whether or not it is bad."""
        return _COMPARED.sub("", self.expr).replace(" unless ", " or ")


def _blank_strings(text: str) -> str:
    return re.sub(r'"[^"]*"', '""', text)


def panels() -> list[Asked]:
    """Every query of every panel, with a window for Grafana's variable."""
    found = []
    for path in sorted(DASHBOARDS.glob("*.json")):
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            for target in panel["targets"]:
                where = f"{path.stem}: {panel['title']} {target['refId']}"
                found.append(Asked(where, target["expr"].replace("$__rate_interval", "5m")))
    return found


def rules(file: str = "*.yaml") -> Iterator[dict[str, Any]]:
    """All rules of all files, or of one."""
    for path in sorted(RULES.glob(file)):
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
            yield from group["rules"]


def alerts(file: str = "*.yaml") -> list[dict[str, Any]]:
    """The alerting rules."""
    return [rule for rule in rules(file) if "alert" in rule]


def recorded() -> list[dict[str, Any]]:
    """The recording rules."""
    return [rule for rule in rules() if "record" in rule]


def asked_by_rules() -> list[Asked]:
    """Every query of every rule."""
    return [Asked(str(rule.get("alert") or rule["record"]), rule["expr"]) for rule in rules()]
