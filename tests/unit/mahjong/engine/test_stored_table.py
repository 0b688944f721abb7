"""A table as the first release left it in the store is read by every later one, and played on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import libs.mahjong.variants  # noqa: F401  (registers the rulesets)
from libs.mahjong.engine.codec import decode_entry
from libs.mahjong.engine.table_applying import fold
from libs.mahjong.engine.table_snapshot import decode_state
from libs.mahjong.engine.table_state import TablePhase
from libs.mahjong.simulation import SimulatedTable, eager_policy
from libs.mahjong.verification import verify
from tests.unit.mahjong.engine.tables import SEED, seed

STORED: Final = Path(__file__).parents[3] / "vectors" / "table-store-1.json"
"""``snapshot`` is from between two hands, ``log`` from there into the next one, ``state`` what both fold to. Never
written again: a release that cannot read it cannot take the tables over that are being played."""


def test_a_table_of_the_first_release_is_read_and_played_on() -> None:
    stored = json.loads(STORED.read_bytes())
    log = [decode_entry(raw.encode()) for raw in stored["log"]]
    state = fold(log, decode_state(stored["snapshot"].encode()))
    assert state.phase is TablePhase.PLAYING
    assert state == decode_state(stored["state"].encode())
    table = SimulatedTable(state, [eager_policy(seed(seat)) for seat in range(4)], SEED, _since_record=log)
    assert verify(table.play_hand()).passed
