"""What a metric, a label and a span are declared as."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

SERVICES: Final = frozenset(
    ("accounts", "bots", "clock", "gateway", "history", "matchmaking", "ratings", "scoring", "table")
)
EVERY: Final = SERVICES
_NAME: Final = re.compile(r"eastwind_[a-z]+(_[a-z]+)*")
_LABEL: Final = re.compile(r"[a-z]+(_[a-z]+)*")
_SUFFIXES: Final = ("_seconds", "_bytes", "_ratio", "_info")
FAST: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: calls and appends."""


@dataclass(frozen=True, slots=True)
class Label:
    """A label. ``values`` are all that it can have; empty when ``of`` names the bounded set that they come from.

    Never an id: a table, an account, an event or a connection belongs into traces and logs.
    """

    name: str
    of: str
    values: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _LABEL.fullmatch(self.name) or self.name.endswith(("id", "name", "account", "table")):
            raise ValueError(f"metric labels are bounded sets of values, and {self.name} is not one")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric family: its name as it is exported, what it tells, its labels and the services that have it.

    Raises ValueError when the name does not follow Prometheus' conventions: a counter ends in ``_total``, a measured
    quantity in its base unit.
    """

    name: str
    help: str
    labels: tuple[Label, ...] = ()
    services: frozenset[str] = EVERY

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"{self.name} is no name of a metric of ours")
        if not self.services or not self.services <= SERVICES:
            raise ValueError(f"{self.name} names a service that there is not")
        if isinstance(self, CounterMetric) != self.name.endswith("_total"):
            raise ValueError(f"{self.name}: counters, and they alone, end in _total")
        if isinstance(self, HistogramMetric) and not self.unit:
            raise ValueError(f"{self.name}: a histogram ends in its base unit")

    @property
    def type(self) -> str:
        """``counter``, ``gauge``, ``histogram`` or ``info``."""
        return type(self).__name__.removesuffix("Metric").lower()

    @property
    def unit(self) -> str:
        """The base unit at the end of the name, or "" for a count."""
        stem = self.name.removesuffix("_total")
        return next((suffix[1:] for suffix in _SUFFIXES[:-1] if stem.endswith(suffix)), "")

    @property
    def label_names(self) -> tuple[str, ...]:
        return tuple(label.name for label in self.labels)

    @property
    def series(self) -> tuple[str, ...]:
        """The names under which its samples are stored."""
        return (self.name,)


class CounterMetric(Metric):
    """Goes up only. Exported from zero for every combination of labels whose values are all known."""

    __slots__ = ()


class GaugeMetric(Metric):
    """Goes up and down."""

    __slots__ = ()


class InfoMetric(Metric):
    """Always 1; its labels tell something."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class HistogramMetric(Metric):
    """Observations by size, in the base unit of its name; ``buckets`` are upper bounds."""

    buckets: tuple[float, ...] = FAST

    @property
    def series(self) -> tuple[str, ...]:
        return tuple(f"{self.name}_{part}" for part in ("bucket", "count", "sum"))


@dataclass(frozen=True, slots=True)
class SpanKind:
    """A kind of span: ``name`` with its variable part in braces, the services that make it, and its attributes."""

    name: str
    help: str
    services: frozenset[str]
    attributes: tuple[str, ...] = ()
