"""How hands end, and the circumstances of a win (hkos-3-v1 §1.5-1.10; classical §2.8)."""

import pytest

from libs.mahjong.engine.actions import Reason, RuleViolation
from libs.mahjong.engine.events import DrawnHandCause, HandDrawn, HandSettled, HandWon
from libs.mahjong.engine.hand import Settle, decide, settled, settlement_of
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.engine.views import view_of
from libs.mahjong.scores import Circumstance, Payment, WindSettlement, WinMethod
from libs.mahjong.tiles import format_kinds, format_tiles
from tests.unit.mahjong.engine.builders import dealt, playing
from tests.unit.mahjong.engine.rulesets import BOXED, PLAIN

READY = "34m567m345p678s33s"
"""Waits on 2m and 5m."""
KONG_HAND = "1111z34s678m99m23p"
"""With 4p and the kong of 1z declared it waits on 2s and 5s."""
NONE = Circumstance.NONE


@pytest.mark.parametrize("ruleset", [PLAIN, BOXED])
def test_c035_an_exhausted_wall_ends_the_hand_without_payments(ruleset: Ruleset) -> None:
    table = playing({}, turn="E", live=0, ruleset=ruleset)
    table.discard_drawn()
    assert table.state.result == HandDrawn(DrawnHandCause.WALL_EXHAUSTED)
    table.settle()
    settlement = table.state.settlement
    assert settlement is not None
    assert settlement.winner is None
    assert settlement.changes == (0, 0, 0, 0)
    assert settlement.payments == ()
    assert settlement.revealed == (None,) * 4


def test_c035_a_win_on_the_last_discard_is_a_win() -> None:
    table = playing({"W": READY}, turn="E", drawn="5m", live=0)
    table.discard("E", "5m")
    table.win("W")
    assert table.winner == "W"
    table = playing({"E": READY}, turn="E", drawn="5m", live=0)
    table.win("E")
    assert table.winner == "E"
    assert table.situation("E").circumstances is Circumstance.LAST_TILE


def test_c038_a_bonus_tile_as_replacement_of_a_kong_spoils_the_kong_replacement() -> None:
    table = playing({"E": KONG_HAND}, turn="E", drawn="4p", back="2g5s")
    table.take("E", "concealed_kong", "1111z")
    assert table.state.wall.back == 2
    assert table.offers("E") == ["win"]
    situation = table.situation("E")
    assert (situation.method, situation.circumstances) == (WinMethod.SELF_DRAW, NONE)


def test_c038_with_a_kong_box_the_bonus_tile_is_replaced_from_the_live_wall() -> None:
    table = playing({"E": KONG_HAND}, turn="E", drawn="4p", front="5s", box="2g", ruleset=BOXED)
    live = table.state.live_left
    table.take("E", "concealed_kong", "1111z")
    assert (table.state.live_left, table.state.kong_box_left) == (live - 1, 15)
    assert table.situation("E").circumstances is NONE


def test_a_direct_replacement_is_a_kong_replacement() -> None:
    table = playing({"E": KONG_HAND}, turn="E", drawn="4p", back="5s")
    table.take("E", "concealed_kong", "1111z")
    assert table.situation("E").circumstances is Circumstance.KONG_REPLACEMENT
    assert format_kinds(table.situation("E").holding.concealed) == "67899m234p34s"
    assert table.situation("E").winning == 22


def test_the_last_tile_counts_from_either_end() -> None:
    table = playing({"S": "23467m99m"}, melds={"S": "pung 5p, chow 345s"}, turn="S", drawn="5p", back="8m", live=1)
    table.take("S", "added_kong", "5p")
    assert table.situation("S").circumstances is Circumstance.KONG_REPLACEMENT | Circumstance.LAST_TILE
    table.win("S")
    assert table.situation("S").circumstances is Circumstance.KONG_REPLACEMENT | Circumstance.LAST_TILE


def test_a_kong_box_tile_is_never_the_last_live_tile() -> None:
    table = playing({"E": KONG_HAND}, turn="E", drawn="4p", box="5s", live=0, ruleset=BOXED)
    table.take("E", "concealed_kong", "1111z")
    assert table.situation("E").circumstances is Circumstance.KONG_REPLACEMENT


