"""The broker is away: play goes on, results wait in the outbox up to a bound, and all of them arrive in the end."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from deploy.local.stack import BackingStack
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import view_pb2
from eastwind.type.v1 import reason_pb2
from libs.contracts.view_folding import coming_hand
from services.cli.edge_calls import EdgeRefusedError
from services.cli.edge_client import EdgeClient
from tests.service.fleet import House, ShiftedClock
from tests.service.outages.outage import SETTINGS, Outages, readiness

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def clock() -> ShiftedClock:
    return ShiftedClock()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(own_stack: BackingStack, clock: ShiftedClock) -> AsyncIterator[Fleet]:
    fleet = Fleet(own_stack, settings=SETTINGS, clock=clock)
    await fleet.start()
    yield fleet
    await fleet.stop(1.0)


async def test_play_goes_on_and_what_waited_arrives(house: House, outages: Outages) -> None:
    table_id, players = await house.four(rated=True)
    await outages.begin(outages.stack.broker)
    results = await house.play(table_id, players, hands=2)
    await outages.end()
    for result in results[0]:
        assert len((await house.found(result.settled.record_id)).rating_changes) == 4


async def test_a_worker_and_matchmaking_start_without_the_broker(house: House, outages: Outages) -> None:
    await outages.begin(outages.stack.broker)
    fleet = house.fleet
    await fleet.add("table")
    await fleet.stop_one("table")
    await fleet.add("matchmaking")
    player = await house.guest()
    table_id = await house.create(player)
    assert (await player.watch(table_id)).view.phase == view_pb2.TABLE_PHASE_WAITING


async def ready(player: EdgeClient, table_id: str, view: view_pb2.TableView) -> int:
    """Say ready for the coming hand; returns the reason of the refusal, 0 for none."""
    command = table_pb2.TableCommand(ready=table_pb2.Ready(hand=coming_hand(view)))
    return (await player.command(table_id, command)).reason


async def test_at_the_bound_no_table_and_no_hand_begins_and_nothing_is_lost(
    house: House, outages: Outages, clock: ShiftedClock
) -> None:
    fleet = house.fleet
    table_id, players = await house.four(rated=True)
    await house.deal(table_id, players)
    worker = await fleet.add("table", outbox_bound=1)
    while len(fleet.services["table"]) > 1:
        await fleet.stop_one("table", grace_s=5.0)
    await readiness(house.http, worker.http_address, [])
    await outages.begin(outages.stack.broker)

    # The hand that was being played comes to its end, and is kept.
    results = await house.play(table_id, players)
    await readiness(house.http, worker.http_address, ["outbox"])
    with pytest.raises(EdgeRefusedError) as refused:
        await house.create(await house.guest())
    assert refused.value.reason == "UNAVAILABLE"

    # The next one does not begin, and nobody loses a seat for it when the time to be ready is over.
    table = await players[0].watch(table_id)
    view = await table.until(lambda view: view.phase == view_pb2.TABLE_PHASE_READY)
    assert [await ready(player, table_id, view) for player in players] == [0, 0, 0, reason_pb2.REASON_RATE_LIMITED]
    clock.advance(view.ready_deadline_ms - clock.now_ms() + 1)
    prolonged = await table.until(lambda later: later.ready_deadline_ms > view.ready_deadline_ms)
    assert prolonged.phase == view_pb2.TABLE_PHASE_READY
    assert [seat.player.account_id for seat in prolonged.seats] == [seat.player.account_id for seat in view.seats]

    # Once there is room again it begins, with as much time to say so as the ready step was made longer by.
    await outages.end()
    await readiness(house.http, worker.http_address, [])
    assert await ready(players[3], table_id, view) == 0
    await table.until(lambda view: view.phase == view_pb2.TABLE_PHASE_PLAYING)
    assert len((await house.found(results[0][0].settled.record_id)).rating_changes) == 4
