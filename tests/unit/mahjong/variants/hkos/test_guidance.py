"""What hkos-3-v1 advises computer players."""

from __future__ import annotations

import itertools
import json
from importlib import resources

import pytest

from libs.mahjong.bots.guidance import guidance_for
from libs.mahjong.bots.plans import Form, Plan, lacking
from libs.mahjong.bots.position import Position
from libs.mahjong.melds import chow, pung
from libs.mahjong.notation import read_situation
from libs.mahjong.scores import Circumstance, WinMethod, WinSituation
from libs.mahjong.shapes import encode
from libs.mahjong.tiles import COPIES, HONOURS, REGULAR_KINDS, parse_kinds, parse_tiles
from libs.mahjong.variants.hkos import RULESET
from libs.mahjong.variants.hkos.guidance import GUIDANCE, bonus_faan, honour_faan
from libs.mahjong.variants.hkos.payments import discard_points

GOLDEN = resources.files("libs.mahjong.variants.hkos").joinpath("golden")


def complete(situation: WinSituation) -> Position:
    """The winner's tiles with the winning one, all others unseen, near the end of the wall."""
    holding = situation.holding
    concealed = (*holding.concealed, *(() if situation.winning is None else (situation.winning,)))
    unseen = [COPIES] * REGULAR_KINDS
    for kind in (*concealed, *(kind for meld in holding.melds for kind in meld.kinds)):
        unseen[kind] -= 1
    return Position(
        encode(concealed),
        holding.melds,
        holding.bonus,
        situation.seat_wind,
        situation.prevailing_wind,
        tuple(unseen),
        8 - len(holding.bonus),
        1,
    )


def position(tiles: str, bonus: str = "", seat_wind: int = 0) -> Position:
    kinds = parse_kinds(tiles)
    unseen = [COPIES] * REGULAR_KINDS
    for kind in kinds:
        unseen[kind] -= 1
    shown = parse_kinds(bonus)
    return Position(encode(kinds), (), shown, seat_wind, 0, tuple(unseen), 8 - len(shown), 15)


def plans(tiles: str, bonus: str = "", seat_wind: int = 0) -> tuple[Plan, ...]:
    return GUIDANCE.plans(position(tiles, bonus, seat_wind))


def test_the_ruleset_brings_its_guidance() -> None:
    assert guidance_for(RULESET) is GUIDANCE


def test_every_golden_win_lies_within_a_plan_that_pays() -> None:
    """Wins that owe their three faan to the circumstances or to limit hands of luck are nobody's plan."""
    checked = 0
    files = (GOLDEN.joinpath("hands.jsonl"), GOLDEN.joinpath("vectors", "random.jsonl"))
    for line in itertools.chain.from_iterable(file.read_text().splitlines() for file in files):
        data = json.loads(line)
        situation = read_situation({key: value for key, value in data.items() if key not in ("id", "expected")})[1]
        score = RULESET.score(situation)
        by_luck = {"KR", "RK", "LT", "HH", "EH"} & {item.pattern for item in score.items}
        if not score.legal or by_luck or situation.circumstances != Circumstance.NONE:
            continue
        if {"S4", "B4", "FK", "NG", "AT"} & {item.pattern for item in score.items}:
            continue
        at_hand = complete(situation)
        found = [plan for plan in GUIDANCE.plans(at_hand) if lacking(plan, at_hand.codes, at_hand.groups) == 0]
        drawn = situation.method is WinMethod.SELF_DRAW
        paid = max((prize.drawn if drawn else prize.discarded for plan in found for prize in plan.prizes), default=0.0)
        assert paid > 0, data["id"]
        checked += 1
    assert checked > 20


@pytest.mark.parametrize(
    ("bonus", "faan"), [("", 0), ("2f", 0), ("1f", 1), ("1f1g", 2), ("1234f", 2), ("1234f1g", 3), ("1234f1234g", 8)]
)
def test_bonus_tiles_of_east(bonus: str, faan: int) -> None:
    assert bonus_faan(parse_kinds(bonus), 0) == faan


@pytest.mark.parametrize(("kind", "faan"), [("1z", 1), ("2z", 1), ("3z", 0), ("5z", 1), ("9m", 0)])
def test_a_pung_of_south_in_the_east_round(kind: str, faan: int) -> None:
    assert honour_faan(parse_kinds(kind)[0], 1, 0) == faan


def test_the_own_wind_of_the_round_counts_twice() -> None:
    assert honour_faan(parse_kinds("1z")[0], 0, 0) == 2


def test_sequences_with_a_foreign_flower_are_no_plan() -> None:
    assert not any(plan.form is Form.CHOWS and len(plan.suits) == 4 for plan in plans("123m456p789s1122z1p", "2f"))


def test_sequences_without_bonus_tiles_must_be_drawn_and_with_own_ones_may_be_claimed() -> None:
    (hidden,) = (p for p in plans("123m456p789s1122z1p") if p.form is Form.CHOWS and len(p.suits) == 4)
    assert all(prize.discarded == 0 for prize in hidden.prizes)
    assert max(prize.drawn for prize in hidden.prizes) == 1.5 * discard_points(3)
    (own,) = (p for p in plans("123m456p789s1122z1p", "1f1g") if p.form is Form.CHOWS and len(p.suits) == 4)
    assert [prize.discarded for prize in own.prizes] == [discard_points(3)]


def test_two_dragons_and_the_pair_of_the_third_are_five_faan() -> None:
    (small,) = (
        plan
        for plan in plans("123m555666z7z1p2s9s5p", "2f")
        if plan.pair is not None and plan.form is Form.ANY and plan.suits == (0, 1, 2, 3)
    )
    assert small.pungs == parse_kinds("56z")
    assert [prize.discarded for prize in small.prizes] == [discard_points(5)]


def test_a_declared_chow_rules_out_pungs_and_other_suits() -> None:
    tiles = parse_tiles("345p")
    start = position("1122p55z66z7z9s")
    after = Position(
        start.codes, (chow(tiles[1:], tiles[0], 3),), (), 0, 0, start.unseen, start.unseen_bonus, start.turns
    )
    found = GUIDANCE.plans(after)
    assert not any(plan.form is Form.PUNGS for plan in found)
    assert {plan.suits for plan in found if len(plan.suits) < 4} == {(1, HONOURS), (1,)}


def test_melds_of_one_suit_threaten_more_than_mixed_ones() -> None:
    def shown(*texts: str) -> float:
        melds = tuple((pung if "z" in text else chow)(parse_tiles(text)[1:], parse_tiles(text)[0], 3) for text in texts)
        return GUIDANCE.expected_loss(melds, parse_kinds("2f"), 0, 0)

    assert shown("123m", "456m") > shown("123m", "456p")
    assert shown() >= discard_points(3)
