"""Chinese Classical, points and doubles up to 1,000, settled between all four seats: the preset ``classical``."""

from typing import ClassVar, Final

from libs.mahjong.engine.ruleset import RatedUnit, ReadyStep, Ruleset, WallEnd, WallLayout, WinFlags
from libs.mahjong.scores import Circumstance, HandScore, Holding, ScoreItem, WindSettlement, WinMethod, WinSituation
from libs.mahjong.tiles import Wind
from libs.mahjong.variants.classical.report import result_form
from libs.mahjong.variants.classical.scoring import certain, score
from libs.mahjong.variants.classical.settlement import settle

DEALER_CHANGES: Final = 16
"""The match ends with this change of the dealer (§2.1)."""


def _always(circumstance: Circumstance) -> dict[WinMethod, Circumstance]:
    return dict.fromkeys(WinMethod, circumstance)


class ChineseClassical(Ruleset):
    """The preset ``classical``; ``rules.md`` beside this file is its page for players."""

    id: ClassVar[str] = "classical"
    name: ClassVar[str] = "Chinese Classical"
    rated_unit: ClassVar[RatedUnit] = RatedUnit.MATCH
    starting_points: ClassVar[int] = 2_000
    wall: ClassVar[WallLayout] = WallLayout(kong_box=16, bonus_from=WallEnd.FRONT, kong_from=WallEnd.KONG_BOX)
    ready_step: ClassVar[ReadyStep] = ReadyStep(seconds=15, automatic=True)
    opening_kongs: ClassVar[bool] = True
    original_call: ClassVar[bool] = True
    reveals_all: ClassVar[bool] = True
    win_flags: ClassVar[WinFlags] = {
        "kong_replacement": {WinMethod.SELF_DRAW: Circumstance.KONG_REPLACEMENT},
        "kong_on_kong": {WinMethod.SELF_DRAW: Circumstance.KONG_ON_KONG | Circumstance.KONG_REPLACEMENT},
        "last_live": {WinMethod.SELF_DRAW: Circumstance.LAST_TILE},
        "last_discard": {WinMethod.DISCARD: Circumstance.LAST_DISCARD},
        "original_call": _always(Circumstance.ORIGINAL_CALL),
        "heaven": {WinMethod.SELF_DRAW: Circumstance.BEFORE_FIRST_DISCARD},
        "earth": {WinMethod.DISCARD: Circumstance.FIRST_DISCARD},
        "east13": _always(Circumstance.THIRTEENTH_WIN),
    }

    def score(self, situation: WinSituation) -> HandScore:
        """Return points and doubles of the best arrangement, or the limit (classical §2.6 to §2.9); no minimum."""
        return score(situation)

    def settle(self, situation: WinSituation) -> WindSettlement:
        """Return the payments among all four seats (classical §2.10). Raises ``ValueError`` when the win is not
        legal."""
        return settle(situation)

    def certain(self, seat_wind: Wind, prevailing_wind: Wind, holding: Holding) -> tuple[ScoreItem, ...]:
        """Return the points and doubles that declared melds and bonus tiles secure, whether the seat wins or not."""
        return certain(seat_wind, prevailing_wind, holding)

    def result_form(self, situation: WinSituation) -> dict[str, object]:
        """Return ``legal, value, base, doubles, limit, payments``."""
        return result_form(situation)

    def match_over(self, dealer_changes: int) -> bool:
        """The match ends right after the hand that makes the sixteenth change (classical §2.1, B35)."""
        return dealer_changes >= DEALER_CHANGES


RULESET: Final = ChineseClassical()
