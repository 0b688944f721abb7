"""The chance that a hand is finished in time."""

from __future__ import annotations

import pytest

from libs.mahjong.bots.chances import MOST_LACKING, MOST_TURNS, SORTS, chance


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("drawn_only", [False, True])
def test_more_time_better_tiles_and_fewer_lacking_are_never_worse(sort: str, drawn_only: bool) -> None:
    for lacking in range(1, MOST_LACKING + 1):
        for rate in (0.0, 0.1, 0.3, 0.8):
            by_turns = [chance(sort, lacking, drawn_only, rate, turns) for turns in range(MOST_TURNS + 1)]
            assert by_turns == sorted(by_turns)
            assert 0.0 <= by_turns[0] <= by_turns[-1] <= 1.0
            assert chance(sort, lacking, drawn_only, rate + 0.1, 12) >= by_turns[12]
            assert chance(sort, lacking + 1, drawn_only, rate, 12) <= by_turns[12]


def test_without_time_or_tiles_there_is_no_chance() -> None:
    assert chance("any", 1, False, 0.5, 0) == 0.0
    assert chance("any", 1, False, 0.0, 10) == 0.0
    assert chance("any", MOST_LACKING + 1, False, 1.0, MOST_TURNS) == 0.0


@pytest.mark.parametrize("sort", SORTS)
def test_a_waiting_hand_of_one_turn_has_about_the_chance_of_its_tile(sort: str) -> None:
    assert 0.15 < chance(sort, 1, False, 0.3, 1) < 0.35


def test_a_last_tile_that_must_be_drawn_comes_later() -> None:
    assert chance("any", 3, True, 0.4, 12) < chance("any", 3, False, 0.4, 12)
