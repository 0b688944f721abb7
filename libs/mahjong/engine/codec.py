"""Values of the domain as bytes and back: compact, deterministic, versioned.

A value is a JSON array of its fields in the order of their definition; where the type is not known beforehand (an
event) its tag comes first. Tags and fields are only ever added, fields at the end and with a default, so that old
bytes stay readable; bytes of the future are refused by name.
"""

from __future__ import annotations

import enum
import json
import types
import typing
from binascii import Error as Base64Error
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from operator import attrgetter
from typing import Any, Final, TypeVar

from libs.mahjong.engine import events as hand_events
from libs.mahjong.engine import table_events
from libs.mahjong.engine.table_commands import Entry
from libs.mahjong.engine.table_events import TableEvent

VERSION: Final = 1
"""The version of this encoding; it stands in front of every entry, snapshot and record."""

TAGS: Final[dict[int, type]] = {
    1: hand_events.HandStarted,
    2: hand_events.TilesDealt,
    3: hand_events.TileDrawn,
    4: hand_events.BonusExposed,
    5: hand_events.DecisionOpened,
    6: hand_events.ChoiceHeld,
    7: hand_events.TileDiscarded,
    8: hand_events.MeldClaimed,
    9: hand_events.KongDeclared,
    10: hand_events.KongCompleted,
    11: hand_events.HandWon,
    12: hand_events.HandDrawn,
    13: hand_events.HandSettled,
    32: table_events.TableOpened,
    33: table_events.SeatTaken,
    34: table_events.SeatReleased,
    35: table_events.SeatLeaving,
    36: table_events.SeatReturned,
    37: table_events.NonceCommitted,
    38: table_events.ReadyStepOpened,
    39: table_events.SeatReady,
    40: table_events.DecisionClock,
    41: table_events.SeatAnswered,
    42: table_events.SeatTimedOut,
    43: table_events.OutageGranted,
    44: table_events.RatedUnitEnded,
    45: table_events.MatchEnded,
    46: table_events.TableClosed,
}
"""Every kind of event by its number, which never changes and is never used again."""


class CodecError(ValueError):
    """Bytes that cannot be read; nothing of them was taken over."""


class MalformedEncoding(CodecError):
    """The bytes are cut off or are not what this encoding writes; ``detail`` says where it shows."""

    def __init__(self, detail: str) -> None:
        super().__init__(f"malformed encoding: {detail}")
        self.detail = detail


class UnknownVersion(CodecError):
    """The bytes were written by another version of the encoding."""

    def __init__(self, version: object) -> None:
        super().__init__(f"unknown encoding version {version!r}, this library reads {VERSION}")
        self.version = version


class UnknownEvent(CodecError):
    """The bytes hold a kind of event that this library does not know."""

    def __init__(self, tag: object) -> None:
        super().__init__(f"unknown kind of event {tag!r}")
        self.tag = tag


Plain = Any
"""What JSON can hold: numbers, strings, booleans, ``None`` and lists of these."""
Encoder = Callable[[Any], Plain]
Decoder = Callable[[Plain], Any]
T = TypeVar("T")

_dump: Final = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":")).encode


def dump(plain: Plain) -> bytes:
    """Return plain data as bytes."""
    return _dump(plain).encode()


def load(raw: bytes) -> Plain:
    """Return the plain data that the bytes hold. Raises ``MalformedEncoding``."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise MalformedEncoding(str(error)) from None


def load_versioned(raw: bytes, length: int) -> list[Plain]:
    """Return the fields behind the version. Raises ``MalformedEncoding`` and ``UnknownVersion``."""
    plain = load(raw)
    if type(plain) is not list or not plain:
        raise MalformedEncoding("no array")
    if plain[0] != VERSION or type(plain[0]) is not int:
        raise UnknownVersion(plain[0])
    if len(plain) != length + 1:
        raise MalformedEncoding(f"{len(plain) - 1} parts instead of {length}")
    return plain[1:]


def plain_event(event: TableEvent) -> Plain:
    """Return an event as plain data: its tag and its fields."""
    tag, encode = _EVENT_ENCODERS[type(event)]
    return (tag, *encode(event))


def event_from_plain(plain: Plain) -> TableEvent:
    """Return the event of plain data. Raises ``MalformedEncoding`` and ``UnknownEvent``."""
    if type(plain) is not list or not plain:
        raise MalformedEncoding("an event is an array with its tag")
    tag = plain[0]
    decode = _EVENT_DECODERS.get(tag) if type(tag) is int else None
    if decode is None:
        raise UnknownEvent(tag)
    event: TableEvent = decode(plain[1:])
    return event


def encode_event(event: TableEvent) -> bytes:
    """Return an event as bytes."""
    return _dump(plain_event(event)).encode()


def decode_event(raw: bytes) -> TableEvent:
    """Return the event that the bytes hold. Raises ``MalformedEncoding`` and ``UnknownEvent``."""
    return event_from_plain(load(raw))


def encode_entry(entry: Entry) -> bytes:
    """Return an entry of a table's log as bytes."""
    return dump((VERSION, entry.at_ms, entry.command_id, [plain_event(event) for event in entry.events]))


def decode_entry(raw: bytes) -> Entry:
    """Return the entry that the bytes hold. Raises ``MalformedEncoding``, ``UnknownVersion`` and ``UnknownEvent``."""
    at_ms, command_id, events = load_versioned(raw, 3)
    if type(at_ms) is not int or type(command_id) is not str or type(events) is not list:
        raise MalformedEncoding("an entry is a moment, a command's id and events")
    return Entry(at_ms, command_id, tuple([event_from_plain(event) for event in events]))


