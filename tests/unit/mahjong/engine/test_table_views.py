"""What a viewer may know of a table (field case C130; promise P5). That every viewer's events fold to its
picture is checked after every step of every ``CheckedTable``."""

from __future__ import annotations

import pytest

from libs.mahjong.engine.actions import PASS, Action, ActionType
from libs.mahjong.engine.codec import TAGS, encode_event
from libs.mahjong.engine.events import HandStarted
from libs.mahjong.engine.table_applying import HAND_EVENTS
from libs.mahjong.engine.table_audience import audience
from libs.mahjong.engine.table_commands import Act, Tick
from libs.mahjong.engine.table_events import OwnTableEvent, ReadyStepOpened, SeatAnswered, TableEvent
from libs.mahjong.engine.table_views import SPECTATOR, table_view, table_visible
from libs.mahjong.engine.views import visible
from libs.mahjong.simulation import seeded_policy
from tests.unit.mahjong.engine import builders
from tests.unit.mahjong.engine.tables import VIEWERS, CheckedTable, open_table, seed, silent


def stream(events: list[TableEvent], viewer: int) -> list[bytes]:
    return [encode_event(seen) for event in events if (seen := table_visible(event, viewer)) is not None]


def test_an_event_is_counted_for_those_who_see_it() -> None:
    table = open_table(policies=[seeded_policy(seed(seat)) for seat in range(3)] + [silent])
    table.play_hand()
    happened = [event for entry in table.entries for event in entry.events]
    for place, viewer in enumerate(VIEWERS):
        for event in happened:
            assert audience(event)[place] is (table_visible(event, viewer) is not None)
            if type(event) in HAND_EVENTS:
                assert table_visible(event, viewer) == visible(event, viewer)  # type: ignore[arg-type]
        assert table.state.stream_sequence[viewer] == len(stream(happened, viewer))


def test_every_kind_of_event_has_its_copy_for_viewers() -> None:
    from libs.mahjong.engine.table_views import _VISIBLE

    assert set(_VISIBLE) == set(OwnTableEvent.__args__)
    assert set(TAGS.values()) == set(_VISIBLE) | HAND_EVENTS


def test_no_stream_holds_the_seed_or_the_wall() -> None:
    table = open_table(policies=[seeded_policy(seed(seat)) for seat in range(4)])
    record = table.play_hand()
    happened = [event for entry in table.entries for event in entry.events]
    assert any(isinstance(event, ReadyStepOpened) and event.server_seed for event in happened)
    for viewer in VIEWERS:
        seen = [table_visible(event, viewer) for event in happened]
        assert all(event.server_seed is None for event in seen if isinstance(event, ReadyStepOpened))
        assert all(event.wall is None for event in seen if isinstance(event, HandStarted))
        view = table_view(table.state, viewer)
        assert not hasattr(view, "server_seed")
        assert view.hand is not None
        assert view.hand.wall.tiles is None
    assert record.server_seed


def test_lag_is_nobodys_business() -> None:
    table = open_table(policies=[seeded_policy(seed(seat)) for seat in range(4)])
    table.get_ready()
    hand = table.state.hand
    assert hand is not None
    action = Action(ActionType.DISCARD, hand.seats[0].tiles[-1:])
    table.send(Act("lag", table.now_ms, 0, hand.moment, action, round_trip_ms=321))
    (answered,) = table.happened(SeatAnswered)
    for viewer in VIEWERS:
        seen = table_visible(answered, viewer)
        assert isinstance(seen, SeatAnswered)
        assert (seen.clock.quota_ms, seen.clock.round_trip_ms) == (0, 0)


def discarded(claimable: bool, missed: bool) -> tuple[CheckedTable, list[TableEvent]]:
    """East discards 5m, which South may claim or not; South lets it go, by a pass or by its time."""
    table = open_table()
    table.get_ready()
    tiles = ("46m" if claimable else "49m") + "7z369p369s1234z"
    laid_out = builders.playing(
        {"E": "123m456p789s11z22z", "S": tiles, "W": "1m4m7m1p4p7p1s4s7s3z4z5z6z", "N": "2m8m2p8p2s8s3z4z5z6z7z5s9p"},
        turn="E",
        drawn="5m",
        front="9m",
        ruleset=table.state.rules,
    )
    table.put_hand(laid_out.state)
    before = len(table.entries)
    action = Action(ActionType.DISCARD, laid_out.held("E", "5m"))
    at_ms = table.now_ms + 500
    window_ms = 5_001 if missed else 0
    hold = 0 if claimable else window_ms
    table.send(Act("discard", at_ms, 0, laid_out.state.moment, action, hold_ms=hold))
    assert table.state.awaited == (1,)
    clock = table.state.clock
    assert clock is not None
    if claimable and missed:
        table.send(Tick(at_ms + window_ms, seed(1)))
    elif claimable:
        table.send(Act("pass", at_ms, 1, clock.decision, PASS))
    return table, [event for entry in table.entries[before:] for event in entry.events]


@pytest.mark.parametrize("missed", [False, True])
def test_c130_a_hidden_window_leaves_no_trace_in_the_streams_of_others(missed: bool) -> None:
    with_window, events_with = discarded(claimable=True, missed=missed)
    without, events_without = discarded(claimable=False, missed=missed)
    for viewer in (0, 2, 3, SPECTATOR):
        assert stream(events_with, viewer) == stream(events_without, viewer)
        assert with_window.state.stream_sequence[viewer] == without.state.stream_sequence[viewer]
        seen, other = table_view(with_window.state, viewer), table_view(without.state, viewer)
        assert (seen.clock, seen.clocks, seen.points) == (other.clock, other.clocks, other.points)
    assert stream(events_with, 1) != stream(events_without, 1)
