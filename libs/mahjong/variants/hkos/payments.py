"""What a win of so many faan costs whom (hkos-3-v1 §1.10)."""

from functools import cache
from typing import Final

from libs.mahjong.scores import Payment, sum_payments
from libs.mahjong.tiles import Wind

MINIMUM: Final = 3
"""The faan that a win needs, counting every bonus."""
CAP: Final = 13
"""More faan are worth no more than this."""

_DISCARD_POINTS: Final = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384)
"""What the discarder pays for 3, 4 … 13 faan; at a self-draw every opponent pays half."""


def discard_points(faan: int) -> int:
    """What the discarder, or the robbed player, pays alone; ``ValueError`` below the minimum."""
    if faan < MINIMUM:
        raise ValueError(f"{faan} faan are no win, {MINIMUM} are needed")
    return _DISCARD_POINTS[min(faan, CAP) - MINIMUM]


def self_draw_points(faan: int) -> int:
    """What each of the three opponents pays at a self-draw; ``ValueError`` below the minimum."""
    return discard_points(faan) // 2


def payments(winner: Wind, source: Wind | None, faan: int) -> tuple[Payment, ...]:
    """The payments to the winner; ``source`` is the discarder or the robbed player, ``None`` for a self-draw.

    East neither pays nor receives more than others. Raises ``ValueError`` below the minimum.
    """
    if source is not None:
        return (Payment(source, winner, discard_points(faan)),)
    each = self_draw_points(faan)
    return tuple(Payment(payer, winner, each) for payer in range(4) if payer != winner)


@cache
def payments_and_changes(winner: Wind, source: Wind | None, faan: int) -> tuple[tuple[Payment, ...], tuple[int, ...]]:
    """``payments`` and the change of each wind's points."""
    paid = payments(winner, source, faan)
    return paid, sum_payments(paid)
