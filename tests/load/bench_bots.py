"""How well and how quickly computer players play: ``python -m tests.load.bench_bots [hands] [processes]``.

First ``hands`` hands of four hard players: how many end with a winner, how they are won and by how much. Then as many
hands of one hard player against three easy ones, of two hard against two medium, and of one medium against three easy:
every wall is played once with each seat (or pair of seats) as the stronger side, so that luck of the deal weighs less;
points per hand and seat of the stronger side come with the standard error over walls. Last the speed against the
players of PyPI ``hk-mahjong``, in interleaved rounds of processor time; needs the ``bench`` extra.

The engine plays without event copies for viewers; decisions are made from ``view_of`` as at a live table.
"""

from __future__ import annotations

import math
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from libs.mahjong.bots import Level, choose, warm_up
from libs.mahjong.engine.events import HandWon
from libs.mahjong.engine.hand import Act, decide, settlement_of, start_hand
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.engine.state import HandState
from libs.mahjong.engine.views import view_of
from libs.mahjong.tiles import TILE_COUNT

PRESET = "hkos-3-v1"
MOST_DRAWN = 0.35
SPEED_GOAL = 50
EASY, MEDIUM, HARD = Level.EASY, Level.MEDIUM, Level.HARD


@dataclass
class Tally:
    """What came of some hands."""

    hands: int = 0
    drawn: int = 0
    self_drawn: int = 0
    faan: Counter[int] = field(default_factory=Counter)
    patterns: Counter[str] = field(default_factory=Counter)
    decisions_ns: list[int] = field(default_factory=list)


