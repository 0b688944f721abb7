"""Every handed vector and every golden hand of classical scores and settles as expected."""

from __future__ import annotations

import json
from collections import Counter
from importlib import resources
from typing import Any

import pytest

from libs.mahjong.notation import answer, parse_line
from libs.mahjong.result_form import WIND_LETTERS
from libs.mahjong.variants.classical.limits import LIMIT

GOLDEN = resources.files("libs.mahjong.variants.classical").joinpath("golden")
FILES = {"vectors/worked.jsonl": 39, "vectors/random.jsonl": 1500, "hands.jsonl": 20}

WITHOUT_STRIKING_OFF = frozenset(
    f"classical/handed-1/{number}"
    for number in (41, 616, 730, 732, 749, 779, 826, 883, 905, 973, 1173, 1198, 1346, 1354)
)
"""Random vectors whose values leave ``publicly_exhausted`` out of account for one-chance. The rules (§2.6), the worked
vector CL-07 and field case C021 strike such a kind off; there these hands earn 2 points more than the vectors say."""


def lines(name: str) -> list[str]:
    return GOLDEN.joinpath(name).read_text(encoding="utf-8").splitlines()


def amounts(items: Any) -> Any:
    """The sum of an itemised list; the random vectors give sums alone."""
    return items if isinstance(items, int) else sum(amount for _, amount in items)


def differences(line: str) -> dict[str, tuple[object, object]]:
    """Fields of ``expected`` that the answer has differently."""
    vector = json.loads(line)
    expected: dict[str, Any] = vector["expected"]
    found: dict[str, Any] = answer(line)
    differing: dict[str, tuple[object, object]] = {
        field: (expected.get(field), found.get(field))
        for field in ("legal", "value", "limit", "payments")
        if expected.get(field) != found.get(field)
    }
    for field in ("base", "doubles"):
        wanted, got = expected.get(field), found.get(field)
        if isinstance(wanted, list) and Counter(map(tuple, wanted)) != Counter(map(tuple, got or ())):
            differing[field] = (wanted, got)
        # Above the cap every arrangement is worth the same, so its sums are not unique.
        if isinstance(wanted, int) and expected["value"] < LIMIT and wanted != amounts(got):
            differing[field] = (wanted, got)
    if expected["legal"]:
        preset, situation = parse_line(line)
        scores = preset.settle(situation).scores
        for letter, held in vector.get("others", {}).items():
            score = scores[WIND_LETTERS.index(letter)]
            if score is None or score.value != held["value"]:
                differing[letter] = (held["value"], score)
    return differing


@pytest.mark.parametrize("name", FILES)
def test_every_line_comes_out_as_expected(name: str) -> None:
    all_lines = lines(name)
    wrong = {json.loads(line)["id"]: differing for line in all_lines if (differing := differences(line))}
    assert {name: wrong[name] for name in wrong if name not in WITHOUT_STRIKING_OFF} == {}
    assert len(all_lines) >= FILES[name]


def test_the_other_random_vectors_differ_by_one_chance_alone() -> None:
    disputed = [line for line in lines("vectors/random.jsonl") if json.loads(line)["id"] in WITHOUT_STRIKING_OFF]
    assert len(disputed) == len(WITHOUT_STRIKING_OFF)
    for line in disputed:
        vector = json.loads(line)
        assert ["one-chance", 2] in answer(line)["base"]  # type: ignore[operator]
        assert differences(json.dumps(vector | {"publicly_exhausted": []})) == {}
