"""`eastwind score`: lines of JSON, and a hand for people."""

import json
from importlib import resources

import pytest
from click.testing import CliRunner

from services.cli.main import main

HAND = ["--seat", "S", "--round", "E", "234m567m345p67s99p", "--win", "8s"]


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str]:
    outcome = CliRunner().invoke(main, ["score", *arguments], input=stdin)
    return outcome.exit_code, outcome.output


def test_every_line_is_answered_in_its_place_and_unreadable_ones_with_an_error() -> None:
    golden = resources.files("libs.mahjong.variants.hkos").joinpath("golden/hands.jsonl").read_bytes().splitlines()
    code, output = run("--json", stdin=b"\n".join([golden[0], b"", b"\xff", b'{"preset": "hkos-3-v1"}', golden[1]]))
    answers = [json.loads(line) for line in output.splitlines()]
    assert code == 0
    assert [list(answer) == ["error"] for answer in answers] == [False, True, True, True, False]
    assert answers[3] == {"error": "method: missing"}
    for line, answer in ((golden[0], answers[0]), (golden[1], answers[4])):
        assert answer == json.loads(line)["expected"]


def test_a_win_is_shown_with_its_patterns_and_payments() -> None:
    code, output = run(*HAND, "--self-draw")
    assert code == 0
    assert [" ".join(line.split()) for line in output.splitlines() if line] == [
        "Hong Kong Old Style, a win",
        "All Sequences 1 faan",
        "Self-draw 1 faan",
        "No flowers or seasons 1 faan",
        "Together 3 faan",
        "Payments",
        "E pays S 4",
        "W pays S 4",
        "N pays S 4",
        "Points E -4 S +12 W -4 N -4",
    ]


def test_melds_and_the_cap_are_understood() -> None:
    code, output = run("--seat", "S", "777z2m", "--pung", "555z", "--pung", "666z", "--added-kong", "9999m",
                       "--bonus", "1f", "--win", "2m", "--from", "W")  # fmt: skip
    assert code == 0
    assert "Together 14 faan, counted as 13" in output
    assert "W pays S   384" in output


def test_points_doubles_and_limits_are_shown_with_their_units() -> None:
    hand = ["--ruleset", "classical", "--seat", "S", "234m567p456s888s1z", "--win", "1z", "--self-draw"]
    code, output = run(*hand)
    assert code == 0
    assert [" ".join(line.split()) for line in output.splitlines() if line] == [
        "Chinese Classical, a win",
        "winning 10 points",
        "self-draw 2 points",
        "concealed pung 8s 4 points",
        "pair of round wind 2 points",
        "completing the pair 2 points",
        "terminal/honour pair completed 2 points",
        "one-chance 2 points",
        "concealed self-draw 1 double",
        "Together 48 points",
        "Payments",
        "E pays S 96",
        "W pays S 48",
        "N pays S 48",
        "Points E -96 S +192 W -48 N -48",
    ]
    assert "kong on kong" in run(
        "--ruleset", "classical", "34p99p666z", "--concealed-kong", "2222m", "--concealed-kong", "7777s",
        "--win", "2p", "--self-draw", "--flag", "kong_on_kong",
    )[1]  # fmt: skip


def test_every_ruleset_answers_the_lines_of_its_own_vectors() -> None:
    for folder, fields in (("hkos", {"items", "faan"}), ("classical", {"base", "doubles", "limit", "value"})):
        golden = resources.files(f"libs.mahjong.variants.{folder}").joinpath("golden/hands.jsonl").read_bytes()
        code, output = run("--json", stdin=golden)
        answers = [json.loads(line) for line in output.splitlines()]
        assert code == 0
        assert set().union(*answers) >= fields | {"legal", "payments"}
        for line, answer in zip(golden.splitlines(), answers, strict=True):
            expected = json.loads(line)["expected"]
            for name in ("legal", "payments", "value", "limit", "faan"):
                assert answer.get(name) == expected.get(name)


def test_a_hand_below_the_minimum_and_no_hand_are_told_apart() -> None:
    assert "below the minimum" in run(*HAND, "--from", "E")[1]
    assert "not a winning hand" in run(*HAND[:-1], "9m", "--from", "E")[1]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([*HAND], "--self-draw, --from"),
        ([*HAND, "--self-draw", "--from", "E"], "with one of"),
        ([*HAND, "--self-draw", "--flag", "earthly"], "flags: earthly goes with the method discard only"),
        ([*HAND, "--self-draw", "--ruleset", "tea"], "no ruleset 'tea'"),
        ([*HAND, "--self-draw", "--chow", "135m"], "'135m' is no chow"),
        (["--self-draw", "--win", "1m"], "which hand?"),
        (["--json", "123m"], "standard input"),
    ],
)
def test_options_that_describe_no_hand_are_refused(arguments: list[str], complaint: str) -> None:
    code, output = run(*arguments)
    assert (code, complaint in output) == (2, True), output
