"""Units that come over the broker, with everything around them failing."""

from __future__ import annotations

import asyncio
import os

import aiohttp
import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from deploy.local.broker import KafkaProtocolServer
from eastwind.events.v1 import envelope_pb2
from eastwind.ratings.v1 import ratings_service_pb2 as messages
from libs.chassis.errors import Unavailable
from libs.chassis.events import HANDS, MATCHES, RATINGS, ensure_topics
from services.ratings.app import RatingsService
from services.ratings.model import RatingModel, placement_tenths
from services.ratings.tables import outbox, ratings
from tests.backing import Keeper
from tests.service.chassis.waiting import until
from tests.service.ratings.killing import Mortal
from tests.service.ratings.proxy import SilencingProxy
from tests.service.ratings.publishing import FOUR, Listener, Publisher, finished, hand, match, match_finished
from tests.service.ratings.running import Running, changes_in, until_rated


async def metrics_of(service: RatingsService) -> str:
    async with aiohttp.ClientSession() as http, http.get(f"http://{service.http_address}/metrics") as response:
        return await response.text()


async def told(listener: Listener, number: int) -> list[envelope_pb2.Envelope]:
    """So many different events, in the order in which they came first."""
    heard: dict[str, envelope_pb2.Envelope] = {}
    async with asyncio.timeout(60):
        while len(heard) < number:
            envelope = envelope_pb2.Envelope.FromString((await listener.next()).payload)
            assert heard.setdefault(envelope.event_id, envelope) == envelope
    return list(heard.values())


async def test_c085_a_hand_delivered_three_times_over_a_restart_and_two_owners_is_rated_once(
    running: Running, postgres_url: str, engine: AsyncEngine, publisher: Publisher
) -> None:
    event, later = finished(hand()), finished(hand())
    first = await running.start(postgres_url, publisher.bootstrap)
    await publisher.send(HANDS, event, partition=0)
    await until_rated(engine, event.hand_finished.record.record_id)
    await running.stop(first)
    await publisher.send(HANDS, event, partition=0)
    for _ in range(2):
        await running.start(postgres_url, publisher.bootstrap)
    await publisher.send(HANDS, event, partition=1)
    await publisher.send(HANDS, later, partition=1)
    await until_rated(engine, later.hand_finished.record.record_id)

    async def all_committed() -> bool:
        return await publisher.waiting("ratings", HANDS) == 0

    await until(all_committed)
    async with engine.connect() as connection:
        units = (await connection.scalars(sa.select(ratings.c.units))).all()
    assert units == [2, 2, 2, 2]
    async with Listener(publisher.bootstrap, RATINGS) as listener:
        heard = await told(listener, 2)
    assert {each.ratings_changed.unit_id for each in heard} == {
        each.hand_finished.record.record_id for each in (event, later)
    }


async def test_c088_a_database_that_times_out_is_asked_again_and_nobody_begins_anew(
    running: Running, postgres_url: str, engine: AsyncEngine, publisher: Publisher
) -> None:
    model = RatingModel()
    standing = [model.start] * 4
    async with SilencingProxy(postgres_url) as proxy:
        service = await running.start(proxy.url, publisher.bootstrap, database_timeout_s=0.3, database_abandoned_s=0.6)
        # On the read; on the write, with and without the server having heard of it.
        for marker, deliver in ((b"", False), (b"FOR UPDATE", False), (b"COMMIT", False), (b"COMMIT", True)):
            if marker:
                proxy.silence(marker, times=2, deliver=deliver)
                await proxy.cut()
            record = hand((24, -4, -8, -12))
            await publisher.send(HANDS, finished(record))
            await until_rated(engine, record.record_id)
            standing = list(model.update(standing, placement_tenths((24, -4, -8, -12))))
            if marker:
                await asyncio.wait_for(proxy.silenced.acquire(), 10)
        async with engine.connect() as connection:
            rows = (await connection.execute(sa.select(ratings).order_by(ratings.c.account_id))).all()
        assert [(row.mu, row.sigma, row.units) for row in rows] == [
            (each.mu, each.sigma, each.units) for each in standing
        ]

        async def metric_tells() -> bool:
            return f'eastwind_events_consumed_total{{outcome="retried",topic="{HANDS}"}}' in await metrics_of(service)

        await until(metric_tells)
        assert not service.failed.done()


async def test_the_relay_of_changed_ratings_outlives_what_nobody_foresaw(
    running: Running, postgres_url: str, engine: AsyncEngine, publisher: Publisher
) -> None:
    service = await running.start(postgres_url, publisher.bootstrap)

    async def failed_twice() -> bool:
        counted = (await metrics_of(service)).splitlines()
        line = next(line for line in counted if 'outbox_failed_rounds_total{cause="unexpected"}' in line)
        return float(line.split()[1]) >= 2

    async with engine.begin() as connection:
        await connection.execute(sa.text("alter table outbox rename to mislaid"))
    await until(failed_twice)
    async with engine.begin() as connection:
        await connection.execute(sa.text("alter table mislaid rename to outbox"))
    event = finished(hand())
    await publisher.send(HANDS, event)
    async with Listener(publisher.bootstrap, RATINGS) as listener:
        (heard,) = await told(listener, 1)
    assert heard.ratings_changed.unit_id == event.hand_finished.record.record_id
    assert not service.failed.done()


