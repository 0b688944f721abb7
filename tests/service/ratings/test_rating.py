"""What finished hands and matches do to ratings, on a real database."""

from __future__ import annotations

import asyncio
import itertools

import pytest
import sqlalchemy as sa
from google.protobuf.message import DecodeError

from eastwind.events.v1 import envelope_pb2
from eastwind.ratings.v1 import ratings_service_pb2 as messages
from libs.chassis.events import HANDS, MATCHES, EventRecord, PoisonMessage
from libs.chassis.identifiers import new_table_id
from libs.contracts.records import record_to_proto
from services.ratings.model import Rating, RatingModel
from services.ratings.tables import outbox, rated_units, ratings
from tests.service.ratings.publishing import (
    CLASSICAL,
    FOUR,
    HKOS,
    delivered,
    finished,
    hand,
    match,
    match_finished,
    play,
)
from tests.service.ratings.running import Bench, changes_in


async def rate(bench: Bench, *envelopes: envelope_pb2.Envelope) -> None:
    for envelope in envelopes:
        topic = MATCHES if envelope.WhichOneof("payload") == "match_finished" else HANDS
        await bench.rate(delivered(topic, envelope))


async def test_a_real_rated_hand_changes_the_four_ratings(bench: Bench) -> None:
    table_id = new_table_id()
    records = [record_to_proto(record) for record in play(table_id, b"east", hands=3)]
    for record in records:
        await rate(bench, finished(record))
    assert {unit for unit, _ in await changes_in(bench.engine)} == {record.record_id for record in records}
    assert [rating.units for rating in await bench.ratings(*FOUR)] == [3, 3, 3, 3]


async def test_c085_a_hand_under_another_event_id_is_the_same_hand(bench: Bench) -> None:
    record = hand()
    await rate(bench, finished(record, "one"))
    once = await changes_in(bench.engine)
    await rate(bench, finished(record, "one"), finished(record, "two"))
    assert await changes_in(bench.engine) == once
    assert [rating.units for rating in await bench.ratings(*FOUR)] == [1, 1, 1, 1]
    async with bench.engine.connect() as connection:
        assert await connection.scalar(sa.select(sa.func.count()).select_from(outbox)) == 1


async def test_c085_many_deliveries_at_once_are_one(bench: Bench) -> None:
    event = delivered(HANDS, finished(hand()))
    await asyncio.gather(*(bench.rate(event) for _ in range(8)))
    assert [rating.units for rating in await bench.ratings(*FOUR)] == [1, 1, 1, 1]


async def test_units_with_common_players_in_other_seats_wait_for_each_other_and_lose_nothing(bench: Bench) -> None:
    events = [delivered(HANDS, finished(hand(accounts=accounts))) for accounts in itertools.permutations(FOUR)]
    await asyncio.gather(*(bench.rate(event) for event in events))
    assert [rating.units for rating in await bench.ratings(*FOUR)] == [24] * 4
    async with bench.engine.connect() as connection:
        total = await connection.scalar(sa.select(sa.func.sum(ratings.c.units)))
    assert total == 96


async def test_c086_all_four_are_updated_from_the_ratings_before_in_every_order_of_seats(bench: Bench) -> None:
    points = {"ann": 24, "bo": -3, "cy": -3, "di": -18}
    deltas = set()
    for number, accounts in enumerate(itertools.permutations(FOUR)):
        # The same four standings each time, for players of this order's own.
        names = {account: f"{account}-{number}" for account in FOUR}
        for round_of, result in enumerate(((8, 8, -8, -8), (16, -16, 8, -8), (1, 2, 3, -6))):
            before = hand(result, [names[account] for account in FOUR], table_id=f"before-{number}-{round_of}")
            await rate(bench, finished(before))
        last = hand(
            [points[account] for account in accounts],
            [names[account] for account in accounts],
            table_id=f"last-{number}",
        )
        await rate(bench, finished(last))
        found = await changes_in(bench.engine)
        deltas.add(tuple(found[last.record_id, names[account]] for account in FOUR))
    assert len(deltas) == 1
    ((ann, bo, cy, di),) = deltas
    assert len({before for before, _after in (ann, bo, cy, di)}) > 2
    assert ann[1] > ann[0]
    assert di[1] < di[0]


async def test_c089_what_is_not_finished_changes_nothing(bench: Bench) -> None:
    kept = hand()
    await rate(bench, finished(kept))
    before = await bench.ratings(*FOUR, ruleset="")
    # Six hands of a rated match that an operator ended in the seventh: their unit never came.
    table_id = new_table_id()
    for number in range(1, 7):
        record = hand(table_id=table_id, number=number)
        record.ruleset = record.settings.ruleset = CLASSICAL
        record.unit_id = table_id
        await rate(bench, finished(record))
    assert await bench.ratings(*FOUR, ruleset="") == before
    async with bench.engine.connect() as connection:
        assert (await connection.scalars(sa.select(rated_units.c.unit_id))).all() == [kept.record_id]


