"""The events of a hand: what happened, in the order in which it became true.

A stream of these folds to the state of the hand. Fields that a seat may not know are ``None`` in the copy that
``libs.mahjong.engine.views`` makes for it; here, in the log, they are always set.

``moment`` counts the public steps of a table: every event that all can see. A decision is named by the moment at which
it opens, so the number tells nobody whether a hidden claim window was open before.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from libs.mahjong.engine.actions import Action
from libs.mahjong.melds import Meld
from libs.mahjong.scores import HandScore, WinMethod
from libs.mahjong.tiles import Seat, Tile, Wind


class DrawSource(enum.IntEnum):
    """Why a tile was drawn; the ruleset says from which end it comes."""

    WALL = 1
    KONG = 2
    BONUS = 3


class DecisionKind(enum.IntEnum):
    """What is being asked."""

    TURN = 1
    """One seat, after a draw, a claim or the deal."""
    CLAIM = 2
    """Every seat that may take the discard."""
    ROB = 3
    """Every seat that may rob the declared kong."""
    OPENING_KONG = 4
    """One seat, before the first discard: declare a concealed kong, win, or continue."""


class DrawnHandCause(enum.IntEnum):
    """Why a hand ended without a winner."""

    WALL_EXHAUSTED = 1
    REPLACEMENT_EXHAUSTED = 2


@dataclass(frozen=True, slots=True)
class HandStarted:
    """A hand begins. ``wall`` is the whole shuffled sequence (hidden); ``commitment`` its published seal."""

    hand: int
    dealer: Seat
    prevailing_wind: Wind
    commitment: bytes
    wall: tuple[Tile, ...] | None


@dataclass(frozen=True, slots=True)
class TilesDealt:
    """Each seat's dealt tiles, sorted, before bonus replacement; other seats' are ``None`` in a view."""

    hands: tuple[tuple[Tile, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class TileDrawn:
    """``tile`` is ``None`` for the other seats. A bonus tile is exposed by the next event."""

    seat: Seat
    tile: Tile | None
    source: DrawSource


@dataclass(frozen=True, slots=True)
class BonusExposed:
    """A flower or season is laid open; its replacement follows as a ``TileDrawn`` with source ``BONUS``."""

    seat: Seat
    tile: Tile


@dataclass(frozen=True, slots=True)
class DecisionOpened:
    """The seats of ``seats`` are asked. In a view ``seats`` holds the seat of the public turn or the viewer alone."""

    decision: int
    kind: DecisionKind
    seats: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class ChoiceHeld:
    """A seat answered a claim or robbing window, or passed in the opening round; seen by that seat alone. Every such
    answer has one, whether or not others are still to decide, so that it tells nobody whether others are asked."""

    seat: Seat
    decision: int
    action: Action


@dataclass(frozen=True, slots=True)
class TileDiscarded:
    """``original_call`` tells that the discard carries an Original Call (classical §2.5)."""

    seat: Seat
    tile: Tile
    original_call: bool = False


@dataclass(frozen=True, slots=True)
class MeldClaimed:
    """The last discard joins own tiles in a chow, pung or claimed kong and leaves its river."""

    seat: Seat
    meld: Meld


@dataclass(frozen=True, slots=True)
class KongDeclared:
    """A concealed or added kong is announced; until ``KongCompleted`` it may be robbed."""

    seat: Seat
    meld: Meld


@dataclass(frozen=True, slots=True)
class KongCompleted:
    """Nobody robbed the declared kong; its replacement follows."""

    seat: Seat
    meld: Meld


@dataclass(frozen=True, slots=True)
class HandWon:
    """``source`` is the seat that discarded or whose kong was robbed. ``concealed`` are the winner's tiles in hand,
    sorted, with the winning tile in ``tile`` apart; won as dealt, ``tile`` is the last tile dealt or drawn."""

    seat: Seat
    tile: Tile
    method: WinMethod
    source: Seat | None
    concealed: tuple[Tile, ...]


@dataclass(frozen=True, slots=True)
class HandDrawn:
    """The hand ended without a winner."""

    cause: DrawnHandCause


@dataclass(frozen=True, slots=True)
class SeatPayment:
    """``payer`` gives ``amount`` points to ``payee``."""

    payer: Seat
    payee: Seat
    amount: int


@dataclass(frozen=True, slots=True)
class HandSettled:
    """The result in points. ``scores[s]`` is the itemised score of seat ``s`` or ``None``; ``changes`` add to zero;
    ``revealed[s]`` are the tiles in hand that the ruleset lays open, sorted, or ``None``."""

    winner: Seat | None
    scores: tuple[HandScore | None, ...]
    payments: tuple[SeatPayment, ...]
    changes: tuple[int, ...]
    revealed: tuple[tuple[Tile, ...] | None, ...]


HandEvent = (
    HandStarted
    | TilesDealt
    | TileDrawn
    | BonusExposed
    | DecisionOpened
    | ChoiceHeld
    | TileDiscarded
    | MeldClaimed
    | KongDeclared
    | KongCompleted
    | HandWon
    | HandDrawn
    | HandSettled
)
