"""Which names may be had, and which are too alike."""

from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.accounts.guest_names import QUALITIES, THINGS, made_up_name
from services.accounts.names import LONGEST, SHORTEST, NameInvalid, name_key, read_name


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("Ann", "Ann"),
        ("  Ann   Lee ", "Ann Lee"),
        ("Ａｎｎ", "Ann"),
        ("Ann\u00a0Lee", "Ann Lee"),
        ("Zoe\u0308", "Zoë"),
        ("王小明", "王小明"),
        ("ﬁsh", "fish"),
        ("<b>x</b>", "<b>x</b>"),
        ("🀄🀅", "🀄🀅"),
        ("สมชาย", "สมชาย"),
        ("x" * 20, "x" * 20),
    ],
)
def test_c135_a_name_is_shown_in_its_normal_form(typed: str, shown: str) -> None:
    assert read_name(typed).shown == shown


@pytest.mark.parametrize(
    "typed",
    [
        *("", " ", "   ", "x", "x" * 21, "x" * 10_000, "\u3000\u3000", " x "),
        *("a\u202eb", "a\u2066b", "a\u200bb", "\u200b\u200b", "a\u200db", "a\ufeffb", "a\u00adb", "a\u2060b"),
        *("a\nb", "a\tb", "a\0b", "a\x7fb", "a\u0085b", "a\u2028b", "a\ue000b", "a\U000e0041b", "a\u0378b"),
        *("\u115f\u1160", "\u3164\u3164", "\uffa0x", "\u2800\u2800", "a\u034fb", "a\ufe0fb", "a\u1680b"),
        *("\u0301\u0301", "a" + "\u0335" * 5, "ab \u0301"),
        "\ufdfa\ufdfa",
    ],
)
def test_c135_a_name_that_hides_something_is_refused(typed: str) -> None:
    with pytest.raises(NameInvalid) as caught:
        read_name(typed)
    assert caught.value.reason == "NAME_INVALID"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wind Rider", "wind rider"),
        ("Wind Rider", "ＷＩＮＤ　ＲＩＤＥＲ"),
        ("Straße", "STRASSE"),
        ("paypal", "раураl"),
        ("Paul", "PauI"),
        ("Paul", "Pau1"),
        ("Bob", "B0b"),
        ("Σίσυφος", "ΣΊΣΥΦΟΣ"),
        ("HANK", "НАΝК"),
    ],
)
def test_names_that_look_alike_have_one_key(one: str, other: str) -> None:
    assert read_name(one).key == read_name(other).key


def test_names_that_differ_have_their_own_keys() -> None:
    names = ("Ann", "Anna", "Anne", "Ånn", "An n", "王小明", "王小朋", "Guest 11", "Guest 10", "Guest 12")
    assert len({read_name(name).key for name in names}) == len(names)


@given(st.text(max_size=30))
def test_every_text_is_a_name_of_bounded_length_or_is_refused(text: str) -> None:
    try:
        name = read_name(text)
    except NameInvalid:
        return
    assert SHORTEST <= len(name.shown) <= LONGEST
    assert unicodedata.is_normalized("NFKC", name.shown)
    assert read_name(name.shown) == name
    assert name_key(name.key) == name.key


def test_every_made_up_name_is_one() -> None:
    chance = random.Random(1)
    for attempt in range(4):
        made = made_up_name(attempt, chance)
        assert read_name(made).shown == made
    longest = f"{max(QUALITIES, key=len)} {max(THINGS, key=len)} 999"
    assert read_name(longest).shown == longest
    keys = {read_name(f"{quality} {thing}").key for quality in QUALITIES for thing in THINGS}
    assert len(keys) == len(QUALITIES) * len(THINGS)
