"""The table of results: printed at the end of a run and, when asked, kept in RESULTS.md."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
KEEP: Final = "KEEP_RESULTS"
"""The environment variable that has the results written into RESULTS.md; its value says of what machine they are."""
_DOUBLED: Final = ("twice", "second time")


@dataclass(frozen=True, slots=True)
class Row:
    """What one disruption did to the tables under play."""

    done: str
    seconds: float
    acknowledged: int
    violations: tuple[str, ...]
    moved: int
    """How often a table got another worker."""
    longest_pause_s: float
    resyncs: int
    """The most that one client went through."""
    reconnections: int
    """The most that one client went through."""
    timeouts: int
    """Of all clients together."""

    @property
    def doubled(self) -> int:
        """How many findings say that something happened twice."""
        return sum(any(word in each for word in _DOUBLED) for each in self.violations)

    @property
    def lost(self) -> int:
        """How many other findings there are."""
        return len(self.violations) - self.doubled


@dataclass(slots=True)
class Results:
    """What this run did and saw."""

    rows: list[Row] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    """What is known of cluster, machine and load."""
    others: list[tuple[str, str]] = field(default_factory=list)
    """What was shown besides, and what came of it."""

    def text(self) -> str:
        """All of it as Markdown."""
        facts = [f"- {name}: {value}" for name, value in self.facts.items()]
        rows = (
            (
                row.done,
                f"{row.seconds:.0f} s",
                str(row.acknowledged),
                str(row.lost),
                str(row.doubled),
                str(row.moved),
                f"{row.longest_pause_s:.1f} s",
                str(row.resyncs),
                str(row.reconnections),
                str(row.timeouts),
            )
            for row in self.rows
        )
        heads = (
            "what was done",
            "took",
            "actions acknowledged",
            "lost",
            "doubled",
            "moves of a table",
            "longest pause of a table",
            "resyncs of a client, at most",
            "reconnections of a client, at most",
            "decisions timed out",
        )
        parts = ["\n".join(facts), _table(heads, rows)]
        if self.others:
            parts.append(_table(("besides", "result"), self.others))
        return "\n\n".join(parts) + "\n"

    def keep(self, page: Path = RESULTS) -> bool:
        """Write the page when the environment asks for it; tells whether it did."""
        machine = os.environ.get(KEEP, "")
        if not machine or not self.rows:
            return False
        self.facts["machine"] = f"{os.cpu_count()} cores, Python {platform.python_version()}, {machine}"
        page.write_text(
            f"# Results of `make cluster-test`\n\nWritten by the run itself; README.md says how.\n\n{self.text()}"
        )
        return True


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(heads)]
    lines += [["---"] * len(lines[0]), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |".replace("| --- |", "|---|").replace(" --- |", "---|") for line in lines)
