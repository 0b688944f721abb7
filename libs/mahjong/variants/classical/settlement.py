"""Who pays whom after a win (classical §2.10)."""

from typing import Final

from libs.mahjong.memo import Memo
from libs.mahjong.scores import HandScore, Payment, WindSettlement, WinSituation, sum_payments
from libs.mahjong.tiles import Wind
from libs.mahjong.variants.classical.scoring import other_score, score

EAST_TIMES: Final = 2
"""How much more any single payment with East on either side is, once (B31)."""
_WINDS: Final = 4


def payments(winner: Wind, values: tuple[int, ...]) -> tuple[Payment, ...]:
    """All single payments for the values of the four winds: each to the winner, and the differences of the others."""
    paid = []
    for payer in range(_WINDS):
        for payee in range(_WINDS):
            if payer in (winner, payee):
                continue
            amount = values[payee] if payee == winner else values[payee] - values[payer]
            if amount > 0:
                east = payer == 0 or payee == 0
                paid.append(Payment(payer, payee, EAST_TIMES * amount if east else amount))
    return tuple(paid)


def settle(situation: WinSituation) -> WindSettlement:
    """Scores and payments of all four seats; a seat that the situation does not name has no score and counts as 0.

    Raises ``ValueError`` when the win is not legal.
    """
    worth = score(situation)
    if not worth.legal:
        raise ValueError("no legal win: the tiles are no winning hand")
    scores: list[HandScore | None] = [None] * _WINDS
    scores[situation.seat_wind] = worth
    for wind, holding in situation.others:
        scores[wind] = other_score(holding, wind, situation.prevailing_wind)
    values = tuple([0 if one is None else one.value for one in scores])
    paid, changes = _PAID[situation.seat_wind, values]
    return WindSettlement(situation.seat_wind, tuple(scores), paid, changes)


def _paid(key: tuple[Wind, tuple[int, ...]]) -> tuple[tuple[Payment, ...], tuple[int, ...]]:
    paid = payments(*key)
    return paid, sum_payments(paid)


_PAID: Final = Memo(_paid, 1 << 13)
