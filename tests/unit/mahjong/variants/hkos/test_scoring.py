"""Field cases and laws of the score at hkos-3-v1."""

import pytest

from libs.mahjong.scores import Circumstance, HandScore, WinSituation
from libs.mahjong.variants.hkos import RULESET as HKOS
from tests.unit.mahjong.variants.hands import lines, won


def paid(situation: WinSituation) -> dict[str, int]:
    """The change of each wind that pays or receives."""
    changes = HKOS.settle(situation).changes
    return {wind: change for wind, change in zip("ESWN", changes, strict=True) if change}


def names(situation: WinSituation) -> list[str]:
    return [name for name, _ in lines(HKOS.score(situation))]


def test_c001_small_three_dragons_swallow_the_single_dragons() -> None:
    hand = won("666z77z234m67m", "pung(5z)", by="8m", source="E", bonus="1f")
    assert lines(HKOS.score(hand)) == [("Half Flush", 3), ("Small Three Dragons", 5)]
    assert paid(hand) == {"E": -64, "S": 64}


def test_c002_a_sum_above_the_cap_pays_as_the_cap_and_lists_every_pattern() -> None:
    hand = won("777z999m2m", "pung(5z)", "pung(6z)", by="2m", source="W", bonus="1f")
    score = HKOS.score(hand)
    assert (score.total, score.value) == (14, 13)
    assert lines(score) == [("All Pungs", 3), ("Big Three Dragons", 8), ("Half Flush", 3)]
    assert paid(hand) == {"S": 384, "W": -384}


def test_c004_all_honours_replaces_the_dragons_in_it() -> None:
    hand = won("555z666z7z", "pung(1z)", "pung(2z)", by="7z", seat="N", wind="S", source="S", bonus="3f")
    assert lines(HKOS.score(hand)) == [("All Honours", 10)]
    assert paid(hand) == {"N": 128, "S": -128}


def test_c006_a_concealed_kong_is_not_nine_gates() -> None:
    hand = won("234m567m8m999m", "ckong(1m)", by="8m", source="N")
    assert lines(HKOS.score(hand)) == [("No flowers or seasons", 1), ("Pure Flush", 7)]
    assert paid(hand) == {"N": -64, "S": 64}


def test_c007_the_best_grouping_counts_and_never_the_union_of_groupings() -> None:
    pungs = won("111222333m999m1z", by="1z", source="E", bonus="4f")
    assert lines(HKOS.score(pungs)) == [("All Pungs", 3), ("Half Flush", 3)]
    assert paid(pungs) == {"E": -32, "S": 32}
    chows = won("111222333m789m1z", by="1z", source="E", bonus="4f")
    assert lines(HKOS.score(chows)) == [("All Sequences", 1), ("Half Flush", 3)]
    assert paid(chows) == {"E": -16, "S": 16}


def test_c008_the_seat_wind_is_that_of_this_hand() -> None:
    north = won("234p678m45s99p", "pung(4z)", by="3s", seat="N")
    assert names(north) == ["No flowers or seasons", "Seat wind", "Self-draw"]
    assert paid(north) == {"E": -4, "S": -4, "W": -4, "N": 12}
    west = HKOS.score(won("234p678m45s99p", "pung(4z)", by="3s", seat="W"))
    assert (west.legal, west.total) == (False, 2)


def test_c009_seat_and_prevailing_wind_count_in_one_pung_and_east_gets_no_more() -> None:
    hand = won("234p678m45s99p", "pung(1z)", by="3s", seat="E", source="S")
    assert names(hand) == ["No flowers or seasons", "Prevailing wind", "Seat wind"]
    assert paid(hand) == {"E": 8, "S": -8}


def test_c011_all_eight_bonus_tiles_replace_sets_and_own_tiles() -> None:
    hand = won("234p678m45s99p", "pung(3z)", by="3s", bonus="1234f1234g")
    assert lines(HKOS.score(hand)) == [("All eight bonus tiles", 8), ("Self-draw", 1)]
    assert paid(hand) == {"E": -48, "S": 144, "W": -48, "N": -48}


def test_c012_seven_pairs_win_only_as_four_groups_and_a_pair() -> None:
    assert HKOS.score(won("11m33m55m77p22p44s6z", by="6z")) == HandScore(False, 0, 0, ())
    hand = won("112233m778899p5s", by="5s")
    assert names(hand) == ["All Sequences", "No flowers or seasons", "Self-draw"]
    assert paid(hand)["S"] == 12


def test_c013_all_sequences_with_a_dragon_pair() -> None:
    hand = won("234m567m345p67s55z", by="8s")
    assert names(hand) == ["All Sequences", "No flowers or seasons", "Self-draw"]
    assert paid(hand)["S"] == 12


def test_c015_draw_bonuses_alone_reach_the_minimum() -> None:
    hand = won("234m67m99p", "akong(5p)", "chow(345s)", by="8m", bonus="1f", flags=("kong_replacement", "last_tile"))
    assert names(hand) == ["Kong replacement", "Last tile", "Self-draw"]
    assert paid(hand) == {"E": -4, "S": 12, "W": -4, "N": -4}


