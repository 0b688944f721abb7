"""The classical score with its settlement: ``python -m tests.load.bench_classical [seconds]``.

Every pass scores and settles all legal handed vectors, the other three seats included. Three costs per hand are
printed, as medians over passes with their 10th and 90th percentiles, in processor time: with what was worked out before
still kept, as it is between the offer, the settlement and the display of one hand; the winner's score alone, kept; and
with everything forgotten before every pass.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from importlib import resources

from libs.mahjong.notation import parse_line
from libs.mahjong.scores import WinSituation
from libs.mahjong.variants.classical import RULESET, scoring

Case = Callable[[], None]


def hands() -> list[WinSituation]:
    """The legal handed vectors, read."""
    lines = resources.files("libs.mahjong.variants.classical").joinpath("golden/vectors/random.jsonl")
    found = [parse_line(line)[1] for line in lines.read_text(encoding="utf-8").splitlines()]
    return [situation for situation in found if RULESET.score(situation).legal]


def cases(situations: list[WinSituation]) -> dict[str, Case]:
    """Each case goes over all hands once."""

    def settle() -> None:
        for situation in situations:
            RULESET.settle(situation)

    def from_nothing() -> None:
        scoring.clear_memory()
        settle()

    def score() -> None:
        for situation in situations:
            RULESET.score(situation)

    return {"score and settlement, kept": settle, "winner's score, kept": score, "everything forgotten": from_nothing}


def cost(case: Case, number: int) -> float:
    """Microseconds of processor time per hand in one pass."""
    started = time.process_time_ns()
    case()
    return (time.process_time_ns() - started) / number / 1000


def main(seconds: float) -> None:
    """Print the costs."""
    situations = hands()
    print(f"{len(situations)} hands a pass")
    for name, case in cases(situations).items():
        case()
        end = time.monotonic() + seconds / 3
        costs = [cost(case, len(situations)) for _ in range(10)]
        while time.monotonic() < end:
            costs.append(cost(case, len(situations)))
        low, *_, high = statistics.quantiles(costs, n=10)
        print(f"{name}: {statistics.median(costs):.1f} us a hand (p10 {low:.1f}, p90 {high:.1f}), {len(costs)} passes")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 12)
