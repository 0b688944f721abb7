"""Figures that the fault tests measure: printed at the end of a run and, when asked, kept in the tests' README."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

README: Final = Path(__file__).with_name("README.md")
KEEP: Final = "KEEP_FIGURES"
"""The environment variable that has the figures written into the README; its value says of which machine they are."""
_BEGIN, _END = "<!-- figures: begin -->", "<!-- figures: end -->"


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table. ``goal`` is empty where there is none."""

    what: str
    value: str
    goal: str
    command: str


class Figures:
    """What was measured in this run."""

    def __init__(self) -> None:
        self.lines: list[Figure] = []

    def add(self, what: str, value: str, *, goal: str = "", command: str) -> None:
        """Keep a figure; ``command`` is the part of `make faults` that measures it."""
        self.lines.append(Figure(what, value, goal, command))

    def table(self) -> str:
        """The figures as a Markdown table."""
        rows = ['| what | measured | goal | `make faults PYTEST_ARGS="-k …"` |', "|---|---|---|---|"]
        rows += [f"| {line.what} | {line.value} | {line.goal} | `{line.command}` |" for line in self.lines]
        return "\n".join(rows)

    def keep(self, readme: Path = README) -> bool:
        """Write the table into the README when the environment asks for it; tells whether it did."""
        where = os.environ.get(KEEP, "")
        if not where or not self.lines:
            return False
        text = readme.read_text()
        before, _, rest = text.partition(_BEGIN)
        _, _, after = rest.partition(_END)
        machine = f"{os.cpu_count()} cores, Python {platform.python_version()}, {where}"
        readme.write_text(f"{before}{_BEGIN}\nMeasured on {machine}.\n\n{self.table()}\n{_END}{after}")
        return True


def seconds(samples: Sequence[float], share: float) -> float:
    """The quantile of ascending samples, by the nearest rank."""
    return samples[min(len(samples) - 1, int(share * len(samples)))]


def spread(samples: Sequence[float]) -> str:
    """Median, 99th percentile and largest of samples in seconds."""
    ordered = sorted(samples)
    return (
        f"p50 {seconds(ordered, 0.5):.2f} s, p99 {seconds(ordered, 0.99):.2f} s, max {ordered[-1]:.2f} s"
        f" ({len(ordered)} samples)"
    )
