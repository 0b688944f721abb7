"""The wall: one shuffled sequence from which tiles are taken at the front, at the back or out of a kong box.

With a kong box (classical §2.2) the last tiles of the sequence are set apart; front and back then belong to the live
wall before it. Without one the whole sequence is live and both ends eat the same tiles (hkos-3-v1 §1.1).
"""

from __future__ import annotations

from typing import Final

from libs.mahjong.engine.ruleset import WallEnd
from libs.mahjong.tiles import TILE_COUNT, Tile

# Looking up a member of an enumeration costs more than comparing with it, so the common ones are looked up once.
_FRONT: Final = WallEnd.FRONT
_KONG_BOX: Final = WallEnd.KONG_BOX

_ALL_TILES: Final = list(range(TILE_COUNT))


def check_sequence(tiles: tuple[Tile, ...]) -> None:
    """Accept a sequence for a wall. Raises ``ValueError`` when it does not hold each of the 144 tiles once."""
    if sorted(tiles) != _ALL_TILES:
        raise ValueError("a wall holds each of the 144 tiles once")


class Wall:
    """A sequence of tiles and how much of it is gone.

    ``tiles`` is ``None`` where the sequence is hidden: what is left of each part stays known. ``front``, ``back`` and
    ``box`` count the tiles taken from each place.
    """

    __slots__ = ("back", "box", "front", "live", "tiles")

    def __init__(self, tiles: tuple[Tile, ...] | None, kong_box: int) -> None:
        """A full wall; ``kong_box`` is the number of tiles set apart at the end of the sequence."""
        self.tiles = tiles
        self.live = TILE_COUNT - kong_box
        self.front = 0
        self.back = 0
        self.box = 0

    @property
    def live_left(self) -> int:
        """How many tiles ordinary draws can still get."""
        return self.live - self.front - self.back

    @property
    def box_left(self) -> int:
        """How many tiles are left in the kong box; 0 without one."""
        return TILE_COUNT - self.live - self.box

    def left(self, end: WallEnd) -> int:
        """How many tiles can still be taken from that place."""
        if end is _KONG_BOX:
            return TILE_COUNT - self.live - self.box
        return self.live - self.front - self.back

    def peek(self, end: WallEnd) -> Tile | None:
        """The next tile from that place, ``None`` when none is left there. The sequence must be known."""
        assert self.tiles is not None
        if end is _KONG_BOX:
            at = self.live + self.box
            return self.tiles[at] if at < TILE_COUNT else None
        if self.front + self.back >= self.live:
            return None
        return self.tiles[self.front if end is _FRONT else self.live - 1 - self.back]

    def advance(self, end: WallEnd, tiles: int = 1) -> None:
        """Note that so many tiles were taken from that place."""
        if end is _FRONT:
            self.front += tiles
        elif end is WallEnd.BACK:
            self.back += tiles
        else:
            self.box += tiles

    def remaining(self) -> tuple[Tile, ...]:
        """The tiles that are left, in the order of the sequence. The sequence must be known."""
        assert self.tiles is not None
        return self.tiles[self.front : self.live - self.back] + self.tiles[self.live + self.box :]

    def copy(self) -> Wall:
        """An equal wall of its own; the sequence is shared."""
        other = Wall.__new__(Wall)
        other.tiles = self.tiles
        other.live = self.live
        other.front = self.front
        other.back = self.back
        other.box = self.box
        return other

    def concealed(self) -> Wall:
        """The same wall with the sequence hidden."""
        other = self.copy()
        other.tiles = None
        return other

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Wall):
            return NotImplemented
        return (
            self.front == other.front
            and self.back == other.back
            and self.box == other.box
            and self.live == other.live
            and self.tiles == other.tiles
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Wall(live_left={self.live_left}, box_left={self.box_left})"
