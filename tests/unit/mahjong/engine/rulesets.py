"""Small rulesets for tests of the engine alone: every winning shape may win, and nothing is worth anything."""

from libs.mahjong.engine.ruleset import RatedUnit, ReadyStep, Ruleset, WallEnd, WallLayout
from libs.mahjong.scores import HandScore, WindSettlement, WinSituation


class Plain(Ruleset):
    """One wall with two ends, as in Hong Kong."""

    id = "plain"
    name = "Plain"
    rated_unit = RatedUnit.HAND
    starting_points = 0
    wall = WallLayout(kong_box=0, bonus_from=WallEnd.BACK, kong_from=WallEnd.BACK)
    ready_step = ReadyStep(seconds=30, automatic=False)

    def score(self, situation: WinSituation) -> HandScore:
        return HandScore(legal=True, total=1, value=1, items=())

    def settle(self, situation: WinSituation) -> WindSettlement:
        scores = tuple(self.score(situation) if wind == situation.seat_wind else None for wind in range(4))
        return WindSettlement(situation.seat_wind, scores, (), (0, 0, 0, 0))


class Boxed(Plain):
    """A kong box, an opening round for kongs and Original Calls, as in Chinese Classical."""

    id = "boxed"
    name = "Boxed"
    wall = WallLayout(kong_box=16, bonus_from=WallEnd.FRONT, kong_from=WallEnd.KONG_BOX)
    opening_kongs = True
    original_call = True
    reveals_all = True


class Strict(Plain):
    """No win is ever worth the minimum."""

    id = "strict"
    name = "Strict"

    def score(self, situation: WinSituation) -> HandScore:
        return HandScore(legal=False, total=0, value=0, items=())


PLAIN = Plain()
BOXED = Boxed()
STRICT = Strict()
