"""Positions that read like a hand: ``held("234m 567p 99s 5z", pungs="5z")``."""

from __future__ import annotations

from libs.mahjong.bots.position import Position
from libs.mahjong.melds import Meld, chow, pung
from libs.mahjong.shapes import encode
from libs.mahjong.tiles import COPIES, KIND_OF, REGULAR_KINDS, parse_kinds, parse_tiles


def meld(text: str) -> Meld:
    """A claimed chow or pung from its three tiles."""
    tiles = parse_tiles(text)
    make = pung if len({KIND_OF[tile] for tile in tiles}) == 1 else chow
    return make(tiles[1:], tiles[0], 3)


def held(
    tiles: str, *melds: str, bonus: str = "", seat_wind: int = 0, prevailing_wind: int = 0, turns: int = 15
) -> Position:
    """A position in which nothing is seen but the own tiles."""
    declared = tuple(meld(text) for text in melds)
    kinds = parse_kinds(tiles)
    unseen = [COPIES] * REGULAR_KINDS
    for kind in (*kinds, *(kind for one in declared for kind in one.kinds)):
        unseen[kind] -= 1
    shown = parse_kinds(bonus)
    return Position(encode(kinds), declared, shown, seat_wind, prevailing_wind, tuple(unseen), 8 - len(shown), turns)
