"""Makes tables out of tickets. Any number of replicas may run it; every ticket ends at one table."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Final

import structlog

from eastwind.events.v1 import envelope_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import settings_pb2
from libs.chassis.clocks import Clock
from libs.chassis.errors import EastwindError, Unavailable
from libs.chassis.events import MATCHMAKING, EventProducer, event_headers
from libs.chassis.identifiers import new_table_id
from libs.chassis.table_store import OutboxMessage
from libs.chassis.telemetry import Metrics, trace_headers
from libs.chassis.telemetry_contract import metrics as contract
from libs.contracts.computers import computer_player
from services.matchmaking.settings import MatchmakingSettings
from services.matchmaking.table_calls import TableCalls
from services.matchmaking.tickets import TABLE_SEATS, Match, QueueName, Tickets

PENDING_AFTER_MS: Final = 5_000
"""A match whose table was not made by then is made by whoever sees it."""
_NEVER: Final = frozenset(("INVALID_ARGUMENT", "RULESET_UNKNOWN"))
_log = structlog.get_logger(__name__)


class Matcher:
    """The loop of one replica."""

    def __init__(
        self,
        settings: MatchmakingSettings,
        tickets: Tickets,
        tables: TableCalls,
        producer: EventProducer,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._settings = settings
        self._tickets = tickets
        self._tables = tables
        self._producer = producer
        self._clock = clock
        self._made = metrics.counter(contract.TABLES_MATCHED)
        self._waited = metrics.histogram(contract.QUEUE_WAIT)
        self._waiting = metrics.gauge(contract.QUEUE_WAITING)

    async def run(self) -> None:
        """Match until cancelled."""
        looked = 0
        while True:
            try:
                for queue in await self._tickets.queues():
                    self._waited.labels(str(queue))
                    while await self._match_once(queue):
                        pass
                    self._waiting.labels(str(queue)).set(await self._tickets.waiting(str(queue)))
                looked += 1
                if looked % 10 == 0:
                    await self._make_pending()
            except EastwindError as error:
                _log.warning("matching failed and is tried again", error=str(error))
            await asyncio.sleep(self._settings.queue_poll_s)

    async def _match_once(self, queue: QueueName) -> bool:
        fill_after = int(self._settings.queue_fill_after_s * 1000)
        match = await self._tickets.match(queue, new_table_id(), self._clock.now_ms(), fill_after)
        if match is None:
            return False
        waited = self._waited.labels(str(queue))
        for ticket in match.tickets:
            waited.observe(max(0, match.at_ms - ticket.entered_ms) / 1000)
        await self._make(match)
        return True

    async def _make_pending(self) -> None:
        now = self._clock.now_ms()
        for match in await self._tickets.pending():
            if match.at_ms + PENDING_AFTER_MS <= now:
                await self._make(match)

    async def _make(self, match: Match) -> None:
        """Make the table of a match; its id makes it safe to do so twice. One that cannot be made now stays pending;
        one that can never be made is given up."""
        request = table_request(match, self._settings.queue_bot_level)
        try:
            await self._tables.create(request)
        except EastwindError as error:
            _log.warning("the table of a match was not made", table_id=match.table_id, error=str(error))
            if not error.retriable and error.reason in _NEVER:
                await self._tickets.give_up(match)
                self._made.labels("given_up").inc()
            return
        await self._announce(match, request)
        await self._tickets.made(match.table_id)
        self._made.labels("full" if len(match.tickets) == TABLE_SEATS else "filled").inc()

    async def _announce(self, match: Match, request: table_pb2.CreateTableRequest) -> None:
        event_id = match.event_id
        envelope = envelope_pb2.Envelope(
            event_id=event_id,
            aggregate_id=match.table_id,
            sequence=1,
            occurred_ms=match.at_ms,
            rules_version=match.queue.ruleset,
            table_matched=envelope_pb2.TableMatched(
                table_id=match.table_id,
                settings=request.settings,
                players=request.players,
                ticket_ids=[ticket.ticket_id for ticket in match.tickets],
            ),
        )
        message = OutboxMessage(
            MATCHMAKING, match.table_id, envelope.SerializeToString(), event_headers(event_id, trace_headers())
        )
        try:
            await self._producer.send(message)
        except Unavailable as error:
            _log.warning("a match was not announced", table_id=match.table_id, error=str(error))


def table_request(match: Match, bot_level: int) -> table_pb2.CreateTableRequest:
    """Return the table of a match. Seats and the first dealer are drawn by the table's id, which nobody could choose:
    whoever makes the table makes the same one."""
    players = [
        settings_pb2.Player(account_id=ticket.account_id, name=ticket.name, guest=ticket.guest)
        for ticket in match.tickets
    ]
    draw = Random(match.table_id)
    order = list(range(TABLE_SEATS))
    draw.shuffle(order)
    seated = [settings_pb2.Player()] * TABLE_SEATS
    for seat, player in zip(order, players, strict=False):
        seated[seat] = player
    for seat in order[len(players) :]:
        seated[seat] = computer_player(match.table_id, seat, bot_level)
    # Computers make a table casual, whatever was wanted (common C10); the page says so before the first hand.
    rated = match.queue.rated and len(players) == TABLE_SEATS
    return table_pb2.CreateTableRequest(
        table_id=match.table_id,
        settings=settings_pb2.TableSettings(
            ruleset=match.queue.ruleset,
            speed=settings_pb2.SPEED_STANDARD,
            rated=rated,
            uniform_pacing=rated,
            name="Quick Play",
        ),
        players=seated,
        first_dealer=draw.randrange(TABLE_SEATS),
    )
