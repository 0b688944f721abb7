"""Frames put together from shared parts are what the generated classes would write."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import view_pb2
from libs.contracts.frames import connected_part, decision_part, event_part, id_part, update_frame, view_part
from libs.contracts.table_events import table_event_to_proto
from libs.contracts.views import decision_view, view_message
from libs.mahjong.engine.events import HandEvent, HandSettled, HandStarted, TilesDealt
from libs.mahjong.engine.table_events import TableEvent
from libs.mahjong.engine.table_views import table_visible
from libs.mahjong.engine.views import SPECTATOR
from tests.unit.contracts.messages import RULESETS, played

numbers = st.integers(0, 2**63 - 1)


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=200), numbers, numbers, st.lists(st.booleans()))
def test_an_update_of_any_size(table_id: str, sequence: int, time_ms: int, connected: list[bool]) -> None:
    parts = [connected_part(connected)] if connected else []
    frame = update_frame(id_part(table_id), sequence, time_ms, parts)
    expected = view_pb2.TableUpdate(table_id=table_id, sequence=sequence, server_time_ms=time_ms, connected=connected)
    assert frames_pb2.ServerFrame.FromString(frame) == frames_pb2.ServerFrame(table=expected)


def test_every_update_of_played_hands() -> None:
    for ruleset_id in RULESETS:
        for table in played(ruleset_id)[:2]:
            state = table.state
            for number, entry in enumerate(table.entries):
                for viewer in (number % 4, SPECTATOR):
                    seen = [copy for event in entry.events if (copy := table_visible(event, viewer)) is not None]
                    messages = [table_event_to_proto(event) for event in seen]
                    decision = decision_view(state, viewer)
                    parts = [*map(event_part, messages), decision_part(decision)]
                    frame = update_frame(id_part(state.table_id), number, 1_700_000_000_000 + number, parts)
                    update = view_pb2.TableUpdate(
                        table_id=state.table_id,
                        sequence=number,
                        server_time_ms=1_700_000_000_000 + number,
                        events=messages,
                        decision=decision,
                    )
                    assert frames_pb2.ServerFrame.FromString(frame) == frames_pb2.ServerFrame(table=update)


def test_whole_views() -> None:
    for table in played(RULESETS[0]):
        for viewer in (0, 1, 2, 3, SPECTATOR):
            view = view_message(table.state, viewer, (True, False, True, False))
            frame = update_frame(id_part(table.state.table_id), 7, 8, (view_part(view),))
            update = view_pb2.TableUpdate(table_id=table.state.table_id, sequence=7, server_time_ms=8, view=view)
            assert frames_pb2.ServerFrame.FromString(frame) == frames_pb2.ServerFrame(table=update)


def test_no_event_of_a_table_brings_more_than_its_viewer_may_see() -> None:
    """Server seeds, lag and quotas have no field at all; tiles of others are absent from the messages of a viewer."""
    checked = 0
    for table in played(RULESETS[1]):
        for entry in table.entries:
            for event in entry.events:
                for viewer in (0, 1, 2, 3, SPECTATOR):
                    checked += _check(event, viewer, table.seed)
    assert checked > 1000


def _check(event: TableEvent | HandEvent, viewer: int, seed: bytes) -> int:
    seen = table_visible(event, viewer)
    if seen is None:
        return 0
    message = table_event_to_proto(seen)
    raw = message.SerializeToString()
    assert seed not in raw
    if isinstance(event, HandStarted):
        assert not message.hand_started.wall
    if isinstance(event, TilesDealt):
        assert [bool(hand.tiles) for hand in message.tiles_dealt.hands] == [seat == viewer for seat in range(4)]
        assert list(message.tiles_dealt.counts) == [13] * 4
    if isinstance(event, HandSettled):
        assert not message.hand_settled.HasField("wall")
    return 1
