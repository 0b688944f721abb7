"""The simulator finds faults: with each of these put into the platform, a law is broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest

from libs.chassis.errors import StoreUnavailable
from libs.chassis.redis_client import Script
from libs.chassis.table_store import Claimed, TableStore
from libs.mahjong.engine import table
from services.table import actor, live_tables
from services.table.credit import Credit
from services.table.standstill import Standstill
from tests.simulation import store
from tests.simulation.faults import PROFILES, Profile
from tests.simulation.simulation import Plan, Simulation

_OFTEN: Final = (1.0, 4.0)
MOST_SEEDS: Final = 3
"""A fault shows in one of so many seeds."""

Break = Callable[[pytest.MonkeyPatch], None]


def _no_fence(patch: pytest.MonkeyPatch) -> None:
    """Whoever wants may append, wherever the log stands."""
    whole = store._on_virtual_time

    def broken(source: bytes) -> Script:
        for check in (b"held[1] ~= ARGV[2] or held[2] ~= ARGV[3]", b"held[3] ~= ARGV[4]"):
            source = source.replace(check, b"false")
        return whole(source)

    patch.setattr(store, "_on_virtual_time", broken)


def _no_memory_of_commands(patch: pytest.MonkeyPatch) -> None:
    """A repeated command is a new one."""
    patch.setattr(table, "remember", lambda state, command_id: None)


def _no_outage_granted(patch: pytest.MonkeyPatch) -> None:
    """Players pay for the time without an owner."""
    patch.setattr(Claimed, "outage_ms", 0)
    patch.setattr(live_tables, "began_ms", lambda state: 1 << 60)


def _slow_appends_are_charged(patch: pytest.MonkeyPatch) -> None:
    """Time counts from the moment at which the prompt was made, not from when it left."""
    patch.setattr(Credit, "late_since", lambda self, moment, state: 0)


def _standstill_is_charged(patch: pytest.MonkeyPatch) -> None:
    """A worker that was stopped goes on as if nothing had been."""
    patch.setattr(Standstill, "notice", lambda self: None)


def _told_before_it_is_kept(patch: pytest.MonkeyPatch) -> None:
    """An append whose outcome is unknown counts as done."""
    whole = TableStore.append

    async def hopeful(
        self: TableStore, table_id: str, worker: str, epoch: int, expected: int, entries: Sequence[bytes], **rest: Any
    ) -> int:
        try:
            return await whole(self, table_id, worker, epoch, expected, entries, **rest)
        except StoreUnavailable:
            return expected + len(entries)

    patch.setattr(TableStore, "append", hopeful)


def _hands_end_untold(patch: pytest.MonkeyPatch) -> None:
    """Nobody hears of what happened at a table."""
    patch.setattr(actor, "announcements", lambda *about: [])


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("mutant", "profile", "sentence"),
    [
        (_no_fence, Profile("mutant", ("store unreachable",), between_s=_OFTEN), "was written by"),
        (_no_memory_of_commands, Profile("mutant", ("break players",), between_s=_OFTEN), "and is in the log"),
        (_no_outage_granted, Profile("mutant", ("lose worker",), between_s=_OFTEN), "of the reserve"),
        (_slow_appends_are_charged, Profile("mutant", ("store slow",), between_s=_OFTEN), "of the reserve"),
        (_standstill_is_charged, Profile("mutant", ("pause worker",), between_s=_OFTEN), "of the reserve"),
        (
            _told_before_it_is_kept,
            Profile("mutant", ("store away",), between_s=_OFTEN),
            "was acknowledged and is not in the log",
        ),
        (_hands_end_untold, Profile("mutant"), "were told"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_broken_promise_is_noticed(
    mutant: Break, profile: Profile, sentence: str, monkeypatch: pytest.MonkeyPatch, valkey_url: str
) -> None:
    monkeypatch.setitem(PROFILES, "mutant", profile)
    mutant(monkeypatch)
    broken: list[str] = []
    for seed in range(1, MOST_SEEDS + 1):
        broken += Simulation(Plan(seed, 24, 10, "mutant"), valkey_url).run().broken
        if any(sentence in each for each in broken):
            return
    pytest.fail(f"nobody noticed; {broken}")
