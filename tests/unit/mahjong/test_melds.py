"""Declared melds hold what they claim to hold."""

import pytest

from libs.mahjong import melds
from libs.mahjong.melds import Meld, MeldKind
from libs.mahjong.tiles import Tile, parse_tiles

WEST_SEAT = 2


def tiles(text: str) -> tuple[Tile, ...]:
    return parse_tiles(text)


def test_a_chow_sorts_its_tiles_and_remembers_the_claim() -> None:
    two, four, three = tiles("2s4s3s")
    meld = melds.chow((four, two), three, source=WEST_SEAT)
    assert meld == Meld(MeldKind.CHOW, (two, three, four), three, WEST_SEAT)
    assert meld.is_chow
    assert meld.is_exposed
    assert not meld.is_kong
    assert meld.base_kind == 19
    assert meld.kinds == (19, 20, 21)


@pytest.mark.parametrize(
    "text", ["8m9m1p", "9m1m2m", "1z2z3z", "5z6z7z", "9s1z2z", "1m1m2m", "1m2m4m", "1f2f3f", "1p2m3m"]
)
def test_what_is_no_run_is_no_chow(text: str) -> None:
    first, second, third = tiles(text)
    with pytest.raises(ValueError, match=r"no CHOW|regular tiles"):
        melds.chow((first, second), third, source=WEST_SEAT)


def test_a_pung_and_its_way_to_an_added_kong_and_back() -> None:
    first, second, third, fourth = tiles("5555z")
    pung = melds.pung((first, third), fourth, source=0)
    assert pung.tiles == (first, third, fourth)
    assert (pung.is_kong, pung.is_exposed, pung.base_kind) == (False, True, 31)

    kong = pung.promoted(second)
    assert kong == melds.added_kong(pung, second)
    assert kong.kind is MeldKind.ADDED_KONG
    assert (kong.claimed, kong.source) == (fourth, 0)
    assert (kong.is_kong, kong.is_exposed) == (True, True)
    assert kong.demoted(second) == pung


def test_only_the_fourth_tile_promotes_a_pung() -> None:
    first, second, third, fourth = tiles("5555z")
    pung = melds.pung((first, second), third, source=0)
    for wrong in (first, fourth + 1):
        with pytest.raises(ValueError, match="ADDED_KONG"):
            pung.promoted(wrong)
    with pytest.raises(ValueError, match="to a pung only"):
        pung.promoted(fourth).promoted(fourth)


def test_only_the_added_tile_can_be_robbed() -> None:
    first, second, third, fourth = tiles("5555z")
    kong = melds.pung((first, second), third, source=0).promoted(fourth)
    for wrong in (third, fourth + 1):
        with pytest.raises(ValueError, match="was not added"):
            kong.demoted(wrong)
    with pytest.raises(ValueError, match="was not added"):
        melds.claimed_kong((first, second, third), fourth, source=1).demoted(fourth)


def test_concealed_and_claimed_kongs() -> None:
    four = tiles("9999p")
    concealed = melds.concealed_kong(reversed(four))
    assert concealed == Meld(MeldKind.CONCEALED_KONG, four)
    assert (concealed.is_kong, concealed.is_exposed, concealed.claimed, concealed.source) == (True, False, None, None)

    claimed = melds.claimed_kong(four[1:], four[0], source=3)
    assert (claimed.is_kong, claimed.is_exposed, claimed.claimed, claimed.source) == (True, True, four[0], 3)


@pytest.mark.parametrize(
    ("kind", "text", "claimed", "source"),
    [
        (MeldKind.PUNG, "5555z", 0, 0),
        (MeldKind.PUNG, "55z", 0, 0),
        (MeldKind.PUNG, "556z", 0, 0),
        (MeldKind.PUNG, "555z", None, 0),
        (MeldKind.PUNG, "555z", 0, None),
        (MeldKind.PUNG, "555z", 0, 4),
        (MeldKind.CONCEALED_KONG, "555z", None, None),
        (MeldKind.CONCEALED_KONG, "5555z", 0, None),
        (MeldKind.CONCEALED_KONG, "5555z", None, 1),
        (MeldKind.CLAIMED_KONG, "5556z", 0, 1),
        (MeldKind.CLAIMED_KONG, "5555z", None, None),
    ],
)
def test_impossible_melds_are_refused(kind: MeldKind, text: str, claimed: int | None, source: int | None) -> None:
    held = tiles(text)
    with pytest.raises(ValueError, match=r"needs|is no|claimed|concealed"):
        Meld(kind, held, None if claimed is None else held[claimed], source)


def test_tiles_must_be_sorted_different_and_in_the_set() -> None:
    first, second, third = tiles("555z")
    for wrong in ((second, first, third), (first, first, second), (-1, 0, 1), (135, 136, 137)):
        with pytest.raises(ValueError, match="ascending order"):
            Meld(MeldKind.PUNG, wrong, wrong[0], 0)


def test_the_claimed_tile_must_be_in_the_meld() -> None:
    first, second, third, fourth = tiles("5555z")
    with pytest.raises(ValueError, match="not among"):
        Meld(MeldKind.PUNG, (first, second, third), fourth, 0)


def test_stored_numbers_of_meld_kinds_do_not_change() -> None:
    assert {kind.name: kind.value for kind in MeldKind} == {
        "CHOW": 1,
        "PUNG": 2,
        "CONCEALED_KONG": 3,
        "CLAIMED_KONG": 4,
        "ADDED_KONG": 5,
    }
