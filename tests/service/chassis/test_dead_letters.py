"""What consumers put aside is listed and sent again by the operators' command (field case C111)."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient

from libs.chassis.events import HANDS, EventRecord, PoisonMessage
from libs.chassis.events.dead_letters import DeadLetter, dead_letters
from libs.chassis.events.record import EVENT_NUMBER
from libs.chassis.events.topics import dead_topic
from libs.chassis.table_store import OutboxMessage
from tests.service.chassis.bus import IDEMPOTENT, Bus, Seen, hand, metric
from tests.service.chassis.waiting import until


class Operator:
    """Uses the command as it is installed."""

    def __init__(self, bus: Bus) -> None:
        self._environment = {
            **os.environ,
            "EASTWIND_KAFKA_BOOTSTRAP": ",".join(bus.bootstrap),
            "EASTWIND_KAFKA_IDEMPOTENT": str(IDEMPOTENT).lower(),
        }

    async def __call__(self, *arguments: str, code: int = 0) -> str:
        process = await asyncio.create_subprocess_exec(
            Path(sys.executable).with_name("eastwind"),
            "dead-letters",
            *arguments,
            env=self._environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = (part.decode() for part in await process.communicate())
        assert process.returncode == code, out + err
        return err if code else out


async def buried(bus: Bus, number: int) -> list[DeadLetter]:
    """The dead letters, once there are so many."""
    letters = list[DeadLetter]()

    async def enough() -> bool:
        letters[:] = await dead_letters(bus.bootstrap, HANDS)
        return len(letters) >= number

    await until(enough, seconds=60)
    return letters


async def test_c111_dead_letters_are_sent_again_once_the_consumer_is_mended(bus: Bus) -> None:
    mended = False
    seen = Seen()

    async def handle(record: EventRecord) -> None:
        if record.event_id != "t/1" and not mended:
            raise PoisonMessage("this version cannot read it")
        await seen(record)

    await bus.consume(handle)
    for number in range(1, 4):
        await bus.producer.send(hand("t", number, payload=b"record %d" % number))
    await seen.number(1)
    await buried(bus, 2)
    eastwind = Operator(bus)
    listed = (await eastwind(HANDS)).splitlines()
    assert [line.split("  ")[1:] for line in listed] == [
        [f"t/{number}", "group", "t", "8 bytes", "this version cannot read it"] for number in (2, 3)
    ]
    assert await eastwind(HANDS, "--group", "another") == ""

    mended = True
    assert "nothing was sent" in await eastwind(HANDS, "--resend", "t/3", "--resend", "t/9", code=1)
    await eastwind(HANDS, "--resend", "t/3")
    assert await seen.number(2) == ["t/1", "t/3"]
    assert await eastwind(HANDS, "--resend-all") == f"2 messages sent to {HANDS} again.\n"
    assert set(await seen.number(3)) == {"t/1", "t/2", "t/3"}
    # They come as they were, and stay where they are.
    assert [letter.message() for letter in await buried(bus, 2)] == [
        hand("t", number, payload=b"record %d" % number) for number in (2, 3)
    ]


async def test_what_is_sent_again_is_no_gap(bus: Bus) -> None:
    """It comes long after its number, to consumers that may know nothing of those between."""

    async def refuse(record: EventRecord) -> None:
        raise PoisonMessage("this version cannot read it")

    def numbered(number: int) -> OutboxMessage:
        message = hand("t", number)
        return replace(message, headers={**message.headers, EVENT_NUMBER: b"%d" % number})

    broken = await bus.consume(refuse)
    for number in (1, 2):
        await bus.producer.send(numbered(number))
    await buried(bus, 2)
    await broken.stop()
    seen = Seen()
    mended = await bus.consume(seen)
    await Operator(bus)(HANDS, "--resend-all")
    await seen.number(2)
    for number in (50, 51):
        await bus.producer.send(numbered(number))
    await seen.number(4)
    assert metric(mended, "eastwind_event_gaps_total") == 0


async def test_what_was_too_large_to_be_kept_cannot_be_sent_again(bus: Bus) -> None:
    headers = {"event-id": b"large", "dead-reason": b"a message is too large", "dead-bytes": b"9000000"}
    await bus.producer.send(OutboxMessage(dead_topic(HANDS), "t", b"", headers))
    await buried(bus, 1)
    eastwind = Operator(bus)
    assert "large  (not sent)  t  content not kept  a message is too large" in await eastwind(HANDS)
    assert "1 cannot be sent" in await eastwind(HANDS, "--resend-all", code=1)


async def test_a_letter_of_somebody_else_takes_one_line_and_can_be_sent(bus: Bus) -> None:
    headers = {"event-id": b"odd", "dead-reason": b"two\nlines \x1b[2J", "dead-bytes": b"many"}
    await bus.producer.send(OutboxMessage(dead_topic(HANDS), "t", b"content", headers))
    await buried(bus, 1)
    eastwind = Operator(bus)
    (line,) = (await eastwind(HANDS)).splitlines()
    assert line.endswith("odd  (not sent)  t  7 bytes  two lines  [2J")
    seen = Seen()
    await bus.consume(seen)
    await eastwind(HANDS, "--resend", "odd")
    assert await seen.number(1) == ["odd"]


async def test_where_none_are_dead_nothing_is_sent(bus: Bus) -> None:
    eastwind = Operator(bus)
    assert await eastwind(HANDS) == ""
    assert await eastwind(HANDS, "--resend-all") == f"0 messages sent to {HANDS} again.\n"


async def test_brokers_without_the_topic_and_no_brokers_are_said_to_be_so(bus: Bus) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bus.bootstrap)
    await admin.start()
    try:
        await admin.delete_topics([dead_topic(HANDS)])
    finally:
        await admin.close()
    assert f"there is no topic {dead_topic(HANDS)}" in await Operator(bus)(HANDS, code=1)
    bus.bootstrap = ["127.0.0.1:1"]
    assert "dead letters could not be read" in await Operator(bus)(HANDS, "--wait", "2", code=1)
