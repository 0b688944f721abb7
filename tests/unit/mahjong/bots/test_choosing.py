"""What the players do in positions where there is a right answer."""

from __future__ import annotations

import pytest

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from libs.mahjong.bots import Level, choose, warm_up
from libs.mahjong.engine.actions import PASS, WIN, Action, ActionType
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.tiles import KIND_OF, format_tiles, kind_name
from tests.unit.mahjong.engine.builders import Table, playing

HKOS = ruleset("hkos-3-v1")
LEVELS = list(Level)
PLANNING = [Level.MEDIUM, Level.HARD]


def chosen(table: Table, wind: str, level: int = Level.HARD, seed: int = 7) -> Action:
    return choose(table.view(wind), level, seed=seed)


def discarded(table: Table, wind: str, level: int = Level.HARD) -> str:
    """The kind that the player discards."""
    action = chosen(table, wind, level)
    assert action.type is ActionType.DISCARD
    return kind_name(KIND_OF[action.tiles[0]])


def claimed(table: Table, wind: str, level: int = Level.HARD) -> str:
    """What the player claims, as "pung 55z"."""
    action = chosen(table, wind, level)
    return f"{action.type.name.lower()} {format_tiles(action.tiles)}".strip()


@pytest.mark.parametrize("level", LEVELS)
def test_a_self_drawn_win_is_taken(level: Level) -> None:
    table = playing({"E": "123456789m22z66z"}, drawn="6z", ruleset=HKOS)
    assert chosen(table, "E", level) == WIN


@pytest.mark.parametrize("level", LEVELS)
def test_a_win_on_a_discard_is_taken_before_a_pung(level: Level) -> None:
    table = playing({"E": "6z", "S": "123456789m22z66z"}, ruleset=HKOS)
    table.discard("E", "6z")
    assert "pung 66z" in table.offers("S")
    assert chosen(table, "S", level) == WIN


@pytest.mark.parametrize("level", LEVELS)
def test_the_same_view_level_and_seed_give_the_same_action(level: Level) -> None:
    table = playing({"E": "1357m2468p19s12z"}, ruleset=HKOS)
    assert len({chosen(table, "E", level, seed=5) for _ in range(3)}) == 1


def test_who_is_not_asked_chooses_nothing() -> None:
    table = playing({}, ruleset=HKOS)
    with pytest.raises(ValueError, match="not asked"):
        chosen(table, "S")


@pytest.mark.parametrize("level", [0, 4])
def test_there_are_three_levels(level: int) -> None:
    with pytest.raises(ValueError, match=str(level)):
        chosen(playing({}, ruleset=HKOS), "E", level)


@pytest.mark.parametrize("level", PLANNING)
def test_a_hand_of_one_suit_gives_up_the_others(level: Level) -> None:
    table = playing({"E": "12345678m55z66z"}, drawn="5p", bonus={"E": "4f"}, live=60, ruleset=HKOS)
    assert discarded(table, "E", level) in ("5p", "1z", "2z", "3z", "4z", "7z")


@pytest.mark.parametrize("level", PLANNING)
def test_a_claim_that_leaves_no_way_to_three_faan_is_passed(level: Level) -> None:
    # Mixed suits, a foreign flower: with a chow of dots only a self-drawn win of two faan would be left.
    table = playing({"E": "6p", "S": "123m45p567s99s11p8m"}, bonus={"S": "1f"}, live=30, ruleset=HKOS)
    table.discard("E", "6p")
    assert "chow 45p" in table.offers("S")
    assert claimed(table, "S", level) == "pass"


def test_the_easy_player_takes_what_brings_it_nearer_to_any_hand() -> None:
    table = playing({"E": "6p", "S": "123m45p567s99s11p8m"}, bonus={"S": "1f"}, live=30, ruleset=HKOS)
    table.discard("E", "6p")
    taken = {chosen(table, "S", Level.EASY, seed=seed).type for seed in range(20)}
    assert taken == {ActionType.CHOW, ActionType.PASS}


@pytest.mark.parametrize("level", PLANNING)
def test_a_valued_pung_on_the_way_to_a_flush_is_claimed(level: Level) -> None:
    table = playing({"E": "5z", "S": "1234789m55z66z2p3s"}, live=60, ruleset=HKOS)
    table.discard("E", "5z")
    assert claimed(table, "S", level) == "pung 55z"


def test_a_hopeless_hand_is_folded_to_the_tile_that_nobody_needs() -> None:
    # South shows three melds of characters late in the hand; East is far from anything.
    table = playing(
        {"E": "5m8m147p258p369s1s"},
        drawn="1z",
        melds={"S": "pung 2m, chow 678m, pung 5z"},
        river={"S": "1z", "W": "1z", "N": "1z"},
        live=12,
        ruleset=HKOS,
    )
    assert discarded(table, "E", Level.HARD) not in ("5m", "8m")


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_hidden_is_looked_at(level: Level) -> None:
    one = playing({"E": "1357m2468p19s12z", "S": "111p"}, drawn="3z", front="5p", ruleset=HKOS)
    view = one.view("E")
    assert all(seat.hidden for number, seat in enumerate(view.seats) if number != view.viewer)
    assert view.wall.tiles is None
    assert choose(view, level, seed=1) in view.actions


@pytest.mark.parametrize("level", PLANNING)
def test_passing_is_chosen_when_no_claim_helps(level: Level) -> None:
    table = playing({"E": "9p", "S": "123456m789m5z99p1s"}, live=50, ruleset=HKOS)
    table.discard("E", "9p")
    assert chosen(table, "S", level) == PASS


def test_tables_can_be_built_before_they_are_needed() -> None:
    warm_up(HKOS)
