"""The second part of ``test_hands.py``."""

from __future__ import annotations

import pytest

from tests.simulation.running import HANDS_OF_A_SEED, SEEDS, simulate


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", SEEDS[1::2])
def test_every_law_is_kept(seed: int, valkey_url: str) -> None:
    assert simulate(seed, valkey_url).hands >= HANDS_OF_A_SEED
