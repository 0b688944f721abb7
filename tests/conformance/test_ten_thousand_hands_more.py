"""The law run, second half; see ``test_ten_thousand_hands.py``."""

from __future__ import annotations

import pytest

from tests.conformance.laws import ALL_HANDS, CHUNKS, play_chunk


@pytest.mark.timeout(600)
@pytest.mark.parametrize("chunk", range(CHUNKS // 2, CHUNKS))
def test_every_hand_keeps_the_laws(chunk: int) -> None:
    walls, won = play_chunk(chunk, ALL_HANDS // CHUNKS)
    assert len(walls) == ALL_HANDS // CHUNKS
    assert won > len(walls) // 4
