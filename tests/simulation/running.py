"""Seeds and their words: which profile a seed has, and what is said about a report."""

from __future__ import annotations

from typing import Final

from tests.simulation.faults import PROFILES
from tests.simulation.simulation import TABLES, Plan, Report, Simulation

_TURNS: Final = tuple(PROFILES)
ALL_HANDS: Final = 2_000
"""So many hands are simulated by the tests at the least."""
SEEDS: Final = range(1, 15)
"""The seeds of the tests: every profile twice."""
SHOWN: Final = 5
"""So many broken laws of a seed are shown."""


def chosen_profile(seed: int) -> str:
    """The profile of a seed that names none."""
    return _TURNS[seed % len(_TURNS)]


def hands_of(seed: int) -> int:
    """How many hands a seed plays in the tests."""
    return -(-ALL_HANDS // len(SEEDS))


def command(plan: Plan) -> str:
    """The command that repeats a simulation."""
    return (
        f"python -m tests.simulation --seed {plan.seed} --hands {plan.hands} --tables {plan.tables} "
        f"--profile {plan.profile}"
    )


def told(report: Report) -> str:
    """What came of a simulation; for one that broke a law also how to see it again."""
    plan = report.plan
    counts = report.counts
    heading = f"seed {plan.seed} ({plan.profile}): {report.hands} hands, {counts['entries']} entries"
    figures = f"{counts['claims']} claims, {counts['timed out']} timeouts, {report.seconds:.0f} virtual s"
    lines = [f"{heading}, {figures}, digest {report.digest}"]
    lines += [f"  BROKEN {sentence}" for sentence in report.broken[:SHOWN]]
    if len(report.broken) > SHOWN:
        lines.append(f"  and {len(report.broken) - SHOWN} more")
    if report.broken:
        lines.append(f"  repeat it: {command(plan)} --trace trace.txt")
    return "\n".join(lines)


def simulate(seed: int, store_url: str, hands: int, tables: int = TABLES) -> Report:
    """Carry out a seed with its own profile; raises AssertionError, with the command that repeats it, for a broken
    law."""
    report = Simulation(Plan(seed, hands, tables, chosen_profile(seed)), store_url).run()
    assert not report.broken, told(report)
    return report