def test_a_replacement_owed_by_an_empty_wall_draws_the_hand() -> None:
    table = playing({"E": "1111z"}, turn="E", back="3f", live=1)
    table.take("E", "concealed_kong", "1111z")
    assert table.state.result == HandDrawn(DrawnHandCause.REPLACEMENT_EXHAUSTED)
    table = playing({}, turn="E", front="3f", live=1)
    table.discard_drawn()
    assert table.state.result == HandDrawn(DrawnHandCause.REPLACEMENT_EXHAUSTED)


def test_c046_two_kongs_in_a_row() -> None:
    table = playing({"S": "2222m777s34s99p23p"}, turn="S", drawn="4p", box="7s5s", ruleset=BOXED)
    table.take("S", "concealed_kong", "2222m")
    table.take("S", "concealed_kong", "7777s")
    assert table.situation("S").circumstances is Circumstance.KONG_REPLACEMENT | Circumstance.KONG_ON_KONG


def test_the_first_of_two_kongs_in_a_row_may_be_claimed() -> None:
    table = playing({"S": "222m777s34s99p234p"}, turn="E", drawn="2m", box="7s5s", ruleset=BOXED)
    table.discard("E", "2m")
    table.take("S", "claimed_kong", "222m")
    assert table.situation("S").circumstances is Circumstance.KONG_REPLACEMENT
    table.take("S", "concealed_kong", "7777s")
    assert table.situation("S").circumstances is Circumstance.KONG_REPLACEMENT | Circumstance.KONG_ON_KONG


def test_c046_a_discard_between_the_kongs_separates_them() -> None:
    table = playing({"S": "2222m777s34s99p23p"}, turn="S", drawn="4p", front="1z4z6z7s", box="9s5s", ruleset=BOXED)
    table.take("S", "concealed_kong", "2222m")
    table.discard_drawn()
    for _ in range(3):
        table.discard_drawn()
    table.take("S", "concealed_kong", "7777s")
    assert table.situation("S").circumstances is Circumstance.KONG_REPLACEMENT


def test_c018_won_as_dealt() -> None:
    table = dealt({"E": "234m567m345p678s2z"}, front="2z")
    situation = table.situation("E")
    assert situation.winning is None
    assert format_kinds(situation.holding.concealed) == "234567m345p678s22z"
    assert situation.circumstances is Circumstance.BEFORE_FIRST_DISCARD
    table.win("E")
    assert table.situation("E") == situation


def test_c018_a_bonus_tile_of_the_deal_does_not_matter() -> None:
    table = dealt({"E": "234m567m345p678s1f"}, front="2z", back="2z")
    assert table.situation("E").circumstances is Circumstance.BEFORE_FIRST_DISCARD
    assert table.situation("E").winning is None


def test_c018_a_kong_before_the_first_discard_is_told() -> None:
    table = dealt({"E": "9999p234m567m345p"}, front="2z", back="2z")
    table.take("E", "concealed_kong", "9999p")
    situation = table.situation("E")
    first = Circumstance.BEFORE_FIRST_DISCARD | Circumstance.KONGS_DECLARED
    assert situation.circumstances is first | Circumstance.KONG_REPLACEMENT
    assert situation.winning is not None
    assert format_kinds([situation.winning]) == "2z"


def test_c018_a_win_on_the_dealers_first_discard() -> None:
    table = dealt({"E": "9999p1m4m7m1s4s7s1z2z3z", "S": READY}, front="5m", back="6z")
    table.discard("E", "5m")
    assert table.situation("S").circumstances is Circumstance.FIRST_DISCARD
    table = dealt({"E": "9999p1m4m7m1s4s7s1z2z3z", "S": READY}, front="5m", back="6z")
    table.take("E", "concealed_kong", "9999p")
    table.discard("E", "5m")
    assert table.situation("S").circumstances is Circumstance.FIRST_DISCARD | Circumstance.KONGS_DECLARED


def test_c018_a_later_discard_is_no_first_one() -> None:
    table = dealt({"W": READY}, front="9s5m")
    table.discard_drawn()
    table.discard_drawn()
    assert table.situation("W").circumstances is NONE


def test_c008b_the_wind_of_the_seat_is_that_of_this_hand() -> None:
    hand = "234p678m45s99p444z"
    north = playing({"N": hand}, turn="N", drawn="3s", dealer=0, spare_bonus="W")
    assert north.state.seats[3].count == 14
    assert north.situation("N").seat_wind == 3
    west = playing({"W": hand}, turn="W", drawn="3s", dealer=1)
    assert west.state.seats[3].count == 14
    assert west.situation("W").seat_wind == 2


