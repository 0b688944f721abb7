"""Events as the table workers send them: envelopes around real hands, published to the broker."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

import libs.mahjong.variants  # noqa: F401  (registers the rulesets)
from eastwind.events.v1 import envelope_pb2
from eastwind.history.v1 import record_pb2
from eastwind.type.v1 import settings_pb2
from libs.chassis.events import EventRecord, event_headers
from libs.chassis.identifiers import new_event_id, new_table_id
from libs.contracts.records import record_id, record_to_proto
from libs.mahjong.engine.table_events import Occupant
from libs.mahjong.record import HandRecord
from libs.mahjong.simulation import SimulatedTable, eager_policy

HKOS = "hkos-3-v1"
CLASSICAL = "classical-bmja-v1"
FOUR = ("ann", "bo", "cy", "di")


def play(
    table_id: str, seed: bytes, *, hands: int = 1, rated: bool = True, accounts: Sequence[str] = FOUR
) -> list[HandRecord]:
    """Real hands of one table, as its players would have them."""
    players = [Occupant(account, account.title()) for account in accounts]
    table = SimulatedTable.open(
        HKOS,
        [eager_policy(seed + bytes([seat])) for seat in range(4)],
        seed,
        table_id=table_id,
        rated=rated,
        players=players,
        start_ms=1_700_000_000_000,
    )
    return [table.play_hand() for _ in range(hands)]


@cache
def _sample() -> record_pb2.HandRecord:
    return record_to_proto(play("sample", b"sample")[0])


def hand(
    changes: Sequence[int] = (24, -8, -8, -8),
    accounts: Sequence[str] = FOUR,
    *,
    table_id: str = "",
    number: int = 1,
    rated: bool = True,
    ended_ms: int = 0,
) -> record_pb2.HandRecord:
    """A real hand's record with other players and another result."""
    record = record_pb2.HandRecord()
    record.CopyFrom(_sample())
    record.table_id = table_id or new_table_id()
    record.hand = number
    record.record_id = record.unit_id = record_id(record.table_id, number)
    record.rated = rated
    record.settings.rated = rated
    record.ended_ms = ended_ms or record.ended_ms
    for player, account in zip(record.players, accounts, strict=True):
        player.account_id = account
    record.events[-1].event.hand_settled.changes[:] = changes
    return record


def match(
    points: Sequence[int], accounts: Sequence[str] = FOUR, *, table_id: str = "", rated: bool = True
) -> record_pb2.MatchRecord:
    """A match of sixteen hands."""
    table_id = table_id or new_table_id()
    return record_pb2.MatchRecord(
        match_id=table_id,
        ruleset=CLASSICAL,
        table_id=table_id,
        players=[settings_pb2.Player(account_id=account, name=account) for account in accounts],
        points=points,
        record_ids=[record_id(table_id, number) for number in range(1, 17)],
        rated=rated,
        ended_ms=1_700_000_000_000,
    )


def finished(record: record_pb2.HandRecord, event_id: str = "") -> envelope_pb2.Envelope:
    """The event of a finished hand."""
    return _envelope(record.table_id, record.ruleset, event_id, hand_finished={"record": record})


def match_finished(played: record_pb2.MatchRecord, event_id: str = "") -> envelope_pb2.Envelope:
    """The event of a finished match."""
    return _envelope(played.table_id, played.ruleset, event_id, match_finished={"match": played})


def ratings_changed(changed: envelope_pb2.RatingsChanged, event_id: str = "") -> envelope_pb2.Envelope:
    """The event of ratings that a unit changed."""
    return _envelope(changed.table_id, HKOS, event_id, ratings_changed=changed)


def _envelope(table_id: str, ruleset: str, event_id: str, **payload: Any) -> envelope_pb2.Envelope:
    return envelope_pb2.Envelope(
        event_id=event_id or new_event_id(), aggregate_id=table_id, sequence=1, rules_version=ruleset, **payload
    )


def delivered(topic: str, envelope: envelope_pb2.Envelope) -> EventRecord:
    """The event as a consumer hands it over."""
    return EventRecord(
        topic, 0, 0, envelope.aggregate_id, envelope.SerializeToString(), event_headers(envelope.event_id), 0
    )


class Publisher:
    """Sends whatever a test wants to the broker."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self._producer = AIOKafkaProducer(
            bootstrap_servers=bootstrap, max_request_size=8 * 1024 * 1024, request_timeout_ms=20_000
        )

    async def __aenter__(self) -> Publisher:
        await self._producer.start()
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._producer.stop()

    async def send(self, topic: str, envelope: envelope_pb2.Envelope, partition: int | None = None) -> None:
        """Send an event as the relay does."""
        await self.send_raw(topic, envelope.SerializeToString(), envelope.aggregate_id, envelope.event_id, partition)

    async def send_raw(
        self, topic: str, payload: bytes, key: str = "t", event_id: str = "e", partition: int | None = None
    ) -> None:
        headers = list(event_headers(event_id).items())
        await self._producer.send_and_wait(topic, payload, key.encode(), partition=partition, headers=headers)

    async def waiting(self, group: str, topic: str) -> int:
        """How many messages of a topic the group has not committed."""
        consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap, group_id=group, enable_auto_commit=False)
        await consumer.start()
        try:
            found = consumer.partitions_for_topic(topic) or set()
            partitions = [TopicPartition(topic, number) for number in found]
            ends = await consumer.end_offsets(partitions)
            begins = await consumer.beginning_offsets(partitions)
            left = 0
            for each in partitions:
                committed = await consumer.committed(each)
                left += ends[each] - max(begins[each], committed or 0)
            return left
        finally:
            await consumer.stop()


class Listener:
    """Reads a whole topic, without a group."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._consumer = AIOKafkaConsumer(
            bootstrap_servers=bootstrap, auto_offset_reset="earliest", max_partition_fetch_bytes=8 * 1024 * 1024
        )
        self._topic = topic

    async def __aenter__(self) -> Listener:
        await self._consumer.start()
        partitions = await self._partitions()
        self._consumer.assign(partitions)
        await self._consumer.seek_to_beginning(*partitions)
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self._consumer.stop()

    async def next(self) -> EventRecord:
        """The next message of any partition."""
        record = await self._consumer.getone()
        return EventRecord(
            record.topic,
            record.partition,
            record.offset,
            (record.key or b"").decode(),
            record.value or b"",
            dict(record.headers),
            record.timestamp,
        )

    async def _partitions(self) -> list[TopicPartition]:
        await self._consumer._client.force_metadata_update()
        return [
            TopicPartition(self._topic, number) for number in self._consumer.partitions_for_topic(self._topic) or ()
        ]
