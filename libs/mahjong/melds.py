"""Declared melds: chows, pungs and the three ways to a kong (hkos-3-v1 §1.4, §1.5)."""

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from libs.mahjong.tiles import (
    HONOURS,
    KIND_OF,
    RANK_OF_KIND,
    REGULAR_TILES,
    SUIT_OF_KIND,
    Kind,
    Seat,
    Tile,
    format_tiles,
)


class MeldKind(enum.IntEnum):
    """How a meld came to be. The numbers are stable: events and state records store them."""

    CHOW = 1
    """A run of three in one suit, one of them claimed from the discarder before."""
    PUNG = 2
    """Three equal tiles, one of them claimed from a discard."""
    CONCEALED_KONG = 3
    """Four equal tiles from the hand."""
    CLAIMED_KONG = 4
    """Three equal tiles from the hand and a claimed discard."""
    ADDED_KONG = 5
    """A pung to which its owner added the fourth tile."""


_KONGS = frozenset((MeldKind.CONCEALED_KONG, MeldKind.CLAIMED_KONG, MeldKind.ADDED_KONG))


@dataclass(frozen=True, slots=True)
class Meld:
    """A declared meld. Built by ``chow`` … ``added_kong``, which refuse what cannot be a meld.

    ``tiles`` are ascending ids. ``claimed`` is the tile taken from another seat and ``source`` that seat; both are None
    for a concealed kong. An added kong keeps the claimed tile and the source of its pung.
    """

    kind: MeldKind
    tiles: tuple[Tile, ...]
    claimed: Tile | None = None
    source: Seat | None = None

    def __post_init__(self) -> None:
        tiles = self.tiles
        size = 4 if self.kind in _KONGS else 3
        if len(tiles) != size or list(tiles) != sorted(set(tiles)) or not 0 <= tiles[0] <= tiles[-1] < REGULAR_TILES:
            raise ValueError(f"a {self.kind.name} needs {size} different regular tiles in ascending order, got {tiles}")
        first = KIND_OF[tiles[0]]
        if self.kind is MeldKind.CHOW:
            fits = is_run(first, KIND_OF[tiles[1]], KIND_OF[tiles[2]])
        else:
            fits = all(KIND_OF[tile] == first for tile in tiles)
        if not fits:
            raise ValueError(f"{format_tiles(tiles)} is no {self.kind.name}")
        if self.kind is MeldKind.CONCEALED_KONG:
            if self.claimed is not None or self.source is not None:
                raise ValueError("no tile of a concealed kong is claimed")
        elif self.claimed not in tiles:
            raise ValueError(f"the claimed tile {self.claimed} is not among {tiles}")
        elif self.source is None or not 0 <= self.source <= 3:
            raise ValueError(f"the claimed tile comes from one of the seats 0..3, not from {self.source}")

    @property
    def is_chow(self) -> bool:
        """True for a chow."""
        return self.kind is MeldKind.CHOW

    @property
    def is_kong(self) -> bool:
        """True for the three sorts of kong."""
        return self.kind in _KONGS

    @property
    def is_exposed(self) -> bool:
        """True for everything but a concealed kong."""
        return self.kind is not MeldKind.CONCEALED_KONG

    @property
    def base_kind(self) -> Kind:
        """The lowest kind: the first of a chow, the only one of a pung or kong."""
        return KIND_OF[self.tiles[0]]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kind of every tile, ascending."""
        return tuple(KIND_OF[tile] for tile in self.tiles)

    def promoted(self, tile: Tile) -> "Meld":
        """The added kong that ``tile`` makes of this pung; ``ValueError`` for no pung or another tile."""
        if self.kind is not MeldKind.PUNG:
            raise ValueError(f"a tile can be added to a pung only, not to a {self.kind.name}")
        return Meld(MeldKind.ADDED_KONG, tuple(sorted((*self.tiles, tile))), self.claimed, self.source)

    def demoted(self, tile: Tile) -> "Meld":
        """The pung that is left when the added ``tile`` of this kong is robbed (hkos-3-v1 §1.5)."""
        if self.kind is not MeldKind.ADDED_KONG or tile not in self.tiles or tile == self.claimed:
            raise ValueError(f"{tile} was not added to {self}")
        return Meld(MeldKind.PUNG, tuple(other for other in self.tiles if other != tile), self.claimed, self.source)


def is_run(first: Kind, second: Kind, third: Kind) -> bool:
    """True for three kinds that follow each other in one suit, given in ascending order."""
    return (
        second == first + 1
        and third == first + 2
        and SUIT_OF_KIND[first] < HONOURS
        and RANK_OF_KIND[first] <= 7
        and SUIT_OF_KIND[first] == SUIT_OF_KIND[third]
    )


def chow(held: Iterable[Tile], claimed: Tile, source: Seat) -> Meld:
    """The chow of two held tiles and the claimed one, in any order; ``ValueError`` when they are no run."""
    return Meld(MeldKind.CHOW, tuple(sorted((*held, claimed))), claimed, source)


def pung(held: Iterable[Tile], claimed: Tile, source: Seat) -> Meld:
    """The pung of two held tiles and the claimed one; ``ValueError`` when they are not three equal ones."""
    return Meld(MeldKind.PUNG, tuple(sorted((*held, claimed))), claimed, source)


def concealed_kong(held: Iterable[Tile]) -> Meld:
    """The kong of four held tiles; ``ValueError`` when they are not four equal ones."""
    return Meld(MeldKind.CONCEALED_KONG, tuple(sorted(held)))


def claimed_kong(held: Iterable[Tile], claimed: Tile, source: Seat) -> Meld:
    """The kong of three held tiles and the claimed one; ``ValueError`` when they are not four equal ones."""
    return Meld(MeldKind.CLAIMED_KONG, tuple(sorted((*held, claimed))), claimed, source)


def added_kong(pung_: Meld, tile: Tile) -> Meld:
    """The kong that ``tile`` makes of an exposed pung: ``pung_.promoted(tile)``."""
    return pung_.promoted(tile)
