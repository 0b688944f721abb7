"""Holdings as four small integers."""

import pytest
from hypothesis import given

from libs.mahjong.shapes import (
    EMPTY,
    SUIT_OF_KIND,
    UNIT_OF_KIND,
    count,
    encode,
    iter_kinds,
    kinds_in,
    mask_of,
    size,
    with_tile,
    without_tile,
)
from libs.mahjong.tiles import REGULAR_KINDS, parse_kinds
from tests.unit.mahjong.shapes.reference import holdings


def test_each_suit_has_its_own_code_with_the_lowest_rank_first() -> None:
    assert encode(parse_kinds("1m")) == (1, 0, 0, 0)
    assert encode(parse_kinds("9p")) == (0, 5**8, 0, 0)
    assert encode(parse_kinds("3333s")) == (0, 0, 4 * 25, 0)
    assert encode(parse_kinds("7z1z")) == (0, 0, 0, 5**6 + 1)
    assert encode(()) == EMPTY


@given(holdings(sizes=(1, 5, 13, 14, 17)))
def test_codes_hold_what_was_encoded(kinds: list[int]) -> None:
    codes = encode(kinds)
    assert list(kinds_in(codes)) == sorted(kinds)
    assert size(codes) == len(kinds)
    assert [count(codes, kind) for kind in range(REGULAR_KINDS)] == [kinds.count(kind) for kind in range(REGULAR_KINDS)]


def test_one_tile_more_or_less_is_one_addition() -> None:
    for kind in range(REGULAR_KINDS):
        codes = [0, 0, 0, 0]
        codes[SUIT_OF_KIND[kind]] = UNIT_OF_KIND[kind]
        assert with_tile(EMPTY, kind) == tuple(codes) == encode([kind])
        assert without_tile(encode([kind, kind]), kind) == encode([kind])


@pytest.mark.parametrize("kinds", [(34,), (-1,), (0, 0, 0, 0, 0)])
def test_what_no_holding_has_is_refused(kinds: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"regular kinds only|a fifth 1m"):
        encode(kinds)


def test_masks_list_their_kinds_ascending() -> None:
    assert list(iter_kinds(0)) == []
    assert list(iter_kinds(mask_of((33, 0, 8)))) == [0, 8, 33]