async def test_c090_each_ruleset_has_its_ladder_and_casual_play_never_counts(bench: Bench) -> None:
    everybody = (*FOUR, "eve")
    others = ("bo", "cy", "di")
    for number in range(12):
        casual = hand(accounts=("eve", *others), table_id=f"casual-{number}", rated=False)
        await rate(bench, finished(casual), match_finished(match((9, 8, 7, 6), ("eve", *others), rated=False)))
    assert await changes_in(bench.engine) == {}
    assert [(each.rating, each.units, each.provisional) for each in await bench.ratings("eve")] == [(1500, 0, True)]
    for played in range(1, 11):
        await rate(bench, finished(hand()))
        assert [each.provisional for each in await bench.ratings(*FOUR)] == [played < 10] * 4
    await rate(bench, match_finished(match((2000, 1500, 500, -4000), ("di", "cy", "bo", "ann"))))
    found = {(each.account_id, each.ruleset): each for each in await bench.ratings(*everybody, ruleset="")}
    assert {key: each.units for key, each in found.items() if each.units} == {
        **{(account, HKOS): 10 for account in FOUR},
        **{(account, CLASSICAL): 1 for account in FOUR},
    }
    assert found["ann", HKOS].rating > 1500 > found["ann", CLASSICAL].rating
    assert found["di", CLASSICAL].provisional
    assert not found["di", HKOS].provisional
    assert (found["eve", HKOS].rating, found["eve", HKOS].units) == (1500, 0)


async def test_versions_of_a_ruleset_share_a_ladder(bench: Bench) -> None:
    newer = hand()
    newer.ruleset = newer.settings.ruleset = "hkos-3-v2"
    await rate(bench, finished(hand()), finished(newer))
    assert [each.units for each in await bench.ratings(*FOUR)] == [2, 2, 2, 2]


async def test_c091_equal_newcomers_move_as_they_are_placed(bench: Bench) -> None:
    await rate(bench, finished(hand((30, 10, -10, -30))))
    first, second, third, last = await bench.ratings(*FOUR)
    assert first.rating > second.rating > third.rating > last.rating
    assert first.rating > 1500 > last.rating
    assert all(each.uncertainty <= round(RatingModel().start.sigma) for each in (first, second, third, last))


async def test_c093_the_change_in_the_hand_decides_and_not_the_points_carried(bench: Bench) -> None:
    record = hand((-8, 8, 0, 0), number=2)
    record.points_before[:] = (40, -8, -16, -16)
    await rate(bench, finished(record))
    east, south, west, north = await bench.ratings(*FOUR)
    assert south.rating > 1500 > east.rating
    assert west == messages.Rating(**{**_fields(north), "account_id": "cy"})
    history = await bench.stub.GetHistory(messages.GetHistoryRequest(account_id="cy", ruleset=HKOS))
    assert [change.placement_tenths for change in history.changes] == [25]


async def test_a_drawn_hand_is_a_tie_of_all_and_counts(bench: Bench) -> None:
    await rate(bench, finished(hand((0, 0, 0, 0))))
    assert [(each.rating, each.units) for each in await bench.ratings(*FOUR)] == [(1500, 1)] * 4


async def test_a_match_is_placed_by_its_final_points(bench: Bench) -> None:
    await rate(bench, match_finished(match((100, 300, 200, -600))))
    found = {each.account_id: each.rating for each in await bench.ratings(*FOUR, ruleset="") if each.units}
    assert found["bo"] > found["cy"] > found["ann"] > found["di"]


async def test_what_was_stored_is_what_the_model_says(bench: Bench) -> None:
    model, standing = RatingModel(), [RatingModel().start] * 4
    for result in ((24, -8, -8, -8), (-16, 16, 0, 0), (0, 0, 0, 0)):
        await rate(bench, finished(hand(result)))
        placements = [sum(10 * (other > own) + 5 * (other == own) for other in result) + 5 for own in result]
        standing = list(model.update(standing, placements))
    async with bench.engine.connect() as connection:
        rows = (await connection.execute(sa.select(ratings).order_by(ratings.c.account_id))).all()
    assert [Rating(row.mu, row.sigma, row.units) for row in rows] == standing


def _fields(message: messages.Rating) -> dict[str, object]:
    return {field.name: getattr(message, field.name) for field in message.DESCRIPTOR.fields}


def _with(change: str) -> envelope_pb2.Envelope:
    record = hand()
    match change:
        case "a bot":
            record.players[2].bot_level = 1
        case "nobody":
            record.players[2].account_id = ""
        case "twice":
            record.players[2].account_id = "ann"
        case "three":
            del record.players[3]
        case "no result":
            del record.events[-1]
    return finished(record)


@pytest.mark.parametrize("change", ["a bot", "nobody", "twice", "three", "no result"])
async def test_a_rated_hand_that_no_table_plays_is_refused(bench: Bench, change: str) -> None:
    with pytest.raises(PoisonMessage):
        await rate(bench, _with(change))
    assert await changes_in(bench.engine) == {}


async def test_a_message_that_is_no_event_of_the_topic_is_refused(bench: Bench) -> None:
    good = finished(hand())
    for topic, payload in (
        (HANDS, b""),
        (HANDS, match_finished(match((4, 3, 2, 1))).SerializeToString()),
        (MATCHES, good.SerializeToString()),
        (HANDS, finished(hand(), "x" * 201).SerializeToString()),
    ):
        with pytest.raises(PoisonMessage):
            await bench.rate(EventRecord(topic, 0, 0, "t", payload, {}, 0))
    with pytest.raises(DecodeError):
        await bench.rate(EventRecord(HANDS, 0, 0, "t", good.SerializeToString()[:-7], {}, 0))
