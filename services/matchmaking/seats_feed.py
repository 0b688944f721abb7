"""Keeps the lobby up to date with what tables publish about themselves."""

from __future__ import annotations

from eastwind.events.v1 import envelope_pb2
from libs.chassis.events import EventRecord, PoisonMessage
from services.matchmaking.lobby import Lobby


class SeatsFeed:
    """The handler of the tables topic. Repeats and older states change nothing: every state has its sequence."""

    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby

    async def handle(self, event: EventRecord) -> None:
        """Take one message over. Raises ``PoisonMessage`` for one that is none of this topic."""
        envelope = envelope_pb2.Envelope.FromString(event.payload)
        if envelope.WhichOneof("payload") != "table_changed":
            raise PoisonMessage("no change of a table")
        await self._lobby.changed(envelope.table_changed, envelope.sequence, envelope.occurred_ms)
