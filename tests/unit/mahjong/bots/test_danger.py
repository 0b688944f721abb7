"""Which discards are dangerous."""

from __future__ import annotations

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from libs.mahjong.bots.danger import dangers, waiting_chance
from libs.mahjong.bots.guidance import AnyWin, guidance_for
from libs.mahjong.bots.position import position_of
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.tiles import parse_kinds
from tests.unit.mahjong.engine.builders import Table, playing

HKOS = ruleset("hkos-3-v1")


def danger(table: Table, wind: str, kind: str) -> float:
    view = table.view(wind)
    return dangers(view, position_of(view), guidance_for(HKOS))[parse_kinds(kind)[0]]


def test_the_suit_that_a_seat_collects_is_the_most_dangerous() -> None:
    table = playing({"E": "258m258p258s"}, melds={"S": "chow 123m, chow 789m, pung 5z"}, live=30, ruleset=HKOS)
    assert danger(table, "E", "5m") > 3 * danger(table, "E", "5p")


def test_what_the_seat_passed_since_its_last_discard_is_safe_from_it() -> None:
    melds = {"S": "chow 123m, chow 789m, pung 5z"}
    table = playing({"E": "25m", "W": "5m", "N": "3p"}, turn="W", melds=melds, live=30, ruleset=HKOS)
    risk = danger(table, "E", "5m")
    table.discard("W", "5m")
    assert danger(table, "E", "5m") < 0.3 * risk


def test_honours_of_which_nobody_can_hold_another_are_safe() -> None:
    table = playing({"E": "3z"}, river={"S": "3z", "W": "3z", "N": "3z"}, live=20, ruleset=HKOS)
    assert danger(table, "E", "3z") == 0.0


def test_more_melds_and_less_wall_mean_more_danger() -> None:
    for live in (80, 40, 5):
        chances = [waiting_chance(melds, live) for melds in range(5)]
        assert chances == sorted(chances)
    for melds in range(5):
        assert waiting_chance(melds, 5) > waiting_chance(melds, 80)


def test_a_ruleset_without_guidance_is_played_for_any_win() -> None:
    from tests.unit.mahjong.engine.rulesets import Plain

    assert isinstance(guidance_for(Plain()), AnyWin)
