"""What a computer player knows of its own hand and of what is still to be had."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from libs.mahjong.engine.state import SEATS
from libs.mahjong.engine.views import SeatView
from libs.mahjong.melds import Meld
from libs.mahjong.shapes import Codes, count, without_tile
from libs.mahjong.tiles import COPIES, KIND_COUNT, KIND_OF, REGULAR_KINDS, Kind, Tile, Wind

GROUPS: int = 4
"""The groups of a complete hand beside its pair."""


@dataclass(frozen=True, slots=True)
class Position:
    """A seat's own tiles with what it has not seen.

    ``codes`` are the concealed tiles; ``unseen[kind]`` counts the copies of each of the 34 regular kinds that lie
    neither in the seat's hand nor open on the table, ``unseen_bonus`` the flowers and seasons. ``turns`` is the number
    of tiles that the seat may still expect to draw.
    """

    codes: Codes
    melds: tuple[Meld, ...]
    bonus: tuple[Kind, ...]
    seat_wind: Wind
    prevailing_wind: Wind
    unseen: tuple[int, ...]
    unseen_bonus: int
    turns: int

    @property
    def groups(self) -> int:
        """How many groups the concealed tiles must give."""
        return GROUPS - len(self.melds)

    def holds(self, kind: Kind) -> bool:
        """Whether a tile of a regular kind is among the concealed ones."""
        return count(self.codes, kind) > 0

    def with_meld(self, meld: Meld, used: Iterable[Tile]) -> Position:
        """The position after ``used`` tiles of the hand went into ``meld``."""
        codes = self.codes
        for tile in used:
            codes = without_tile(codes, KIND_OF[tile])
        return Position(
            codes,
            (*self.melds, meld),
            self.bonus,
            self.seat_wind,
            self.prevailing_wind,
            self.unseen,
            self.unseen_bonus,
            self.turns,
        )

    def with_kong(self, pung: Meld, tile: Tile) -> Position:
        """The position after ``tile`` of the hand joined the exposed ``pung``."""
        melds = tuple(meld for meld in self.melds if meld != pung)
        return Position(
            self.codes,
            melds,
            self.bonus,
            self.seat_wind,
            self.prevailing_wind,
            self.unseen,
            self.unseen_bonus,
            self.turns,
        ).with_meld(pung.promoted(tile), (tile,))


def position_of(view: SeatView) -> Position:
    """The position of the viewer."""
    own = view.seats[view.viewer]
    unseen = unseen_copies(view)
    return Position(
        codes=own.codes,
        melds=own.melds,
        bonus=tuple(KIND_OF[tile] for tile in own.bonus),
        seat_wind=view.seat_wind(view.viewer),
        prevailing_wind=view.prevailing_wind,
        unseen=tuple(unseen[:REGULAR_KINDS]),
        unseen_bonus=sum(unseen[REGULAR_KINDS:]),
        turns=(view.live_left + SEATS - 1) // SEATS,
    )


def unseen_copies(view: SeatView) -> list[int]:
    """How many copies of every kind the viewer has not seen, bonus kinds included."""
    unseen = [COPIES] * REGULAR_KINDS + [1] * (KIND_COUNT - REGULAR_KINDS)
    for tile in view.seats[view.viewer].tiles:
        unseen[KIND_OF[tile]] -= 1
    for seat in view.seats:
        for meld in seat.melds:
            for tile in meld.tiles:
                unseen[KIND_OF[tile]] -= 1
        for discard in seat.river:
            if discard.claimed_by is None:
                unseen[KIND_OF[discard.tile]] -= 1
        for tile in seat.bonus:
            unseen[KIND_OF[tile]] -= 1
    return unseen
