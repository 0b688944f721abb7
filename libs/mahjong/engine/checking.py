"""Whether a seat may do what it asks for, and if not, why not (field case C048)."""

from __future__ import annotations

from typing import Final

from libs.mahjong.engine.actions import Action, ActionType, Reason, RuleViolation
from libs.mahjong.engine.events import DecisionKind, DecisionOpened
from libs.mahjong.engine.legal import legal_actions, may_declare_kong
from libs.mahjong.engine.situations import discarded_tile, robbed_tile
from libs.mahjong.engine.state import HandPicture, SeatState
from libs.mahjong.shapes import is_win, with_tile
from libs.mahjong.tiles import KIND_OF, Seat, Tile

# Looking up a member of an enumeration costs more than comparing with it, so the common ones are looked up once.
_TURN: Final = DecisionKind.TURN
_DISCARD: Final = ActionType.DISCARD

_SIZES: Final = {
    ActionType.DISCARD: 1,
    ActionType.WIN: 0,
    ActionType.CONCEALED_KONG: 4,
    ActionType.ADDED_KONG: 1,
    ActionType.CLAIMED_KONG: 3,
    ActionType.PUNG: 2,
    ActionType.CHOW: 2,
    ActionType.PASS: 0,
    ActionType.ORIGINAL_CALL: 1,
}
"""How many tiles an action names."""
_KONGS: Final = (ActionType.CONCEALED_KONG, ActionType.ADDED_KONG, ActionType.CLAIMED_KONG)


def check(picture: HandPicture, decision: DecisionOpened, seat: Seat, action: Action) -> None:
    """Accept an action of a seat that is asked at ``decision``; an own tile may stand for an equal one that is offered.

    Raises ``RuleViolation`` with the reason that helps the player most.
    """
    holder = picture.seats[seat]
    tiles = action.tiles
    if decision.kind is _TURN and action.type is _DISCARD and len(tiles) == 1:
        # The usual action is checked directly: a turn's offer is found only for those who ask.
        if tiles[0] not in holder.tiles:
            raise _not_held(tiles[0])
        if holder.original_call and tiles[0] != holder.drawn:
            raise RuleViolation(Reason.ACTION_NOT_OFFERED, "after an Original Call only the drawn tile may go")
        return
    offered = legal_actions(picture, seat)
    if action in offered:
        return
    if len(tiles) != _SIZES[action.type] or len(set(tiles)) != len(tiles):
        raise RuleViolation(Reason.INVALID_ARGUMENT, f"{action.type.name} names {_SIZES[action.type]} different tiles")
    for tile in tiles:
        if tile not in holder.tiles:
            raise _not_held(tile)
    kinds = _kinds(action)
    if any(other.type is action.type and _kinds(other) == kinds for other in offered):
        return
    if action.type is ActionType.WIN:
        raise _refused_win(picture, decision, holder)
    if action.type in _KONGS and not may_declare_kong(picture) and _is_quad(holder, action):
        raise RuleViolation(Reason.NO_REPLACEMENT_TILE, "no tile is left to replace a kong")
    raise RuleViolation(Reason.ACTION_NOT_OFFERED, f"{action.type.name} is not possible now")


def _not_held(tile: Tile) -> RuleViolation:
    return RuleViolation(Reason.TILE_NOT_HELD, f"tile {tile} is not in the hand")


def _kinds(action: Action) -> list[int]:
    return sorted(KIND_OF[tile] for tile in action.tiles)


def _is_quad(holder: SeatState, action: Action) -> bool:
    kinds = set(_kinds(action))
    if len(kinds) != 1:
        return False
    if action.type is ActionType.ADDED_KONG:
        return any(not meld.is_chow and not meld.is_kong and meld.base_kind in kinds for meld in holder.melds)
    return True


def _refused_win(picture: HandPicture, decision: DecisionOpened, holder: SeatState) -> RuleViolation:
    codes = holder.codes
    if decision.kind is DecisionKind.CLAIM:
        codes = with_tile(codes, KIND_OF[discarded_tile(picture).tile])
    elif decision.kind is DecisionKind.ROB:
        codes = with_tile(codes, KIND_OF[robbed_tile(picture).tile])
    elif holder.drawn is None:
        return RuleViolation(Reason.ACTION_NOT_OFFERED, "a win needs a drawn tile: only a discard follows a claim")
    if is_win(*codes):
        return RuleViolation(Reason.BELOW_MINIMUM, "the hand is not worth the minimum")
    return RuleViolation(Reason.NOT_A_WINNING_HAND, "the tiles are no winning hand")
