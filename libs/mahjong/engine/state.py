"""What is known about a hand at one moment: by the table (``HandState``), or by one viewer (``views.SeatView``).

Both are the same picture and follow the same events; a viewer's picture lacks the tiles that it may not know. Pictures
are changed by ``applying.apply`` alone; whoever wants to look ahead copies first. A copy is cheap: everything inside
but the wall and the seats is immutable, and a seat is copied by the first picture that changes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from libs.mahjong.shapes import EMPTY, Codes, KindMask
from libs.mahjong.wall import Wall

if TYPE_CHECKING:
    from typing import Self

    from libs.mahjong.engine.actions import Action
    from libs.mahjong.engine.events import (
        DecisionOpened,
        DrawSource,
        HandDrawn,
        HandSettled,
        HandWon,
        KongDeclared,
        TileDiscarded,
    )
    from libs.mahjong.engine.ruleset import Ruleset
    from libs.mahjong.melds import Meld
    from libs.mahjong.scores import HandScore
    from libs.mahjong.tiles import Seat, Tile, Wind

SEATS: Final = 4
_ALL_SHARED: Final = (1 << SEATS) - 1
NO_ANSWERS: Final[tuple[None, None, None, None]] = (None, None, None, None)


@dataclass(frozen=True, slots=True)
class Discard:
    """A tile of a river; ``claimed_by`` is the seat that took it for a meld or a win."""

    tile: Tile
    claimed_by: Seat | None = None
    original_call: bool = False


class SeatState:
    """One seat in a hand.

    ``tiles`` are the tiles in hand, sorted, and ``codes`` the same without bonus tiles as four suit codes; both are
    empty for a ``hidden`` seat, of which only the ``count`` is known. ``drawn`` is the tile drawn for the running turn;
    ``drawn_source`` where the last draw came from, ``None`` after a discard or a claim. ``kongs_in_row`` counts the
    kongs of the seat since its last ordinary draw or discard. ``waits`` keeps the kinds that complete the codes once
    somebody asked.
    """

    __slots__ = (
        "bonus",
        "codes",
        "count",
        "drawn",
        "drawn_source",
        "hidden",
        "kongs_in_row",
        "melds",
        "original_call",
        "river",
        "tiles",
        "waits",
    )

    def __init__(self, hidden: bool = False) -> None:
        self.hidden = hidden
        self.tiles: tuple[Tile, ...] = ()
        self.codes: Codes = EMPTY
        self.count = 0
        self.melds: tuple[Meld, ...] = ()
        self.river: tuple[Discard, ...] = ()
        self.bonus: tuple[Tile, ...] = ()
        self.drawn: Tile | None = None
        self.drawn_source: DrawSource | None = None
        self.kongs_in_row = 0
        self.original_call = False
        self.waits: KindMask | None = None

    def copy(self) -> SeatState:
        """An equal seat of its own."""
        other = SeatState.__new__(SeatState)
        other.hidden = self.hidden
        other.tiles = self.tiles
        other.codes = self.codes
        other.count = self.count
        other.melds = self.melds
        other.river = self.river
        other.bonus = self.bonus
        other.drawn = self.drawn
        other.drawn_source = self.drawn_source
        other.kongs_in_row = self.kongs_in_row
        other.original_call = self.original_call
        other.waits = self.waits
        return other

    def concealed(self) -> SeatState:
        """The seat as another seat sees it."""
        other = self.copy()
        other.hidden = True
        other.tiles = ()
        other.codes = EMPTY
        other.drawn = None
        other.waits = None
        return other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SeatState):
            return NotImplemented
        return self._facts() == other._facts()

    __hash__ = None  # type: ignore[assignment]

    def _facts(self) -> tuple[object, ...]:
        return (
            self.hidden,
            self.tiles,
            self.codes,
            self.count,
            self.melds,
            self.river,
            self.bonus,
            self.drawn,
            self.drawn_source,
            self.kongs_in_row,
            self.original_call,
        )

    def __repr__(self) -> str:
        return f"SeatState{self._facts()}"


@dataclass(frozen=True, slots=True)
class Offer:
    """What a seat may do at a decision; ``score`` is what the win among the ``actions`` is worth, if there is one."""

    actions: tuple[Action, ...]
    score: HandScore | None = None


class HandPicture:
    """All that is known about a hand.

    ``moment`` counts public steps (see ``events``). ``turn`` is the seat of the running or last turn, ``None`` before
    the first. ``decision`` is what is being asked, and ``held`` the answers given so far, by seat. ``last_discard`` is
    the newest discard if nobody claimed it (so far), ``kong`` a declared kong that may still be robbed. ``result`` and
    ``settlement`` end the hand. ``dealer_wins`` is the number of hands that the dealer won in a row, as dealer, before
    this one. ``offers`` keeps the offers of the open decision by seat once somebody asked; ``shared`` has a bit for
    every seat that other pictures hold too.
    """

    __slots__ = (
        "commitment",
        "dealer",
        "dealer_wins",
        "decision",
        "hand",
        "held",
        "kong",
        "last_discard",
        "moment",
        "offers",
        "prevailing_wind",
        "result",
        "ruleset",
        "seats",
        "settlement",
        "shared",
        "turn",
        "wall",
    )

    def __init__(self, ruleset: Ruleset, moment: int = 0, dealer_wins: int = 0) -> None:
        """A hand before its first event."""
        self.ruleset = ruleset
        self.hand = 0
        self.dealer: Seat = 0
        self.prevailing_wind: Wind = 0
        self.dealer_wins = dealer_wins
        self.commitment = b""
        self.moment = moment
        self.wall = Wall(None, ruleset.wall.kong_box)
        self.seats = [SeatState() for _ in range(SEATS)]
        self.shared = 0
        self.turn: Seat | None = None
        self.decision: DecisionOpened | None = None
        self.held: tuple[Action | None, ...] = NO_ANSWERS
        self.last_discard: TileDiscarded | None = None
        self.kong: KongDeclared | None = None
        self.result: HandWon | HandDrawn | None = None
        self.settlement: HandSettled | None = None
        self.offers: dict[Seat, Offer] | None = None

    def copy(self) -> Self:
        """An equal picture of its own."""
        kind = type(self)
        other = kind.__new__(kind)
        other.ruleset = self.ruleset
        other.hand = self.hand
        other.dealer = self.dealer
        other.prevailing_wind = self.prevailing_wind
        other.dealer_wins = self.dealer_wins
        other.commitment = self.commitment
        other.moment = self.moment
        other.wall = self.wall.copy()
        other.seats = self.seats.copy()
        other.shared = self.shared = _ALL_SHARED
        other.turn = self.turn
        other.decision = self.decision
        other.held = self.held
        other.last_discard = self.last_discard
        other.kong = self.kong
        other.result = self.result
        other.settlement = self.settlement
        other.offers = self.offers
        return other

    def own_seat(self, number: Seat) -> SeatState:
        """The seat, ready to be changed in this picture alone."""
        seat = self.seats[number]
        bit = 1 << number
        if self.shared & bit:
            self.shared ^= bit
            seat = self.seats[number] = seat.copy()
        return seat

    def seat_wind(self, seat: Seat) -> Wind:
        """The wind of a seat in this hand."""
        return (seat - self.dealer) % SEATS

    @property
    def live_left(self) -> int:
        """How many tiles ordinary draws can still get."""
        return self.wall.live_left

    @property
    def kong_box_left(self) -> int:
        """How many tiles are left in the kong box; 0 for a ruleset without one."""
        return self.wall.box_left

    @property
    def is_over(self) -> bool:
        """Whether the hand is won or drawn; its settlement may still be due."""
        return self.result is not None

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, HandPicture)
        return self._facts() == other._facts()

    __hash__ = None  # type: ignore[assignment]

    def _facts(self) -> tuple[object, ...]:
        return (
            self.ruleset.id,
            self.hand,
            self.dealer,
            self.prevailing_wind,
            self.dealer_wins,
            self.commitment,
            self.moment,
            self.wall,
            self.seats,
            self.turn,
            self.decision,
            self.held,
            self.last_discard,
            self.kong,
            self.result,
            self.settlement,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._facts()}"


class HandState(HandPicture):
    """The whole truth about a hand, as the table keeps it: no seat is hidden and the wall is known."""

    __slots__ = ()
