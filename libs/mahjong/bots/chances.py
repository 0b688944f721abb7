"""How likely a hand that still lacks some tiles is finished in time.

A turn of the table brings a seat one draw and the discards of three others. For the next tile the chance per turn is
known from the tiles not seen; for the later ones there is a table of what hands of that sort usually get. Every turn
the hand may also end because somebody else wins.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from libs.mahjong.bots.plans import Form, Plan

MOST_TURNS: Final = 36
"""More turns of a hand than this are treated as so many."""
STEPS: Final = 100
"""The chances per turn for which tables are kept: 1 / STEPS apart."""
MOST_LACKING: Final = 10

_USUAL: Final[dict[str, tuple[float, ...]]] = {
    "any": (0.14, 0.13, 0.17, 0.24, 0.26, 0.28, 0.30, 0.32, 0.34, 0.36),
    "flush": (0.21, 0.15, 0.21, 0.25, 0.28, 0.35, 0.36, 0.39, 0.40, 0.40),
    "pungs": (0.14, 0.12, 0.14, 0.18, 0.24, 0.25, 0.29, 0.31, 0.31, 0.31),
    "orphans": (0.20, 0.07, 0.09, 0.20, 0.25, 0.27, 0.30, 0.33, 0.36, 0.40),
}
"""The usual chance per turn to get the tile that is wanted when so many are lacking, from one on."""
_COMES: Final[dict[str, tuple[float, ...]]] = {
    "any": (0.60, 0.45, 0.60, 0.75, 0.80, 0.90, 1.00, 1.00, 1.00, 1.00),
    "flush": (1.05, 0.66, 0.87, 1.00, 1.07, 1.22, 1.25, 1.30, 1.35, 1.35),
    "pungs": (0.70, 0.55, 0.66, 0.84, 1.05, 1.12, 1.30, 1.30, 1.30, 1.30),
    "orphans": (0.80, 0.75, 0.80, 1.20, 1.30, 1.00, 1.00, 1.00, 1.00, 1.00),
}
"""How often a wanted tile really comes, compared with what its unseen copies promise: near the end of a hand the others
hold what is missing, and early ones come in more ways than one."""
SORTS: Final = tuple(_USUAL)
"""The sorts of hands that are told apart."""
_DRAWN_ONLY: Final = 0.33
"""The part of the chance for the last tile that is left when only an own draw may win."""
_OTHERS_WIN: Final = tuple(max(0.0, 0.125 - 0.0085 * turns) for turns in range(MOST_TURNS + 1))
"""The chance that another seat ends the hand during a turn, by the turns that are left."""


def sort_of(plan: Plan) -> str:
    """The name of the row of usual chances for a plan."""
    if plan.form is Form.ORPHANS:
        return "orphans"
    if plan.form is Form.PUNGS:
        return "pungs"
    suits = sum(suit < 3 for suit in plan.suits)
    return "any" if suits > 1 else "flush"


def chance(sort: str, lacking: int, drawn_only: bool, next_tile: float, turns: int) -> float:
    """The chance to complete a hand that lacks ``lacking`` tiles (1: waiting) within ``turns`` turns.

    ``next_tile`` is the chance per turn for the next of them by its unseen copies; ``drawn_only`` tells that the last
    must be drawn.
    """
    if lacking > MOST_LACKING:
        return 0.0
    step = int(next_tile * _COMES[sort][lacking - 1] * STEPS + 0.5)
    table = _finishing(sort, drawn_only)[lacking]
    return table[step if step < STEPS else STEPS][min(turns, MOST_TURNS)]


@cache
def _finishing(sort: str, drawn_only: bool) -> tuple[tuple[tuple[float, ...], ...], ...]:
    """Chances by tiles lacking, chance per turn of the next tile in steps, and turns left."""
    usual = [0.0, *_USUAL[sort]]
    if drawn_only:
        usual[1] *= _DRAWN_ONLY
    later = (1.0,) * (MOST_TURNS + 1)
    tables: list[tuple[tuple[float, ...], ...]] = [(later,) * (STEPS + 1)]
    for lacking in range(1, MOST_LACKING + 1):
        rows = tuple(_row(step / STEPS, later) for step in range(STEPS + 1))
        tables.append(rows)
        later = _row(usual[lacking], later)
    return tuple(tables)


def _row(per_turn: float, later: tuple[float, ...]) -> tuple[float, ...]:
    """The chance by turns left: each turn the next tile comes or not, and the hand goes on or not."""
    row = [0.0]
    for turns in range(1, MOST_TURNS + 1):
        goes_on = 1.0 - _OTHERS_WIN[turns]
        after_tile = later[turns - 1] * goes_on if later[0] == 0.0 else 1.0
        row.append(per_turn * after_tile + (1.0 - per_turn) * goes_on * row[-1])
    return tuple(row)
