"""The second part of ``test_hands.py``."""

from __future__ import annotations

import pytest

from tests.simulation.running import SEEDS, hands_of, simulate


@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", SEEDS[1::2])
def test_every_law_is_kept(seed: int, valkey_url: str) -> None:
    report = simulate(seed, valkey_url, hands_of(seed))
    assert report.hands >= hands_of(seed)
