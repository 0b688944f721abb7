"""Whole hands against other libraries: ``python -m tests.load.bench_hands [seconds]``.

Ours plays random legal actions in the engine, keeps the log of events, and makes every seat's visible copy of every
event: the log of each of the four views. Two more lines show it with these folded into four views, as clients do, and
without any views. ``riichienv`` (Rust) plays random legal actions of its own hands with the log that
it keeps itself; it makes an observation of the seats that are asked alone. ``hk-mahjong`` draws and discards at random,
looks for a win after each draw and for claims after each discard, and takes none.

All of a round play in turn in short slices of processor time; per round our hands a second are divided by the peer's,
and the median of these ratios is printed with their 10th and 90th percentiles. A goal is judged on the 10th percentile.
Decisions a second are shown too, since the hands of the peers have other lengths. Needs the ``bench`` extra.
"""

from __future__ import annotations

import gc
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from hk_mahjong.core.game_state import GameState, TurnPhase  # type: ignore[import-untyped]
from riichienv import RiichiEnv  # type: ignore[import-untyped]

from libs.mahjong import variants  # noqa: F401  registers the rulesets
from libs.mahjong.engine.events import HandEvent
from libs.mahjong.engine.hand import Act, Settle, Transition, decide, legal_actions, settlement_of, start_hand
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.engine.views import SeatView, apply_visible, visible_copies

RULES = ruleset("hkos-3-v1")
SEATS = range(4)
SLICE_NS = 40_000_000
Play = Callable[[random.Random], int]
"""Plays one hand and returns how many decisions were made in it."""
GOALS = {"riichienv": 1.0, "hk-mahjong": 10.0}
OURS, FOLDED, BARE = "ours", "ours, folded views", "ours without views"


def play_ours(source: random.Random) -> int:
    """One hand with its log and that of each of the four seats' views."""
    streams: tuple[list[HandEvent], ...] = ([], [], [], [])

    def take(event: HandEvent) -> None:
        for stream, seen in zip(streams, visible_copies(event), strict=False):
            if seen is not None:
                stream.append(seen)

    return _play(source, take)


def play_folded(source: random.Random) -> int:
    """One hand with its log and the four seats' views, kept up to date."""
    views = [SeatView(RULES, seat) for seat in SEATS]

    def take(event: HandEvent) -> None:
        for view, seen in zip(views, visible_copies(event), strict=False):
            if seen is not None:
                apply_visible(view, seen)

    return _play(source, take)


def play_bare(source: random.Random) -> int:
    """One hand with its log alone."""
    return _play(source, None)


def _play(source: random.Random, take: Callable[[HandEvent], None] | None) -> int:
    wall = list(range(144))
    source.shuffle(wall)
    log: list[HandEvent] = []

    def follow(transition: Transition) -> None:
        log.extend(transition.events)
        if take is not None:
            for event in transition.events:
                take(event)

    transition = start_hand(RULES, 1, source.randrange(4), 0, tuple(wall))
    follow(transition)
    decisions = 0
    while (decision := transition.state.decision) is not None:
        for seat in decision.seats:
            # The first answers of a window may have decided it.
            if transition.state.decision is not decision or transition.state.held[seat] is not None:
                continue
            action = source.choice(legal_actions(transition.state, seat))
            transition = decide(transition.state, Act(seat, decision.decision, action))
            follow(transition)
            decisions += 1
    follow(decide(transition.state, Settle(settlement_of(transition.state))))
    return decisions


def play_riichienv(source: random.Random) -> int:
    """One hand of random legal actions."""
    env = RiichiEnv()
    observations: dict[int, Any] = env.reset()
    decisions = 0
    while not env.done():
        decisions += len(observations)
        observations = env.step({seat: source.choice(seen.legal_actions()) for seat, seen in observations.items()})
    return decisions


def play_hk_mahjong(source: random.Random) -> int:
    """One hand of random discards."""
    game = GameState()
    game.setup_round(seed=source.randrange(1 << 30))
    decisions = 0
    while game.turn_phase is not TurnPhase.ROUND_OVER:
        game.do_draw()
        if game.turn_phase is TurnPhase.ROUND_OVER:
            break
        if game.can_self_win():
            game.do_self_drawn_win()
            break
        tile = source.choice(game.players[game.current_player].hand.concealed)
        game.do_discard(tile)
        game.get_valid_claims(tile, game.current_player)
        game.advance_turn()
        decisions += 1
    return decisions


CASES: dict[str, Play] = {
    OURS: play_ours,
    FOLDED: play_folded,
    BARE: play_bare,
    "riichienv": play_riichienv,
    "hk-mahjong": play_hk_mahjong,
}


def measure(seconds: float) -> dict[str, list[tuple[float, float]]]:
    """Rounds of all cases: hands and decisions a second of processor time."""
    source = random.Random(1)
    rates: dict[str, list[tuple[float, float]]] = {name: [] for name in CASES}
    for play in CASES.values():
        play(source)
    # As service processes do (libs.chassis.drain).
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    ends = time.monotonic() + seconds
    while time.monotonic() < ends or len(rates[OURS]) < 5:
        for name, play in CASES.items():
            hands = decisions = 0
            started = time.process_time_ns()
            while (spent := time.process_time_ns() - started) < SLICE_NS:
                decisions += play(source)
                hands += 1
            rates[name].append((hands / spent * 1e9, decisions / spent * 1e9))
    return rates


def main(seconds: float) -> int:
    """Measure, print, and return the exit code: 1 when a goal is missed."""
    rates = measure(seconds)
    for name, found in rates.items():
        hands, decisions = (statistics.median(column) for column in zip(*found, strict=True))
        print(f"{name:20} {hands:8.0f} hands/s  {decisions:9.0f} decisions/s  (medians of {len(found)} rounds)")
    missed = 0
    for peer, goal in GOALS.items():
        ratios = sorted(ours[0] / other[0] for ours, other in zip(rates[OURS], rates[peer], strict=True))
        tenths = statistics.quantiles(ratios, n=10)
        met = tenths[0] >= goal
        missed += not met
        print(
            f"{peer:20} {statistics.median(ratios):5.2f} times ({tenths[0]:.2f} .. {tenths[-1]:.2f})  "
            f"goal {goal:g}  {'met' if met else 'MISSED'}"
        )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 12.0))