def test_c034_the_dealers_thirteenth_win_in_a_row() -> None:
    for wins, found in ((11, NONE), (12, Circumstance.THIRTEENTH_WIN), (13, NONE)):
        table = playing({"E": READY}, turn="E", drawn="5m", dealer_wins=wins)
        assert table.situation("E").circumstances is found
    table = playing({"S": READY}, turn="S", drawn="5m", dealer_wins=12)
    assert table.situation("S").circumstances is NONE


def test_c096_the_winning_tile_is_a_copy_not_a_kind() -> None:
    table = playing({"S": "234m567m345p678s9s"}, turn="S", drawn="9s")
    drawn = table.state.seats[1].drawn
    table.win("S")
    result = table.state.result
    assert isinstance(result, HandWon)
    assert result.tile == drawn
    assert len(result.concealed) == 13
    assert format_tiles(result.concealed).endswith("6789s")
    assert len(table.state.seats[1].tiles) == 14
    table = playing({"S": "234m567m99s55z"}, melds={"S": "kong 8s"}, turn="E", drawn="5z")
    table.discard("E", "5z")
    table.win("S")
    result = table.state.result
    assert isinstance(result, HandWon)
    assert format_tiles((*result.concealed, result.tile)) == "234567m99s555z"
    assert len(table.state.seats[1].tiles) + len(table.state.seats[1].melds[0].tiles) == 15


def test_only_the_winners_tiles_are_laid_open_unless_the_ruleset_says_all() -> None:
    table = playing({"S": READY}, turn="S", drawn="5m")
    table.win("S")
    table.settle()
    settlement = table.state.settlement
    assert settlement is not None
    assert [tiles is not None for tiles in settlement.revealed] == [False, True, False, False]
    assert [seat.hidden for seat in view_of(table.state, 0).seats] == [False, False, True, True]
    table = playing({"S": READY}, turn="S", drawn="5m", ruleset=BOXED)
    table.win("S")
    assert [wind for wind, _ in table.situation("S").others] == [0, 2, 3]
    table.settle()
    assert [seat.hidden for seat in view_of(table.state, 0).seats] == [False] * 4


def test_exhausted_kinds_are_those_that_all_can_see_four_of() -> None:
    table = playing({"S": "23m555p789s345s99p"}, turn="E", drawn="4m", melds={"W": "pung 1m"}, river={"N": "1m"})
    table.discard("E", "4m")
    situation = table.situation("S")
    assert 0 in situation.exhausted
    assert 3 not in situation.exhausted


def test_a_settlement_by_wind_is_turned_to_the_seats() -> None:
    table = playing({"S": READY}, turn="S", drawn="5m", dealer=2)
    table.win("S")
    payments = (Payment(0, 1, 4), Payment(2, 1, 4), Payment(3, 1, 4))
    result = settled(table.state, WindSettlement(1, (None,) * 4, payments, (-4, 12, -4, -4)))
    assert result.winner == 3
    assert result.changes == (-4, -4, -4, 12)
    assert [(one.payer, one.payee) for one in result.payments] == [(2, 3), (0, 3), (1, 3)]
    with pytest.raises(ValueError, match="not that of this hand"):
        settled(table.state, WindSettlement(2, (None,) * 4, (), (0, 0, 0, 0)))


def test_a_hand_is_settled_once_and_only_when_it_is_over() -> None:
    table = playing({"S": READY}, turn="S", drawn="5m")
    with pytest.raises(ValueError, match="not over"):
        settlement_of(table.state)
    empty = HandSettled(None, (None,) * 4, (), (0,) * 4, (None,) * 4)
    for reason, settlement in ((Reason.HAND_NOT_OVER, empty),):
        with pytest.raises(RuleViolation) as refusal:
            decide(table.state, Settle(settlement))
        assert refusal.value.reason is reason
    table.win("S")
    with pytest.raises(RuleViolation) as refusal:
        decide(table.state, Settle(empty))
    assert refusal.value.reason is Reason.INVALID_ARGUMENT
    table.settle()
    with pytest.raises(RuleViolation) as refusal:
        decide(table.state, Settle(settlement_of(table.state)))
    assert refusal.value.reason is Reason.HAND_IS_OVER
