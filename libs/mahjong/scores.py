"""What a finished hand is worth: the situation a scorer looks at and the result it gives.

The types speak in kinds and winds, never in seats or tile ids, so that a hand can be scored without a table: by a
vector file, by the scoring service or by a person at the command line. All amounts are integers.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from libs.mahjong.melds import Meld
from libs.mahjong.tiles import Kind, Wind


class WinMethod(enum.IntEnum):
    """How the winning tile came to the winner."""

    SELF_DRAW = 1
    DISCARD = 2
    ROBBED_KONG = 3
    """A tile that was being added to an exposed pung."""
    ROBBED_CONCEALED_KONG = 4
    """A tile of a concealed kong, for Thirteen Orphans."""


class Circumstance(enum.IntFlag):
    """What else was true when the hand was won; each ruleset says what it makes of it."""

    NONE = 0
    KONG_REPLACEMENT = 1
    """The winning tile is itself the replacement of a kong."""
    KONG_ON_KONG = 2
    """It is the replacement of a second consecutive kong."""
    LAST_TILE = 4
    """The winning tile was drawn and left the (live) wall empty."""
    LAST_DISCARD = 8
    """The winning tile was discarded while the (live) wall was empty."""
    BEFORE_FIRST_DISCARD = 16
    """The dealer wins with the tiles of the deal; ``KONGS_DECLARED`` tells whether kongs were declared before."""
    FIRST_DISCARD = 32
    """The winning tile is the dealer's first discard."""
    KONGS_DECLARED = 64
    """Somebody declared a kong before the win; only kept together with the two first-turn circumstances."""
    ORIGINAL_CALL = 128
    """The winner declared an Original Call."""
    THIRTEENTH_WIN = 256
    """The dealer's thirteenth consecutive win as dealer."""


@dataclass(frozen=True, slots=True)
class Holding:
    """One seat's tiles at the end of a hand.

    ``concealed`` holds the kinds in hand, sorted, without the winning tile; ``melds`` the declared melds; ``bonus``
    the exposed flowers and seasons.
    """

    concealed: tuple[Kind, ...]
    melds: tuple[Meld, ...] = ()
    bonus: tuple[Kind, ...] = ()


@dataclass(frozen=True, slots=True)
class WinSituation:
    """Everything a ruleset may look at to say what a win is worth.

    ``winning`` is the completing kind; ``None`` when the hand was won as dealt, then ``concealed`` holds all tiles.
    ``source`` is the wind of the seat that discarded or declared the robbed kong, ``None`` for a self-draw.
    ``exhausted`` are the kinds all four copies of which lie in discards or declared melds.
    ``others`` holds the other seats by their wind; a seat that is missing scores nothing.
    """

    seat_wind: Wind
    prevailing_wind: Wind
    holding: Holding
    winning: Kind | None
    method: WinMethod
    source: Wind | None = None
    circumstances: Circumstance = Circumstance.NONE
    exhausted: frozenset[Kind] = frozenset()
    others: tuple[tuple[Wind, Holding], ...] = ()


class Unit(enum.IntEnum):
    """The unit of a score item."""

    FAAN = 1
    POINTS = 2
    DOUBLES = 3
    LIMIT = 4


@dataclass(frozen=True, slots=True)
class ScoreItem:
    """One line of an itemised score: the pattern's stable id and its name for players, and its worth in ``unit``."""

    pattern: str
    name: str
    amount: int
    unit: Unit


@dataclass(frozen=True, slots=True)
class HandScore:
    """What one seat's tiles are worth.

    ``legal`` tells whether they may win (always ``False`` for a seat that did not); ``total`` is the uncapped sum (of
    faan; of points after doubling), ``value`` the capped one, in the ruleset's unit. ``items`` come in the order in
    which they are shown. ``limit`` is the id of the limit pattern, if one decides. ``complete`` tells whether the tiles
    are a winning shape, be it below the minimum.
    """

    legal: bool
    total: int
    value: int
    items: tuple[ScoreItem, ...]
    limit: str | None = None
    complete: bool = False


@dataclass(frozen=True, slots=True)
class Payment:
    """One payment between two winds, in points; ``amount`` is positive."""

    payer: Wind
    payee: Wind
    amount: int


@dataclass(frozen=True, slots=True)
class WindSettlement:
    """The settlement of a win by wind: ``scores[w]`` is the score of the seat with wind ``w`` or ``None`` where a
    ruleset does not score it; ``payments`` are all single payments; ``changes[w]`` are their sums, which add to zero.
    """

    winner: Wind
    scores: tuple[HandScore | None, ...]
    payments: tuple[Payment, ...]
    changes: tuple[int, ...]


def sum_payments(payments: tuple[Payment, ...], seats: int = 4) -> tuple[int, ...]:
    """Return each wind's change in points; the changes of any list of payments add to zero."""
    changes = [0] * seats
    for payment in payments:
        changes[payment.payer] -= payment.amount
        changes[payment.payee] += payment.amount
    return tuple(changes)
