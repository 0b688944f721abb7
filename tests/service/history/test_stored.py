"""What an operator is told of all stored records at once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from libs.chassis import database
from libs.chassis.identifiers import new_table_id
from libs.chassis.telemetry import Telemetry
from libs.contracts.records import record_to_proto
from services.history import stored
from services.history.app import MIGRATIONS
from services.history.storing import Store
from tests.service.history.running import settings_for, store
from tests.service.ratings.publishing import finished, play


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_PAGE", 2)


async def test_every_stored_record_is_checked_and_those_that_fail_are_named(
    engine: AsyncEngine, postgres_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    await database.migrate(postgres_url, MIGRATIONS, version_table="history_version")
    handler = Store(engine, Telemetry("history").metrics)
    settings = settings_for(postgres_url, "127.0.0.1:1")
    assert await stored.check_all(settings) == 0
    hands = [played for seed in (b"east", b"south", b"west", b"north") for played in play(new_table_id(), seed)]
    await store(handler, *(finished(record_to_proto(played)) for played in hands))
    assert await stored.check_all(settings) == 0
    assert capsys.readouterr().out.splitlines() == ["0 records pass, 0 fail.", "4 records pass, 0 fail."]

    [forged] = play(new_table_id(), b"north")
    message = record_to_proto(replace(forged, server_seed=bytes(32)))
    later = record_to_proto(play(new_table_id(), b"east")[0])
    later.format = 2
    await store(handler, finished(message), finished(later))
    assert await stored.check_all(settings) == 1
    *failures, sums = capsys.readouterr().out.splitlines()
    assert sums == "4 records pass, 2 fail."
    assert sorted(line.split(": ")[:2] for line in failures) == sorted(
        [[message.record_id, "commitment"], [later.record_id, "record"]]
    )
