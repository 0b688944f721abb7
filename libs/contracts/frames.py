"""Socket frames of a table, put together from parts that are serialised once.

A public event looks the same to every viewer, so its bytes are made once and shared; only the few fields around them
differ. Protobuf allows that: a message is the concatenation of its fields. ``tests`` hold the result against the
generated classes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import event_pb2, view_pb2

_LENGTH_DELIMITED = 2


def _tag(message: type, field: str, wire_type: int) -> bytes:
    number: int = message.DESCRIPTOR.fields_by_name[field].number  # type: ignore[attr-defined]
    return _varint(number << 3 | wire_type)


@lru_cache(maxsize=4096)
def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_FRAME_TABLE = _tag(frames_pb2.ServerFrame, "table", _LENGTH_DELIMITED)
_UPDATE_ID = _tag(view_pb2.TableUpdate, "table_id", _LENGTH_DELIMITED)
_UPDATE_SEQUENCE = _tag(view_pb2.TableUpdate, "sequence", 0)
_UPDATE_TIME = _tag(view_pb2.TableUpdate, "server_time_ms", 0)
_UPDATE_EVENT = _tag(view_pb2.TableUpdate, "events", _LENGTH_DELIMITED)
_UPDATE_DECISION = _tag(view_pb2.TableUpdate, "decision", _LENGTH_DELIMITED)
_UPDATE_VIEW = _tag(view_pb2.TableUpdate, "view", _LENGTH_DELIMITED)
_UPDATE_CONNECTED = _tag(view_pb2.TableUpdate, "connected", _LENGTH_DELIMITED)


def id_part(table_id: str) -> bytes:
    """Return the part of an update that names its table; the same for the table's whole life."""
    raw = table_id.encode()
    return _UPDATE_ID + _varint(len(raw)) + raw


def event_part(event: event_pb2.TableEvent) -> bytes:
    """Return an event as the part of an update."""
    raw = event.SerializeToString()
    return _UPDATE_EVENT + _varint(len(raw)) + raw


def decision_part(decision: view_pb2.DecisionView | None) -> bytes:
    """Return the running decision as the part of an update; nothing for none."""
    if decision is None:
        return b""
    return decision_bytes_part(decision.SerializeToString())


def decision_bytes_part(raw: bytes) -> bytes:
    """Return a serialised decision as the part of an update."""
    return _UPDATE_DECISION + _varint(len(raw)) + raw


def length_delimited(message: type, field: str, raw: bytes) -> bytes:
    """Return a serialised message as the field of another one."""
    return _tag(message, field, _LENGTH_DELIMITED) + _varint(len(raw)) + raw


def view_part(view: view_pb2.TableView) -> bytes:
    """Return the whole view as the part of an update."""
    raw = view.SerializeToString()
    return _UPDATE_VIEW + _varint(len(raw)) + raw


def connected_part(connected: Sequence[bool]) -> bytes:
    """Return who is connected as the part of an update."""
    return _UPDATE_CONNECTED + _varint(len(connected)) + bytes(connected)


def update_frame(table: bytes, sequence: int, server_time_ms: int, parts: Iterable[bytes]) -> bytes:
    """Return a serialised ``ServerFrame`` with a ``TableUpdate`` of the given parts. ``table`` is an ``id_part``."""
    body = b"".join((table, _UPDATE_SEQUENCE, _varint(sequence), _UPDATE_TIME, _varint(server_time_ms), *parts))
    return _FRAME_TABLE + _varint(len(body)) + body
