"""Whole hands over the public edge: four players, their sockets, and everything behind them."""

from __future__ import annotations

import asyncio
import hashlib

import pytest

from eastwind.ratings.v1 import ratings_service_pb2 as ratings_pb2
from libs.contracts.records import record_from_proto
from libs.mahjong.verification import verify
from services.cli.edge_client import EdgeClient
from tests.service.fleet import HKOS, House, easy

pytestmark = pytest.mark.asyncio(loop_scope="module")

RATINGS = "eastwind.ratings.v1.RatingsService"
PATIENCE_S = 60.0


async def told_ratings(player: EdgeClient, table_id: str, units: set[str]) -> None:
    """Wait until the socket has told how the ratings changed by these units."""
    table = await player.watch(table_id)
    async with asyncio.timeout(PATIENCE_S):
        while not units <= {changed.unit_id for changed in player.ratings}:
            await table.changed_since(table.version)


async def test_four_strangers_play_rated_hands_one_after_another(house: House) -> None:
    players = await asyncio.gather(*(house.guest() for _ in range(4)))
    tables = await asyncio.gather(*(player.enter_queue(HKOS, rated=True) for player in players))
    table_id = tables[0]
    assert tables == [table_id] * 4
    results = await house.play(table_id, players, hands=2)
    first, second = results[0]
    assert (first.hand, second.hand) == (1, 2)
    assert first.view.unit_rated
    assert second.view.unit_rated
    units = {f"{table_id}-1", f"{table_id}-2"}
    for result in results:
        assert [each.settled for each in result] == [first.settled, second.settled]

    for settled in (first.settled, second.settled):
        assert sum(settled.changes) == 0
        record = await house.record(settled.record_id)
        assert verify(record_from_proto(record)).passed
        assert all(record.nonces), "every player's own nonce is in the wall"
        assert hashlib.sha256(record.seed).digest() == record.events[0].event.hand_started.commitment
        assert record.seed == settled.wall.seed

    for player in players:
        await told_ratings(player, table_id, units)
    ratings = await house.calls.call(
        f"{RATINGS}/GetRatings",
        ratings_pb2.GetRatingsRequest(account_ids=[player.session.account_id for player in players], ruleset=HKOS),
        ratings_pb2.GetRatingsResponse,
    )
    for rating in ratings.ratings:
        assert rating.units == 2
        assert rating.provisional
    for player in players:
        history = await house.calls.call(
            f"{RATINGS}/GetHistory",
            ratings_pb2.GetHistoryRequest(account_id=player.session.account_id, ruleset=HKOS),
            ratings_pb2.GetHistoryResponse,
        )
        assert sorted(change.unit_id for change in history.changes) == sorted(units)
        told = {changed.unit_id for changed in player.ratings}
        assert told == units
        assert len(player.ratings) == 2


async def test_a_casual_hand_with_computers_changes_no_rating(house: House) -> None:
    player = await house.guest("Casual")
    table_id = await house.create(player, computers=1)
    ((result,),) = await house.play(table_id, [player], [easy])
    assert not result.view.unit_rated
    found = await house.found(result.settled.record_id)
    assert not found.record.rated
    assert not found.rating_changes
    assert [bool(seat.bot_level) for seat in found.record.players].count(True) == 3
    assert verify(record_from_proto(found.record)).passed
