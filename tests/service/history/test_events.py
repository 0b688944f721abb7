"""Records that come over the broker: poison in between, and processes killed in the middle."""

from __future__ import annotations

import asyncio
import os

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from eastwind.events.v1 import envelope_pb2
from libs.chassis.events import HANDS, MATCHES, RATINGS
from services.history.tables import matches, record_players, records, unit_changes
from tests.service.chassis.waiting import until
from tests.service.history.running import Running
from tests.service.ratings.killing import Mortal
from tests.service.ratings.proxy import SilencingProxy
from tests.service.ratings.publishing import (
    Listener,
    Publisher,
    finished,
    hand,
    match,
    match_finished,
    ratings_changed,
)


async def count(engine: AsyncEngine, table: sa.Table) -> int:
    async with engine.connect() as connection:
        return await connection.scalar(sa.select(sa.func.count()).select_from(table)) or 0


@pytest.mark.faults
async def test_c110_a_consumer_killed_between_fetch_and_write_loses_no_record(
    running: Running, postgres_url: str, engine: AsyncEngine, publisher: Publisher
) -> None:
    events = [finished(hand(table_id=f"table-{number}")) for number in range(20)]
    for event in events:
        await publisher.send(HANDS, event)
    markers = (b"INTO records", b"INTO record_players", b"COMMIT")
    async with (
        SilencingProxy(postgres_url, tells_ends=True) as proxy,
        Mortal("history", proxy.url, publisher.bootstrap) as mortal,
    ):
        for kill, marker in enumerate(markers):
            proxy.silence(marker, deliver=kill == 2)
            await mortal.born()
            await asyncio.wait_for(proxy.silenced.acquire(), 60)
            await mortal.kill()
    await running.start(postgres_url, publisher.bootstrap)

    async def all_there() -> bool:
        return await count(engine, records) == 20

    await until(all_there, seconds=60)
    assert await count(engine, record_players) == 80


async def test_c111_poison_of_each_kind_is_parked_with_its_reason_and_the_rest_goes_on(
    running: Running, postgres_url: str, engine: AsyncEngine, publisher: Publisher
) -> None:
    service = await running.start(postgres_url, publisher.bootstrap)
    changed = envelope_pb2.RatingsChanged(unit_id="unit", table_id="table")
    goods = {
        HANDS: finished(hand()),
        MATCHES: match_finished(match((4, 3, 2, 1))),
        RATINGS: ratings_changed(changed),
    }
    for topic, good in goods.items():
        wrong = goods[MATCHES if topic == HANDS else HANDS]
        for payload in (good.SerializeToString()[:-1], b"", wrong.SerializeToString(), os.urandom(5 * 1024 * 1024)):
            await publisher.send_raw(topic, payload, partition=0)
        await publisher.send(topic, good, partition=0)

    async def all_there() -> bool:
        return [await count(engine, table) for table in (records, matches, unit_changes)] == [1, 1, 1]

    await until(all_there, seconds=60)
    for topic in goods:
        async with Listener(publisher.bootstrap, f"{topic}.dead") as listener, asyncio.timeout(30):
            dead = [await listener.next() for _ in range(4)]
        reasons = [record.headers["dead-reason"].decode() for record in dead]
        assert reasons[0].startswith("DecodeError")
        assert reasons[1].endswith("not None")
        assert "carries" in reasons[2]
        assert reasons[3].startswith("DecodeError")
        assert dead[3].headers["dead-bytes"] == str(5 * 1024 * 1024).encode()

        async def all_committed(topic: str = topic) -> bool:
            return await publisher.waiting("history", topic) == 0

        await until(all_committed)
    assert not service.failed.done()
