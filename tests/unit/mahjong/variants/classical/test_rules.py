"""The data of classical says what the rules page says."""

from libs.mahjong.engine.ruleset import RatedUnit, WallEnd, ruleset
from libs.mahjong.variants import rules_page
from libs.mahjong.variants.classical.doubles import EVERYBODY, REMOVES, WINNER
from libs.mahjong.variants.classical.limits import LIMITS

ROWS = rules_page("classical").splitlines()


def test_the_rules_page_lists_every_double() -> None:
    for row in (*EVERYBODY, *WINNER):
        assert any(line.startswith(f"| {row.name} | {row.doubles} |") for line in ROWS), row.name


def test_the_rules_page_lists_every_limit_in_the_order_in_which_one_is_named() -> None:
    places = [next(i for i, line in enumerate(ROWS) if line.startswith(f"| {limit.name} |")) for limit in LIMITS]
    assert places == sorted(places)


def test_what_removes_what_speaks_of_doubles_that_there_are() -> None:
    known = {row.id for row in (*EVERYBODY, *WINNER)}
    assert len(known) == len(EVERYBODY) + len(WINNER)
    assert set(REMOVES) | set().union(*REMOVES.values()) <= known


def test_the_preset_is_registered_by_its_folder() -> None:
    preset = ruleset("classical")
    assert (preset.name, preset.starting_points, preset.minimum) == ("Chinese Classical", 2000, 0)
    assert (preset.rated_unit, preset.ready_step.seconds, preset.ready_step.automatic) == (RatedUnit.MATCH, 15, True)
    assert (preset.wall.kong_box, preset.wall.bonus_from, preset.wall.kong_from) == (
        16, WallEnd.FRONT, WallEnd.KONG_BOX,
    )  # fmt: skip
    assert preset.opening_kongs
    assert preset.original_call
    assert preset.reveals_all


def test_the_match_has_four_rounds_of_four_changes() -> None:
    preset = ruleset("classical")
    assert [preset.match_over(changes) for changes in (0, 15, 16)] == [False, False, True]
    assert [preset.prevailing_wind(changes) for changes in (0, 3, 4, 8, 12, 15)] == [0, 0, 1, 2, 3, 3]
