"""Answers that come at the moment when the time is up (field cases C060, C105; promise P3)."""

from __future__ import annotations

import asyncio
import random

import pytest

from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import event_pb2, view_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import reason_pb2
from services.cli.edge_client import EdgeClient
from tests.service.fleet import QUICK, HandClock, Recorder, StartFleet, open_house

pytestmark = pytest.mark.asyncio(loop_scope="module")

RACES = 500


class Races:
    """Four players who all answer at the last moment, and the clock that moves for them alone."""

    def __init__(self, clock: HandClock, table_id: str, players: list[EdgeClient]) -> None:
        self._clock = clock
        self._table_id = table_id
        self._players = players
        self._random = random.Random(60)
        self.decisions = 0
        self.answers: list[tuple[int, int, int, reason_pb2.Reason.ValueType, int]] = []

    async def one(self) -> bool:
        """Race for the open decision; ``False`` when there is none."""
        views = await asyncio.gather(*(player.resync(self._table_id) for player in self._players))
        asked = [view for view in views if view.decision.options]
        if not asked:
            return False
        self.decisions += 1
        decision = asked[0].decision
        assert {view.decision.decision for view in asked} == {decision.decision}
        late_ms = self._random.choice((-1, 0, 1, 2))
        first = self._random.random() < 0.5
        if first:
            self._clock.set(decision.deadline_ms + late_ms)
        answers = [asyncio.create_task(self._answer(view)) for view in asked]
        if not first:
            await asyncio.sleep(0)
            self._clock.set(decision.deadline_ms + late_ms)
        for view, answer in zip(asked, await asyncio.gather(*answers), strict=True):
            self.answers.append((view.hand, decision.decision, view.viewer, answer.reason, len(answer.detail)))
        table = await self._players[asked[0].viewer].watch(self._table_id)
        while table.view.decision.decision == decision.decision:
            # On a busy machine the platform may have given time back meanwhile.
            version = table.version
            self._clock.set(table.view.decision.deadline_ms + 1)
            await table.changed_since(version)
        return True

    async def _answer(self, view: view_pb2.TableView) -> frames_pb2.CommandAnswer:
        option = self._random.choice(view.decision.options)
        choice = table_pb2.Choose(decision=view.decision.decision, action=option.action)
        return await self._players[view.viewer].command(self._table_id, table_pb2.TableCommand(choose=choice))


async def test_c060_five_hundred_races_have_one_winner_each(start_fleet: StartFleet) -> None:
    clock = HandClock()
    fleet = await start_fleet(QUICK, clock=clock)
    async with open_house(fleet) as house:
        table_id, players = await house.four()
        races = Races(clock, table_id, players)
        table = await players[0].watch(table_id)
        while races.decisions < RACES:
            if table.view.phase != view_pb2.TABLE_PHASE_PLAYING:
                await house.deal(table_id, players)
            if not await races.one():
                await table.until(lambda view: view.phase == view_pb2.TABLE_PHASE_READY)
    outcomes = [outcomes_of(house.heard[player]) for player in players]
    reasons = set()
    for hand, decision, seat, reason, detail in races.answers:
        reasons.add(reason)
        answered, timed_out, kind = outcomes[seat].get((hand, decision, seat), (0, 0, 0))
        assert answered == (reason == reason_pb2.REASON_UNSPECIFIED)
        assert answered + timed_out <= 1
        if kind == event_pb2.DECISION_KIND_TURN:
            assert answered + timed_out == 1
        assert reason == reason_pb2.REASON_UNSPECIFIED or detail > 0, "a refusal says why"
    assert reasons == {reason_pb2.REASON_UNSPECIFIED, reason_pb2.REASON_STALE_DECISION}


def outcomes_of(recorder: Recorder) -> dict[tuple[int, int, int], tuple[int, int, int]]:
    """By hand, decision and seat: how often it was answered, how often its time ran out, and what was asked."""
    hand = 0
    found: dict[tuple[int, int, int], tuple[int, int, int]] = {}
    for event in recorder.events:
        name = event.WhichOneof("event")
        if name == "hand_started":
            hand = event.hand_started.hand
        elif name in ("seat_answered", "seat_timed_out"):
            told = getattr(event, name)
            key = (hand, told.decision, told.seat)
            answered, timed_out, _ = found.get(key, (0, 0, 0))
            found[key] = (answered + (name == "seat_answered"), timed_out + (name == "seat_timed_out"), told.kind)
    return found
