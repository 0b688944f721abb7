"""Scores and settlements of classical: the field cases, each reading, and who pays whom."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.mahjong.notation import read_situation
from libs.mahjong.scores import HandScore, Unit, WinSituation, sum_payments
from libs.mahjong.variants import classical
from libs.mahjong.variants.classical.scoring import other_score
from libs.mahjong.variants.classical.settlement import payments
from tests.unit.mahjong.variants.hands import other, vector

RULES = classical.RULESET
JUNK = "1m4m7m2p5p8p3s6s9s"
"""Nine tiles that count for nothing."""


def situation(concealed: str, *melds: str, **how: Any) -> WinSituation:
    return read_situation(vector(concealed, *melds, preset="classical", **how))[1]


def result(concealed: str, *melds: str, **how: Any) -> dict[str, Any]:
    """The result in the vector form."""
    return RULES.result_form(situation(concealed, *melds, **how))


def names(found: dict[str, Any], field: str) -> list[str]:
    return sorted(name for name, _ in found[field])


def loser(concealed: str, *melds: str, bonus: str = "", seat: str = "W", wind: str = "E") -> HandScore:
    """The score of a seat that did not win."""
    held = other(concealed, *melds, bonus=bonus)
    won = vector("2m", "pung(8m)", "pung(8s)", "pung(6m)", "pung(5s)", by="2m", seat="N", source="E",
                 preset="classical", others={seat: held})  # fmt: skip
    ((wind_of_seat, holding),) = read_situation(won)[1].others
    return other_score(holding, wind_of_seat, "ESWN".index(wind))


def test_c013_a_dragon_pair_spoils_all_chows() -> None:
    dragons = result("234m567m345p67s55z", by="8s", source="W")
    assert (dragons["value"], dragons["doubles"]) == (12, [])
    assert dragons["payments"] == {"E": -24, "S": 48, "W": -12, "N": -12}
    assert result("234m567m345p67s99p", by="8s", source="W")["value"] == 20


def test_c019_the_published_settlement() -> None:
    changes = sum_payments(payments(3, (2, 46, 12, 192)))
    assert changes == (-492, -70, -206, 768)
    assert [2_000 + change for change in changes] == [1_508, 1_930, 1_794, 2_768]


def test_c019_every_single_payment() -> None:
    assert [(one.payer, one.payee, one.amount) for one in payments(3, (2, 46, 12, 192))] == [
        (0, 1, 88), (0, 2, 20), (0, 3, 384), (1, 3, 192), (2, 1, 34), (2, 3, 192),
    ]  # fmt: skip


def test_c021_a_wait_that_lies_open_leaves_one_chance() -> None:
    hand = {"by": "4m", "source": "E"}
    found = result("23m555p789s345s99p", exhausted="1m", **hand)
    assert found["value"] == 16
    assert found["payments"] == {"E": -32, "S": 64, "W": -16, "N": -16}
    assert result("23m555p789s345s99p", **hand)["value"] == 14


def test_c023_the_pair_one_chance_and_the_major_pair_add_up() -> None:
    found = result("234m567p456s888s1z", by="1z")
    assert sum(points for _, points in found["base"]) == 24
    assert (found["value"], names(found, "doubles")) == (48, ["concealed self-draw"])
    assert found["payments"] == {"E": -96, "S": 192, "W": -48, "N": -48}


@pytest.mark.parametrize(("kong", "value"), [("kong(5p)", 40), ("akong(5p)", 20), ("ckong(5p)", 56)])
def test_c024_the_three_kongs_of_a_winner(kong: str, value: int) -> None:
    assert result("234m678m34s99s", kong, by="5s")["value"] == value


@pytest.mark.parametrize(
    ("concealed", "melds", "value"),
    [
        ("222p777z999m1m4m5s9s", (), 80),
        ("222p777z1m4m5s9s", ("kong(9m)",), 112),
        ("222p777z1m4m5s9s", ("akong(9m)",), 56),
    ],
)
def test_c025_concealed_triplets_of_a_loser(concealed: str, melds: tuple[str, ...], value: int) -> None:
    assert loser(concealed, *melds).value == value


def test_c026_the_last_live_tile_and_the_one_circle() -> None:
    melds = ("pung(3m)", "chow(234s)")
    found = result("45p789s99s", *melds, by="6p", flags=("last_live",))
    assert (found["value"], names(found, "base")) == (24, ["open pung 3m", "winning"])
    assert found["payments"] == {"E": -48, "S": 96, "W": -24, "N": -24}
    moon = result("23p789s99s", *melds, by="1p", flags=("last_live",))
    assert moon["limit"] == "1-circle from the bottom of the sea"
    assert moon["payments"] == {"E": -2000, "S": 4000, "W": -1000, "N": -1000}


def test_c028_four_concealed_triplets_need_a_self_draw() -> None:
    found = result("222m555p777s999s3z", by="3z", source="W")
    assert sum(points for _, points in found["base"]) == 36
    assert (found["value"], names(found, "doubles")) == (144, ["all pungs/kongs", "three concealed triplets"])
    assert found["payments"] == {"E": -288, "S": 576, "W": -144, "N": -144}
    assert result("222m555p777s999s3z", by="3z")["value"] == 1000


def test_c029_the_cap_comes_before_the_doubling_for_east() -> None:
    orphans = "1m9m1p9p1s9s123456z7z"
    assert result(orphans, by="7z", seat="E")["payments"] == {"E": 6000, "S": -2000, "W": -2000, "N": -2000}
    assert result(orphans, by="7z", seat="S")["payments"] == {"E": -2000, "S": 4000, "W": -1000, "N": -1000}


def test_c030_small_three_dragons_replace_the_dragon_doubles() -> None:
    found = result("666z77z234m67p", "pung(5z)", by="8p", source="E")
    assert (found["value"], found["doubles"]) == (192, [["Small Three Dragons", 3]])
    assert found["payments"] == {"E": -384, "S": 768, "W": -192, "N": -192}


def test_c031_a_loser_with_all_four_winds() -> None:
    found = loser("444z1m", "pung(1z)", "pung(2z)", "pung(3z)")
    assert (found.value, [item.amount for item in found.items if item.unit is Unit.DOUBLES]) == (320, [4])
    assert found.limit is None


@pytest.mark.parametrize(
    ("bonus", "value"), [("2f", 4), ("2f2g", 16), ("1234f", 32), ("1234f2g", 80), ("1234f1234g", 256)]
)
def test_c032_bonus_tiles_of_a_loser(bonus: str, value: int) -> None:
    assert loser(JUNK + "1234z", bonus=bonus, seat="S", wind="N").value == value


def test_c033_an_original_call_doubles() -> None:
    found = result("234m567m345p67s99p", by="8s", source="W", flags=("original_call",))
    assert (found["value"], names(found, "doubles")) == (40, ["Original Call", "all chows, non-scoring pair"])
    assert found["payments"] == {"E": -80, "S": 160, "W": -40, "N": -40}


def test_c034_the_thirteenth_win_is_worth_the_limit_whatever_the_hand() -> None:
    found = result("456p789s45s88p", "chow(123m)", by="6s", seat="E", flags=("east13",))
    assert found["payments"] == {"E": 6000, "S": -2000, "W": -2000, "N": -2000}


def test_c057_thirteen_orphans_alone_may_rob_a_concealed_kong() -> None:
    robbing = {"by": "9s", "method": "rob_concealed", "source": "W"}
    assert result("1m9m1p9p1s1234567z1z", **robbing)["limit"] == "Thirteen Orphans"
    assert result("234m567m345p22z78s", **robbing) == {"legal": False}


def test_a_won_hand_counts_as_one_arrangement_alone() -> None:
    # Three chows or three pungs: the pungs are worth more, and the discard completes the pair or a pung (B8).
    pungs = result("222333444m5s", "pung(9p)", by="5s", source="E")
    assert names(pungs, "base").count("concealed pung 3m") == 1
    assert "three concealed triplets" in names(pungs, "doubles")
    chows = result("22233344m99s", "chow(678p)", by="4m", source="E", bonus="3f")
    assert (chows["value"], names(chows, "doubles")) == (28, ["all chows, non-scoring pair"])


def test_a_group_completed_by_another_seats_tile_is_open_unless_the_tile_fits_elsewhere() -> None:
    completed = result("777s999p22p44p", "chow(234m)", by="2p", source="E")
    assert "open pung 2p" in names(completed, "base")
    robbed = result("777s999p22p44p", "chow(234m)", by="2p", source="E", method="rob")
    assert "open pung 2p" in names(robbed, "base")
    elsewhere = result("222p34p99s", "chow(234m)", "chow(567m)", by="2p", source="E")
    assert "concealed pung 2p" in names(elsewhere, "base")


def test_a_fifth_copy_keeps_a_wait_alive_for_one_chance() -> None:
    # 222s 345s waits for 2s, which can never come, and 222s 234s for 5s: two kinds (B9).
    found = result("2222345s", "pung(7p)", "chow(123m)", by="5s", source="W")
    assert "one-chance" not in names(found, "base")


def test_the_own_winning_tile_is_not_struck_off() -> None:
    single = result("456p789s46s88p", "chow(123m)", by="5s", source="E", exhausted="5s")
    assert "one-chance" in names(single, "base")


def test_a_wind_pair_of_seat_and_round_is_worth_four() -> None:
    both = result("234m567m345p67s11z", by="8s", source="W", seat="E")
    assert [item for item in both["base"] if "pair" in item[0]] == [["pair of seat wind", 2], ["pair of round wind", 2]]
    assert names(both, "doubles") == []


def test_a_losers_tiles_count_once_and_incomplete_groups_nothing() -> None:
    # Three equal tiles are no pair beside the pung, four undeclared ones a pung (B24).
    assert loser("3333s55z66z1m4m7m2p5p").value == 4 + 2 + 2
    assert loser("555z1m4m7m2p5p8p3s6s9s1z").total == 2 * 8
    assert [item.name for item in loser("222333444s1m4m7m9p").items] == [
        "concealed pung 2s",
        "concealed pung 3s",
        "concealed pung 4s",
        "three concealed triplets",
    ]


def test_small_winds_and_dragons_of_a_loser_need_the_concealed_pair() -> None:
    winds = ("pung(1z)", "pung(2z)", "pung(3z)")
    with_pair = loser("44z1m9p", *winds, seat="S", wind="N")
    assert [item.name for item in with_pair.items if item.unit is Unit.DOUBLES] == ["seat wind", "Small Four Winds"]
    without = loser("4z1m5m9p", *winds, seat="S", wind="N")
    assert [item.name for item in without.items if item.unit is Unit.DOUBLES] == ["seat wind"]
    dragons = loser("77z1m4m5p9p9s", "pung(5z)", "pung(6z)")
    assert [item.name for item in dragons.items if item.unit is Unit.DOUBLES] == ["Small Three Dragons"]


def test_the_cap_binds_losers_too() -> None:
    rich = loser("777z1m4m5p9p", "pung(5z)", "pung(6z)", bonus="1234f1234g")
    assert (rich.value, rich.total > 1000, rich.legal, rich.limit) == (1000, True, False, None)


def test_a_claimed_kong_replacement_from_the_last_discard_is_a_replacement_only() -> None:
    found = result("456s78s11p", "kong(2p)", "chow(123m)", by="9s", flags=("kong_replacement",))
    assert names(found, "doubles") == ["kong replacement"]
    assert "self-draw" in names(found, "base")


@pytest.mark.parametrize(
    ("name", "hand"),
    [
        ("All green", (("222s33s44s", "pung(8s)", "pung(6z)"), {"by": "4s", "source": "E"})),
        ("Four kongs", (("5z", "ckong(1m)", "kong(5p)", "akong(7s)", "kong(3m)"), {"by": "5z", "source": "E"})),
        ("Four concealed triplets, self-drawn", (("222m444s99p5z5z", "kong(7p)"), {"by": "9p"})),
        (
            "Three dragon groups + fourth pung/kong",
            (("99p33m", "pung(5z)", "pung(6z)", "pung(7z)"), {"by": "3m", "source": "N"}),
        ),
        ("All honours", (("11z22z", "pung(5z)", "pung(6z)", "pung(3z)"), {"by": "1z", "source": "E"})),
        ("All terminals", (("111p99p99s", "pung(1m)", "pung(9m)"), {"by": "9s", "source": "N"})),
        ("Four winds", (("5m", "pung(1z)", "pung(2z)", "pung(3z)", "pung(4z)"), {"by": "5m", "source": "E"})),
        ("Nine Gates", (("1112345678999m",), {"by": "5m", "source": "E"})),
        ("Nine Gates", (("1112234567899m",), {"by": "9m", "source": "E"})),
        ("Thirteen Orphans", (("1m9m1p9p1s9s1234567z",), {"by": "1m", "source": "E"})),
        ("Fully concealed pure suit, self-drawn", (("234s678s99s45s", "kong(1s)"), {"by": "6s"})),
        (
            "East's win before the first discard",
            (("234m567m345p678s22z",), {"by": None, "seat": "E", "flags": ("heaven",)}),
        ),
        (
            "East's win before the first discard",
            (("234m567m345p2z", "ckong(9s)"), {"by": "2z", "seat": "E", "flags": ("heaven", "kong_replacement")}),
        ),
        ("win on East's first discard", (("123m456p789s44s77p",), {"by": "4s", "source": "E", "flags": ("earth",)})),
        (
            "1-circle from the bottom of the sea",
            (("23p789s99s", "pung(3m)", "chow(234s)"), {"by": "1p", "source": "E", "flags": ("last_discard",)}),
        ),
        (
            "5-circle kong replacement",
            (("34p678m22z", "akong(9s)", "chow(123m)"), {"by": "5p", "flags": ("kong_replacement",)}),
        ),
        ("robbing a 2-bamboo kong", (("34s678m555p99p111z",), {"by": "2s", "source": "W", "method": "rob"})),
        (
            "kong on kong",
            (("34s99p", "chow(456m)", "ckong(2m)", "ckong(7s)"), {"by": "5s", "flags": ("kong_on_kong",)}),
        ),
        (
            "East's 13th consecutive win",
            (("456p789s45s88p", "chow(123m)"), {"by": "6s", "source": "N", "seat": "E", "flags": ("east13",)}),
        ),
    ],
)
def test_every_limit_hand(name: str, hand: tuple[tuple[str, ...], dict[str, Any]]) -> None:
    tiles, how = hand
    found = result(*tiles, **how)
    assert (found["limit"], found["value"]) == (name, 1000)
    assert set(found) == {"legal", "value", "limit", "payments"}


@pytest.mark.parametrize(
    ("tiles", "how"),
    [
        # With a chow the dragons are five doubles (B29).
        (("45p3m3m", "pung(5z)", "pung(6z)", "pung(7z)"), {"by": "6p", "source": "N"}),
        # A melded or kong-bearing suit is no Nine Gates (C006).
        (("234m567m8m999m", "ckong(1m)"), {"by": "8m", "source": "N"}),
        # A promoted kong spoils both concealed limits.
        (("222m444s999s5z", "akong(7p)"), {"by": "5z"}),
        (("234s678s99s45s", "akong(1s)"), {"by": "6s"}),
        # East's own win is none on its first discard, and other circumstances need their tile.
        (("23p789s99s", "pung(3m)", "chow(234s)"), {"by": "4p", "flags": ("last_live",)}),
        (("34p678m22z", "akong(9s)", "chow(123m)"), {"by": "2p", "flags": ("kong_replacement",)}),
        (("34s678m555p99p111z",), {"by": "5s", "source": "W", "method": "rob"}),
        # 1-circle from the kong box is not the bottom of the sea, be the live wall empty (B39).
        (("23p789s99s", "chow(234s)", "ckong(9m)"), {"by": "1p", "flags": ("kong_replacement",)}),
    ],
)
def test_what_is_no_limit(tiles: tuple[str, ...], how: dict[str, Any]) -> None:
    assert result(*tiles, **how)["limit"] is None


def test_the_circumstances_of_the_first_turn_belong_to_one_side() -> None:
    chance = {"by": "6s", "source": "N"}
    east = situation("456p789s45s88p", "chow(123m)", seat="E", flags=("earth",), **chance)
    assert RULES.score(east).limit is None
    south = situation("456p789s45s88p", "chow(123m)", flags=("east13",), **chance)
    assert RULES.score(south).limit is None


def test_the_score_says_whether_a_limit_or_points_decided() -> None:
    by_points = RULES.score(situation("77z99s", "ckong(1z)", "pung(5z)", "pung(6z)", by="9s", source="N", seat="E"))
    assert (by_points.value, by_points.limit, by_points.total) == (1000, None, 56 << 8)
    by_limit = RULES.score(situation("1m9m1p9p1s9s1234567z", by="1m"))
    assert [(item.amount, item.unit) for item in by_limit.items] == [(1000, Unit.LIMIT)]


def test_a_hand_that_is_no_win_has_no_settlement() -> None:
    lost = situation("234m567m345p67s99p", by="9s")
    assert RULES.score(lost) == HandScore(False, 0, 0, (), None, complete=False)
    with pytest.raises(ValueError, match="no winning hand"):
        RULES.settle(lost)


def test_what_melds_and_bonus_tiles_secure() -> None:
    holding = situation("2m", "pung(5z)", "chow(234s)", "kong(1z)", "pung(2s)", by="2m", bonus="2f2g").holding
    secured = RULES.certain(1, 0, holding)
    assert [(item.name, item.amount) for item in secured] == [
        ("open pung 5z", 4), ("open kong 1z", 16), ("open pung 2s", 2), ("bonus tile", 4), ("bonus tile", 4),
        ("dragon pung/kong", 1), ("round wind", 1), ("own flower and own season", 1),
    ]  # fmt: skip


@given(st.integers(0, 3), st.lists(st.integers(0, 1000), min_size=4, max_size=4))
def test_payments_are_whole_and_add_to_zero(winner: int, values: list[int]) -> None:
    paid = payments(winner, tuple(values))
    changes = sum_payments(paid)
    assert sum(changes) == 0
    assert all(payment.amount > 0 and payment.payer != winner for payment in paid)
    assert changes[winner] == values[winner] * (6 if winner == 0 else 4)


def test_seats_that_nobody_told_about_are_worth_nothing() -> None:
    settled = RULES.settle(situation("456p789s45s88p", "chow(123m)", by="6s", source="N"))
    assert [score is None for score in settled.scores] == [True, False, True, True]


def test_the_tiles_of_the_deal_may_win_without_a_winning_tile() -> None:
    tiles = situation("234m567m345p678s99p", by=None, seat="E")
    found = RULES.score(tiles)
    assert [item.name for item in found.items if item.unit is Unit.POINTS] == ["winning", "self-draw"]
    assert found.legal
