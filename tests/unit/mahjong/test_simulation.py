"""Hands played in process by policies."""

from __future__ import annotations

from itertools import islice

import pytest

from libs.mahjong.clocks import UNTIMED
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.simulation import SimulatedTable, derived_seed, eager_policy, play_hand, seeded_policy, timeout_policy
from tests.unit.mahjong.engine.tables import HKOS, MATCH, ToyMatch, seed, silent, toy_match

__all__ = ["toy_match"]


def test_the_same_seed_plays_the_same_hand_and_another_seed_another() -> None:
    policies = [seeded_policy(seed(seat)) for seat in range(4)]
    assert play_hand(HKOS, policies, seed(1)) == play_hand(HKOS, policies, seed(1))
    assert play_hand(HKOS, policies, seed(1)).wall != play_hand(HKOS, policies, seed(2)).wall


def test_derived_seeds_are_unrelated() -> None:
    seeds = {derived_seed(seed(1), *parts) for parts in ((1, 11), (11, 1), ("a",), ("a", ""), ())}
    assert len(seeds) == 5
    assert all(len(one) == 32 for one in seeds)


def test_a_match_is_played_to_its_end(toy_match: Ruleset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToyMatch, "last_change", 1)
    table = SimulatedTable.open(MATCH, [eager_policy(seed(seat)) for seat in range(4)], seed(3))
    records = list(islice(table.play_match(), 50))
    assert table.state.close_cause is not None
    assert records[-1].match_places
    assert [record.hand for record in records] == list(range(1, len(records) + 1))


def test_a_table_without_a_last_hand_goes_on() -> None:
    table = SimulatedTable.open(HKOS, [timeout_policy] * 4, seed(3))
    assert [record.hand for record in islice(table.play_match(), 3)] == [1, 2, 3]


def test_silence_at_an_untimed_table_is_an_error_and_no_endless_loop() -> None:
    table = SimulatedTable.open(HKOS, [silent] * 4, seed(3), control=UNTIMED)
    with pytest.raises(RuntimeError, match="nothing is timed"):
        table.play_hand()
