"""A table store that stands still for a moment costs nobody's time (promise P4)."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from deploy.local.stack import BackingStack
from eastwind.table.v1 import event_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import settings_pb2
from libs.contracts.tiles import action_to_proto
from libs.mahjong.engine.actions import Action, ActionType
from tests.service.fleet import House

pytestmark = pytest.mark.asyncio(loop_scope="module")

STILL_S = 1.2
BASE_MS, RESERVE_MS = 2_000, 5_000


def gives_it_back(event: event_pb2.TableEvent) -> bool:
    """Whether the standstill is what is given back: on a busy machine other appends may be slow, too."""
    return event.outage_granted.outage_ms > STILL_S * 1000 / 2


async def test_the_question_behind_a_slow_append_has_its_time_in_full(
    house: House, backing_stack: BackingStack
) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_BULLET)
    seat = await house.deal(table_id, players)
    table = await players[seat].watch(table_id)
    view = table.view
    tile = max(option.action.tiles[0] for option in view.decision.options if option.action.type == 1)
    command = table_pb2.TableCommand(
        choose=table_pb2.Choose(
            decision=view.decision.decision, action=action_to_proto(Action(ActionType.DISCARD, (tile,)))
        )
    )
    pid = backing_stack.valkey.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        answering = asyncio.create_task(players[seat].command(table_id, command))
        await asyncio.wait([answering], timeout=STILL_S)
    finally:
        os.kill(pid, signal.SIGCONT)
    assert not (await answering).reason
    asked = view.decision.decision

    for player in players:
        watched = await player.watch(table_id)
        while not any(map(gives_it_back, house.heard[player].events)):
            await watched.changed_since(watched.version)
        assert watched.view.decision.decision != asked
    for player, recorder in ((each, house.heard[each]) for each in players):
        (granted,) = (
            update.server_time_ms for update in recorder.updates for event in update.events if gives_it_back(event)
        )
        question = (await player.watch(table_id)).view.decision
        if question.decision:
            least = BASE_MS + (RESERVE_MS if question.kind == event_pb2.DECISION_KIND_TURN else 0)
            assert question.deadline_ms >= granted + least - 300, "the time begins when the question leaves"
