"""Rating changes as they are published, passed on to those who watch the table where they were earned."""

from __future__ import annotations

from collections.abc import Iterable

from eastwind.edge.v1 import frames_pb2
from eastwind.events.v1 import envelope_pb2
from libs.chassis.events import EventRecord
from services.gateway.sockets import PlayerSocket


class RatingFeed:
    """The handler of the ratings topic."""

    def __init__(self, sockets: Iterable[PlayerSocket]) -> None:
        self._sockets = sockets

    def handle(self, event: EventRecord) -> None:
        """Pass one message on. Raises ``DecodeError`` for one that is none of ours."""
        envelope = envelope_pb2.Envelope.FromString(event.payload)
        if envelope.WhichOneof("payload") != "ratings_changed":
            return
        changed = envelope.ratings_changed
        frame = frames_pb2.ServerFrame(
            ratings=frames_pb2.RatingsChanged(
                table_id=changed.table_id, unit_id=changed.unit_id, changes=changed.changes
            )
        ).SerializeToString()
        for socket in self._sockets:
            if socket.watches(changed.table_id):
                socket.send_bytes(frame)
