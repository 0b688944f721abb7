"""What an Original Call is worth: the hand is frozen, so what it may win with is known (classical §2.5)."""

from __future__ import annotations

from libs.mahjong.bots.chances import SORTS
from libs.mahjong.bots.plans import Prize
from libs.mahjong.bots.position import Position
from libs.mahjong.bots.worth import waiting_points
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.scores import Circumstance, Holding, WinMethod, WinSituation
from libs.mahjong.shapes import Codes, iter_kinds, kinds_in, waits
from libs.mahjong.tiles import Kind


def called_worth(ruleset: Ruleset, position: Position, codes: Codes) -> float:
    """The points to be expected from a call after which the concealed tiles stay ``codes``; 0 when no tile is left that
    completes them."""
    unseen = {kind: position.unseen[kind] for kind in iter_kinds(waits(*codes)) if position.unseen[kind]}
    copies = sum(unseen.values())
    if not copies:
        return 0.0
    holding = Holding(kinds_in(codes), position.melds, tuple(sorted(position.bonus)))

    def points(kind: Kind, method: WinMethod) -> float:
        won = WinSituation(
            seat_wind=position.seat_wind,
            prevailing_wind=position.prevailing_wind,
            holding=holding,
            winning=kind,
            method=method,
            source=None if method is WinMethod.SELF_DRAW else (position.seat_wind + 1) % 4,
            circumstances=Circumstance.ORIGINAL_CALL,
        )
        if not ruleset.score(won).legal:
            return 0.0
        return float(ruleset.settle(won).changes[position.seat_wind])

    prizes = tuple(
        Prize(number / copies, points(kind, WinMethod.DISCARD), points(kind, WinMethod.SELF_DRAW))
        for kind, number in unseen.items()
    )
    return waiting_points(prizes, SORTS[0], copies / max(sum(position.unseen), 1), position.turns)
