"""The pattern data of hkos-3-v1 says what the rules page says."""

import itertools

from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.variants import rules_page
from libs.mahjong.variants.hkos.patterns import PATTERNS, SUPERSEDES, PatternClass


def test_the_relation_is_that_of_the_rules() -> None:
    components = {pattern.id for pattern in PATTERNS if pattern.cls is PatternClass.COMPONENT}
    assert SUPERSEDES["S3"] == SUPERSEDES["B3"] == {"DR"}
    assert SUPERSEDES["S4"] == SUPERSEDES["AH"] == SUPERSEDES["AT"] == components
    assert SUPERSEDES["A8"] == {"CF", "CS", "OF", "OS"}
    assert (SUPERSEDES["CF"], SUPERSEDES["CS"]) == ({"OF"}, {"OS"})
    limits = [pattern.id for pattern in PATTERNS if pattern.cls is PatternClass.LIMIT]
    for limit in limits:
        assert SUPERSEDES[limit] >= {pattern.id for pattern in PATTERNS} - set(limits)
    for one, other in itertools.combinations(limits, 2):
        assert (one in SUPERSEDES[other]) is not (other in SUPERSEDES[one])
    assert not any(pattern in SUPERSEDES[pattern] for pattern in SUPERSEDES)
    assert len(SUPERSEDES) == 2 + 3 + 3 + len(limits)


def test_the_rules_page_lists_every_pattern_with_its_faan() -> None:
    page = rules_page("hkos-3-v1")
    for pattern in PATTERNS:
        assert any(
            line.startswith(f"| {pattern.name} |") and f"| {pattern.faan}" in line for line in page.splitlines()
        ), pattern.name


def test_the_preset_is_registered_by_its_folder() -> None:
    preset = ruleset("hkos-3-v1")
    assert (preset.name, preset.starting_points, preset.ready_step.seconds) == ("Hong Kong Old Style", 0, 30)
    assert not preset.match_over(1000)
    assert [preset.prevailing_wind(changes) for changes in (0, 3, 4, 15, 16)] == [0, 0, 1, 3, 0]
