"""Robbing a kong (hkos-3-v1 §1.5; classical §2.4)."""

from libs.mahjong.engine.actions import PASS, Reason
from libs.mahjong.engine.events import (
    ChoiceHeld,
    DecisionKind,
    DecisionOpened,
    DrawSource,
    HandWon,
    KongCompleted,
    KongDeclared,
    TileDrawn,
)
from libs.mahjong.engine.views import visible
from libs.mahjong.melds import MeldKind
from libs.mahjong.scores import WinMethod
from libs.mahjong.tiles import format_tiles
from tests.unit.mahjong.engine.builders import Table, playing
from tests.unit.mahjong.engine.rulesets import STRICT

EAST = "234m67m345p678s22s"
SOUTH = "34m99m345s123p678p"
ORPHANS = "1m9m1p9p1s1234567z1z"


def added_kong_by_north() -> Table:
    return playing({"E": EAST, "S": SOUTH, "N": "1z"}, turn="N", drawn="5m", melds={"N": "pung 5m"}, spare_bonus="W")


def test_c055_an_added_kong_is_robbed_before_it_is_committed() -> None:
    table = added_kong_by_north()
    left = table.state.live_left
    table.take("N", "added_kong", "5m")
    assert (table.asked, table.asking) == ("ES", DecisionKind.ROB)
    assert [meld.kind for meld in table.state.seats[3].melds] == [MeldKind.PUNG]
    table.win("S")
    table.win("E")
    assert table.winner == "E"
    result = table.state.result
    assert isinstance(result, HandWon)
    assert (result.method, result.source) == (WinMethod.ROBBED_KONG, 3)
    assert [meld.kind for meld in table.state.seats[3].melds] == [MeldKind.PUNG]
    assert result.tile in table.state.seats[0].tiles
    assert result.tile not in table.state.seats[3].tiles
    assert table.state.live_left == left
    assert not any(isinstance(event, TileDrawn | KongCompleted) for event in table.history)
    situation = table.situation("E")
    assert (situation.method, situation.source) == (WinMethod.ROBBED_KONG, 3)
    assert format_tiles([result.tile]) == "5m"


def test_c055_the_nearest_robber_does_not_wait_for_the_farther_one() -> None:
    table = added_kong_by_north()
    table.take("N", "added_kong", "5m")
    table.win("E")
    assert table.winner == "E"


def test_a_kong_that_nobody_robs_is_completed_and_replaced() -> None:
    table = added_kong_by_north()
    table.take("N", "added_kong", "5m")
    table.passes("S", "E")
    assert [type(event) for event in table.events] == [ChoiceHeld, KongCompleted, TileDrawn, DecisionOpened]
    assert [meld.kind for meld in table.state.seats[3].melds] == [MeldKind.ADDED_KONG]
    assert table.state.seats[3].drawn_source is DrawSource.KONG
    assert table.asked == "N"


def test_only_a_win_worth_the_minimum_may_rob() -> None:
    table = playing({"E": EAST}, turn="N", drawn="5m", melds={"N": "pung 5m"}, ruleset=STRICT)
    table.take("N", "added_kong", "5m")
    assert table.asking is DecisionKind.TURN


def test_c057_a_concealed_kong_is_robbed_by_thirteen_orphans_alone() -> None:
    table = playing({"S": ORPHANS, "E": "234m567m345p22z78s", "W": "9999s"}, turn="W")
    table.take("W", "concealed_kong", "9999s")
    assert (table.asked, table.asking) == ("S", DecisionKind.ROB)
    table.refused(Reason.STALE_DECISION, "E", PASS)
    table.win("S")
    result = table.state.result
    assert isinstance(result, HandWon)
    assert (result.method, result.source) == (WinMethod.ROBBED_CONCEALED_KONG, 2)
    # The declarer keeps a concealed group of three (classical B41).
    assert table.state.seats[2].melds == ()
    assert table.hand("W").count("9") == 3
    assert table.state.seats[2].count == 13


def test_c057_nobody_else_is_asked_about_a_concealed_kong() -> None:
    table = playing({"E": "234m567m345p22z78s", "W": "9999s"}, turn="W")
    table.take("W", "concealed_kong", "9999s")
    assert (table.asked, table.asking) == ("W", DecisionKind.TURN)


def test_the_window_is_seen_by_the_robber_alone_and_the_tiles_of_the_kong_by_all() -> None:
    table = playing({"S": ORPHANS, "W": "9999s"}, turn="W")
    table.take("W", "concealed_kong", "9999s")
    declared, opened = table.events
    assert isinstance(declared, KongDeclared)
    assert [visible(declared, viewer) for viewer in (-1, 0, 1, 3)] == [declared] * 4
    assert [visible(opened, viewer) for viewer in (-1, 0, 2, 3)] == [None] * 4
    assert visible(opened, 1) == opened