def play(number: int, levels: Sequence[int], decisions_ns: list[int] | None = None) -> HandState:
    """One hand of seats of these levels; the wall, the dealer and the wind follow from the number."""
    wall = list(range(TILE_COUNT))
    random.Random(number).shuffle(wall)
    state = start_hand(ruleset(PRESET), 1, number % 4, number // 4 % 4, tuple(wall)).state
    while state.result is None:
        assert state.decision is not None
        decision = state.decision.decision
        seat = next(seat for seat in state.decision.seats if state.held[seat] is None)
        started = time.perf_counter_ns()
        action = choose(view_of(state, seat), levels[seat], seed=number << 16 | decision << 2 | seat)
        if decisions_ns is not None:
            decisions_ns.append(time.perf_counter_ns() - started)
        state = decide(state, Act(seat, decision, action)).state
    return state


def tally(numbers: range, levels: Sequence[int]) -> Tally:
    """Play hands and count."""
    warm_up()
    found = Tally()
    for number in numbers:
        state = play(number, levels, found.decisions_ns)
        found.hands += 1
        if not isinstance(state.result, HandWon):
            found.drawn += 1
            continue
        score = settlement_of(state).scores[state.result.seat]
        assert score is not None
        found.faan[score.value] += 1
        found.patterns.update({item.pattern for item in score.items})
        found.self_drawn += state.result.source is None
    return found


def margins(numbers: range, stronger: int, seats: int, weaker: int) -> list[float]:
    """For every wall the points per hand and seat of the stronger side, over all its places at the table."""
    warm_up()
    found = []
    places = [(0, 2), (1, 3)] if seats == 2 else [(seat,) for seat in range(4)]
    for number in numbers:
        points = 0
        for strong in places:
            levels = [stronger if seat in strong else weaker for seat in range(4)]
            changes = settlement_of(play(number, levels)).changes
            points += sum(changes[seat] for seat in strong)
        found.append(points / len(places) / seats)
    return found


def parts(first: int, hands: int, processes: int) -> list[range]:
    """The numbers of the hands, shared out."""
    each = math.ceil(hands / processes)
    return [range(start, min(start + each, first + hands)) for start in range(first, first + hands, each)]


def print_hard_players(pool: ProcessPoolExecutor, hands: int, processes: int) -> None:
    """How four hard players' hands end."""
    started = time.perf_counter()
    total = Tally()
    for one in pool.map(partial(tally, levels=(HARD,) * 4), parts(0, hands, processes)):
        total.hands += one.hands
        total.drawn += one.drawn
        total.self_drawn += one.self_drawn
        total.faan += one.faan
        total.patterns += one.patterns
        total.decisions_ns += one.decisions_ns
    elapsed = time.perf_counter() - started
    won = total.hands - total.drawn
    share = total.drawn / total.hands
    error = math.sqrt(share * (1 - share) / total.hands)
    verdict = "met" if share <= MOST_DRAWN else "MISSED"
    print(f"{total.hands} hands of four hard players: {won} won, {share:.1%} ± {error:.1%} drawn")
    print(f"  goal at most {MOST_DRAWN:.0%} drawn: {verdict}; {total.self_drawn / won:.0%} of the wins are self-drawn")
    print("  faan: " + ", ".join(f"{faan}: {number / won:.1%}" for faan, number in sorted(total.faan.items())))
    print("  patterns: " + ", ".join(f"{name} {number / won:.0%}" for name, number in total.patterns.most_common(14)))
    costs = sorted(total.decisions_ns)
    print(
        f"  {len(costs)} decisions: median {costs[len(costs) // 2] / 1e6:.2f} ms, "
        f"p99 {costs[len(costs) * 99 // 100] / 1e6:.1f} ms, {len(costs) / (sum(costs) / 1e9):.0f} a second, "
        f"{total.hands / elapsed:.1f} hands a second with {processes} processes"
    )


def print_margin(
    pool: ProcessPoolExecutor, hands: int, processes: int, stronger: Level, seats: int, weaker: Level
) -> None:
    """The stronger side's points per hand and seat."""
    walls = max(2, hands // (2 if seats == 2 else 4))
    found = [
        points
        for one in pool.map(
            partial(margins, stronger=stronger, seats=seats, weaker=weaker), parts(1_000_000, walls, processes)
        )
        for points in one
    ]
    mean = statistics.fmean(found)
    error = statistics.stdev(found) / math.sqrt(len(found))
    played = len(found) * (2 if seats == 2 else 4)
    print(
        f"{seats} {stronger.name.lower()} against {4 - seats} {weaker.name.lower()}: {mean:+.2f} ± {error:.2f} points "
        f"a hand and seat over {played} hands ({len(found)} walls)"
    )


def basic_ai_hand(number: int) -> None:
    """One hand of four players of ``hk-mahjong``, as its own application plays it."""
    from hk_mahjong.ai.basic_ai import BasicAI  # type: ignore[import-untyped]
    from hk_mahjong.core.game_state import ActionType, GameState, TurnPhase  # type: ignore[import-untyped]
    from hk_mahjong.core.rules import ClaimType, resolve_claims  # type: ignore[import-untyped]
    from hk_mahjong.core.wall import WallExhaustedError  # type: ignore[import-untyped]

    players, game = BasicAI(), GameState()
    game.setup_round(seed=number)
    while game.turn_phase is not TurnPhase.ROUND_OVER:
        player = game.players[game.current_player]
        if game.turn_phase is TurnPhase.DRAWING:
            try:
                game.do_draw()
            except WallExhaustedError:
                return
            continue
        action = players.choose_action_after_draw(player, game)
        if action is ActionType.DECLARE_WIN:
            game.do_self_drawn_win()
            return
        if action is ActionType.DECLARE_CONCEALED_KONG:
            tile = player.hand.can_self_kong()[0]
            concealed = player.hand.concealed.count(tile) >= 4
            game.do_declare_kong(tile, concealed=concealed, promote=not concealed)
            continue
        tile = players.choose_discard(player, game)
        game.do_discard(tile)
        options = game.get_valid_claims(tile, game.current_player)
        claims = [players.choose_claim(game.players[seat], tile, kinds, game) for seat, kinds in options.items()]
        winner = resolve_claims(claims) if claims else None
        if winner is not None and winner.claim_type is not ClaimType.PASS:
            game.resolve_claim(winner)
        else:
            game.advance_turn()


def print_speed(rounds: int = 15, hands: int = 6) -> None:
    """Hands per processor time against ``hk-mahjong``, in interleaved rounds."""
    warm_up()
    ratios = []
    for turn in range(rounds + 1):
        numbers = range(2_000_000 + turn * hands, 2_000_000 + (turn + 1) * hands)
        started = time.process_time_ns()
        for number in numbers:
            play(number, (HARD,) * 4)
        between = time.process_time_ns()
        for number in numbers:
            basic_ai_hand(number)
        # The first round fills caches.
        if turn:
            ratios.append((time.process_time_ns() - between) / (between - started))
    ratios.sort()
    low = ratios[len(ratios) // 10]
    print(
        f"hands per time of four hard players against hk-mahjong's BasicAI: {statistics.median(ratios):.2f}x "
        f"(p10 {low:.2f}); goal {SPEED_GOAL}x: {'met' if low >= SPEED_GOAL else 'MISSED'}"
    )


def main(hands: int = 2000, processes: int = 1) -> None:
    """Print everything."""
    with ProcessPoolExecutor(processes) as pool:
        print_hard_players(pool, hands, processes)
        print_margin(pool, hands, processes, HARD, 1, EASY)
        print_margin(pool, hands, processes, HARD, 2, MEDIUM)
        print_margin(pool, hands, processes, MEDIUM, 1, EASY)
    print_speed()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
