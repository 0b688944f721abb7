"""Hands under faults, first part; the other is ``test_hands_more.py``, so that two processes share them."""

from __future__ import annotations

import pytest

from tests.simulation.faults import PROFILES
from tests.simulation.running import HANDS_OF_A_SEED, SEEDS, chosen_profile, simulate


def test_each_half_has_a_thousand_hands_and_no_profile_is_left_out() -> None:
    assert all(len(half) * HANDS_OF_A_SEED >= 1_000 for half in (SEEDS[::2], SEEDS[1::2]))
    assert {chosen_profile(seed) for seed in SEEDS} == set(PROFILES)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", SEEDS[::2])
def test_every_law_is_kept(seed: int, valkey_url: str) -> None:
    assert simulate(seed, valkey_url).hands >= HANDS_OF_A_SEED
