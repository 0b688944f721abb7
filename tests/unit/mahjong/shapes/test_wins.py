"""Complete holdings, and the ways to split them."""

import pytest
from hypothesis import given, settings

from libs.mahjong.shapes import (
    CHOW_GROUP,
    Grouping,
    encode,
    group_kind,
    group_kinds,
    groupings,
    is_chow_group,
    is_standard_win,
    is_thirteen_orphans,
    is_win,
)
from libs.mahjong.tiles import format_kinds, kind_name, parse_kinds
from tests.unit.mahjong.shapes.reference import (
    complete_holdings,
    counts_of,
    full_splits,
    holdings,
    is_complete,
    is_orphans,
)


def wins(text: str) -> bool:
    return is_win(*encode(parse_kinds(text)))


def splits(text: str) -> set[str]:
    """Each split as "55s 123m 123m …", the pair first."""
    return {
        " ".join([kind_name(grouping.pair) * 2, *(format_kinds(group_kinds(group)) for group in grouping.groups)])
        for grouping in groupings(*encode(parse_kinds(text)))
    }


@pytest.mark.parametrize(
    "text",
    [
        "11z",
        "123m11z",
        "11122233344455z",
        "11122345678999m",
        "123m456p789s11155z",
        "11123334445566m",
        "19m19p19s12345677z",
        "119m19p19s1234567z",
        "19m199p19s1234567z",
        "111222333444m55566z",
    ],
)
def test_wins(text: str) -> None:
    assert wins(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "123m",
        "12m",
        "1122m",
        "89m1p11z",
        "123z11m",
        "11m11p",
        "111m11p11z",
        "19m19p19s1234567z",
        "19m19p19s12345667z2m",
        "119m19p19s123456z5m",
        "1119m19p19s123456z",
        "119m19p199s123457z",
        "11p19p19s1234567z1m",
        "19m19p19s1234577z",
    ],
)
def test_no_wins(text: str) -> None:
    assert not wins(text)
    assert splits(text) == set()


def test_c012_seven_pairs_are_no_shape_but_some_are_groups_and_a_pair() -> None:
    assert not wins("113355m2277p44s66z")
    assert wins("112233m778899p55s")
    assert splits("112233m778899p55s") == {"5s5s 123m 123m 789p 789p"}


def test_c016_the_pair_may_come_out_of_four_of_a_kind() -> None:
    assert wins("23333445m678p234s")
    assert "3m3m 234m 345m 678p 234s" in splits("23333445m678p234s")


def test_c016_four_melds_still_need_a_pair() -> None:
    assert not wins("6p4s")
    assert wins("66p")
    assert groupings(*encode(parse_kinds("66p"))) == (Grouping(pair=14, groups=()),)


def test_every_split_of_an_ambiguous_holding_is_listed_once() -> None:
    assert splits("111222333m55z") == {"5z5z 111m 222m 333m", "5z5z 123m 123m 123m"}
    assert splits("22333444555566m") == {"6m6m 555m 234m 234m 345m"}
    assert splits("22233344455566m") == {
        "6m6m 222m 333m 444m 555m",
        "6m6m 555m 234m 234m 234m",
        "6m6m 222m 345m 345m 345m",
        "3m3m 222m 345m 456m 456m",
    }


def test_groups_are_small_integers() -> None:
    chow, pung = CHOW_GROUP + 9, 33
    assert (is_chow_group(chow), group_kind(chow), group_kinds(chow)) == (True, 9, (9, 10, 11))
    assert (is_chow_group(pung), group_kind(pung), group_kinds(pung)) == (False, 33, (33, 33, 33))


def agree_with_every_split(kinds: list[int]) -> None:
    counts, codes = counts_of(kinds), encode(kinds)
    expected = full_splits(counts)
    found = groupings(*codes)
    assert len(found) == len(set(found))
    assert {(grouping.pair, tuple(sorted(grouping.groups))) for grouping in found} == expected
    assert is_standard_win(*codes) == bool(expected)
    assert is_thirteen_orphans(*codes) == is_orphans(counts)
    assert is_win(*codes) == is_complete(counts)


@settings(max_examples=150, deadline=None)
@given(complete_holdings(most_groups=5))
def test_complete_holdings_have_all_their_splits(kinds: list[int]) -> None:
    assert is_win(*encode(kinds))
    agree_with_every_split(kinds)


@settings(max_examples=200, deadline=None)
@given(holdings(sizes=(2, 3, 4, 5, 8, 11, 14, 17), most_kinds=9))
def test_any_holding_agrees_with_trying_every_split(kinds: list[int]) -> None:
    agree_with_every_split(kinds)
