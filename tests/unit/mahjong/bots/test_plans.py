"""How far a hand is from a plan, and what brings it nearer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.mahjong.bots.plans import EVERY_SUIT, Form, Plan, Prize, improving, lacking
from libs.mahjong.shapes import Codes, count, encode, kinds_in, mask_of, standard_distance, with_tile, without_tile
from libs.mahjong.tiles import COPIES, HONOURS, REGULAR_KINDS, REGULAR_TILES, SUIT_OF_KIND, parse_kinds

PRIZES = (Prize(1.0, 8.0, 12.0),)
FORMS = [Form.ANY, Form.CHOWS, Form.PUNGS]
SUITS = [EVERY_SUIT, (0,), (1, HONOURS), (2, HONOURS), (HONOURS,)]


def plan(form: Form = Form.ANY, suits: tuple[int, ...] = EVERY_SUIT, pungs: str = "", pair: str = "") -> Plan:
    return Plan(form, suits, parse_kinds(pungs), parse_kinds(pair)[0] if pair else None, PRIZES)


def codes(text: str) -> Codes:
    return encode(parse_kinds(text))


holdings = st.integers(1, 4).flatmap(
    lambda groups: st.lists(
        st.integers(0, REGULAR_TILES - 1), min_size=3 * groups + 1, max_size=3 * groups + 1, unique=True
    ).map(lambda tiles: encode(tile // COPIES for tile in tiles))
)
plans = st.builds(
    plan,
    st.sampled_from(FORMS),
    st.sampled_from(SUITS),
)


@pytest.mark.parametrize(
    ("of", "tiles", "lacks", "helps"),
    [
        (plan(), "123m456p789s1122z1p", 1, "12z"),
        (plan(suits=(0, HONOURS)), "123456m11z99p55s1m", 5, ""),
        (plan(suits=(0, HONOURS)), "123456789m1122z", 1, "12z"),
        (plan(suits=(0,)), "123456789m1122z", 5, ""),
        (plan(Form.PUNGS), "111m222p33s44s55z1z", 2, "34s5z"),
        (plan(Form.PUNGS), "111m222p333s4455z", 1, "45z"),
        (plan(Form.CHOWS), "123m456p789s11s12p", 1, "3p"),
        (plan(Form.CHOWS), "123m456p789s1111z", 3, ""),
        (plan(pungs="5z"), "123m456p78s99s555z", 1, "69s"),
        (plan(pungs="5z"), "123m456p789s99s55z", 1, "5z"),
        (plan(pungs="5z"), "123m456p789s99s5z1m", 2, "5z"),
        (plan(pungs="56z", pair="7z"), "123m55z66z77z2349p", 2, "56z"),
        (plan(pungs="56z", pair="7z"), "123m555z666z7z234p", 1, "7z"),
        (plan(Form.ORPHANS), "19m19p19s1234567z", 1, "19m19p19s1234567z"),
        (plan(Form.ORPHANS), "199m19p19s123456z", 1, "7z"),
    ],
)
def test_what_a_hand_lacks_and_what_helps(of: Plan, tiles: str, lacks: int, helps: str) -> None:
    holding = codes(tiles)
    groups = 4
    assert lacking(of, holding, groups) == lacks
    if helps:
        assert improving(of, holding, groups) == mask_of(parse_kinds(helps))


def test_declared_groups_are_not_asked_for_again() -> None:
    assert lacking(plan(suits=(0, HONOURS)), codes("1234m55z1s"), 2) == 2
    assert lacking(plan(suits=(0, HONOURS), pungs="567z"), codes("12m5z"), 2) > 14


@given(holdings)
def test_the_freest_plan_is_as_far_as_any_win(holding: Codes) -> None:
    groups = len(kinds_in(holding)) // 3
    assert lacking(plan(), holding, groups) == standard_distance(*holding) + 1


@settings(max_examples=150)
@given(holdings, plans)
def test_a_kind_improves_exactly_when_one_more_leaves_less_lacking(holding: Codes, of: Plan) -> None:
    groups = len(kinds_in(holding)) // 3
    lacks = lacking(of, holding, groups)
    better = mask_of(
        kind
        for kind in range(REGULAR_KINDS)
        if count(holding, kind) < COPIES and lacking(of, with_tile(holding, kind), groups) < lacks
    )
    assert improving(of, holding, groups) == better


@settings(max_examples=100)
@given(holdings, st.sampled_from([(1, HONOURS), (0, HONOURS)]), st.sampled_from(["5z", "1z", "56z"]))
def test_named_pungs_are_improved_by_their_own_kinds(holding: Codes, suits: tuple[int, ...], pungs: str) -> None:
    of = plan(suits=suits, pungs=pungs)
    groups = len(kinds_in(holding)) // 3
    if groups < len(of.pungs):
        return
    lacks = lacking(of, holding, groups)
    better = mask_of(
        kind
        for kind in range(REGULAR_KINDS)
        if count(holding, kind) < COPIES and lacking(of, with_tile(holding, kind), groups) < lacks
    )
    assert improving(of, holding, groups) == better


@given(holdings, st.sampled_from(FORMS), st.sampled_from(SUITS))
def test_tiles_of_other_suits_are_of_no_use(holding: Codes, form: Form, suits: tuple[int, ...]) -> None:
    of = plan(form, suits)
    groups = len(kinds_in(holding)) // 3
    stripped = holding
    for kind in kinds_in(holding):
        if SUIT_OF_KIND[kind] not in suits:
            stripped = without_tile(stripped, kind)
    assert lacking(of, stripped, groups) == lacking(of, holding, groups)
