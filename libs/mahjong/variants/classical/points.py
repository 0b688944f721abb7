"""The base points of classical (§2.6)."""

from collections.abc import Iterator
from typing import Final

from libs.mahjong.scores import Circumstance, ScoreItem, Unit
from libs.mahjong.tiles import DRAGON_KINDS, IS_MAJOR, kind_name
from libs.mahjong.variants.classical.hands import Counted, Group, Sort, Win

WINNING: Final = 10
SELF_DRAW: Final = 2
COMPLETING_PAIR: Final = 2
MAJOR_PAIR: Final = 2
ONE_CHANCE: Final = 2
SCORING_PAIR: Final = 2
BONUS_TILE: Final = 4
_OPEN_PUNG: Final = 2
"""An exposed pung of simples; majors, concealment and each count twice, a kong four times."""


def group_points(group: Group) -> int:
    """The points of one group; a chow has none."""
    if group.sort is Sort.CHOW:
        return 0
    points = _OPEN_PUNG * (2 if IS_MAJOR[group.kind] else 1) * (1 if group.is_open else 2)
    return 4 * points if group.sort is Sort.KONG else points


def everybody(tiles: Counted) -> Iterator[ScoreItem]:
    """The points of groups and pairs, winner or not; those of bonus tiles are ``bonus``."""
    for group in tiles.groups:
        points = group_points(group)
        if points:
            sort, side = group.sort.name.lower(), "open" if group.is_open else "concealed"
            yield _item(f"{side}-{sort}", f"{side} {sort} {kind_name(group.kind)}", points)
    seat, prevailing = tiles.scoring_winds()
    for kind in tiles.pairs:
        if kind in DRAGON_KINDS:
            yield _item("dragon-pair", "pair of dragons", SCORING_PAIR)
        # A wind that is both counts twice (B2).
        if kind == seat:
            yield _item("seat-wind-pair", "pair of seat wind", SCORING_PAIR)
        if kind == prevailing:
            yield _item("round-wind-pair", "pair of round wind", SCORING_PAIR)


def bonus(tiles: Counted) -> Iterator[ScoreItem]:
    """The points of flowers and seasons, one item each."""
    for _ in tiles.bonus:
        yield _item("bonus-tile", "bonus tile", BONUS_TILE)


def winner(win: Win) -> Iterator[ScoreItem]:
    """All points of a winner: those for winning, then those that everybody has."""
    yield _item("winning", "winning", WINNING)
    if win.self_drawn and not win.under(Circumstance.LAST_TILE):
        yield _item("self-draw", "self-draw", SELF_DRAW)
    yield from everybody(win.counted)
    if win.completes_pair:
        assert win.winning is not None
        yield _item("completing-pair", "completing the pair", COMPLETING_PAIR)
        if IS_MAJOR[win.winning]:
            yield _item("major-pair", "terminal/honour pair completed", MAJOR_PAIR)
    if win.one_chance:
        yield _item("one-chance", "one-chance", ONE_CHANCE)
    yield from bonus(win.counted)


def non_winner(tiles: Counted) -> Iterator[ScoreItem]:
    """All points of a seat that did not win."""
    yield from everybody(tiles)
    yield from bonus(tiles)


def _item(pattern: str, name: str, points: int) -> ScoreItem:
    return ScoreItem(pattern, name, points, Unit.POINTS)
