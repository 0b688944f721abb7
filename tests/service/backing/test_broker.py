"""What the services rely on in a broker, and the limits of the embedded one, so that a newer one is noticed."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRecord, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError, UnknownTopicOrPartitionError, for_code

from deploy.local.broker import KafkaProtocolServer
from libs.chassis.errors import Unavailable
from libs.chassis.events import EVENT_TOPICS, TOPICS, ensure_topics
from tests.backing import BACKING, Keeper

ROOT = Path(__file__).parents[3]
TOPIC = "eastwind.hands.v1"
PARTITIONS = 4
SESSION_MS = int(BACKING.broker.shortest_session_s * 1000)
GROUP = {"session_timeout_ms": SESSION_MS, "heartbeat_interval_ms": SESSION_MS // 4}


async def _produce(bootstrap: str, count: int, *, idempotent: bool = False) -> dict[bytes, int]:
    """Send `count` messages with keys of five accounts; returns the partition of each key."""
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all", enable_idempotence=idempotent)
    await producer.start()
    partitions: dict[bytes, int] = {}
    try:
        for number in range(count):
            key = b"account-%d" % (number % 5)
            sent = await producer.send_and_wait(
                TOPIC,
                b"hand %d" % number,
                key=key,
                headers=[("traceparent", b"00-%d" % number), ("empty", b"")],
                timestamp_ms=1_700_000_000_000 + number,
            )
            assert partitions.setdefault(key, sent.partition) == sent.partition
    finally:
        await producer.stop()
    return partitions


async def _consume(bootstrap: str, count: int, *, commit: bool) -> list[ConsumerRecord]:
    """The next `count` messages of the group "history"."""
    consumer = AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=bootstrap,
        group_id="history",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        **GROUP,
    )
    await consumer.start()
    try:
        records: list[ConsumerRecord] = []
        while len(records) < count:
            batches = await consumer.getmany(timeout_ms=1000, max_records=count - len(records))
            records += [record for batch in batches.values() for record in batch]
        if commit:
            await consumer.commit(
                {TopicPartition(record.topic, record.partition): record.offset + 1 for record in records}
            )
        return records
    finally:
        await consumer.stop()


@pytest.mark.timeout(60)
async def test_a_group_resumes_from_its_commit_and_sees_messages_as_they_were_sent(kafka_bootstrap: str) -> None:
    await ensure_topics([kafka_bootstrap], {TOPIC: PARTITIONS}, timeout_s=15)
    partition_of = await _produce(kafka_bootstrap, 20)
    assert len(set(partition_of.values())) > 1

    first = await _consume(kafka_bootstrap, 8, commit=True)
    unacknowledged = await _consume(kafka_bootstrap, 5, commit=False)
    rest = await _consume(kafka_bootstrap, 12, commit=True)

    assert {record.value for record in unacknowledged} <= {record.value for record in rest}
    records = sorted(first + rest, key=lambda record: int(record.value.split()[1]))
    assert [record.value for record in records] == [b"hand %d" % number for number in range(20)]
    for number, record in enumerate(records):
        assert record.key == b"account-%d" % (number % 5)
        assert record.partition == partition_of[record.key]
        assert record.headers == (("traceparent", b"00-%d" % number), ("empty", b""))
        assert record.timestamp == 1_700_000_000_000 + number
    for key in partition_of:
        offsets = [record.offset for record in records if record.key == key]
        assert offsets == sorted(offsets)


async def test_a_record_of_several_megabytes_passes(kafka_bootstrap: str) -> None:
    await ensure_topics([kafka_bootstrap], {TOPIC: 1}, timeout_s=15)
    large = b"x" * (5 << 20)
    producer = AIOKafkaProducer(bootstrap_servers=kafka_bootstrap, max_request_size=len(large) + 1024)
    await producer.start()
    try:
        await producer.send_and_wait(TOPIC, large)
    finally:
        await producer.stop()
    # Without a group nothing has to form: the first message is there at once.
    consumer = AIOKafkaConsumer(bootstrap_servers=kafka_bootstrap, max_partition_fetch_bytes=len(large) + 1024)
    await consumer.start()
    try:
        partition = TopicPartition(TOPIC, 0)
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        assert (await consumer.getone()).value == large
    finally:
        await consumer.stop()


async def test_topics_are_made_once_with_their_partitions(kafka_bootstrap: str) -> None:
    assert await ensure_topics([kafka_bootstrap], {EVENT_TOPICS[0]: 3}, timeout_s=15) == {EVENT_TOPICS[0]}
    assert await ensure_topics([kafka_bootstrap], timeout_s=15) == set(TOPICS) - {EVENT_TOPICS[0]}
    assert await ensure_topics([kafka_bootstrap], timeout_s=15) == set()
    producer = AIOKafkaProducer(bootstrap_servers=kafka_bootstrap)
    await producer.start()
    try:
        assert len(await producer.partitions_for(EVENT_TOPICS[0])) == 3
        assert len(await producer.partitions_for(EVENT_TOPICS[1])) == TOPICS[EVENT_TOPICS[1]]
        assert len(await producer.partitions_for(f"{EVENT_TOPICS[1]}.dead")) == 1
    finally:
        await producer.stop()


async def test_no_broker_is_an_error_in_time() -> None:
    with pytest.raises(Unavailable):
        await ensure_topics(["127.0.0.1:1"], {TOPIC: 1}, timeout_s=1)


@pytest.mark.embedded
@pytest.mark.parametrize("settings", [{"enable_idempotence": True}, {"transactional_id": "relay"}])
async def test_the_embedded_broker_refuses_idempotent_and_transactional_producers(
    kafka_bootstrap: str, settings: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "aiokafka")
    producer = AIOKafkaProducer(bootstrap_servers=kafka_bootstrap, **settings)
    try:
        with pytest.raises(KafkaError):
            await producer.start()
    finally:
        await producer.stop()


@pytest.mark.embedded
async def test_the_embedded_broker_forgets_when_it_ends(broker_server: KafkaProtocolServer) -> None:
    await ensure_topics([broker_server.bootstrap], {TOPIC: PARTITIONS}, timeout_s=15)
    await _produce(broker_server.bootstrap, 10)
    address = broker_server.bootstrap
    await broker_server.kill()
    await broker_server.start()
    assert broker_server.bootstrap == address
    await ensure_topics([address], {TOPIC: PARTITIONS}, timeout_s=15)
    consumer = AIOKafkaConsumer(bootstrap_servers=address)
    await consumer.start()
    try:
        ends = await consumer.end_offsets([TopicPartition(TOPIC, number) for number in range(PARTITIONS)])
    finally:
        await consumer.stop()
    assert set(ends.values()) == {0}


@pytest.mark.production
async def test_apache_kafka_keeps_messages_and_commits_when_it_is_killed(
    broker_server: KafkaProtocolServer, keeper: Keeper
) -> None:
    address = broker_server.bootstrap
    await ensure_topics([address], {TOPIC: PARTITIONS}, timeout_s=15)
    await _produce(address, 10, idempotent=True)
    first = await _consume(address, 4, commit=True)
    await asyncio.to_thread(keeper.run, broker_server.kill())
    await asyncio.to_thread(keeper.run, broker_server.start())
    assert broker_server.bootstrap == address
    rest = await _consume(address, 6, commit=True)
    assert {record.value for record in first + rest} == {b"hand %d" % number for number in range(10)}


@pytest.mark.production
async def test_apache_kafka_makes_no_topic_that_nobody_asked_for(kafka_bootstrap: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=kafka_bootstrap)
    await admin.start()
    try:
        (described,) = await admin.describe_topics(["eastwind.mistyped.v1"])
        assert for_code(described["error_code"]) is UnknownTopicOrPartitionError
        assert "eastwind.mistyped.v1" not in await admin.list_topics()
    finally:
        await admin.close()


@pytest.mark.production
async def test_the_command_starts_and_stops_apache_kafka(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "deploy.kafka")
    running = await asyncio.create_subprocess_exec(
        *command, "start", "--data", str(tmp_path), "--port", "0", cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert running.stdout is not None
    address = (await running.stdout.readline()).decode().split()[4].rstrip(";")
    assert await ensure_topics([address], {TOPIC: 1}, timeout_s=15) == {TOPIC}
    for _ in range(2):
        # The second time there is nothing to stop.
        stopping = await asyncio.create_subprocess_exec(*command, "stop", "--data", str(tmp_path), cwd=ROOT)
        assert await stopping.wait() == 0
        assert await running.wait() == 0
    with pytest.raises(Unavailable):
        await ensure_topics([address], {TOPIC: 1}, timeout_s=5)
