"""`eastwind verify`: records that hold, that do not, and files that are none."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import libs.mahjong.variants  # noqa: F401
from libs.contracts.record_files import record_to_file
from libs.contracts.records import record_to_proto
from libs.mahjong.record import HandRecord
from libs.mahjong.simulation import eager_policy, play_hand
from libs.mahjong.verification import Check
from services.cli.main import main

RECORD = play_hand("hkos-3-v1", [eager_policy(bytes([seat])) for seat in range(4)], b"a hand for the command 0")
STORED = Path(__file__).parents[2] / "vectors" / "record-format-1.json"


def run(content: str | bytes, *options: str) -> tuple[int, str]:
    outcome = CliRunner().invoke(main, ["verify", *options, "-"], input=content)
    return outcome.exit_code, outcome.output


def file_of(record: HandRecord) -> str:
    return record_to_file(record_to_proto(record))


def edited(**fields: Any) -> str:
    return json.dumps({**json.loads(file_of(RECORD)), **fields})


def test_a_good_record_passes_every_check(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text(file_of(RECORD))
    outcome = CliRunner().invoke(main, ["verify", str(path)])
    assert outcome.exit_code == 0
    assert outcome.output.count("✓") == len(Check)
    assert "✗" not in outcome.output
    assert "All checks passed." in outcome.output


def test_as_json_the_same_is_one_object() -> None:
    code, output = run(file_of(RECORD), "--json")
    answer = json.loads(output)
    assert (code, answer["verified"], answer["ruleset"]) == (0, True, "hkos-3-v1")
    assert [check["name"] for check in answer["checks"]] == list(Check)


def test_a_record_with_another_seed_fails_the_checks_of_seed_and_wall() -> None:
    code, output = run(file_of(replace(RECORD, server_seed=bytes(32))))
    assert code == 1
    crosses = [line.split()[1] for line in output.splitlines() if line.startswith("✗")]
    assert crosses == [Check.COMMITMENT, Check.WALL]
    assert json.loads(run(file_of(replace(RECORD, server_seed=bytes(32))), "--json")[1])["verified"] is False


def test_another_payment_is_found() -> None:
    plain = json.loads(file_of(RECORD))
    settled = plain["events"][-1]["event"]["hand_settled"]
    settled["payments"][0]["amount"] += 1
    code, output = run(json.dumps(plain))
    assert code == 1
    assert f"✗ {Check.SETTLEMENT}" in output


def test_c097_the_file_of_an_earlier_release_still_verifies() -> None:
    assert run(STORED.read_bytes())[0] == 0


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "no whole JSON document"),
        (file_of(RECORD)[:5000], "no whole JSON document"),
        (b"\xff\xfe\x00", "no whole JSON document"),
        ("[" * 100_000, "no whole JSON document"),
        ("7", "no record"),
        ("{}", "format: missing"),
        (edited(format=2), "format 2; this version reads format 1"),
        (edited(ruleset="shanghai-v1"), "ruleset: not the one of the settings"),
        (edited(events=[]), "events: there are none"),
        (edited(events=json.loads(file_of(RECORD))["events"][:-1]), "settlement"),
        (edited(surprise=1), "surprise"),
        (edited(events=[{"event": {"tiles_swapped": {}}}]), "tiles_swapped"),
        (edited(seed="AAAA"), "seed"),
        (edited(algorithm="coin-v1"), "coin-v1"),
        (edited(hand="many"), "hand"),
        (b" " * (4 * 1024 * 1024 + 1), "too large"),
    ],
)
def test_c097_what_cannot_be_checked_says_why(content: str | bytes, why: str) -> None:
    code, output = run(content)
    assert (code, why in output) == (2, True), output[:500]
    code, output = run(content, "--json")
    answer = json.loads(output)
    assert (code, answer["verified"]) == (2, None)
    assert why in answer["error"]


def test_a_file_that_is_not_there_is_a_wrong_use() -> None:
    assert CliRunner().invoke(main, ["verify", "/nowhere/record.json"]).exit_code == 2
