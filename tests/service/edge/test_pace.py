"""The pause after a discard tells nobody whether somebody may claim it (field case C059)."""

from __future__ import annotations

import asyncio
from statistics import median

import pytest
import pytest_asyncio
from scipy.stats import ks_2samp

from deploy.local.fleet import Fleet
from eastwind.edge.v1 import frames_pb2
from eastwind.history.v1 import record_pb2
from eastwind.table.v1 import event_pb2
from eastwind.type.v1 import settings_pb2
from tests.service.fleet import House, Recorder, StartFleet, easy, merged, open_house

pytestmark = pytest.mark.asyncio(loop_scope="module")

LEAST_MS, MOST_MS = 60, 140
TABLES = 3
THINKING_MS = 200
WINDOWS = 6
PRIVATE = ("decision_opened", "clock_set", "seat_answered", "seat_timed_out")
"""Events that also come for windows in which only one seat is asked."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(start_fleet: StartFleet) -> Fleet:
    return await start_fleet(merged({"table": {"pacing_least_ms": LEAST_MS, "pacing_most_ms": MOST_MS}}))


def is_public(event: event_pb2.TableEvent) -> bool:
    name = event.WhichOneof("event")
    if name == "choice_held":
        return False
    return name not in PRIVATE or getattr(event, name).kind == event_pb2.DECISION_KIND_TURN


class Discards:
    """What one seat saw of the discards of a hand: how long the next public event took, and whether it was asked."""

    def __init__(self, recorder: Recorder) -> None:
        self.gaps_ms: list[float] = []
        self.asked: list[bool] = []
        at, asked = None, False
        for moment, frame in zip(recorder.moments, recorder.frames, strict=True):
            for event in frames_pb2.ServerFrame.FromString(frame).table.events:
                if event.HasField("decision_opened") and not is_public(event):
                    asked = True
                if not is_public(event):
                    continue
                if at is not None:
                    self.gaps_ms.append((moment - at) * 1000)
                    self.asked.append(asked)
                at, asked = (moment, False) if event.HasField("tile_discarded") else (None, False)


async def test_c059_gaps_after_discards_are_alike_with_and_without_a_claim(house: House) -> None:
    async def one_table() -> tuple[list[float], list[float]]:
        table_id, players = await house.four(pacing=True)
        await house.play(table_id, players)
        seats = [Discards(house.heard[player]) for player in players]
        assert len({len(seat.gaps_ms) for seat in seats}) == 1
        with_claim: list[float] = []
        without: list[float] = []
        for number, gap in enumerate(seats[0].gaps_ms):
            if not seats[0].asked[number]:
                (with_claim if any(seat.asked[number] for seat in seats[1:]) else without).append(gap)
        return with_claim, without

    tables = await asyncio.gather(*(one_table() for _ in range(TABLES)))
    with_claim = [gap for gaps, _ in tables for gap in gaps]
    without = [gap for _, gaps in tables for gap in gaps]
    assert len(with_claim) > 15
    assert len(without) > 40
    assert ks_2samp(with_claim, without).pvalue > 0.001, (sorted(with_claim), sorted(without))


async def test_c059_computers_answer_within_the_pause(start_fleet: StartFleet) -> None:
    thinking = {"bot_think_least_ms": THINKING_MS, "bot_think_most_ms": THINKING_MS}
    fleet = await start_fleet(merged({"table": {"pacing_least_ms": 30, "pacing_most_ms": 50, **thinking}}))
    async with open_house(fleet) as house:
        player = await house.guest()
        table_id = await house.create(player, pacing=True, computers=settings_pb2.BOT_LEVEL_EASY)
        delays: list[int] = []
        # A hand may be won before many discards could be claimed.
        while len(delays) < WINDOWS:
            ((result,),) = await house.play(table_id, [player], [easy])
            delays += answering_ms(await house.record(result.settled.record_id))
    assert median(delays) < THINKING_MS, "after the pause everybody would see that somebody thinks"


def answering_ms(record: record_pb2.HandRecord) -> list[int]:
    """How long each window that a discard opened waited for its first answer."""
    delays = []
    for (before, discard), (opened, window), (answered, _) in zip(
        *(events_of(record)[place:] for place in range(3)), strict=False
    ):
        if discard == "tile_discarded" and window == "decision_opened":
            assert before == opened
            delays.append(answered - opened)
    return delays


def events_of(record: record_pb2.HandRecord) -> list[tuple[int, str]]:
    """When each event happened, and its name."""
    return [(recorded.offset_ms, recorded.event.WhichOneof("event") or "") for recorded in record.events]
