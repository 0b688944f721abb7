"""What players are sent: all of it in order, nothing that they may not know (field cases C069, C130; promise P5)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import pytest_asyncio
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from deploy.local.fleet import Fleet
from eastwind.edge.v1 import frames_pb2
from eastwind.history.v1 import record_pb2
from eastwind.table.v1 import event_pb2
from eastwind.type.v1 import visibility_pb2
from tests.service.fleet import Recorder, open_house

pytestmark = pytest.mark.asyncio(loop_scope="module")

SPECTATOR = 4
TILE_FIELDS = {"tile", "tiles", "bonus", "drawn", "last_discard", "claimed", "concealed", "wall"}


@dataclass(frozen=True, slots=True)
class Game:
    """A rated hand as everybody was sent it: recorders by seat and, last, a spectator's."""

    recorders: list[Recorder]
    record: record_pb2.HandRecord


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def game(fleet: Fleet) -> Game:
    async with open_house(fleet) as house:
        table_id, players = await house.four(rated=True)
        spectator = await house.guest()
        seen = await spectator.watch(table_id)
        results = await house.play(table_id, players)
        await seen.until(lambda view: view.HasField("settled"))
        record = await house.record(results[0][0].settled.record_id)
    return Game([house.heard[client] for client in (*players, spectator)], record)


def before_the_end(recorder: Recorder) -> list[bytes]:
    """The frames up to the one that ends the hand, which is not among them."""
    for place, frame in enumerate(recorder.frames):
        update = frames_pb2.ServerFrame.FromString(frame).table
        if any(event.WhichOneof("event") in ("hand_won", "hand_drawn") for event in update.events):
            return recorder.frames[:place]
    raise AssertionError("the hand did not end")


def walk(message: Message) -> Iterator[tuple[Message, FieldDescriptor, list[object]]]:
    """Every field that is set, with its message and its values, however deep."""
    for field, value in message.ListFields():
        values = list(value) if field.is_repeated else [value]
        yield message, field, values
        if field.message_type is not None:
            for each in values:
                yield from walk(each)


def tiles_known_to(record: record_pb2.HandRecord, viewer: int) -> set[int]:
    """The tiles that a viewer saw in the hand before its end: its own, and what lay open."""
    known: set[int] = set()
    for recorded in record.events:
        event = recorded.event
        name = event.WhichOneof("event")
        if name == "tiles_dealt" and viewer < SPECTATOR:
            known |= set(event.tiles_dealt.hands[viewer].tiles)
        elif name == "tile_drawn" and event.tile_drawn.seat == viewer:
            known.add(event.tile_drawn.tile)
        elif name in ("tile_discarded", "bonus_exposed"):
            known.add(getattr(event, name).tile)
        elif name in ("meld_claimed", "kong_declared", "kong_completed"):
            known |= set(getattr(event, name).meld.tiles)
    return known


@pytest.mark.parametrize("viewer", range(5))
async def test_c130_no_byte_tells_what_is_hidden(game: Game, viewer: int) -> None:
    frames = before_the_end(game.recorders[viewer])
    known = tiles_known_to(game.record, viewer)
    assert len(frames) > 10
    assert len(known) < 144
    for raw in frames:
        assert game.record.seed not in raw
        for message, field, values in walk(frames_pb2.ServerFrame.FromString(raw)):
            if field.name in TILE_FIELDS and field.message_type is None:
                assert {int(str(value)) for value in values} <= known, (field.full_name, values)
            visibility = field.GetOptions().Extensions[visibility_pb2.visibility]
            assert visibility != visibility_pb2.VISIBILITY_SERVER_ONLY, field.full_name
            if visibility == visibility_pb2.VISIBILITY_OWN_SEAT:
                assert_own(message, field, values, viewer)


def assert_own(message: Message, field: FieldDescriptor, values: list[object], viewer: int) -> None:
    """A field for one seat alone is only there for that seat."""
    if isinstance(message, event_pb2.TilesDealt):
        assert [bool(hand.tiles) for hand in message.hands] == [seat == viewer for seat in range(4)]
    elif isinstance(message, event_pb2.DecisionOpened | event_pb2.ClockSet):
        if message.kind != event_pb2.DECISION_KIND_TURN:
            assert list(message.seats) == [viewer]
    else:
        assert getattr(message, "seat", None) == viewer, (field.full_name, values)


@pytest.mark.parametrize("viewer", range(5))
async def test_what_others_are_asked_beside_their_turns_is_not_told(game: Game, viewer: int) -> None:
    for event in game.recorders[viewer].events:
        name = event.WhichOneof("event")
        if name in ("seat_answered", "seat_timed_out"):
            told = getattr(event, name)
            assert told.kind == event_pb2.DECISION_KIND_TURN or told.seat == viewer


@pytest.mark.parametrize("viewer", range(5))
async def test_no_sequence_has_a_gap(game: Game, viewer: int) -> None:
    sequence: int | None = None
    for update in game.recorders[viewer].updates:
        if update.HasField("view"):
            sequence = update.sequence
        elif sequence is not None:
            assert update.sequence == sequence + len(update.events)
            sequence = update.sequence
    assert sequence is not None


async def test_c069_whoever_looks_sees_the_same_clock_together_with_its_decision(game: Game) -> None:
    turns: dict[int, set[tuple[int, int, int]]] = defaultdict(set)
    seen: dict[int, set[int]] = defaultdict(set)
    told: dict[int, set[int]] = defaultdict(set)
    for viewer, recorder in enumerate(game.recorders):
        announced: dict[int, int] = {}
        running = 0
        for update in recorder.updates:
            assert update.server_time_ms > 0
            for event in update.events:
                if event.HasField("clock_set"):
                    running = event.clock_set.decision
                    announced[running] = event.clock_set.deadline_ms
                elif event.HasField("outage_granted") and running:
                    # The store was slow for a moment, as everybody is told.
                    announced[running] += event.outage_granted.outage_ms
                told[running].add(announced.get(running, 0))
            decision = update.view.decision if update.HasField("view") else update.decision
            if not decision.decision or decision.HasField("held"):
                continue
            assert decision.HasField("deadline_ms"), decision
            assert decision.deadline_ms == decision.opened_ms + decision.base_ms + decision.reserve_ms
            assert announced.get(decision.decision, decision.deadline_ms) == decision.deadline_ms
            if decision.kind == event_pb2.DECISION_KIND_TURN:
                turns[decision.decision].add((decision.seat, decision.opened_ms, decision.reserve_ms))
                seen[decision.decision].add(decision.deadline_ms)
            else:
                assert decision.seat == viewer
            if decision.options:
                assert decision.seat == viewer
    assert len(turns) > 5
    assert all(len(clocks) == 1 for clocks in turns.values())
    assert all(len(deadlines) == 1 or deadlines <= told[decision] for decision, deadlines in seen.items())
