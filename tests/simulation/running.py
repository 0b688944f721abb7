"""Seeds and their words: which profile a seed has, and what is said about a report."""

from __future__ import annotations

from typing import Final

from tests.simulation.faults import PROFILES
from tests.simulation.simulation import Plan, Report, Simulation

_TURNS: Final = tuple(PROFILES)
SEEDS: Final = tuple(range(1, 9))
"""The seeds of the tests. Every profile is among them; two files have half of them each, and a thousand hands."""
HANDS_OF_A_SEED: Final = 250
TABLES_OF_A_SEED: Final = 36
SHOWN: Final = 5
"""So many broken laws of a seed are shown."""


def chosen_profile(seed: int) -> str:
    """The profile of a seed that names none."""
    return _TURNS[seed % len(_TURNS)]


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


def simulate(seed: int, store_url: str) -> Report:
    """Carry out a seed of the tests; raises AssertionError, with the command that repeats it, for a broken law."""
    plan = Plan(seed, HANDS_OF_A_SEED, TABLES_OF_A_SEED, chosen_profile(seed))
    report = Simulation(plan, store_url).run()
    assert not report.broken, told(report)
    return report
