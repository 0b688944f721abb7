"""Tiles away from a win, and what brings a holding nearer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.mahjong.shapes import (
    count,
    discards_by_distance,
    distance,
    encode,
    improving,
    is_standard_win,
    is_win,
    iter_kinds,
    kinds_in,
    orphans_distance,
    size,
    standard_distance,
    waits,
    with_tile,
    without_tile,
)
from libs.mahjong.shapes.encoding import Codes
from libs.mahjong.tiles import REGULAR_KINDS, format_kinds, kind_name, parse_kinds
from tests.unit.mahjong.shapes.reference import complete_holdings, counts_of, holdings, standard_tiles_away


def codes_of(text: str) -> Codes:
    return encode(parse_kinds(text))


@pytest.mark.parametrize(
    ("text", "melds", "standard", "either"),
    [
        ("123m456p789s11155z", 0, -1, -1),
        ("123m456p789s1115z", 0, 0, 0),
        ("123m456p78s111552z", 0, 0, 0),
        ("147m258p369s1234z", 0, 8, 7),
        ("147m258p369s1234z", 1, 8, 8),
        ("19m19p19s1234567z", 0, 8, 0),
        ("19m19p19s12345677z", 0, 7, -1),
        ("113355m2277p44s66z", 0, 3, 3),
        ("55z", 4, -1, -1),
        ("5z", 4, 0, 0),
        ("6p4s", 4, 0, 0),
        ("3333m", 3, 1, 1),
        ("1111222233334z", 0, 3, 3),
        ("123m456m789m123p456p7s", 0, 0, 0),
    ],
)
def test_distances(text: str, melds: int, standard: int, either: int) -> None:
    codes = codes_of(text)
    assert standard_distance(*codes) == standard
    assert distance(*codes, melds) == either


def test_thirteen_orphans_count_different_majors_and_one_pair() -> None:
    assert orphans_distance(*codes_of("234567m234567p2s")) == 13
    assert orphans_distance(*codes_of("1122334455667z")) == 5
    assert orphans_distance(*codes_of("119m19p19s123456z")) == 0


def test_a_number_of_tiles_without_a_turn_is_refused() -> None:
    for text in ("", "123m", "123456789m123456789p"):
        with pytest.raises(ValueError, match="concealed tiles"):
            distance(*codes_of(text), 0)
    for text in ("12m", "123m", "123456789m123456789p1s"):
        with pytest.raises(ValueError, match="concealed tiles"):
            improving(*codes_of(text), 0)
    with pytest.raises(ValueError, match="concealed tiles"):
        discards_by_distance(codes_of("1234m"), 3)


def test_discards_are_listed_nearest_first() -> None:
    options = discards_by_distance(codes_of("123m456p78s11155z9p"), 0)
    assert kind_name(options[0].kind) == "9p"
    assert options[0].distance == 0
    assert format_kinds(iter_kinds(options[0].improving)) == "69s"
    assert {option.kind for option in options} == set(kinds_in(codes_of("123m456p78s11155z9p")))
    assert [option.distance for option in options] == sorted(option.distance for option in options)


@settings(max_examples=25, deadline=None)
@given(holdings(sizes=(1, 2, 4, 5)))
def test_small_holdings_agree_with_trying_every_target(kinds: list[int]) -> None:
    assert standard_distance(*encode(kinds)) == standard_tiles_away(counts_of(kinds))


def drawable(codes: Codes) -> list[int]:
    return [kind for kind in range(REGULAR_KINDS) if count(codes, kind) < 4]


def agree_with_their_neighbours(codes: Codes, melds: int) -> None:
    """What makes distances right, given that wins are: each is one draw and one discard from the nearest neighbour."""
    away = distance(*codes, melds)
    if size(codes) % 3 == 2:
        nearest = min(distance(*without_tile(codes, kind), melds) for kind in set(kinds_in(codes)))
        assert away == (-1 if is_win(*codes) else nearest)
        assert (standard_distance(*codes) == -1) == is_standard_win(*codes)
        return
    drawn = {kind: distance(*with_tile(codes, kind), melds) for kind in drawable(codes)}
    assert away == min(drawn.values()) + 1
    nearer = {kind for kind, after in drawn.items() if after < away}
    assert set(iter_kinds(improving(*codes, melds))) == nearer
    assert (away == 0) == bool(waits(*codes))
    if away == 0:
        assert improving(*codes, melds) == waits(*codes)


@settings(max_examples=120, deadline=None)
@given(holdings(sizes=(1, 2, 4, 5, 7, 8, 10, 11, 13, 14, 16, 17)), st.booleans())
def test_any_holding_agrees_with_its_neighbours(kinds: list[int], five_groups: bool) -> None:
    codes = encode(kinds)
    melds = (5 if five_groups else 4) - len(kinds) // 3
    agree_with_their_neighbours(codes, max(0, melds))


@settings(max_examples=60, deadline=None)
@given(complete_holdings(), st.data())
def test_nearly_complete_holdings_agree_with_their_neighbours(kinds: list[int], data: st.DataObject) -> None:
    melds = 4 - len(kinds) // 3
    for _ in range(data.draw(st.integers(0, 3))):
        kinds.remove(data.draw(st.sampled_from(kinds)))
        kinds.append(data.draw(st.sampled_from(drawable(encode(kinds)))))
    codes = encode(kinds)
    agree_with_their_neighbours(codes, melds)
    agree_with_their_neighbours(without_tile(codes, kinds[0]), melds)


@settings(max_examples=60, deadline=None)
@given(st.permutations(parse_kinds("19m19p19s1234567z2m5p5s") * 2), st.integers(13, 14))
def test_holdings_near_thirteen_orphans_agree_with_their_neighbours(pool: list[int], tiles: int) -> None:
    agree_with_their_neighbours(encode(pool[:tiles]), 0)
