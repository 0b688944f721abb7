"""The table store is away: nothing is acknowledged, nobody's time runs, and tables go on when it is back (P1, P4)."""

from __future__ import annotations

import asyncio

import pytest

from eastwind.table.v1 import event_pb2
from eastwind.type.v1 import settings_pb2
from tests.service.fleet import House
from tests.service.outages.outage import Outages, a_discard, deadline_passed, events_of

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]


async def test_an_answer_is_acknowledged_only_once_the_store_has_it(house: House, outages: Outages) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_BULLET)
    player = players[await house.deal(table_id, players)]
    table = await player.watch(table_id)
    asked = table.view
    await outages.begin(outages.stack.valkey)
    answering = asyncio.create_task(player.command(table_id, a_discard(asked)))
    await deadline_passed(asked)
    assert not answering.done(), "nothing is acknowledged that is not kept"
    await outages.end()
    assert not (await answering).reason, "the answer came in time, however long the store was away"
    view = await player.resync(table_id)
    assert [len(seat.river) for seat in view.seats if seat.river] == [1]
    results = await house.play(table_id, players)
    assert len({result.settled.record_id for (result,) in results}) == 1


async def test_who_has_not_answered_yet_is_not_charged_for_the_outage(house: House, outages: Outages) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_BULLET)
    player = players[await house.deal(table_id, players)]
    table = await player.watch(table_id)
    asked = table.view
    await outages.begin(outages.stack.valkey)
    await deadline_passed(asked)
    await outages.end()
    view = await table.until(lambda view: view.decision.deadline_ms > asked.decision.deadline_ms)
    assert view.decision.decision == asked.decision.decision, "the question is still open"
    assert not events_of(house, player, "seat_timed_out")
    assert not (await player.command(table_id, a_discard(view))).reason
    seat = view.viewer
    answered = next(
        event.seat_answered for event in events_of(house, player, "seat_answered") if event.seat_answered.seat == seat
    )
    assert answered.kind == event_pb2.DECISION_KIND_TURN
    results = await house.play(table_id, players)
    assert len({result.settled.record_id for (result,) in results}) == 1


async def test_a_short_silence_of_the_store_costs_nobody_s_time_either(house: House, outages: Outages) -> None:
    """Shorter than a lease: the tables stay where they are, and the time is given back when the store answers again."""
    fleet = house.fleet
    await fleet.stop_one("table", grace_s=5.0)
    await fleet.add("table", table_lease_ms=30_000)
    table_id, players = await house.four(speed=settings_pb2.SPEED_BULLET)
    player = players[await house.deal(table_id, players)]
    table = await player.watch(table_id)
    asked, wholes = table.view, table.wholes
    await outages.begin(outages.stack.valkey)
    await deadline_passed(asked)
    await outages.end()
    view = await table.until(lambda view: view.decision.deadline_ms > asked.decision.deadline_ms)
    assert view.decision.decision == asked.decision.decision
    assert table.wholes == wholes, "the table stayed in memory"
    assert not events_of(house, player, "seat_timed_out")
    assert not (await player.command(table_id, a_discard(view))).reason


async def test_tables_wait_for_a_worker_when_all_are_gone(house: House) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_BULLET)
    player = players[await house.deal(table_id, players)]
    table = await player.watch(table_id)
    asked = table.view
    await house.fleet.stop_one("table", grace_s=5.0)
    answering = asyncio.create_task(player.command(table_id, a_discard(asked)))
    await deadline_passed(asked)
    assert not answering.done()
    await house.fleet.add("table")
    assert not (await answering).reason
    assert not events_of(house, player, "seat_timed_out")
    results = await house.play(table_id, players)
    assert len({result.settled.record_id for (result,) in results}) == 1
