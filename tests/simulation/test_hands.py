"""Hands under every profile of faults, first part; the other is ``test_hands_more.py``, so that two processes share
them."""

from __future__ import annotations

import pytest

from tests.simulation.running import ALL_HANDS, SEEDS, hands_of, simulate


def test_the_seeds_have_as_many_hands_as_promised() -> None:
    assert ALL_HANDS >= 2_000
    assert sum(hands_of(seed) for seed in SEEDS) >= ALL_HANDS


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", SEEDS[::2])
def test_every_law_is_kept(seed: int, valkey_url: str) -> None:
    report = simulate(seed, valkey_url, hands_of(seed))
    assert report.hands >= hands_of(seed)