def test_c016_a_pair_taken_out_of_four_of_a_kind() -> None:
    hand = won("2333344m678p234s", by="5m")
    assert names(hand) == ["All Sequences", "No flowers or seasons", "Self-draw"]
    assert paid(hand)["S"] == 12


def test_c016_four_melds_without_a_pair_are_no_win() -> None:
    melds = ("chow(123m)", "pung(5z)", "pung(9s)", "chow(234p)")
    assert not HKOS.score(won("6p", *melds, by="4s")).complete
    hand = won("6p", *melds, by="6p")
    assert names(hand) == ["Dragon pung/kong", "No flowers or seasons", "Self-draw"]
    assert paid(hand)["S"] == 12


def test_c017_the_robbed_player_pays_alone() -> None:
    hand = won("234m67m345p678s22s", by="5m", seat="E", source="N", method="rob")
    assert names(hand) == ["All Sequences", "No flowers or seasons", "Robbing a kong"]
    assert paid(hand) == {"E": 8, "N": -8}


@pytest.mark.parametrize("bonus", ["", "1f"])
def test_c018_east_wins_with_the_deal_whatever_flowers_were_replaced(bonus: str) -> None:
    hand = won("234m567m345p678s22z", by=None, seat="E", bonus=bonus, flags=("heavenly",))
    assert lines(HKOS.score(hand)) == [("Heavenly Hand", 13)]
    assert paid(hand) == {"E": 576, "S": -192, "W": -192, "N": -192}


def test_c018_a_kong_before_the_win_makes_it_no_heavenly_hand() -> None:
    hand = won(
        "234m567m345p2z",
        "ckong(9p)",
        by="2z",
        seat="E",
        flags=("heavenly", "kong_replacement"),
    )
    assert names(hand) == ["Kong replacement", "No flowers or seasons", "Self-draw"]
    assert paid(hand)["E"] == 12


def test_c018_a_win_on_the_first_discard_is_an_earthly_hand_unless_a_kong_came_before() -> None:
    hand = won("123m456p789s44s77p", by="4s", source="E", flags=("earthly",), bonus="3f")
    assert lines(HKOS.score(hand)) == [("Earthly Hand", 13)]
    assert paid(hand) == {"E": -384, "S": 384}
    after_a_kong = won(
        "123m456p789s44s77p",
        by="4s",
        source="E",
        flags=("earthly",),
        bonus="3f",
        circumstances=Circumstance.KONGS_DECLARED,
    )
    score = HKOS.score(after_a_kong)
    assert (score.legal, score.complete, score.items) == (False, True, ())


def test_east_itself_never_has_an_earthly_hand() -> None:
    hand = won("123m456p789s44s77p", by="4s", seat="E", source="S", flags=("earthly",))
    assert names(hand) == ["No flowers or seasons"]


def test_a_tile_that_replaces_a_bonus_tile_is_no_kong_replacement() -> None:
    hand = won("234m67m99p", "akong(5p)", "chow(345s)", by="8m", bonus="2f")
    assert names(hand) == ["Own flower", "Self-draw"]


def test_a_concealed_kong_yields_to_thirteen_orphans_only() -> None:
    orphans = won("19m19p19s1124567z", by="3z", source="N", method="rob_concealed")
    assert lines(HKOS.score(orphans)) == [("Thirteen Orphans", 13)]
    assert paid(orphans) == {"N": -384, "S": 384}
    honours = won("111222444555z3z", by="3z", source="N", method="rob_concealed")
    assert not HKOS.score(honours).complete


def test_of_two_limits_one_counts() -> None:
    melds = ("ckong(1z)", "kong(2z)", "akong(3z)", "ckong(4z)")
    score = HKOS.score(won("9m", *melds, by="9m", flags=("kong_replacement",)))
    assert (score.total, len(score.items)) == (13, 1)


def test_a_full_set_replaces_the_own_tile_of_that_set_only() -> None:
    hand = won("234p678m45s99p", "pung(3z)", by="3s", bonus="1234f2g")
    assert lines(HKOS.score(hand)) == [("Complete flower set", 2), ("Own season", 1), ("Self-draw", 1)]


def test_a_win_below_the_minimum_cannot_be_settled() -> None:
    hand = won("234m567m345p67s99p", by="8s", source="E")
    assert (HKOS.score(hand).legal, HKOS.score(hand).total) == (False, 2)
    with pytest.raises(ValueError, match="2 faan"):
        HKOS.settle(hand)


def test_a_settlement_holds_the_winners_score_alone() -> None:
    hand = won("777z999m2m", "pung(5z)", "pung(6z)", by="2m", source="W")
    settlement = HKOS.settle(hand)
    assert settlement.scores == (None, HKOS.score(hand), None, None)
    assert settlement.winner == 1
