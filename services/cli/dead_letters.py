"""`eastwind dead-letters`: what consumers could not handle, shown and sent once more."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import click

from libs.chassis.errors import EastwindError, InvalidRequest, Unavailable
from libs.chassis.events import EVENT_TOPICS, EventProducer
from libs.chassis.events.dead_letters import DeadLetter
from libs.chassis.events.dead_letters import dead_letters as read_dead_letters
from libs.chassis.logs import configure
from libs.chassis.settings import ServiceSettings, load
from libs.chassis.telemetry import Telemetry

_BATCH: Final = 100


@click.command("dead-letters")
@click.argument("topic", type=click.Choice(EVENT_TOPICS), metavar="TOPIC")
@click.option("--resend", "event_ids", multiple=True, metavar="EVENT_ID", help="Send this one again; may be repeated.")
@click.option("--resend-all", is_flag=True, help="Send all of them again.")
@click.option("--group", default="", help="Only what this consumer group could not handle.")
@click.option("--wait", "wait_s", default=30.0, show_default=True, help="Seconds to wait for the brokers.")
def dead_letters(topic: str, event_ids: tuple[str, ...], resend_all: bool, group: str, wait_s: float) -> None:
    """List the messages of TOPIC that no consumer could handle, oldest first, or send them to TOPIC again.

    TOPIC is such as eastwind.hands.v1; where the brokers are is told by EASTWIND_KAFKA_BOOTSTRAP, as to the services.
    Mend the consumer first. A message goes out as it was: groups that have handled it drop the repeat by its event id.
    It also stays where it is, and to send it twice does no harm.
    """
    if event_ids and resend_all:
        raise click.UsageError("--resend-all leaves nothing for --resend to choose.")
    configure(service="dead-letters", level="warning", form="auto")
    settings = load(ServiceSettings)
    try:
        asyncio.run(_work(settings, topic, group, event_ids, resend_all=resend_all, wait_s=wait_s))
    except EastwindError as error:
        sys.exit(f"{error.message}.")


async def _work(
    settings: ServiceSettings, topic: str, group: str, event_ids: Sequence[str], *, resend_all: bool, wait_s: float
) -> None:
    letters = await read_dead_letters(settings.kafka_bootstrap, topic, timeout_s=wait_s)
    letters = [letter for letter in letters if not group or letter.group == group]
    if not event_ids and not resend_all:
        for letter in letters:
            click.echo(_line(letter))
        click.echo(f"{len(letters)} dead letters of {topic}.", err=True)
        return
    if event_ids:
        there = {letter.record.event_id for letter in letters}
        unknown = [event_id for event_id in event_ids if event_id not in there]
        if unknown:
            raise InvalidRequest(f"not among the dead letters of {topic}: {', '.join(unknown)}; nothing was sent")
        letters = [letter for letter in letters if letter.record.event_id in event_ids]
    # The same message may have been buried by several groups.
    chosen = list({letter.record.event_id or id(letter): letter for letter in letters}.values())
    whole = [letter for letter in chosen if letter.is_whole]
    await _send(settings, whole, wait_s)
    click.echo(f"{len(whole)} messages sent to {topic} again.")
    if len(whole) < len(chosen):
        raise Unavailable(f"{len(chosen) - len(whole)} cannot be sent: they were too large, only their size was kept")


async def _send(settings: ServiceSettings, letters: Sequence[DeadLetter], wait_s: float) -> None:
    telemetry = Telemetry("dead-letters")
    producer = EventProducer(settings.kafka_bootstrap, telemetry, idempotent=settings.kafka_idempotent)
    try:
        for place in range(0, len(letters), _BATCH):
            batch = [letter.message() for letter in letters[place : place + _BATCH]]
            await producer.send_all(batch, timeout_s=wait_s)
    finally:
        await producer.stop()
        await telemetry.close()


def _line(letter: DeadLetter) -> str:
    record = letter.record
    at = datetime.fromtimestamp(record.timestamp_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    size = f"{len(record.payload)} bytes" if letter.is_whole else "content not kept"
    line = f"{at}  {record.event_id or '-'}  {letter.group or '(not sent)'}  {record.key}  {size}  {letter.reason}"
    # A reason may quote the message, which anybody may have written.
    return "".join(character if character.isprintable() else " " for character in line)
