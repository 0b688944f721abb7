"""Hong Kong Old Style, 3 faan minimum, half-laak payments: the preset ``hkos-3-v1``."""

from typing import ClassVar, Final

from libs.mahjong.engine.ruleset import RatedUnit, ReadyStep, Ruleset, WallEnd, WallLayout, WinFlags
from libs.mahjong.scores import Circumstance, HandScore, Holding, ScoreItem, WindSettlement, WinMethod, WinSituation
from libs.mahjong.tiles import Wind
from libs.mahjong.variants.hkos.payments import MINIMUM
from libs.mahjong.variants.hkos.report import result_form
from libs.mahjong.variants.hkos.scoring import certain, score, settle


class HongKongOldStyle(Ruleset):
    """The preset ``hkos-3-v1``; ``rules.md`` beside this file is its page for players."""

    id: ClassVar[str] = "hkos-3-v1"
    name: ClassVar[str] = "Hong Kong Old Style"
    rated_unit: ClassVar[RatedUnit] = RatedUnit.HAND
    starting_points: ClassVar[int] = 0
    wall: ClassVar[WallLayout] = WallLayout(kong_box=0, bonus_from=WallEnd.BACK, kong_from=WallEnd.BACK)
    ready_step: ClassVar[ReadyStep] = ReadyStep(seconds=30, automatic=False)
    minimum: ClassVar[int] = MINIMUM
    win_flags: ClassVar[WinFlags] = {
        "kong_replacement": {WinMethod.SELF_DRAW: Circumstance.KONG_REPLACEMENT},
        "last_tile": {WinMethod.SELF_DRAW: Circumstance.LAST_TILE, WinMethod.DISCARD: Circumstance.LAST_DISCARD},
        "heavenly": {WinMethod.SELF_DRAW: Circumstance.BEFORE_FIRST_DISCARD},
        "earthly": {WinMethod.DISCARD: Circumstance.FIRST_DISCARD},
    }

    def score(self, situation: WinSituation) -> HandScore:
        """Return the score of the best grouping in faan (hkos-3-v1 §1.7, §1.8); legal from 3 faan on (§1.6)."""
        return score(situation)

    def settle(self, situation: WinSituation) -> WindSettlement:
        """Return the payments of a legal win (hkos-3-v1 §1.10). Raises ``ValueError`` when the win is not legal."""
        return settle(situation)

    def certain(self, seat_wind: Wind, prevailing_wind: Wind, holding: Holding) -> tuple[ScoreItem, ...]:
        """Return the patterns that declared melds and bonus tiles secure; only a pattern that replaces them (§1.8) can
        still take their place."""
        return certain(seat_wind, prevailing_wind, holding)

    def result_form(self, situation: WinSituation) -> dict[str, object]:
        """Return ``legal, items, total, faan, payments``; the last two of a legal win only."""
        return result_form(situation)


RULESET: Final = HongKongOldStyle()
