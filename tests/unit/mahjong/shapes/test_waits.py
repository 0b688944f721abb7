"""The kinds that complete a holding."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from libs.mahjong.shapes import encode, iter_kinds, orphans_waits, shape_waits, standard_waits, waits
from libs.mahjong.tiles import format_kinds, parse_kinds
from tests.unit.mahjong.shapes.reference import complete_holdings, counts_of, holdings, is_orphans, waiting_kinds


def waits_of(text: str) -> str:
    return format_kinds(iter_kinds(waits(*encode(parse_kinds(text)))))


def shape_waits_of(text: str) -> str:
    return format_kinds(iter_kinds(shape_waits(*encode(parse_kinds(text)))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1m", "1m"),
        ("7z", "7z"),
        ("1112345678999m", "123456789m"),
        ("123m456p789s11m55z", "14m5z"),
        ("23m55z", "14m"),
        ("12m55z", "3m"),
        ("13m55z", "2m"),
        ("2345m", "25m"),
        ("2333m", "124m"),
        ("55p55z", "5p5z"),
        ("19m19p19s1234567z", "19m19p19s1234567z"),
        ("119m19p19s123456z", "7z"),
        ("1m199p19s1234567z", "9m"),
        ("19m19p19s1234566z", "7z"),
        ("19m19p11s1234567z", "9s"),
        ("1119m19p19s12345z", ""),
        ("119m19p19s12345z5m", ""),
        ("2m19p19s1234567z1m", ""),
        ("147m258p369s1234z", ""),
        ("55p5z5s", ""),
    ],
)
def test_waits(text: str, expected: str) -> None:
    assert waits_of(text) == expected


def test_the_fifth_copy_is_a_wait_by_shape_only() -> None:
    assert (waits_of("3333m"), shape_waits_of("3333m")) == ("", "3m")
    assert (waits_of("5555z"), shape_waits_of("5555z")) == ("", "5z")
    assert (waits_of("4444555m"), shape_waits_of("4444555m")) == ("36m", "346m")
    assert shape_waits_of("147m258p369s1111z") == ""


def agree_with_trying_every_kind(kinds: list[int]) -> None:
    counts, codes = counts_of(kinds), encode(kinds)
    expected = waiting_kinds(counts)
    assert set(iter_kinds(waits(*codes))) == expected
    assert waits(*codes) == standard_waits(*codes) | orphans_waits(*codes)
    assert standard_waits(*codes) & orphans_waits(*codes) == 0
    orphans = {kind for kind in expected if is_orphans(counts_of([*kinds, kind]))}
    assert set(iter_kinds(orphans_waits(*codes))) == orphans
    assert set(iter_kinds(shape_waits(*codes))) == waiting_kinds(counts, most_copies=5)


@settings(max_examples=60, deadline=None)
@given(complete_holdings(most_groups=5), st.data())
def test_a_complete_holding_without_a_tile_waits_for_it(kinds: list[int], data: st.DataObject) -> None:
    missing = data.draw(st.sampled_from(kinds))
    kinds.remove(missing)
    assert waits(*encode(kinds)) >> missing & 1
    agree_with_trying_every_kind(kinds)


@settings(max_examples=80, deadline=None)
@given(holdings(sizes=(1, 4, 7, 10, 13, 16), most_kinds=9))
def test_any_holding_agrees_with_trying_every_kind(kinds: list[int]) -> None:
    agree_with_trying_every_kind(kinds)
