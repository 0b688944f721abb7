"""Which life of the broker this is.

A broker that keeps its topics in memory forgets them when it restarts. The first record of a small topic of its own
holds a random name; whoever finds the topic empty writes one, and the record that came first counts for all. A new name
means that the broker forgot everything, or that somebody removed the record, which is taken for the same.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaError

from libs.chassis.brokers import client_arguments
from libs.chassis.errors import Unavailable
from libs.chassis.events.starting import start_client
from libs.chassis.events.stopping import stop_consumer
from libs.chassis.events.topics import BROKER, ensure_topics

TOPIC = BROKER
_PARTITION = TopicPartition(TOPIC, 0)


async def broker_incarnation(bootstrap: Sequence[str], *, timeout_s: float = 10.0) -> str:
    """The name of the broker's present life. Raises `Unavailable` when it cannot be read in time."""
    try:
        async with asyncio.timeout(timeout_s):
            await ensure_topics(bootstrap, {TOPIC: 1}, timeout_s=timeout_s)
            return await _read_first(bootstrap)
    except TimeoutError:
        raise Unavailable("the broker did not answer in time") from None
    except (KafkaError, OSError) as error:
        raise Unavailable(f"the broker does not answer: {type(error).__name__}") from error


async def _read_first(bootstrap: Sequence[str]) -> str:
    consumer = AIOKafkaConsumer(**client_arguments(bootstrap), enable_auto_commit=False)
    try:
        await start_client(consumer)
        consumer.assign([_PARTITION])
        ends = await consumer.end_offsets([_PARTITION])
        if await consumer.beginning_offsets([_PARTITION]) == ends:
            await _write_name(bootstrap)
        await consumer.seek_to_beginning(_PARTITION)
        record = await consumer.getone(_PARTITION)
        return bytes(record.value or b"").decode()
    finally:
        await stop_consumer(consumer)


async def _write_name(bootstrap: Sequence[str]) -> None:
    producer = AIOKafkaProducer(**client_arguments(bootstrap), acks="all")
    try:
        await start_client(producer)
        await producer.send_and_wait(TOPIC, secrets.token_hex(16).encode(), partition=0)
    finally:
        await producer.stop()