@pytest.mark.faults
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [6, pytest.param(100, marks=pytest.mark.load)])
async def test_c110_a_consumer_killed_between_fetch_and_write_loses_no_hand(
    postgres_url: str, engine: AsyncEngine, publisher: Publisher, running: Running, kills: int
) -> None:
    events = [finished(hand(table_id=f"table-{number}")) for number in range(40)]
    for event in events:
        await publisher.send(HANDS, event)
    points_of_work = (b"INTO rated_units", b"FOR UPDATE", b"INTO rating_changes", b"COMMIT")
    async with (
        SilencingProxy(postgres_url, tells_ends=True) as proxy,
        Mortal("ratings", proxy.url, publisher.bootstrap) as mortal,
    ):
        for kill in range(kills):
            # Each life dies at another point in the middle of a transaction, the server having heard of it or not.
            proxy.silence(points_of_work[kill % 4], deliver=kill % 2 == 1)
            await mortal.born()
            await asyncio.wait_for(proxy.silenced.acquire(), 60)
            await mortal.kill()
    await running.start(postgres_url, publisher.bootstrap)
    await until_rated(engine, *(event.hand_finished.record.record_id for event in events))
    async with engine.connect() as connection:
        assert (await connection.scalars(sa.select(ratings.c.units))).all() == [40] * 4
    assert len(await changes_in(engine)) == 160


async def test_c111_poison_of_each_kind_is_parked_with_its_reason_and_the_rest_goes_on(
    running: Running, postgres_url: str, engine: AsyncEngine, publisher: Publisher
) -> None:
    service = await running.start(postgres_url, publisher.bootstrap)
    good_hand, good_match = finished(hand()), match_finished(match((4, 3, 2, 1)))
    for topic, good, wrong in ((HANDS, good_hand, good_match), (MATCHES, good_match, good_hand)):
        for payload in (
            good.SerializeToString()[:-5],
            b"",
            wrong.SerializeToString(),
            os.urandom(5 * 1024 * 1024),
        ):
            await publisher.send_raw(topic, payload, partition=0)
        await publisher.send(topic, good, partition=0)
    await until_rated(engine, good_hand.hand_finished.record.record_id, good_match.match_finished.match.match_id)
    for topic in (HANDS, MATCHES):
        async with Listener(publisher.bootstrap, f"{topic}.dead") as listener, asyncio.timeout(30):
            reasons = [(await listener.next()).headers["dead-reason"].decode() for _ in range(4)]
        assert reasons[0].startswith("DecodeError")
        assert reasons[1] == "the event has no id"
        assert "carries" in reasons[2]
        assert reasons[3].startswith("DecodeError")
        assert f'eastwind_events_consumed_total{{outcome="dead",topic="{topic}"}} 4.0' in await metrics_of(service)

        async def all_committed(topic: str = topic) -> bool:
            return await publisher.waiting("ratings", topic) == 0

        await until(all_committed)
    assert not service.failed.done()


async def test_what_no_broker_takes_is_told_later_and_again_to_one_that_forgot(
    running: Running, postgres_url: str, engine: AsyncEngine, publisher: Publisher, broker_server: KafkaProtocolServer,
    keeper: Keeper,
) -> None:  # fmt: skip
    await running.start(postgres_url, publisher.bootstrap)
    record = hand()
    await publisher.send(HANDS, finished(record))
    async with Listener(publisher.bootstrap, RATINGS) as listener:
        (first,) = await told(listener, 1)
    changes = {change.account_id: change for change in first.ratings_changed.changes}
    assert list(changes) == list(FOUR)
    assert changes["ann"].after > changes["ann"].before == 1500 > changes["di"].after
    assert (first.ratings_changed.unit_id, changes["bo"].placement_tenths, changes["bo"].provisional) == (
        record.record_id,
        30,
        True,
    )
    await asyncio.to_thread(keeper.run, broker_server.kill())
    await asyncio.to_thread(keeper.run, broker_server.start())
    await ensure_topics([publisher.bootstrap], timeout_s=15)
    async with Listener(publisher.bootstrap, RATINGS) as listener:
        (again,) = await told(listener, 1)
    assert again == first
    async with engine.connect() as connection:
        rows = (await connection.execute(sa.select(outbox))).all()
    assert [row.event_id for row in rows] == [first.event_id]


async def test_the_service_reads_without_a_broker_and_says_when_its_database_is_away(
    running: Running, postgres_url: str
) -> None:
    async with SilencingProxy(postgres_url) as proxy:
        service = await running.start(proxy.url, database_timeout_s=0.3, database_probe_s=0.05)
        stub = running.stub(service)
        request = messages.GetRatingsRequest(account_ids=["ann"], ruleset="hkos-3-v1")
        assert (await stub.GetRatings(request)).ratings[0].rating == 1500
        proxy.silence(b"", times=1_000_000)
        await proxy.cut()
        with pytest.raises(Unavailable) as caught:
            await stub.GetRatings(request)
        assert caught.value.retriable
        proxy.silence(b"", times=0)
        await proxy.cut()

        async def answers() -> bool:
            try:
                return bool((await stub.GetRatings(request)).ratings)
            except Unavailable:
                return False

        await until(answers)
