"""Every handed vector and every golden hand of hkos-3-v1 scores and settles as expected."""

import json
from collections import Counter
from importlib import resources
from typing import Any

import pytest

from libs.mahjong.notation import answer

GOLDEN = resources.files("libs.mahjong.variants.hkos").joinpath("golden")
FILES = {"vectors/worked.jsonl": 30, "vectors/random.jsonl": 1500, "hands.jsonl": 20}


def differences(line: str) -> dict[str, tuple[object, object]]:
    """Fields of ``expected`` that the answer has differently."""
    expected: dict[str, Any] = json.loads(line)["expected"]
    found: dict[str, Any] = answer(line)

    def seen(result: dict[str, Any], field: str) -> object:
        value = result.get(field)
        return Counter(map(tuple, value)) if field == "items" and value is not None else value

    differing = {
        field: (wanted, seen(found, field))
        for field in expected
        if (wanted := seen(expected, field)) != seen(found, field)
    }
    if ("total" in expected) != ("total" in found):
        differing["total"] = (expected.get("total"), found.get("total"))
    return differing


@pytest.mark.parametrize("name", FILES)
def test_every_line_comes_out_as_expected(name: str) -> None:
    lines = GOLDEN.joinpath(name).read_text(encoding="utf-8").splitlines()
    wrong = {json.loads(line)["id"]: differing for line in lines if (differing := differences(line))}
    assert wrong == {}
    assert len(lines) >= FILES[name]
