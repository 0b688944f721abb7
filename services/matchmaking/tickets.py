"""Tickets of Quick Play: one an account, alive while its player watches it (field cases C079, C081, C083)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from libs.chassis.auth import Identity
from libs.chassis.identifiers import new_event_id
from libs.chassis.redis_client import RedisClient
from services.matchmaking import keys
from services.matchmaking.scripts import script

TABLE_SEATS: Final = 4
MATCHED_KEPT_MS: Final = 60_000
"""A matched ticket tells its table for so long."""
_ENTER, _LOOK, _LEAVE = script("enter"), script("look"), script("leave")
_MATCH, _GIVE_UP = script("match"), script("give_up")


@dataclass(frozen=True, slots=True)
class QueueName:
    """A queue: a ruleset, rated or casual."""

    ruleset: str
    rated: bool

    def __str__(self) -> str:
        return f"{self.ruleset}:{'rated' if self.rated else 'casual'}"

    @classmethod
    def parse(cls, text: str) -> QueueName:
        """The queue of that name."""
        ruleset, _, kind = text.rpartition(":")
        return cls(ruleset, kind == "rated")


@dataclass(frozen=True, slots=True)
class Entered:
    """The ticket, or the table where the account sits already; one of the two is empty."""

    ticket_id: str
    table_id: str


@dataclass(frozen=True, slots=True)
class TicketState:
    """What a ticket has come to: ``waiting``, or the ``table_id``, which is made unless ``pending``; ``rated`` when
    four people were found for a rated one. ``seat`` is the table where the account sits, as far as is remembered."""

    waiting: bool
    table_id: str
    queue: str
    entered_ms: int
    seat: str
    pending: bool
    rated: bool


@dataclass(frozen=True, slots=True)
class MatchedTicket:
    """A ticket that became a seat."""

    account_id: str
    ticket_id: str
    name: str
    guest: bool
    entered_ms: int


@dataclass(frozen=True, slots=True)
class Match:
    """Tickets that were taken together for a table, from that queue. Whoever announces it does so as ``event_id``."""

    table_id: str
    queue: QueueName
    tickets: tuple[MatchedTicket, ...]
    at_ms: int
    event_id: str


class Tickets:
    """The tickets of all queues in Redis; any number of replicas may work on them."""

    def __init__(self, redis: RedisClient, ticket_s: float) -> None:
        self._redis = redis
        self._ttl_ms = int(ticket_s * 1000)

    async def enter(self, identity: Identity, queue: QueueName, now_ms: int) -> Entered:
        """Give the account its ticket; a repeat returns the same one, another queue replaces it."""
        table_id, ticket_id = await self._redis.run(
            _ENTER,
            (
                keys.seat(identity.account_id),
                keys.ticket(identity.account_id),
                keys.queue(str(queue)),
                keys.QUEUES,
                keys.PENDING,
            ),
            (
                identity.account_id,
                new_event_id(),
                str(queue),
                keys.queue(""),
                now_ms,
                self._ttl_ms,
                identity.name,
                b"1" if identity.guest else b"0",
            ),
        )
        return Entered(ticket_id.decode(), table_id.decode())

    async def leave(self, account_id: str) -> bool:
        """Remove a waiting ticket; tells whether there was one."""
        return bool(await self._redis.run(_LEAVE, (keys.ticket(account_id),), (account_id, keys.queue(""))))

    async def look(self, account_id: str) -> TicketState | None:
        """Return the account's ticket and keep it alive; ``None`` when there is none."""
        found = await self._redis.run(
            _LOOK, (keys.ticket(account_id), keys.seat(account_id), keys.PENDING), (self._ttl_ms,)
        )
        if not found:
            return None
        state, table_id, queue, entered, seat, pending, rated = found
        return TicketState(
            waiting=state == b"waiting",
            table_id=table_id.decode(),
            queue=queue.decode(),
            entered_ms=int(entered),
            seat=seat.decode(),
            pending=bool(pending),
            rated=rated == b"1",
        )

    async def waiting(self, queue: str) -> int:
        """How many wait in a queue."""
        key = keys.queue(queue)
        return int(await self._redis.call(b"ZCARD", key, key=key))

    async def queues(self) -> list[QueueName]:
        """All queues that were ever entered."""
        names = await self._redis.call(b"SMEMBERS", keys.QUEUES, key=keys.QUEUES)
        return [QueueName.parse(name.decode()) for name in names]

    async def match(self, queue: QueueName, table_id: str, now_ms: int, fill_after_ms: int) -> Match | None:
        """Take four live tickets at once, or all that are there when the oldest has waited for ``fill_after_ms``.

        The match is kept as pending until ``made``, so that it survives whoever took it.
        """
        event_id = new_event_id()
        reply = await self._redis.run(
            _MATCH,
            (keys.queue(str(queue)), keys.PENDING),
            (
                keys.ticket(""),
                keys.seat(""),
                now_ms,
                fill_after_ms,
                table_id,
                str(queue),
                TABLE_SEATS,
                MATCHED_KEPT_MS,
                event_id,
                b"1" if queue.rated else b"0",
            ),
        )
        if not reply:
            return None
        rows = [reply[place : place + 5] for place in range(0, len(reply), 5)]
        return Match(table_id, queue, tuple(_ticket(*row) for row in rows), now_ms, event_id)

    async def pending(self) -> list[Match]:
        """Matches whose table may be missing."""
        reply = await self._redis.call(b"HGETALL", keys.PENDING, key=keys.PENDING)
        pairs = list(reply.items()) if isinstance(reply, dict) else list(zip(reply[::2], reply[1::2], strict=True))
        matches = []
        for table_id, raw in pairs:
            kept = json.loads(raw)
            tickets = tuple(_ticket(*(part.encode() for part in row)) for row in kept["tickets"])
            queue = QueueName.parse(kept["about"])
            matches.append(Match(table_id.decode(), queue, tickets, int(kept["at"]), kept["event"]))
        return matches

    async def is_pending(self, table_id: str) -> bool:
        """Whether a match waits for that table to be made."""
        return bool(await self._redis.call(b"HEXISTS", keys.PENDING, table_id, key=keys.PENDING))

    async def made(self, table_id: str) -> None:
        """The table of a match exists."""
        await self._redis.call(b"HDEL", keys.PENDING, table_id, key=keys.PENDING)

    async def give_up(self, match: Match) -> None:
        """The table of a match can never be made: its players are free again, their tickets gone."""
        accounts = (ticket.account_id for ticket in match.tickets)
        await self._redis.run(_GIVE_UP, (keys.PENDING,), (match.table_id, keys.ticket(""), keys.seat(""), *accounts))


def _ticket(account_id: bytes, ticket_id: bytes, name: bytes, guest: bytes, entered: bytes = b"0") -> MatchedTicket:
    # A match that an earlier release left pending has no time of entry.
    return MatchedTicket(account_id.decode(), ticket_id.decode(), name.decode(), guest == b"1", int(float(entered)))
