"""Events, entries and states as bytes and back (field case C097)."""

from __future__ import annotations

import json
import typing
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.mahjong.engine import events as hand_events
from libs.mahjong.engine import table_events, table_snapshot
from libs.mahjong.engine.codec import (
    TAGS,
    VERSION,
    CodecError,
    MalformedEncoding,
    UnknownEvent,
    UnknownVersion,
    codec_of,
    decode_entry,
    decode_event,
    encode_entry,
    encode_event,
    event_from_plain,
)
from libs.mahjong.engine.events import DrawSource, TileDiscarded, TileDrawn
from libs.mahjong.engine.ruleset import UnknownRuleset
from libs.mahjong.engine.state import HandPicture, SeatState
from libs.mahjong.engine.table_commands import Entry
from libs.mahjong.engine.table_events import SeatReady, SeatTaken, TableClosed
from libs.mahjong.engine.table_snapshot import decode_state, encode_state
from libs.mahjong.engine.table_state import TableState
from libs.mahjong.melds import Meld, chow, concealed_kong
from libs.mahjong.simulation import seeded_policy
from libs.mahjong.wall import Wall
from tests.unit.mahjong.engine.tables import human, open_table, seed

ints = st.integers(-(2**40), 2**60)


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Anything that a type of the codec can hold."""
    origin = typing.get_origin(kind)
    if kind is Meld:
        return st.sampled_from([chow((0, 4), 8, 2), concealed_kong((0, 1, 2, 3))])
    if origin is tuple:
        return st.lists(values(typing.get_args(kind)[0]), max_size=4).map(tuple)
    if origin is not None:
        return st.one_of(*(st.none() if arg is type(None) else values(arg) for arg in typing.get_args(kind)))
    if kind is table_events.TimeControl:
        return st.builds(kind, st.integers(1, 10**6), st.integers(0, 10**6))
    if kind is table_events.TableSettings:
        return st.builds(kind, st.text(), values(table_events.TimeControl), st.booleans(), st.booleans())
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__"):
        hints = typing.get_type_hints(kind)
        return st.builds(kind, *(values(hints[field.name]) for field in fields(kind)))
    return st.sampled_from(list(kind))


_PLAIN: dict[Any, st.SearchStrategy[Any]] = {int: ints, bool: st.booleans(), str: st.text(), bytes: st.binary()}

events = st.one_of(*(values(kind) for kind in TAGS.values()))


def test_every_event_has_a_tag_of_its_own() -> None:
    known = set(hand_events.HandEvent.__args__) | set(table_events.OwnTableEvent.__args__)
    assert set(TAGS.values()) == known
    assert len(TAGS) == len(known)


def test_the_bytes_of_old_releases_stay_readable() -> None:
    assert encode_event(TileDiscarded(1, 2)) == b"[7,1,2,false]"
    assert decode_event(b"[7,1,2]") == TileDiscarded(1, 2)
    assert decode_event(b"[3,1,5,2]") == TileDrawn(1, 5, DrawSource.KONG)
    assert decode_event(b'[39,1,"AAEC","",true]') == SeatReady(1, b"\0\1\2", b"", True)
    entry = Entry(17, "id", (TileDiscarded(1, 2, True),))
    assert encode_entry(entry) == b'[1,17,"id",[[7,1,2,true]]]'


@given(st.lists(events, max_size=5), ints, st.text())
def test_entries_survive_the_way_to_bytes_and_back(happened: list[Any], at_ms: int, command_id: str) -> None:
    entry = Entry(at_ms, command_id, tuple(happened))
    raw = encode_entry(entry)
    assert decode_entry(raw) == entry
    assert encode_entry(decode_entry(raw)) == raw


@given(events)
def test_every_event_survives_alone(event: Any) -> None:
    assert decode_event(encode_event(event)) == event


@given(st.recursive(st.one_of(st.none(), st.booleans(), ints, st.text(max_size=4)), st.lists, max_leaves=12))
def test_any_plain_data_is_an_event_or_a_clear_error(plain: Any) -> None:
    for tag in TAGS:
        parts = [tag, *plain] if isinstance(plain, list) else plain
        try:
            event = event_from_plain(parts)
        except CodecError:
            continue
        assert type(event) is TAGS[tag]


@given(st.binary(max_size=40))
def test_any_bytes_are_an_entry_or_a_clear_error(raw: bytes) -> None:
    with pytest.raises(CodecError):
        decode_entry(raw)


def test_c097_unknown_kinds_versions_and_cut_off_bytes_are_named() -> None:
    with pytest.raises(UnknownEvent) as unknown:
        decode_event(b"[999,1]")
    assert unknown.value.tag == 999
    with pytest.raises(UnknownVersion) as version:
        decode_entry(b'[2,17,"id",[]]')
    assert version.value.version == 2
    whole = encode_entry(Entry(17, "id", (TileDiscarded(1, 2), TableClosed(table_events.CloseCause.OPERATOR))))
    for length in range(len(whole)):
        with pytest.raises(CodecError):
            decode_entry(whole[:length])
    for broken in (b"[7,1]", b"[7,1,2,false,3]", b'[7,"1",2]', b"[7,1,2,1]", b"[3,1,5,99]", b"[8,1,[2,[0,1,4],0,1]]"):
        with pytest.raises(MalformedEncoding):
            decode_event(broken)
    with pytest.raises(MalformedEncoding):
        decode_event(b'[39,1,"not base64","",true]')


def test_types_without_an_encoding_are_refused() -> None:
    for kind in (float, dict[str, int], tuple[int, str], int | str):
        with pytest.raises(TypeError):
            codec_of(kind)


def test_a_state_survives_at_every_step_of_a_hand() -> None:
    table = open_table(policies=[seeded_policy(seed(seat)) for seat in range(4)])
    table.play_hand()
    # Every step of the table above went through bytes; this is the state between two hands.
    assert decode_state(encode_state(table.state)) == table.state
    assert encode_state(decode_state(encode_state(table.state))) == encode_state(table.state)


def test_a_snapshot_holds_every_field_of_a_table_and_its_hand() -> None:
    kept = {name for name, _, _ in table_snapshot._TABLE}
    assert kept == set(TableState.fields()) - {"hand"}
    kept = {name for name, _, _ in table_snapshot._HAND}
    follows_from_the_rest = {"ruleset", "wall", "seats", "offers", "shared"}
    assert kept == set(HandPicture.__slots__) - follows_from_the_rest
    kept = {name for name, _, _ in table_snapshot._SEAT}
    assert kept == set(SeatState.__slots__) - {"hidden", "codes", "waits"}
    kept = {name for name, _, _ in table_snapshot._WALL}
    assert kept == set(Wall.__slots__) - {"live"}


def test_damaged_snapshots_are_refused() -> None:
    table = open_table()
    table.get_ready()
    raw = encode_state(table.state)
    for length in range(0, len(raw), 97):
        with pytest.raises(CodecError):
            decode_state(raw[:length])
    plain = json.loads(raw)
    plain[0] = VERSION + 1
    with pytest.raises(UnknownVersion):
        decode_state(json.dumps(plain).encode())
    plain = json.loads(raw)
    plain[1][1][0] = "nothing-v1"
    with pytest.raises(UnknownRuleset):
        decode_state(json.dumps(plain).encode())
    plain = json.loads(raw)
    plain[2][1][0][0] = plain[2][1][0][1]
    with pytest.raises(MalformedEncoding, match="wall"):
        decode_state(json.dumps(plain).encode())


def test_names_of_players_survive() -> None:
    event = SeatTaken(1, table_events.Occupant("id", "東風 \ud800 é"))
    assert decode_event(encode_event(event)) == event
    assert human(1).is_human
