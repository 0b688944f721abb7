"""What classical advises computer players."""

from __future__ import annotations

import json
from importlib import resources

import pytest

from libs.mahjong.bots import choose
from libs.mahjong.bots.calling import called_worth
from libs.mahjong.bots.guidance import guidance_for
from libs.mahjong.bots.plans import Form, Plan, lacking
from libs.mahjong.bots.position import Position
from libs.mahjong.engine.actions import ActionType
from libs.mahjong.melds import Meld, chow, pung
from libs.mahjong.notation import parse_line
from libs.mahjong.shapes import encode
from libs.mahjong.tiles import COPIES, REGULAR_KINDS, parse_kinds, parse_tiles
from libs.mahjong.variants.classical import RULESET
from libs.mahjong.variants.classical.guidance import GUIDANCE
from tests.unit.mahjong.bots.positions import held
from tests.unit.mahjong.engine.builders import dealt

GOLDEN = resources.files("libs.mahjong.variants.classical").joinpath("golden")
EAST_GETS, OTHERS_GET = 6, 4
"""How often the value of a hand comes in."""


def melds(*texts: str) -> tuple[Meld, ...]:
    return tuple(
        (chow if len(set(text)) == 4 else pung)(parse_tiles(text)[1:], parse_tiles(text)[0], 3) for text in texts
    )


def of_form(plans: tuple[Plan, ...], form: Form, *suits: int) -> list[Plan]:
    return [plan for plan in plans if plan.form is form and plan.suits == suits]


def test_the_ruleset_brings_its_guidance() -> None:
    assert guidance_for(RULESET) is GUIDANCE


def test_every_golden_win_lies_within_a_plan_that_pays() -> None:
    checked = 0
    for line in GOLDEN.joinpath("vectors", "random.jsonl").read_text().splitlines()[:400]:
        if not json.loads(line)["expected"]["legal"]:
            continue
        _, situation = parse_line(line)
        holding, winning = situation.holding, situation.winning
        assert winning is not None
        unseen = [COPIES] * REGULAR_KINDS
        concealed = (*holding.concealed, winning)
        for kind in (*concealed, *(kind for meld in holding.melds for kind in meld.kinds)):
            unseen[kind] -= 1
        at_hand = Position(
            encode(concealed), holding.melds, holding.bonus, situation.seat_wind, situation.prevailing_wind,
            tuple(unseen), 8 - len(holding.bonus), 1,
        )  # fmt: skip
        found = [plan for plan in GUIDANCE.plans(at_hand) if lacking(plan, at_hand.codes, at_hand.groups) == 0]
        assert any(prize.discarded for plan in found for prize in plan.prizes)
        checked += 1
    assert checked > 300


def test_chows_are_a_plan_until_a_pung_lies_open_and_pungs_until_a_chow_does() -> None:
    assert of_form(GUIDANCE.plans(held("123m456p789s1122z1p")), Form.CHOWS, 0, 1, 2, 3)
    assert not of_form(GUIDANCE.plans(held("456p789s1122z", "555s")), Form.CHOWS, 0, 1, 2, 3)
    assert not of_form(GUIDANCE.plans(held("456p789s1122z", "345s")), Form.PUNGS, 0, 1, 2, 3)


@pytest.mark.parametrize(("seat_wind", "times"), [(0, EAST_GETS), (1, OTHERS_GET), (3, OTHERS_GET)])
def test_what_a_win_brings_depends_on_the_seat(seat_wind: int, times: int) -> None:
    (plan,) = of_form(GUIDANCE.plans(held("456p789s99s78m", "345s", seat_wind=seat_wind)), Form.CHOWS, 0, 1, 2, 3)
    assert [prize.discarded for prize in plan.prizes] == [times * 20]
    assert [prize.drawn for prize in plan.prizes] == [times * 24]


def test_two_dragons_make_a_plan_with_the_pair_of_the_third() -> None:
    small = [plan for plan in GUIDANCE.plans(held("123m555666z7z1p2s9s5p")) if plan.pair is not None]
    assert {plan.pair for plan in small} == {parse_kinds("7z")[0]}


def test_limits_within_reach_are_plans() -> None:
    orphans = of_form(GUIDANCE.plans(held("1m9m1p9p1s9s123456z5m")), Form.ORPHANS, 0, 1, 2, 3)
    assert [prize.discarded for prize in orphans[0].prizes] == [EAST_GETS * 1000]
    assert of_form(GUIDANCE.plans(held("1122334455z1m2p3s")), Form.PUNGS, 3)
    one_suit = of_form(GUIDANCE.plans(held("1123345667789p", seat_wind=2)), Form.ANY, 1)
    assert max(prize.drawn for prize in one_suit[0].prizes) == OTHERS_GET * 1000


def test_melds_of_one_suit_and_of_dragons_threaten_more() -> None:
    def loss(*texts: str, seat_wind: int = 1) -> float:
        return GUIDANCE.expected_loss(melds(*texts), (), seat_wind, 0)

    assert loss("123m", "456m") > loss("123m", "456p") > 0
    assert loss("555z", "456p") > loss("222s", "456p")
    assert loss("123m", seat_wind=0) > loss("123m")


def test_an_original_call_is_worth_what_it_may_win_with() -> None:
    waiting = held("234m567m345p67s99p", seat_wind=1)
    called = called_worth(RULESET, waiting, waiting.codes)
    # One tile kind less to win with, and none at all.
    kinds = list(waiting.unseen)
    kinds[parse_kinds("8s")[0]] = 0
    fewer = Position(waiting.codes, (), (), 1, 0, tuple(kinds), 8, waiting.turns)
    kinds[parse_kinds("5s")[0]] = 0
    none = Position(waiting.codes, (), (), 1, 0, tuple(kinds), 8, waiting.turns)
    assert called > called_worth(RULESET, fewer, waiting.codes) > called_worth(RULESET, none, waiting.codes) == 0.0


def test_planning_players_call_when_they_are_ready_and_stay_frozen() -> None:
    table = dealt({"E": "234m567m345p67s99p"}, front="1z", ruleset=RULESET)
    action = choose(table.view("E"), 3, seed=1)
    assert (action.type, action.tiles) == (ActionType.ORIGINAL_CALL, table.held("E", "1z"))


def test_a_call_for_a_tile_that_can_never_come_is_worth_nothing() -> None:
    fifth = held("1111m234p567p789s")
    assert called_worth(RULESET, fifth, fifth.codes) == 0.0
