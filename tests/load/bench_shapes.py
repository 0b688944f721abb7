"""Shapes against other libraries: ``python -m tests.load.bench_shapes [seconds]``.

Machines change their speed from one second to the next, so only ratios within a run are reported. All cases of a round
run in turn, several times over, in short slices of processor time; per round the cost of a peer is divided by ours, and
the median of these ratios is printed with their 10th and 90th percentiles. A goal is judged on the 10th percentile.

Holdings are wins, waiting ones (a win without one tile), these with a wrong tile, and random ones. On random fourteen
tiles PyPI ``mahjong`` gives up after a glance at single tiles; that ratio is printed, but no goal is set for it.

Every case gets its input in the form in which that library holds it: codes for ours, counts of 34 kinds for PyPI
``mahjong``, tile ids for ``riichienv``. Needs the ``bench`` extra.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from mahjong.agari import Agari
from riichienv import HandEvaluator, calculate_shanten  # type: ignore[import-untyped]

from libs.mahjong.shapes import (
    Codes,
    discards_by_distance,
    distance,
    encode,
    groupings,
    improving,
    is_win,
    iter_kinds,
    waits,
)
from libs.mahjong.tiles import KIND_OF, REGULAR_KINDS, Kind, Tile, tiles_of_kind

HOLDINGS = 400
SLICE_NS = 2_000_000
SLICES = 2
Case = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Goal:
    """Ours is to be so many times faster than the peer; without a target the ratio is only shown."""

    name: str
    peer: str
    ours: str
    target: float | None = None


GOALS = (
    Goal("1 wins", "Agari.is_agari, wins", "is_win, wins", 35),
    Goal("1 wins", "calculate_shanten == -1, wins", "is_win, wins", 1.5),
    Goal("1 no wins", "Agari.is_agari, wrong tile", "is_win, wrong tile", 10),
    Goal("1 no wins", "calculate_shanten == -1, wrong tile", "is_win, wrong tile", 1.5),
    Goal("1 no wins", "calculate_shanten == -1, random", "is_win, random", 1.5),
    Goal("2 waits", "34 x Agari.is_agari, waiting", "waits, waiting", 150),
    Goal("2 waits", "get_waits, waiting", "waits, waiting", 5),
    Goal("2 waits", "34 x Agari.is_agari, random", "waits, random", 150),
    Goal("2 waits", "get_waits, random", "waits, random", 5),
    Goal("1 random tiles", "Agari.is_agari, random", "is_win, random"),
)


def random_win(source: random.Random) -> list[Kind]:
    """Four groups and a pair, drawn until no kind has more than four."""
    while True:
        kinds: list[Kind] = []
        for _ in range(4):
            kind = source.randrange(REGULAR_KINDS)
            chow = kind < 27 and kind % 9 <= 6 and source.random() < 0.8
            kinds += [kind, kind + 1, kind + 2] if chow else [kind] * 3
        kinds += [source.randrange(REGULAR_KINDS)] * 2
        if all(kinds.count(kind) <= 4 for kind in kinds):
            return kinds


def with_wrong_tile(source: random.Random, holding: list[Kind]) -> list[Kind]:
    """A waiting holding and a tile that does not complete it: what a win check mostly sees in play."""
    wanted = set(iter_kinds(waits(*encode(holding))))
    wrong = [kind for kind in range(REGULAR_KINDS) if kind not in wanted and holding.count(kind) < 4]
    return [*holding, source.choice(wrong)]


def as_tiles(kinds: list[Kind]) -> list[Tile]:
    """Distinct ids of some kinds."""
    return [tiles_of_kind(kind)[kinds[:index].count(kind)] for index, kind in enumerate(kinds)]


def as_counts(kinds: list[Kind]) -> list[int]:
    """Copies of each of the 34 kinds."""
    return [kinds.count(kind) for kind in range(REGULAR_KINDS)]


def win_cases(name: str, hands: list[list[Kind]]) -> dict[str, Case]:
    """The win checks over some hands of fourteen tiles."""
    codes, counts, ids = [encode(h) for h in hands], [as_counts(h) for h in hands], [as_tiles(h) for h in hands]

    def ours() -> None:
        for m, p, s, z in codes:
            is_win(m, p, s, z)

    def agari() -> None:
        is_agari = Agari.is_agari
        for counted in counts:
            is_agari(counted)

    def shanten() -> None:
        for tiles in ids:
            calculate_shanten(tiles) == -1  # noqa: B015

    return {
        f"is_win, {name}": ours,
        f"Agari.is_agari, {name}": agari,
        f"calculate_shanten == -1, {name}": shanten,
    }


def wait_cases(name: str, hands: list[list[Kind]]) -> dict[str, Case]:
    """The waits of some holdings of thirteen tiles."""
    codes, counts = [encode(h) for h in hands], [as_counts(h) for h in hands]
    evaluators = [HandEvaluator(as_tiles(h)) for h in hands]

    def ours() -> None:
        for m, p, s, z in codes:
            waits(m, p, s, z)

    def agari() -> None:
        is_agari = Agari.is_agari
        for counted in counts:
            for kind in range(REGULAR_KINDS):
                if counted[kind] < 4:
                    counted[kind] += 1
                    is_agari(counted)
                    counted[kind] -= 1

    def get_waits() -> None:
        for evaluator in evaluators:
            evaluator.get_waits()

    return {f"waits, {name}": ours, f"34 x Agari.is_agari, {name}": agari, f"get_waits, {name}": get_waits}


def own_cases(wins: list[Codes], holdings: list[Codes], full: list[Codes]) -> dict[str, Case]:
    """What has no goal here but is worth seeing beside the win check."""

    def all_groupings() -> None:
        for m, p, s, z in wins:
            groupings(m, p, s, z)

    def distances() -> None:
        for m, p, s, z in holdings:
            distance(m, p, s, z, 0)

    def improvements() -> None:
        for m, p, s, z in holdings:
            improving(m, p, s, z, 0)

    def discards() -> None:
        for codes in full:
            discards_by_distance(codes, 0)

    return {"groupings": all_groupings, "distance": distances, "improving": improvements, "discards": discards}


def check_agreement(wins: list[list[Kind]], others: list[list[Kind]], waiting: list[list[Kind]]) -> None:
    """The libraries must answer alike where the games agree, else the comparison means nothing."""
    for hand in wins:
        assert is_win(*encode(hand)), hand
        assert Agari.is_agari(as_counts(hand)), hand
    for hand in others:
        assert not is_win(*encode(hand)), hand
    for hand in waiting:
        ours = set(iter_kinds(waits(*encode(hand))))
        theirs = set(HandEvaluator(as_tiles(hand)).get_waits())
        # Seven pairs are a shape only in the peer.
        pairs = {kind for kind in theirs - ours if sorted(map(hand.count, {*hand})) == [1, 2, 2, 2, 2, 2, 2]}
        assert ours == theirs - pairs, (hand, ours, theirs)


def slice_cost(case: Case) -> float:
    """Nanoseconds of processor time per holding in one slice."""
    started = time.process_time_ns()
    passes = 0
    while True:
        case()
        passes += 1
        elapsed = time.process_time_ns() - started
        if elapsed >= SLICE_NS:
            return elapsed / (passes * HOLDINGS)


def rounds(cases: dict[str, Case], seconds: float) -> Iterator[dict[str, float]]:
    """Costs of all cases, round by round, until the time is over."""
    for case in cases.values():
        case()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        costs = dict.fromkeys(cases, 0.0)
        for _ in range(SLICES):
            for name, case in cases.items():
                costs[name] += slice_cost(case) / SLICES
        yield costs


def spread(values: list[float]) -> tuple[float, float, float]:
    """Median, 10th and 90th percentile."""
    deciles = statistics.quantiles(values, n=10)
    return statistics.median(values), deciles[0], deciles[-1]


READY = """
import resource, time
import hashlib, pathlib, tempfile, typing, zlib
from array import array
def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
before = resident()
started = time.process_time()
from libs.mahjong import shapes
ready = time.process_time() - started
print(ready * 1000, (resident() - before) / 1e6)
"""


def print_readiness() -> None:
    """Goal 5: processor time until the tables are ready in a fresh process, without and with a cache; memory after."""
    cold: list[float] = []
    warm: list[float] = []
    held: list[float] = []
    for _ in range(7):
        with tempfile.TemporaryDirectory() as place:
            for times in (cold, warm):
                run = subprocess.run(
                    [sys.executable, "-c", READY],
                    env={**os.environ, "EASTWIND_CACHE_DIR": place},
                    check=True,
                    capture_output=True,
                    text=True,
                )
                milliseconds, megabytes = map(float, run.stdout.split())
                times.append(milliseconds)
            held.append(megabytes)
    for name, times, target in (("cold", cold, 300), ("from the cache", warm, 100)):
        verdict = "met" if max(times) <= target else "MISSED"
        print(f"5 tables ready, {name}: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms", end="")
        print(f" (goal {target} ms: {verdict})")
    verdict = "met" if max(held) <= 15 else "MISSED"
    print(f"5 resident after loading from the cache: median {statistics.median(held):.1f} MB (goal 15 MB: {verdict})")


def main(seconds: float) -> None:
    """Print all ratios and whether the goals are met."""
    source = random.Random(20240607)
    deal: list[Any] = list(KIND_OF[:136])
    wins = [random_win(source) for _ in range(HOLDINGS)]
    others = [source.sample(deal, 14) for _ in range(HOLDINGS)]
    waiting = [source.sample(hand, 13) for hand in wins]
    wrong = [with_wrong_tile(source, hand) for hand in waiting]
    idle = [source.sample(deal, 13) for _ in range(HOLDINGS)]
    check_agreement(wins, [*wrong, *others], [*waiting, *idle])

    cases = {
        **win_cases("wins", wins),
        **win_cases("wrong tile", wrong),
        **win_cases("random", others),
        **wait_cases("waiting", waiting),
        **wait_cases("random", idle),
        **own_cases([encode(h) for h in wins], [encode(h) for h in idle], [encode(h) for h in others]),
    }
    costs = list(rounds(cases, seconds))
    print(f"{len(costs)} rounds of {len(cases)} cases, {HOLDINGS} holdings each")
    for goal in GOALS:
        median, low, high = spread([cost[goal.peer] / cost[goal.ours] for cost in costs])
        verdict = "no goal"
        if goal.target is not None:
            verdict = f"goal {goal.target:g}x: {'met' if low >= goal.target else 'MISSED'}"
        print(f"{goal.name}: {goal.ours} is {median:.1f}x (p10 {low:.1f}, p90 {high:.1f}) {goal.peer} ({verdict})")
    for name in cases:
        median, low, high = spread([cost[name] / cost["is_win, wins"] for cost in costs])
        nanoseconds = statistics.median(cost[name] for cost in costs)
        print(f"  {name}: {nanoseconds:.0f} ns, {median:.1f}x (p10 {low:.1f}, p90 {high:.1f}) is_win, wins")
    print_readiness()


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 12)
