"""Wins in the vector form: what is read, and what is refused with which field."""

import json
from typing import Any

import pytest

from libs.mahjong.melds import MeldKind
from libs.mahjong.notation import SituationError, answer, parse_line, read_situation
from libs.mahjong.scores import Circumstance, WinMethod
from libs.mahjong.tiles import parse_kinds
from tests.unit.mahjong.variants.hands import vector


def test_a_line_becomes_a_situation() -> None:
    preset, situation = parse_line(
        json.dumps(
            vector("456p78s88m", "akong(3m)", "pung(5z)", by="9s", seat="N", wind="W", bonus="3f", flags=("last_tile",))
        )
    )
    assert preset.id == "hkos-3-v1"
    assert (situation.seat_wind, situation.prevailing_wind, situation.winning) == (3, 2, 26)
    assert (situation.method, situation.source) == (WinMethod.SELF_DRAW, None)
    assert situation.circumstances == Circumstance.LAST_TILE
    assert situation.holding.concealed == tuple(sorted(parse_kinds("456p78s88m")))
    assert [(meld.kind, meld.base_kind) for meld in situation.holding.melds] == [
        (MeldKind.ADDED_KONG, 2),
        (MeldKind.PUNG, 31),
    ]
    assert situation.holding.bonus == parse_kinds("3f")


def test_a_flag_means_what_the_method_makes_of_it() -> None:
    _, situation = read_situation(vector("345m678p55s34s", "pung(1z)", by="2s", source="W", flags=("last_tile",)))
    assert (situation.circumstances, situation.source) == (Circumstance.LAST_DISCARD, 2)


def test_the_other_seats_and_exhausted_kinds_are_read() -> None:
    form = vector("234m567m345p67s99p", by="8s") | {
        "publicly_exhausted": ["1s", "5z"],
        "others": {
            "N": {
                "concealed": "1m47s1666777z",
                "melds": [{"type": "pung", "tiles": "333z", "kind": "open"}],
                "bonus": "",
            },
            "E": {"concealed": "1368m1379p28s124z", "melds": [], "bonus": "2f", "value": 32},
        },
    }
    _, situation = read_situation(form)
    assert situation.exhausted == frozenset(parse_kinds("1s5z"))
    assert [wind for wind, _ in situation.others] == [0, 3]
    assert situation.others[0][1].bonus == parse_kinds("2f")


HAND: dict[str, Any] = vector("234m567m345p67s99p", by="8s")
PUNG = {"type": "pung", "tiles": "111z", "kind": "open"}