def codec_of(kind: Any) -> tuple[Encoder | None, Decoder]:
    """Return how values of a type become plain data and back; no encoder where they are plain already.

    Types are ``int``, ``bool``, ``str``, ``bytes``, integer enums, tuples, dataclasses, events and optional ones of
    these. Raises ``TypeError`` for another type.
    """
    known = _CODECS.get(kind)
    if known is None:
        known = _CODECS[kind] = _make_codec(kind)
    return known


def _make_codec(kind: Any) -> tuple[Encoder | None, Decoder]:
    origin = typing.get_origin(kind)
    if origin is tuple:
        return _tuple_codec(typing.get_args(kind))
    if origin in (typing.Union, types.UnionType):
        return _union_codec(typing.get_args(kind))
    if kind in (int, bool, str):
        return None, _exactly(kind)
    if kind is bytes:
        return _bytes_to_plain, _bytes_from_plain
    if isinstance(kind, type) and issubclass(kind, enum.IntEnum):
        return None, _enum_decoder(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return _dataclass_codec(kind)
    raise TypeError(f"no encoding for {kind!r}")


def _exactly(kind: type) -> Decoder:
    def decode(plain: Plain) -> Any:
        if type(plain) is not kind:
            raise MalformedEncoding(f"{plain!r} is no {kind.__name__}")
        return plain

    return decode


def _bytes_to_plain(value: bytes) -> str:
    return b2a_base64(value, newline=False).decode()


def _bytes_from_plain(plain: Plain) -> bytes:
    if type(plain) is not str:
        raise MalformedEncoding(f"{plain!r} is no bytes")
    try:
        return a2b_base64(plain, strict_mode=bool(plain))
    except (Base64Error, ValueError) as error:
        raise MalformedEncoding(str(error)) from None


def _enum_decoder(kind: type[enum.IntEnum]) -> Decoder:
    members = {member.value: member for member in kind}

    def decode(plain: Plain) -> Any:
        member = members.get(plain) if type(plain) is int else None
        if member is None:
            raise MalformedEncoding(f"{plain!r} is no {kind.__name__}")
        return member

    return decode


def _tuple_codec(args: tuple[Any, ...]) -> tuple[Encoder | None, Decoder]:
    if len(args) == 2 and args[1] is Ellipsis:
        encode_one, decode_one = codec_of(args[0])

        def encode(value: tuple[Any, ...]) -> Plain:
            assert encode_one is not None
            return [encode_one(one) for one in value]

        def decode(plain: Plain) -> tuple[Any, ...]:
            if type(plain) is not list:
                raise MalformedEncoding(f"{plain!r} is no array")
            return tuple([decode_one(one) for one in plain])

        return None if encode_one is None else encode, decode
    raise TypeError(f"no encoding for a tuple of {args!r}")


def _union_codec(args: tuple[Any, ...]) -> tuple[Encoder | None, Decoder]:
    some = tuple(arg for arg in args if arg is not type(None))
    encode_some: Encoder | None
    decode_some: Decoder
    if len(some) == 1:
        encode_some, decode_some = codec_of(some[0])
    elif set(some) <= set(TAGS.values()):
        encode_some, decode_some = plain_event, event_from_plain
    else:
        raise TypeError(f"no encoding for one of {some!r}")
    if len(some) == len(args):
        return encode_some, decode_some

    def encode(value: Any) -> Plain:
        assert encode_some is not None
        return None if value is None else encode_some(value)

    def decode(plain: Plain) -> Any:
        return None if plain is None else decode_some(plain)

    return None if encode_some is None else encode, decode


def _dataclass_codec(kind: type) -> tuple[Encoder, Decoder]:
    hints = typing.get_type_hints(kind, localns=_ALIASES)
    names = tuple(field.name for field in fields(kind))
    codecs = tuple(codec_of(hints[name]) for name in names)
    needed = sum(field.default is MISSING and field.default_factory is MISSING for field in fields(kind))
    decoders = tuple(decode for _, decode in codecs)
    converted = tuple((place, encode) for place, (encode, _) in enumerate(codecs) if encode is not None)
    encode_fields = _field_encoder(names, converted)

    def decode(plain: Plain) -> Any:
        if type(plain) is not list or not needed <= len(plain) <= len(decoders):
            raise MalformedEncoding(f"{plain!r} is no {kind.__name__}")
        values = [decoder(part) for decoder, part in zip(decoders, plain, strict=False)]
        try:
            return kind(*values)
        except ValueError as error:
            raise MalformedEncoding(str(error)) from None

    return encode_fields, decode


def _field_encoder(names: tuple[str, ...], converted: tuple[tuple[int, Encoder], ...]) -> Encoder:
    """How the fields of a dataclass become a sequence; the common cases without a detour."""
    if len(names) == 1:
        only = attrgetter(names[0])
        if not converted:
            return lambda value: (only(value),)
        ((_, encode_only),) = converted
        return lambda value: (encode_only(only(value)),)
    get = attrgetter(*names)
    if not converted:
        return get

    def encode(value: Any) -> Plain:
        values = list(get(value))
        for place, encode_one in converted:
            values[place] = encode_one(values[place])
        return values

    return encode


_ALIASES: Final = {"Seat": int, "Tile": int}
"""Names that a module imports for the type checker only."""
_CODECS: Final[dict[Any, tuple[Encoder | None, Decoder]]] = {}
_EVENT_ENCODERS: Final[dict[type, tuple[int, Encoder]]] = {}
_EVENT_DECODERS: Final[dict[int, Decoder]] = {}

for _tag, _kind in TAGS.items():
    _encode, _decode = _dataclass_codec(_kind)
    _EVENT_ENCODERS[_kind] = (_tag, _encode)
    _EVENT_DECODERS[_tag] = _decode
