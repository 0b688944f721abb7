"""Promise P5 on the bytes: what a viewer gets says nothing about tiles that it may not know (field case C130)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from eastwind.edge.v1 import frames_pb2
from libs.mahjong.engine.actions import RuleViolation
from libs.mahjong.engine.events import HandWon, KongCompleted, KongDeclared, MeldClaimed
from libs.mahjong.engine.ruleset import rulesets
from libs.mahjong.engine.views import SPECTATOR
from libs.mahjong.tiles import REGULAR_TILES, TILE_COUNT, Seat, Tile
from tests.contract.worlds import Picker, Script, World, at_random, by_computers

VIEWERS = (0, 1, 2, 3, SPECTATOR)
HANDS = 15
TWINS = 4


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> list[Tile]:
    """The wall of the next hand: whatever the test puts here."""
    tiles = list(range(TILE_COUNT))
    monkeypatch.setattr("libs.mahjong.engine.table.build_wall", lambda *_: tuple(tiles))
    return tiles


def played(ruleset_id: str, viewer: Seat, script: Script, pick: Picker | None) -> World:
    world = World(ruleset_id, viewer)
    world.play(script, pick)
    return world


@pytest.mark.parametrize("viewer", VIEWERS)
@pytest.mark.parametrize("ruleset_id", [rules.id for rules in rulesets()])
async def test_p5_worlds_that_differ_in_hidden_tiles_send_the_same_bytes(
    ruleset_id: str, viewer: Seat, wall: list[Tile]
) -> None:
    """Two tiles that the viewer never sees change places. When the same can happen in public in both worlds, whoever
    else was asked what on the way, the viewer gets the same frames at the same times."""
    rng = random.Random(41 + viewer)
    compared = 0
    happened: Counter[str] = Counter()
    for number in range(HANDS):
        rng.shuffle(wall)
        original = tuple(wall)
        script: Script = {}
        world = played(ruleset_id, viewer, script, by_computers(rng) if number % 5 == 0 else at_random(rng))
        hidden = sorted(set(range(REGULAR_TILES)) - world.shown())
        happened.update(type(event).__name__ for event in world.events)
        for _ in range(TWINS):
            one, other = rng.sample(hidden, 2)
            names = {one: other, other: one}
            wall[:] = [names.get(tile, tile) for tile in original]
            try:
                twin = played(ruleset_id, viewer, script, None)
            except (RuleViolation, KeyError):
                continue
            assert twin.events != world.events
            for (at_ms, frame), (twin_ms, twin_frame) in zip(world.frames, twin.frames, strict=False):
                if (at_ms, frame) != (twin_ms, twin_frame):
                    wanted, found = (frames_pb2.ServerFrame.FromString(raw) for raw in (frame, twin_frame))
                    pytest.fail(f"at {at_ms} and {twin_ms}:\n{wanted}\n=======\n{found}")
            assert len(twin.frames) == len(world.frames)
            compared += 1
    assert compared >= HANDS
    for kind in (MeldClaimed, KongDeclared, KongCompleted, HandWon):
        assert happened[kind.__name__]
