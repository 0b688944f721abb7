"""What a holding is worth before it is complete."""

from __future__ import annotations

from dataclasses import dataclass

from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.scores import HandScore, Holding, ScoreItem, WinMethod, WinSituation
from libs.mahjong.shapes import distance, encode, iter_kinds, waits
from libs.mahjong.tiles import COPIES, REGULAR_KINDS, Kind, Wind


@dataclass(frozen=True, slots=True)
class Wait:
    """A kind that completes the hand, how many copies the player has not seen, and what a win with it is worth."""

    kind: Kind
    unseen: int
    on_discard: HandScore
    on_self_draw: HandScore


@dataclass(frozen=True, slots=True)
class Explanation:
    """`distance` is 0 for a holding that waits, -1 for a complete one; `waits` are ascending by kind."""

    distance: int
    certain: tuple[ScoreItem, ...]
    waits: tuple[Wait, ...]


def explain(
    preset: Ruleset, seat_wind: Wind, prevailing_wind: Wind, holding: Holding, unseen: tuple[int, ...] = ()
) -> Explanation:
    """Say how far the holding is from a win, what it has already and what it waits for.

    `holding` has 3n + 1 or 3n + 2 concealed tiles; with one tile too many nothing is waited for. Without `unseen` all
    copies outside the holding count as unseen. Raises `ValueError` for another number of tiles.
    """
    m, p, s, z = encode(holding.concealed)
    away = distance(m, p, s, z, len(holding.melds))
    outside = _outside(holding)
    left = unseen or outside
    waited = iter_kinds(waits(m, p, s, z)) if len(holding.concealed) % 3 == 1 else ()
    kinds = tuple(kind for kind in waited if outside[kind])

    def worth(kind: Kind, method: WinMethod, source: Wind | None) -> HandScore:
        return preset.score(WinSituation(seat_wind, prevailing_wind, holding, kind, method, source))

    return Explanation(
        distance=away,
        certain=preset.certain(seat_wind, prevailing_wind, holding),
        waits=tuple(
            Wait(
                kind,
                left[kind],
                # Which seat discards changes what is paid, not what the hand is worth.
                worth(kind, WinMethod.DISCARD, (seat_wind + 1) % 4),
                worth(kind, WinMethod.SELF_DRAW, None),
            )
            for kind in kinds
        ),
    )


def _outside(holding: Holding) -> tuple[int, ...]:
    copies = [COPIES] * REGULAR_KINDS
    for kind in holding.concealed:
        copies[kind] -= 1
    for meld in holding.melds:
        for kind in meld.kinds:
            copies[kind] -= 1
    return tuple(copies)
