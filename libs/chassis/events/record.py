"""A message as a consumer gets it, and the headers that every message of ours carries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

EVENT_ID = "event-id"
EVENT_NUMBER = "event-number"
TRACE_PARENT = "traceparent"


@dataclass(frozen=True, slots=True)
class EventRecord:
    """One message. `payload` is empty for a tombstone; `timestamp_ms` is the broker's or the producer's unix time."""

    topic: str
    partition: int
    offset: int
    key: str
    payload: bytes
    headers: Mapping[str, bytes]
    timestamp_ms: int

    @property
    def event_id(self) -> str:
        """The event id from the headers, or ""."""
        return self.headers.get(EVENT_ID, b"").decode(errors="replace")

    @property
    def number(self) -> int:
        """How many messages with this key the topic has been given with this one; 0 for one that is not counted."""
        number = self.headers.get(EVENT_NUMBER, b"")
        return int(number) if number.isdigit() else 0

    @property
    def trace_headers(self) -> dict[str, str]:
        """What the consumer's span continues."""
        parent = self.headers.get(TRACE_PARENT)
        return {TRACE_PARENT: parent.decode(errors="replace")} if parent else {}


class PoisonMessage(Exception):
    """Raised by a handler for a message that can never be handled; `reason` goes to the dead-letter topic."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def event_headers(event_id: str, trace: Mapping[str, str] | None = None) -> dict[str, bytes]:
    """The headers of a message: its event id, and the trace context when there is one."""
    headers = {EVENT_ID: event_id.encode()}
    for name, value in (trace or {}).items():
        headers[name] = value.encode()
    return headers
