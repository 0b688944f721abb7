"""`eastwind verify`: was a hand played with the promised wall, by the rules, and paid correctly?"""

from __future__ import annotations

import json
from typing import BinaryIO, NoReturn

import click

import libs.mahjong.variants  # noqa: F401  (registers the rulesets)
from libs.contracts.record_files import LARGEST_FILE, record_from_file
from libs.contracts.records import record_from_proto, record_id
from libs.contracts.tiles import InvalidMessage
from libs.mahjong.engine.ruleset import UnknownRuleset
from libs.mahjong.fairness import UnknownAlgorithm
from libs.mahjong.record import HandRecord
from libs.mahjong.verification import Check, Finding, VerificationReport
from libs.mahjong.verification import verify as verify_record

VERIFIED, FAILED, UNCHECKED = 0, 1, 2
"""The exit codes."""

_MEANING = {
    Check.COMMITMENT: "the server's seed is the one that was sealed before the hand",
    Check.NONCES: "every player's nonce is the one that was committed to",
    Check.WALL: "the wall follows from the seed and the nonces",
    Check.EVENTS: "every event follows from those before it by a legal choice or a timeout",
    Check.SETTLEMENT: "scores and payments are those of the ruleset",
    Check.ZERO_SUM: "the points are the sums of the payments and add to zero",
}


@click.command(no_args_is_help=True)
@click.argument("record", type=click.File("rb"))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of lines for people.")
@click.pass_context
def verify(context: click.Context, record: BinaryIO, as_json: bool) -> None:
    """Check the record of a hand, on this machine and without asking anybody.

    RECORD is a file that the replay page or ExportRecord gave, or - for standard input. The wall is built again from
    the revealed seed and nonces, every event must follow by the rules, and the settlement is worked out again.

    The exit code is 0 when all checks pass, 1 when one does not, and 2 when the file cannot be checked: it is no whole
    record, or of a version that this program does not know.
    """
    try:
        hand = record_from_proto(record_from_file(record.read(LARGEST_FILE + 1)))
        report = verify_record(hand)
    except (InvalidMessage, UnknownRuleset, UnknownAlgorithm) as error:
        _cannot_check(context, str(error), as_json)
    click.echo(_as_json(hand, report) if as_json else "\n".join(_lines(hand, report)))
    context.exit(VERIFIED if report.passed else FAILED)


def _lines(hand: HandRecord, report: VerificationReport) -> list[str]:
    lines = [f"Hand {hand.hand} at table {hand.table_id}, {hand.ruleset_id}, {hand.algorithm}", ""]
    lines += [_line(finding) for finding in report.findings]
    lines += ["", "All checks passed." if report.passed else f"{len(report.failed)} of the checks did not pass."]
    return lines


def _line(finding: Finding) -> str:
    name = f"{finding.check.value:<10}"
    return f"✓ {name}  {_MEANING[finding.check]}" if finding.passed else f"✗ {name}  {finding.detail}"


def _as_json(hand: HandRecord, report: VerificationReport) -> str:
    return json.dumps(
        {
            "record_id": record_id(hand.table_id, hand.hand),
            "ruleset": hand.ruleset_id,
            "algorithm": hand.algorithm,
            "verified": report.passed,
            "checks": [
                {"name": finding.check.value, "passed": finding.passed, "detail": finding.detail}
                for finding in report.findings
            ],
        },
        ensure_ascii=False,
    )


def _cannot_check(context: click.Context, why: str, as_json: bool) -> NoReturn:
    if as_json:
        click.echo(json.dumps({"verified": None, "error": why}, ensure_ascii=False))
    else:
        click.echo(f"This cannot be checked: {why}", err=True)
    context.exit(UNCHECKED)
