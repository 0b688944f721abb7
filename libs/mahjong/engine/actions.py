"""What a seat may do at a decision, and the reasons for which an action is refused."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from libs.mahjong.tiles import Tile


class ActionType(enum.IntEnum):
    """The kinds of action; ``Action.tiles`` means what each line says. Own tiles are always named by id."""

    DISCARD = 1
    """``(tile,)``: the tile to discard."""
    WIN = 2
    """``()``: by self-draw on the own turn, otherwise on the discard or the robbed tile."""
    CONCEALED_KONG = 3
    """The four own tiles."""
    ADDED_KONG = 4
    """``(tile,)``: the own tile that joins an exposed pung."""
    CLAIMED_KONG = 5
    """The three own tiles."""
    PUNG = 6
    """The two own tiles."""
    CHOW = 7
    """The two own tiles."""
    PASS = 8
    """``()``: no claim; in an opening round: continue without a kong."""
    ORIGINAL_CALL = 9
    """``(tile,)``: discard the tile and declare an Original Call with it."""


@dataclass(frozen=True, slots=True)
class Action:
    """One choice of a seat; any own tile of the same kind may stand for the tile that an option names."""

    type: ActionType
    tiles: tuple[Tile, ...] = ()


PASS = Action(ActionType.PASS)
WIN = Action(ActionType.WIN)


class Reason(enum.StrEnum):
    """Why a command is refused. The names are those of ``eastwind.type.v1.Reason``."""

    TILE_NOT_HELD = "TILE_NOT_HELD"
    NOT_YOUR_DECISION = "NOT_YOUR_DECISION"
    STALE_DECISION = "STALE_DECISION"
    ALREADY_ANSWERED = "ALREADY_ANSWERED"
    ACTION_NOT_OFFERED = "ACTION_NOT_OFFERED"
    BELOW_MINIMUM = "BELOW_MINIMUM"
    NOT_A_WINNING_HAND = "NOT_A_WINNING_HAND"
    NO_REPLACEMENT_TILE = "NO_REPLACEMENT_TILE"
    HAND_IS_OVER = "HAND_IS_OVER"
    HAND_NOT_OVER = "HAND_NOT_OVER"
    NOT_EXPIRED = "NOT_EXPIRED"
    SEAT_TAKEN = "SEAT_TAKEN"
    SEAT_EMPTY = "SEAT_EMPTY"
    NOT_SEATED = "NOT_SEATED"
    ALREADY_SEATED = "ALREADY_SEATED"
    ALREADY_READY = "ALREADY_READY"
    NOT_READY_STEP = "NOT_READY_STEP"
    COMMITMENT_MISMATCH = "COMMITMENT_MISMATCH"
    TABLE_CLOSED = "TABLE_CLOSED"
    TABLE_FULL = "TABLE_FULL"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"


class RuleViolation(Exception):
    """A command that the rules refuse; nothing has changed. ``reason`` is for machines, ``detail`` for people."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason.value}: {detail}")
        self.reason = reason
        self.detail = detail