@pytest.mark.parametrize(
    ("change", "field", "reason"),
    [
        ({"preset": "hkos-9"}, "preset", "hkos-3-v1"),
        ({"preset": None}, "preset", "no ruleset None"),
        ({"seat": "X"}, "seat", "E, S, W, N"),
        ({"seat": "ES"}, "seat", "'ES'"),
        ({"round": 1}, "round", "E, S, W, N"),
        ({"concealed": "234m567m345p67s9p"}, "concealed", "12 tiles instead of 13"),
        ({"concealed": "234m567m345p67s99p9s"}, "concealed", "14 tiles instead of 13"),
        ({"concealed": "234m567m345p67s99x"}, "concealed", "'x' is no suit"),
        ({"concealed": "234m567m345p67s9p1f"}, "concealed", "1f is a bonus tile"),
        ({"concealed": ["2m"]}, "concealed", "a text"),
        ({"melds": [PUNG]}, "concealed", "instead of 10"),
        ({"concealed": "8888s567m345p99p1m"}, "concealed", "a fifth 8s"),
        (
            {"concealed": "1z567m345678p", "melds": [{"type": "kong", "kind": "claimed", "tiles": "1111z"}]},
            "concealed",
            "a fifth 1z",
        ),
        ({"melds": [PUNG | {"tiles": "112z"}]}, "melds[0].tiles", "'112z' is no pung"),
        ({"melds": [PUNG | {"tiles": "1111z"}]}, "melds[0].tiles", "3 regular tiles"),
        ({"melds": [PUNG | {"tiles": "111f"}]}, "melds[0].tiles", "3 regular tiles"),
        ({"melds": [PUNG | {"tiles": ""}]}, "melds[0].tiles", "3 regular tiles"),
        ({"melds": [PUNG | {"kind": "concealed"}]}, "melds[0].kind", "'concealed' is not one of open"),
        ({"melds": [PUNG | {"type": "pair"}]}, "melds[0].type", "chow, pung, kong"),
        ({"melds": [{"type": "chow", "kind": "open", "tiles": "891m"}]}, "melds[0].tiles", "'891m' is no chow"),
        ({"melds": [{"type": "chow", "kind": "open", "tiles": "123z"}]}, "melds[0].tiles", "'123z' is no chow"),
        ({"melds": [{"type": "kong", "kind": "added", "tiles": "1112z"}]}, "melds[0].tiles", "'1112z' is no kong"),
        ({"melds": [PUNG] * 5}, "melds", "5 melds"),
        ({"melds": [PUNG] * 2}, "melds[1].tiles", "a fifth 1z"),
        ({"melds": "111z"}, "melds", "a list"),
        ({"melds": ["111z"]}, "melds[0]", "a JSON object"),
        ({"bonus": "1m"}, "bonus", "1m is neither flower nor season"),
        ({"bonus": "1f1f"}, "bonus", "1f twice"),
        ({"bonus": "5f"}, "bonus", "no 5f"),
        ({"win": "88s"}, "win", "one regular tile"),
        ({"win": "1g"}, "win", "one regular tile"),
        ({"win": None}, "concealed", "instead of 14"),
        ({"win": None, "method": "discard", "from": "E"}, "win", "won as dealt"),
        ({"method": "steal"}, "method", "rob_concealed"),
        ({"method": "discard"}, "from", "None is not one of"),
        ({"method": "discard", "from": "S"}, "from", "own tile"),
        ({"from": "E"}, "from", "comes from no seat"),
        ({"flags": ["lucky"]}, "flags", "knows no flag 'lucky'"),
        ({"flags": [["lucky"]]}, "flags", "knows no flag"),
        ({"flags": ["earthly"]}, "flags", "method discard only"),
        ({"flags": None}, "flags", "a list"),
        ({"publicly_exhausted": "1m"}, "publicly_exhausted", "a list"),
        ({"publicly_exhausted": ["1x"]}, "publicly_exhausted[0]", "no suit"),
        ({"others": {"S": {}}}, "others", "another seat"),
        ({"others": {"E": {"concealed": "1m", "melds": [], "bonus": ""}}}, "others.E.concealed", "instead of 13"),
        ({"others": []}, "others", "a JSON object"),
    ],
)
def test_what_is_wrong_is_named_by_its_field(change: dict[str, Any], field: str, reason: str) -> None:
    with pytest.raises(SituationError) as refused:
        read_situation(HAND | change)
    assert refused.value.field == field
    assert reason in refused.value.reason


@pytest.mark.parametrize("field", ["preset", "seat", "round", "concealed", "melds", "bonus", "win", "method", "flags"])
def test_a_missing_field_is_named(field: str) -> None:
    with pytest.raises(SituationError) as refused:
        read_situation({name: value for name, value in HAND.items() if name != field})
    assert (refused.value.field, refused.value.reason) == (field, "missing")


@pytest.mark.parametrize("line", ["", "{", "[]", "null", "12", '"x"', b"\xff\xfe", "[" * 100_000, "{}"])
def test_an_unreadable_line_is_answered_with_an_error(line: str | bytes) -> None:
    assert list(answer(line)) == ["error"]


def test_a_win_below_the_minimum_is_itemised_and_no_win_is_just_illegal() -> None:
    below = vector("234m567m345p67s99p", by="8s", source="E")
    assert answer(json.dumps(below)) == {
        "legal": False,
        "items": [["All Sequences", 1], ["No flowers or seasons", 1]],
        "total": 2,
    }
    assert answer(json.dumps(below | {"win": "9s"})) == {"legal": False}
