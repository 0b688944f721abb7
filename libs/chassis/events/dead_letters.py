"""What consumers could not handle, as it lies in a topic's dead-letter topic, and how it is sent once more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from libs.chassis.brokers import client_arguments
from libs.chassis.errors import NotFound, Unavailable
from libs.chassis.events.consumer import as_event
from libs.chassis.events.record import EVENT_NUMBER, EventRecord
from libs.chassis.events.starting import start_client
from libs.chassis.events.stopping import stop_consumer
from libs.chassis.events.topics import dead_topic
from libs.chassis.table_store.values import OutboxMessage

_OF_THE_BURIAL = "dead-"
_QUIET_POLLS = 3
"""Tansu tells an end that is too low, so a few empty polls show that this was all."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One of them. `topic` is where it came from or was meant for."""

    topic: str
    record: EventRecord

    @property
    def reason(self) -> str:
        """Why it was put aside."""
        return self._header("reason")

    @property
    def group(self) -> str:
        """The consumer group that could not handle it; "" when it could not be sent in the first place."""
        return self._header("group")

    @property
    def is_whole(self) -> bool:
        """Whether its content is there: of one that was too large for the broker only the size is known."""
        size = self._header("bytes")
        return not size.isdecimal() or size == str(len(self.record.payload))

    def message(self) -> OutboxMessage:
        """The message as it was before, event id included: whoever has handled it drops the repeat."""
        headers = {
            name: value
            for name, value in self.record.headers.items()
            # Its number has had its turn: with it, all that came since would be missing.
            if not name.startswith(_OF_THE_BURIAL) and name != EVENT_NUMBER
        }
        return OutboxMessage(self.topic, self.record.key, self.record.payload, headers)

    def _header(self, name: str) -> str:
        return self.record.headers.get(_OF_THE_BURIAL + name, b"").decode(errors="replace")


async def dead_letters(bootstrap: Sequence[str], topic: str, *, timeout_s: float = 30.0) -> list[DeadLetter]:
    """All that the broker still has of a topic's dead letters, in the order in which they were buried.

    Raises `Unavailable` when they cannot be read in time, and `NotFound` when there is no such topic, or none that may
    be read.
    """
    try:
        consumer = AIOKafkaConsumer(**client_arguments(bootstrap), enable_auto_commit=False)
    except OSError as error:
        raise Unavailable(f"no connection to the brokers can be made: {error}") from error
    name = dead_topic(topic)
    found = list[EventRecord]()
    try:
        async with asyncio.timeout(timeout_s):
            await start_client(consumer)
            await consumer._client.force_metadata_update()
            partitions = [TopicPartition(name, number) for number in consumer.partitions_for_topic(name) or ()]
            if not partitions:
                raise NotFound(f"there is no topic {name} that may be read")
            consumer.assign(partitions)
            await consumer.seek_to_beginning(*partitions)
            ends = await consumer.end_offsets(partitions)
            quiet = 0
            while quiet < _QUIET_POLLS or [at for at in partitions if await consumer.position(at) < ends[at]]:
                batches = await consumer.getmany(timeout_ms=500)
                found += (as_event(record) for records in batches.values() for record in records)
                quiet = 0 if batches else quiet + 1
    except (KafkaError, OSError, TimeoutError) as error:
        raise Unavailable(f"dead letters could not be read: {type(error).__name__}") from error
    finally:
        await stop_consumer(consumer)
    found.sort(key=lambda record: (record.timestamp_ms, record.partition, record.offset))
    return [DeadLetter(topic, record) for record in found]
