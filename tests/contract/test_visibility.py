"""Every field that can reach a socket is either marked as hidden, and then held against what is sent, or known to be
public (promise P5, field case C130)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import event_pb2, view_pb2
from eastwind.type.v1 import visibility_pb2
from libs.mahjong.engine.ruleset import rulesets
from libs.mahjong.engine.views import SPECTATOR
from libs.mahjong.tiles import TILE_COUNT, Seat, Tile
from tests.contract.worlds import World, at_random, by_computers

ROOT: Descriptor = frames_pb2.ServerFrame.DESCRIPTOR
NO_TILE_CAN_BE_IN_IT = (FieldDescriptor.CPPTYPE_BOOL, FieldDescriptor.CPPTYPE_ENUM)

PUBLIC_TILES = {
    "table.v1.BonusExposed": "tile",
    "table.v1.HandWon": "tile concealed",
    "table.v1.RiverTile": "tile",
    "table.v1.SeatView": "bonus",
    "table.v1.TableView": "last_discard",
    "table.v1.TileDiscarded": "tile",
    "type.v1.Meld": "tiles claimed",
    # Reached through marked fields, or through HandSettled.revealed: what the rules lay open when the hand is over.
    "type.v1.Tiles": "tiles",
    # Reached through marked fields alone.
    "type.v1.Action": "tiles",
    # The seed and the nonces give the wall. They are sent with the settlement, when the hand is over.
    "table.v1.WallRevealed": "seed nonces",
    # A nonce is no secret once it is revealed; the wall needs the server's seed as well.
    "table.v1.SeatReady": "nonce",
}
"""Fields that carry tiles, or what tiles follow from, and are public."""

NO_TILES = {
    "edge.v1.CommandAnswer": "table_id command_id detail",
    "edge.v1.Goodbye": "detail retry_after_ms",
    "edge.v1.Pong": "id server_time_ms",
    "edge.v1.Probe": "id",
    "edge.v1.Problem": "detail table_id",
    "edge.v1.RatingsChanged": "table_id unit_id",
    "edge.v1.TableEnded": "table_id",
    "edge.v1.Welcome": "account_id name server_time_ms table_id heartbeat_ms",
    "matchmaking.v1.WatchQueueResponse": "waiting fill_at_ms table_id",
    "ratings.v1.RatingChange": "account_id ruleset unit_id before after uncertainty changed_ms placement_tenths",
    "scoring.v1.HandScore": "total value limit",
    "scoring.v1.Payment": "payer payee amount",
    "scoring.v1.ScoreItem": "pattern name amount",
    "table.v1.BonusExposed": "seat",
    "table.v1.ClockSet": "decision opened_ms base_ms reserve_ms deadline_ms",
    "table.v1.DecisionOpened": "decision",
    "table.v1.DecisionView": "decision seat opened_ms deadline_ms base_ms reserve_ms",
    "table.v1.HandSettled": "winner changes record_id",
    "table.v1.HandStarted": "hand dealer prevailing_wind commitment",
    "table.v1.HandWon": "seat source",
    "table.v1.KongCompleted": "seat",
    "table.v1.KongDeclared": "seat",
    "table.v1.MatchEnded": "points places",
    "table.v1.MeldClaimed": "seat",
    "table.v1.NonceCommitted": "seat commitment",
    "table.v1.OutageGranted": "outage_ms",
    "table.v1.RatedUnitEnded": "unit_id points places",
    "table.v1.ReadyStepOpened": "hand commitment deadline_ms",
    "table.v1.RiverTile": "claimed_by",
    "table.v1.SeatAnswered": "seat decision reserve_ms",
    "table.v1.SeatLeaving": "seat",
    "table.v1.SeatReady": "seat next_commitment",
    "table.v1.SeatReleased": "seat",
    "table.v1.SeatReturned": "seat",
    "table.v1.SeatTaken": "seat",
    "table.v1.SeatTimedOut": "seat decision reserve_ms",
    "table.v1.SeatView": "seat points tile_count nonce_commitment reserve_ms",
    "table.v1.TableOpened": "first_dealer",
    "table.v1.TableUpdate": "table_id sequence server_time_ms",
    "table.v1.TableView": (
        "table_id viewer hand dealer prevailing_wind dealer_changes hand_dealer hand_prevailing_wind wall_count "
        "kong_box_count last_discard_seat starting_points commitment ready_deadline_ms"
    ),
    "table.v1.TileDiscarded": "seat",
    "table.v1.TileDrawn": "seat",
    "table.v1.TilesDealt": "counts",
    "table.v1.WallRevealed": "hand algorithm commitments",
    "type.v1.Meld": "source",
    "type.v1.Player": "account_id name",
    "type.v1.TableSettings": "ruleset name",
}
"""Fields that carry no tiles: seats, points, times, counts, ids and names."""

Check = Callable[[Any, tuple[Message, ...], Seat], bool]


def _asked_alone(message: Any, _: tuple[Message, ...], viewer: Seat) -> bool:
    return message.kind == event_pb2.DECISION_KIND_TURN or list(message.seats) == [viewer]


def _own(message: Any, _: tuple[Message, ...], viewer: Seat) -> bool:
    return bool(message.seat == viewer)


def _own_or_laid_open(message: Any, parents: tuple[Message, ...], viewer: Seat) -> bool:
    table = next(parent for parent in parents if isinstance(parent, view_pb2.TableView))
    return bool(message.seat == viewer) or table.HasField("won") or table.HasField("settled")


CHECKS: dict[str, Check] = {
    "table.v1.HandStarted.wall": lambda *_: False,
    "table.v1.TilesDealt.hands": lambda message, _, viewer: all(
        not hand.tiles for seat, hand in enumerate(message.hands) if seat != viewer
    ),
    "table.v1.TileDrawn.tile": _own,
    "table.v1.DecisionOpened.seats": _asked_alone,
    "table.v1.ClockSet.seats": _asked_alone,
    "table.v1.ChoiceHeld.seat": _own,
    "table.v1.ChoiceHeld.decision": _own,
    "table.v1.ChoiceHeld.action": _own,
    "table.v1.DecisionView.options": _own,
    "table.v1.DecisionView.held": _own,
    "table.v1.SeatView.tiles": _own_or_laid_open,
    "table.v1.SeatView.drawn": _own_or_laid_open,
}
"""For every marked field: whether a message in which it is set may reach the viewer."""


def reachable(descriptor: Descriptor, found: dict[str, Descriptor] | None = None) -> dict[str, Descriptor]:
    """All messages that a message can hold, itself included, by name."""
    found = {} if found is None else found
    if descriptor.full_name not in found:
        found[descriptor.full_name] = descriptor
        for field in descriptor.fields:
            if field.message_type is not None:
                reachable(field.message_type, found)
    return found


def name_of(field: FieldDescriptor) -> str:
    return str(field.full_name).removeprefix("eastwind.")


def is_marked(field: FieldDescriptor) -> bool:
    return bool(field.GetOptions().Extensions[visibility_pb2.visibility])


def all_fields() -> list[FieldDescriptor]:
    return [field for message in reachable(ROOT).values() for field in message.fields]


def names(fields: dict[str, str]) -> list[str]:
    return [f"{message}.{field}" for message, listed in fields.items() for field in listed.split()]


def set_fields(
    message: Message, parents: tuple[Message, ...] = ()
) -> Iterator[tuple[str, Message, tuple[Message, ...]]]:
    """Every marked field that is set in a message or below it, with the message that has it and those around that."""
    for field, value in message.ListFields():
        if is_marked(field):
            yield name_of(field), message, parents
        if field.message_type is not None:
            for each in value if field.is_repeated else (value,):
                yield from set_fields(each, (*parents, message))


def leaks(frame: bytes, viewer: Seat) -> list[str]:
    """The marked fields that are set in a frame and must not reach the viewer."""
    message = frames_pb2.ServerFrame.FromString(frame)
    return [name for name, holder, parents in set_fields(message) if not CHECKS[name](holder, parents, viewer)]


def test_every_field_that_may_carry_tiles_is_marked_or_known_to_be_public() -> None:
    """A new field is in none of the lists: think about who may see it, and put it there or mark it."""
    listed = Counter([*names(PUBLIC_TILES), *names(NO_TILES)])
    assert [name for name, times in listed.items() if times > 1] == []
    carrying = {
        name_of(field)
        for field in all_fields()
        if field.message_type is None and field.cpp_type not in NO_TILE_CAN_BE_IN_IT and not is_marked(field)
    }
    assert carrying - set(listed) == set()
    assert set(listed) - carrying == set()


def test_every_marked_field_has_a_check() -> None:
    assert {name_of(field) for field in all_fields() if is_marked(field)} == set(CHECKS)


def test_hidden_fields_come_with_tables_alone() -> None:
    """So watching what a table sends is watching all of it: no other frame can hold a marked field."""
    others = [field for field in ROOT.fields if field.name != "table"]
    assert len(others) == len(ROOT.fields) - 1
    for frame in others:
        assert frame.message_type is not None
        for message in reachable(frame.message_type).values():
            assert [name_of(field) for field in message.fields if is_marked(field)] == []


@pytest.mark.parametrize("ruleset_id", [rules.id for rules in rulesets()])
async def test_no_marked_field_reaches_the_wrong_viewer(ruleset_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wall: list[Tile] = list(range(TILE_COUNT))
    monkeypatch.setattr("libs.mahjong.engine.table.build_wall", lambda *_: tuple(wall))
    rng = random.Random(7)
    seen: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    for number in range(15):
        rng.shuffle(wall)
        viewer = (0, 1, 2, 3, SPECTATOR)[number % 5]
        world = World(ruleset_id, viewer)
        world.play({}, by_computers(rng) if number % 3 == 0 else at_random(rng))
        for _, frame in world.frames:
            assert leaks(frame, viewer) == []
            seen.update(name for name, _, _ in set_fields(frames_pb2.ServerFrame.FromString(frame)))
            caught.update(leaks(frame, (viewer + 1) % 4))
    # Everything but what never leaves was sent, and would have been noticed in front of another viewer.
    assert set(seen) == set(CHECKS) - {"table.v1.HandStarted.wall"}
    assert set(caught) == set(seen)


def test_the_wall_is_noticed() -> None:
    update = view_pb2.TableUpdate(
        events=[event_pb2.TableEvent(hand_started=event_pb2.HandStarted(hand=1, wall=range(TILE_COUNT)))]
    )
    frame = frames_pb2.ServerFrame(table=update).SerializeToString()
    assert leaks(frame, 0) == ["table.v1.HandStarted.wall"]
