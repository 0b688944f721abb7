"""Whole hands by computer players: every action is legal, no tile is lost, points add to zero."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from libs.mahjong.bots import choose
from libs.mahjong.engine.events import HandWon
from libs.mahjong.engine.hand import Act, decide, settlement_of, start_hand
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.engine.state import HandState
from libs.mahjong.engine.views import view_of
from libs.mahjong.tiles import TILE_COUNT
from tests.unit.mahjong.engine.builders import assert_tiles_conserved

HKOS = ruleset("hkos-3-v1")


def played(number: int, levels: tuple[int, ...]) -> HandState:
    """One hand of seats of these levels, checked at every step."""
    wall = list(range(TILE_COUNT))
    random.Random(number).shuffle(wall)
    state = start_hand(HKOS, 1, number % 4, number // 4 % 4, tuple(wall)).state
    while state.result is None:
        assert state.decision is not None
        decision = state.decision.decision
        seat = next(seat for seat in state.decision.seats if state.held[seat] is None)
        view = view_of(state, seat)
        action = choose(view, levels[seat], seed=1000 * number + decision)
        assert action in view.actions
        # An action that the rules refuse raises here.
        state = decide(state, Act(seat, decision, action)).state
        assert_tiles_conserved(state)
    return state


@pytest.mark.parametrize(
    ("levels", "hands"), [((3, 3, 3, 3), 25), ((1, 2, 3, 2), 20), ((1, 1, 1, 1), 20), ((2, 2, 2, 2), 15)]
)
def test_hands_end_with_settlements_that_add_to_zero(levels: tuple[int, ...], hands: int) -> None:
    ends: Counter[bool] = Counter()
    for number in range(hands):
        state = played(number, levels)
        settlement = settlement_of(state)
        assert sum(settlement.changes) == 0
        ends[isinstance(state.result, HandWon)] += 1
        if isinstance(state.result, HandWon):
            score = settlement.scores[state.result.seat]
            assert score is not None
            assert score.legal
    assert ends[True]


def test_the_same_seeds_play_the_same_hand() -> None:
    assert played(3, (3, 1, 2, 3)) == played(3, (3, 1, 2, 3))


def test_hard_players_finish_most_hands() -> None:
    drawn = sum(not isinstance(played(100 + number, (3, 3, 3, 3)).result, HandWon) for number in range(40))
    assert drawn <= 20
