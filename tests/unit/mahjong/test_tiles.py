"""Ids, kinds and notation of the 144 tiles."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.mahjong import tiles
from libs.mahjong.tiles import (
    KIND_COUNT,
    KIND_OF,
    REGULAR_KINDS,
    TILE_COUNT,
    NotationError,
    format_kinds,
    format_tiles,
    kind_name,
    kind_of,
    parse_kinds,
    parse_tiles,
    tiles_of_kind,
)


def test_the_set_has_four_of_each_regular_kind_and_one_of_each_bonus_kind() -> None:
    copies = Counter(KIND_OF)
    assert TILE_COUNT == len(KIND_OF) == 144
    assert copies == {kind: 4 if kind < REGULAR_KINDS else 1 for kind in range(KIND_COUNT)}


def test_tiles_of_a_kind_are_its_ids() -> None:
    assert tiles_of_kind(0) == (0, 1, 2, 3)
    assert tiles_of_kind(tiles.WHITE) == (132, 133, 134, 135)
    assert tiles_of_kind(34) == (136,)
    assert tiles_of_kind(41) == (143,)
    assert sorted(tile for kind in range(KIND_COUNT) for tile in tiles_of_kind(kind)) == list(range(TILE_COUNT))


@pytest.mark.parametrize("tile", [-1, 144])
def test_an_id_outside_the_set_has_no_kind(tile: int) -> None:
    with pytest.raises(IndexError):
        kind_of(tile)


@pytest.mark.parametrize(
    ("text", "terminal", "honour", "major", "simple", "bonus"),
    [
        ("1m9m1p9p1s9s", True, False, True, False, False),
        ("2345678m2345678p2345678s", False, False, False, True, False),
        ("1234567z", False, True, True, False, False),
        ("1234f1234g", False, False, False, False, True),
    ],
)
def test_classes_of_kinds(text: str, terminal: bool, honour: bool, major: bool, simple: bool, bonus: bool) -> None:
    for kind in parse_kinds(text):
        assert (tiles.is_terminal(kind), tiles.is_honour(kind), tiles.is_major(kind)) == (terminal, honour, major)
        assert (tiles.is_simple(kind), tiles.is_bonus(kind)) == (simple, bonus)
        assert tiles.is_wind(kind) == (kind in parse_kinds("1234z"))
        assert tiles.is_dragon(kind) == (kind in parse_kinds("567z"))


def test_named_kinds_have_their_notation() -> None:
    assert [kind_name(kind) for kind in tiles.WIND_KINDS] == ["1z", "2z", "3z", "4z"]
    assert [kind_name(kind) for kind in (tiles.RED, tiles.GREEN, tiles.WHITE)] == ["5z", "6z", "7z"]
    assert format_kinds(tiles.MAJOR_KINDS) == "19m19p19s1234567z"
    assert format_kinds(tiles.FLOWER_KINDS + tiles.SEASON_KINDS) == "1234f1234g"


def test_suits_and_ranks() -> None:
    assert [(tiles.suit_of(kind), tiles.rank_of(kind)) for kind in parse_kinds("1m9p5s7z4f1g")] == [
        (tiles.CHARACTERS, 1),
        (tiles.DOTS, 9),
        (tiles.BAMBOO, 5),
        (tiles.HONOURS, 7),
        (tiles.FLOWERS, 4),
        (tiles.SEASONS, 1),
    ]


def test_bonus_tiles_belong_to_the_seat_wind_of_their_number() -> None:
    assert [tiles.bonus_wind(kind) for kind in parse_kinds("1234f1234g")] == [0, 1, 2, 3, 0, 1, 2, 3]
    with pytest.raises(ValueError, match="1m is not a bonus tile"):
        tiles.bonus_wind(0)


def test_kinds_are_read_in_the_order_written() -> None:
    assert parse_kinds("234m55z1f") == (1, 2, 3, 31, 31, 34)
    assert parse_kinds("1m9m1p") == (0, 8, 9)
    assert parse_kinds(" 99p  1p\n1g ") == (17, 17, 9, 38)
    assert parse_kinds("") == ()


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("12", 0),
        ("123m45", 4),
        ("m", 0),
        ("12m p", 4),
        ("1 m", 1),
        ("0m", 0),
        ("18z", 1),
        ("5f", 0),
        ("1m2x", 3),
        ("1m,2m", 2),
        ("1M", 1),
        ("²m", 0),
    ],
)
def test_what_is_no_notation_is_refused_with_its_place(text: str, position: int) -> None:
    with pytest.raises(NotationError) as caught:
        parse_kinds(text)
    assert (caught.value.text, caught.value.position) == (text, position)
    assert repr(text) in str(caught.value)


def test_equal_kinds_become_distinct_tiles() -> None:
    assert parse_tiles("1m1m11m2m") == (0, 1, 2, 3, 4)
    assert parse_tiles("1f4g") == (136, 143)


@pytest.mark.parametrize(("text", "position"), [("11111m", 4), ("1111z 1z", 6), ("2f2f", 2)])
def test_more_copies_than_the_set_has_are_refused(text: str, position: int) -> None:
    with pytest.raises(NotationError, match="the set has only") as caught:
        parse_tiles(text)
    assert caught.value.position == position


def test_formatting_sorts_and_groups() -> None:
    assert format_kinds((38, 34, 31, 0, 31, 8, 9)) == "19m1p55z1f1g"
    assert format_kinds(()) == ""
    with pytest.raises(ValueError, match="no kind has the number 42"):
        format_kinds((42,))


@given(st.lists(st.integers(0, TILE_COUNT - 1), unique=True))
def test_notation_round_trips(hand: list[int]) -> None:
    kinds = sorted(KIND_OF[tile] for tile in hand)
    text = format_tiles(hand)
    assert list(parse_kinds(text)) == kinds
    again = parse_tiles(text)
    assert len(set(again)) == len(again)
    assert [KIND_OF[tile] for tile in again] == kinds
