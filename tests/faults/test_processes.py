"""What players see when processes are killed, paused or replaced under them (see README.md)."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from tests.faults.platform import Platform
from tests.faults.players import RULESET, Four, Player

pytestmark = [pytest.mark.faults, pytest.mark.timeout(120, func_only=True)]
STANDS_STILL_S = 1.5
"""Less than any lease, and than it takes to be missed."""


async def test_c120_a_killed_worker_loses_no_accepted_action(platform: Platform, four: Four) -> None:
    await four.play_on(8)
    await platform.fleet.kill("table", await platform.worker_of(four.table_id))
    await four.play_on(8)
    hand = await four.finish_hand()
    await four.compare_with_server()
    await four.check_record(hand)
    assert four.timeouts() == []


async def test_a_seat_whose_worker_was_killed_is_found_at_once(platform: Platform, four: Four) -> None:
    """Nobody else looks for the table: whoever asks finds the owner unreachable and has the table taken over."""
    player = Player(four.session, platform.fleet.edge_urls, 1, 99)
    await player.register("Alone")
    settings = {"ruleset": RULESET, "speed": "SPEED_STANDARD"}
    body = {"requestId": uuid.uuid4().hex, "settings": settings}
    table_id = (await player.call("Matchmaking/CreateTable", body))["tableId"]
    owner = await platform.worker_of(table_id)
    await platform.fleet.kill("table", owner)
    assert (await player.call("Matchmaking/GetSeat", {}, tries=1))["tableId"] == table_id
    assert await platform.worker_of(table_id) != owner


async def test_c077_players_of_a_killed_gateway_come_back_to_the_same_table(platform: Platform, four: Four) -> None:
    await four.play_on(8)
    connections = [player.connections for player in four.players]
    await platform.fleet.kill("gateway", 1)
    await four.play_on(8)
    hand = await four.finish_hand()
    # Two of the four were connected there; all of them are at the other one now.
    came_back = [player.connections > before for player, before in zip(four.players, connections, strict=True)]
    assert sum(came_back) == 2
    await four.compare_with_server()
    await four.check_record(hand)
    assert four.timeouts() == []


async def test_c107_a_worker_that_slept_through_its_lease_is_fenced_off(platform: Platform, four: Four) -> None:
    await four.play_on(6)
    owner = await platform.worker_of(four.table_id)
    platform.fleet.pause("table", owner)
    try:
        # Nobody can reach the owner; once its lease is over the other one takes the table.
        await four.play_on(6, within_s=40)
        assert await platform.worker_of(four.table_id) != owner
    finally:
        platform.fleet.resume("table", owner)
    await four.play_on(6)
    hand = await four.finish_hand()
    await four.compare_with_server()
    await four.check_record(hand)
    for player in four.players:
        assert player.sequences == sorted(player.sequences), "a player was taken back"
    assert await platform.worker_of(four.table_id) != owner


async def test_a_worker_that_stood_still_for_a_moment_gives_the_time_back(platform: Platform, four: Four) -> None:
    """What waited in its sockets meanwhile is no slower for it, and its tables stay."""
    await four.play_on(4)
    for player in four.players:
        player.plays = False
    await four.until(lambda: any(each.is_asked for each in four.players))
    owner = await platform.worker_of(four.table_id)
    platform.fleet.pause("table", owner)
    try:
        for player in four.players:
            player.plays = True
            await player.play()
        await asyncio.sleep(STANDS_STILL_S)
    finally:
        platform.fleet.resume("table", owner)
    await four.until(lambda: four.granted_ms() >= 1000 * STANDS_STILL_S)
    assert await platform.worker_of(four.table_id) == owner
    hand = await four.finish_hand()
    await four.compare_with_server()
    await four.check_record(hand)
    assert four.timeouts() == []


async def test_both_workers_are_replaced_without_a_timeout(platform: Platform, four: Four) -> None:
    await four.play_on(1)
    full = [seat.reserve_ms for seat in four.players[0].view.seats]
    for number in (1, 2):
        await four.play_on(4)
        assert await platform.fleet.terminate("table", number) == 0
        await four.play_on(4)
        await platform.fleet.restart("table", number)
    hand = await four.finish_hand()
    await four.compare_with_server()
    await four.check_record(hand)
    assert four.timeouts() == []
    assert [seat.reserve_ms for seat in four.players[0].view.seats] == full, "somebody paid for the outage"


async def test_a_restarted_store_keeps_what_was_accepted(platform: Platform, four: Four) -> None:
    await four.play_on(8)
    await platform.stack.valkey.kill()
    await platform.stack.valkey.start()
    await four.play_on(8)
    hand = await four.finish_hand()
    await four.compare_with_server()
    await four.check_record(hand)


async def test_deadlines_of_a_killed_clock_pass_late_and_once(platform: Platform) -> None:
    async with Four(platform.fleet.edge_urls, speed="SPEED_BULLET") as four:
        await four.play_on(4)
        for player in four.players:
            player.plays = False
        await four.until(lambda: any(each.view.decision.deadline_ms for each in four.players))
        await platform.fleet.kill("clock")
        await platform.fleet.restart("clock")
        await four.until(lambda: bool(four.timeouts()), within_s=40)
        for player in four.players:
            player.plays = True
            await player.play()
        await four.play_on(2)
        hand = await four.finish_hand()
        await four.check_record(hand)
        for player in four.players:
            resolved = [
                event.seat_timed_out.decision
                for _, event in player.events
                if event.WhichOneof("event") == "seat_timed_out"
            ]
            assert len(resolved) == len(set(resolved)), "a decision was resolved twice"


async def test_a_hand_is_settled_while_scoring_is_away(platform: Platform, four: Four) -> None:
    await four.play_on(4)
    await platform.fleet.kill("scoring")
    hand = await four.finish_hand()
    await four.check_record(hand)
    await four.compare_with_server()


async def test_c112_a_worker_told_to_end_right_after_a_hand_leaves_its_events_to_others(
    platform: Platform, four: Four
) -> None:
    await four.play_on(4)
    hand = await four.finish_hand()
    # At this moment the hand's event is in the outbox or on its way.
    assert await platform.fleet.terminate("table", await platform.worker_of(four.table_id)) == 0
    await four.check_record(hand)
    await four.next_hand()
    await four.play_on(2)


async def test_tables_can_be_made_again_once_matchmaking_is_back(platform: Platform, four: Four) -> None:
    await four.play_on(2)
    await platform.fleet.kill("matchmaking")
    await four.play_on(4)
    restarting = asyncio.ensure_future(platform.fleet.restart("matchmaking"))
    async with Four(platform.fleet.edge_urls) as others:
        await others.play_on(2)
    await restarting
    assert (await four.players[0].call("Matchmaking/GetSeat", {}))["tableId"] == four.table_id
