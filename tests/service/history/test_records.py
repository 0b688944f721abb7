"""Records: stored whole, read back, listed, exported, verified, and shown to those who may see them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy.ext.asyncio import AsyncEngine

from eastwind.events.v1 import envelope_pb2
from eastwind.history.v1 import record_pb2
from eastwind.ratings.v1 import ratings_service_pb2
from libs.chassis.errors import EastwindError, InvalidRequest, NotFound, PermissionDenied
from libs.chassis.events import HANDS, EventRecord, PoisonMessage
from libs.chassis.identifiers import new_table_id
from libs.contracts.record_files import record_from_file
from libs.contracts.records import record_from_proto, record_to_proto
from libs.mahjong.engine.events import HandDrawn, HandStarted, HandWon, KongDeclared
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.melds import MeldKind
from libs.mahjong.record import HandRecord, TimedEvent, replay
from libs.mahjong.scores import WinMethod
from libs.mahjong.simulation import SimulatedTable, timeout_policy
from libs.mahjong.verification import Check
from services.history.app import HistoryService
from services.history.storing import Store
from services.history.tables import metadata, records
from tests.service.history.running import Running, store
from tests.service.ratings.publishing import (
    FOUR,
    HKOS,
    finished,
    hand,
    match,
    match_finished,
    play,
    ratings_changed,
)
from tests.unit.mahjong.engine import builders


def private(record: record_pb2.HandRecord) -> record_pb2.HandRecord:
    record.settings.private = True
    return record


def changed(unit_id: str, table_id: str) -> envelope_pb2.RatingsChanged:
    return envelope_pb2.RatingsChanged(
        unit_id=unit_id,
        table_id=table_id,
        changes=[ratings_service_pb2.RatingChange(account_id=account, unit_id=unit_id) for account in FOUR],
    )


async def test_c098_every_hand_is_kept_whole_the_ugly_ones_too(
    running: Running, service: HistoryService, handler: Store
) -> None:
    table_id = new_table_id()
    by_timeouts = SimulatedTable.open(HKOS, [lambda _view: None] * 4, b"timeouts", table_id=new_table_id()).play_hand()
    drawn = SimulatedTable.open(HKOS, [timeout_policy] * 4, b"drawn", table_id=new_table_id()).play_hand()
    assert isinstance(drawn.result, HandDrawn)
    played = [*play(table_id, b"south", hands=2), by_timeouts, drawn]
    await store(handler, *(finished(record_to_proto(record)) for record in played))
    reader = running.reader(service)
    for record in played:
        message = record_to_proto(record)
        found = (await reader.get(message.record_id)).record
        assert found == message
        assert record_from_proto(found) == record
        assert found.ruleset
        assert found.seed
        assert found.ended_ms > found.started_ms > 0
        assert [player.account_id for player in found.players] == [player.account_id for player in record.players]
        checked = await reader.verify(message.record_id)
        assert checked.verified, checked
        assert [check.name for check in checked.checks] == ["record", *Check]
    lines = {line.record_id: line for line in (await reader.list()).records}
    assert not lines[record_to_proto(drawn).record_id].HasField("winner")
    first = lines[f"{table_id}-1"]
    assert (list(first.names), list(first.changes)) == (
        [name.title() for name in FOUR],
        list(played[0].settlement.changes),
    )


async def test_c098_the_last_record_of_a_match_carries_the_change_of_ratings(
    running: Running, service: HistoryService, handler: Store
) -> None:
    table_id = new_table_id()
    played = [hand(table_id=table_id, number=number) for number in (1, 2)]
    for record in played:
        record.unit_id = table_id
    played[-1].match_places[:] = (1, 2, 3, 4)
    unit = ratings_changed(changed(table_id, table_id))
    reader = running.reader(service)
    # The change may be known before the record: they come in topics of their own.
    await store(handler, finished(played[0]), unit, finished(played[1]), match_finished(match((4, 3, 2, 1))))
    assert not (await reader.get(played[0].record_id)).rating_changes
    assert [change.account_id for change in (await reader.get(played[1].record_id)).rating_changes] == list(FOUR)


async def test_the_change_of_ratings_comes_with_the_record_of_a_rated_hand_once_it_is_known(
    running: Running, service: HistoryService, handler: Store
) -> None:
    record = hand()
    await store(handler, finished(record))
    reader = running.reader(service)
    assert not (await reader.get(record.record_id)).rating_changes
    await store(handler, ratings_changed(changed(record.record_id, record.table_id)))
    assert len((await reader.get(record.record_id)).rating_changes) == 4


async def test_repeats_are_dropped_under_any_event_id(
    running: Running, service: HistoryService, handler: Store
) -> None:
    record = hand()
    other = hand(table_id=record.table_id)
    other.ended_ms += 1
    await store(handler, finished(record, "one"), finished(record, "one"), finished(other, "two"))
    reader = running.reader(service)
    assert await reader.ids() == [record.record_id]
    assert (await reader.get(record.record_id)).record == record


async def test_c094_a_robbed_kong_in_the_replay_of_a_stored_record(
    running: Running, service: HistoryService, handler: Store
) -> None:
    live = robbed_kong()
    assert isinstance(live.result, HandWon)
    assert live.result.method is WinMethod.ROBBED_KONG
    message = record_to_proto(live)
    await store(handler, finished(message))
    found = record_from_proto((await running.reader(service).get(message.record_id)).record)
    assert found == live
    shown = list(replay(found))
    assert len(shown) == len(live.events)
    assert [meld.kind for meld in shown[-1].seats[3].melds] == [MeldKind.PUNG]
    assert any(isinstance(timed.event, KongDeclared) for timed in found.events)
    assert found.settlement.payments
    assert found.points_after == live.points_after


def robbed_kong() -> HandRecord:
    """A hand that was won by robbing a kong; it was laid out, so no seed gives its wall."""
    table = builders.dealt({"E": "234m67m345p678s22s", "N": "55m"}, front="9s 5m 1z 2z 3z 5m", ruleset=ruleset(HKOS))
    table.discard_drawn()
    table.discard_drawn()
    table.take("N", "pung", "55m")
    table.discard("N", "1z")
    for _ in range(3):
        table.discard_drawn()
    table.take("N", "added_kong", "5m")
    table.win("E")
    table.settle()
    (played,) = play(new_table_id(), b"robbed")
    started = table.history[0]
    assert isinstance(started, HandStarted)
    events = tuple(TimedEvent(100 * number, event) for number, event in enumerate(table.history))
    return replace(played, events=events, dealer=started.dealer, moment=0, dealer_wins=0)


@pytest.mark.parametrize("fault", ["format", "unknown event", "cut off", "no ruleset"])
async def test_c097_records_that_cannot_be_read_give_a_clear_error_and_are_kept(
    running: Running, service: HistoryService, handler: Store, engine: AsyncEngine, fault: str
) -> None:
    record, expected = hand(), ""
    if fault == "format":
        record.format, expected = 2, "this is format 2; this version reads format 1"
    elif fault == "unknown event":
        # Field 90 of an event is none that we know.
        record.events[7].event.ParseFromString(b"\xd2\x05\x02\x08\x01")
        expected = "events[7]"
    elif fault == "no ruleset":
        record.ruleset = record.settings.ruleset = "shanghai-v1"
        expected = "shanghai-v1"
    await store(handler, finished(record))
    reader = running.reader(service)
    if fault == "cut off":
        async with engine.begin() as connection:
            cut = record.SerializeToString()[:-9]
            await connection.execute(sa.update(records).values(content=cut))
        for call in (reader.get, reader.export, reader.verify):
            with pytest.raises(EastwindError, match="damaged"):
                await call(record.record_id)
    else:
        checked = await reader.verify(record.record_id)
        assert not checked.verified
        assert [(check.name, check.passed) for check in checked.checks] == [("record", False)]
        assert expected in checked.checks[0].detail
        assert (await reader.get(record.record_id)).record == record
    assert await reader.ids() == [record.record_id]


async def test_an_exported_record_is_a_file_that_says_the_same(
    running: Running, service: HistoryService, handler: Store
) -> None:
    (played,) = play(new_table_id(), b"west")
    message = record_to_proto(played)
    await store(handler, finished(message))
    exported = await running.reader(service).export(message.record_id)
    assert exported.file_name == f"eastwind-{message.record_id}.json"
    assert json.loads(exported.content)["format"] == 1
    assert record_from_proto(record_from_file(exported.content)) == played


async def test_a_record_that_was_tampered_with_fails_the_check_that_it_should(
    running: Running, service: HistoryService, handler: Store
) -> None:
    (played,) = play(new_table_id(), b"north")
    message = record_to_proto(replace(played, server_seed=bytes(32)))
    await store(handler, finished(message))
    checked = await running.reader(service).verify(message.record_id)
    assert not checked.verified
    assert [check.name for check in checked.checks if not check.passed] == [Check.COMMITMENT, Check.WALL]


async def test_lists_go_page_by_page_newest_first(running: Running, service: HistoryService, handler: Store) -> None:
    table_id = new_table_id()
    mine = [hand(table_id=table_id, number=number, ended_ms=1000 + number // 2) for number in range(1, 8)]
    theirs = hand(accounts=("eve", "fay", "gil", "hal"), ended_ms=5000)
    await store(handler, *(finished(record) for record in (*mine, theirs)))
    reader = running.reader(service)
    expected = [record.record_id for record in reversed(mine)]
    for fields in ({"account_id": "bo"}, {"table_id": table_id}, {"account_id": "bo", "table_id": table_id}):
        seen: list[str] = []
        token = ""
        while True:
            page = await reader.list(page_size=3, page_token=token, **fields)
            seen += [record.record_id for record in page.records]
            token = page.next_page_token
            if not token:
                break
            assert len(page.records) == 3
        assert seen == expected
    assert await reader.ids() == [theirs.record_id, *expected]
    token = (await reader.list(page_size=3)).next_page_token
    for wrong in (token[:-2] + "AA", "x", "é", token + "=", "A" * 2000):
        with pytest.raises(InvalidRequest) as caught:
            await reader.list(page_size=3, page_token=wrong)
        assert caught.value.reason == "PAGE_TOKEN_INVALID"
    with pytest.raises(InvalidRequest) as caught:
        await reader.list(page_size=3, account_id="bo", page_token=token)
    assert caught.value.reason == "PAGE_TOKEN_INVALID"


async def test_c136_records_of_a_private_table_are_for_those_who_played(
    running: Running, service: HistoryService, handler: Store
) -> None:
    hidden, shown = private(hand()), hand(accounts=("bo", "eve", "fay", "gil"))
    await store(handler, finished(hidden), finished(shown))
    for account in FOUR:
        player = running.reader(service, account)
        assert (await player.get(hidden.record_id)).record == hidden
        assert set(await player.ids()) == {hidden.record_id, shown.record_id}
        assert (await player.export(hidden.record_id)).content
        assert (await player.verify(hidden.record_id)).checks
    for account in ("", "eve"):
        other = running.reader(service, account)
        for call in (other.get, other.export, other.verify):
            refused = []
            # Not to be told from an id that never was.
            for record_id in (hidden.record_id, "never-1"):
                with pytest.raises(NotFound) as caught:
                    await call(record_id)
                refused.append((caught.value.reason, caught.value.message, caught.value.metadata))
            assert refused[0] == refused[1]
            assert refused[0][0] == "RECORD_UNKNOWN"
        assert await other.ids() == await other.ids(account_id="bo") == [shown.record_id]
        assert await other.ids(table_id=hidden.table_id) == await other.ids(account_id="ann") == []
    with pytest.raises(PermissionDenied):
        await running.reader(service, "ann", caller="table").get(hidden.record_id)


async def test_what_is_no_event_of_the_topic_is_refused(handler: Store) -> None:
    nameless = finished(hand())
    nameless.hand_finished.record.record_id = ""
    for payload in (b"", match_finished(match((4, 3, 2, 1))).SerializeToString(), nameless.SerializeToString()):
        with pytest.raises(PoisonMessage):
            await handler(EventRecord(HANDS, 0, 0, "t", payload, {}, 0))


async def test_the_migrations_make_the_tables_that_the_code_uses(service: HistoryService, engine: AsyncEngine) -> None:
    def differences(connection: sa.Connection) -> list[Any]:
        def ours(name: str | None, kind: str, _parents: Any) -> bool:
            return kind != "table" or name in metadata.tables

        context = MigrationContext.configure(connection, opts={"include_name": ours, "compare_type": True})
        return compare_metadata(context, metadata)

    async with engine.connect() as connection:
        assert await connection.run_sync(differences) == []
