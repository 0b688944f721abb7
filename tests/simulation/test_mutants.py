"""The simulator finds faults: with each of these put into the platform, a law is broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from libs.chassis.redis_client import Script
from libs.chassis.table_store import Claimed
from libs.mahjong.engine import table
from tests.simulation import store
from tests.simulation.simulation import Plan, Simulation

Break = Callable[[pytest.MonkeyPatch], None]


def _no_fence(patch: pytest.MonkeyPatch) -> None:
    """Whoever wants may append."""
    whole = store._on_virtual_time

    def broken(source: bytes) -> Script:
        for check in (b"held[1] ~= ARGV[2] or held[2] ~= ARGV[3]", b"held[3] ~= ARGV[4]"):
            source = source.replace(check, b"false") if b"outbox message" in source else source
        return whole(source)

    patch.setattr(store, "_on_virtual_time", broken)


def _no_memory_of_commands(patch: pytest.MonkeyPatch) -> None:
    """A repeated command is a new one."""
    patch.setattr(table, "remember", lambda state, command_id: None)


def _no_outage_granted(patch: pytest.MonkeyPatch) -> None:
    """Players pay for the time without an owner."""
    patch.setattr(Claimed, "outage_ms", 0)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("mutant", "profile", "sentence"),
    [
        (_no_fence, "store", "was written by"),
        (_no_memory_of_commands, "store", "folds to another state"),
        (_no_outage_granted, "workers", "of the reserve"),
    ],
)
def test_a_broken_promise_is_noticed(
    mutant: Break, profile: str, sentence: str, monkeypatch: pytest.MonkeyPatch, valkey_url: str
) -> None:
    mutant(monkeypatch)
    broken: list[str] = []
    for seed in range(1, 9):
        broken += Simulation(Plan(seed, 24, 12, profile), valkey_url).run().broken
        if any(sentence in each for each in broken):
            return
    pytest.fail(f"nobody noticed; {broken}")
