"""Melds and actions between protobuf and the game's own types."""

from __future__ import annotations

from collections.abc import Iterable

from eastwind.type.v1 import action_pb2, tile_pb2
from libs.mahjong.engine.actions import Action, ActionType
from libs.mahjong.melds import Meld, MeldKind
from libs.mahjong.tiles import TILE_COUNT, Tile


class InvalidMessage(ValueError):
    """A message that says nothing the game can understand; ``field`` names what is wrong."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field = field
        self.detail = detail


def tiles_from_proto(tiles: Iterable[int], field: str = "tiles") -> tuple[Tile, ...]:
    """Return tile ids. Raises ``InvalidMessage`` for a number that is no tile."""
    result = tuple(tiles)
    for tile in result:
        if not 0 <= tile < TILE_COUNT:
            raise InvalidMessage(field, f"{tile} is no tile; tiles are 0 to {TILE_COUNT - 1}")
    return result


def meld_to_proto(meld: Meld) -> tile_pb2.Meld:
    """Return the message of a meld."""
    return tile_pb2.Meld(
        kind=tile_pb2.MeldKind.ValueType(meld.kind), tiles=meld.tiles, claimed=meld.claimed, source=meld.source
    )


def meld_from_proto(message: tile_pb2.Meld, field: str = "meld") -> Meld:
    """Return the meld. Raises ``InvalidMessage`` when the tiles make none of that kind."""
    try:
        kind = MeldKind(message.kind)
        return Meld(
            kind,
            tiles_from_proto(message.tiles, f"{field}.tiles"),
            message.claimed if message.HasField("claimed") else None,
            message.source if message.HasField("source") else None,
        )
    except InvalidMessage:
        raise
    except ValueError as error:
        raise InvalidMessage(field, str(error)) from error


def action_to_proto(action: Action) -> action_pb2.Action:
    """Return the message of an action."""
    return action_pb2.Action(type=action_pb2.ActionType.ValueType(action.type), tiles=action.tiles)


def action_from_proto(message: action_pb2.Action, field: str = "action") -> Action:
    """Return the action. Raises ``InvalidMessage`` for an unknown kind or a number that is no tile."""
    try:
        kind = ActionType(message.type)
    except ValueError as error:
        raise InvalidMessage(f"{field}.type", f"{message.type} is no kind of action") from error
    return Action(kind, tiles_from_proto(message.tiles, f"{field}.tiles"))
