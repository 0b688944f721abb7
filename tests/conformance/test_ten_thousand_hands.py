"""The law run, first half; the other half is ``test_ten_thousand_hands_more.py``, so that two processes share it."""

from __future__ import annotations

import pytest

from tests.conformance.laws import ALL_HANDS, CHUNKS, play_chunk


def test_the_run_is_as_long_as_it_says() -> None:
    assert ALL_HANDS == 10_000
    assert ALL_HANDS % CHUNKS == 0


@pytest.mark.timeout(600)
@pytest.mark.parametrize("chunk", range(CHUNKS // 2))
def test_every_hand_keeps_the_laws(chunk: int) -> None:
    walls, won = play_chunk(chunk, ALL_HANDS // CHUNKS)
    assert len(walls) == ALL_HANDS // CHUNKS
    assert won > len(walls) // 4
