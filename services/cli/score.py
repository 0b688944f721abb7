"""`eastwind score`: what a hand is worth and who pays."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.notation import MELD_KINDS, SituationError, answer, read_situation
from libs.mahjong.result_form import WIND_LETTERS
from libs.mahjong.scores import HandScore, ScoreItem, Unit, WinSituation

_UNITS = {Unit.FAAN: "faan", Unit.POINTS: "points", Unit.DOUBLES: "doubles", Unit.LIMIT: "limit"}
_WIND = click.Choice(list(WIND_LETTERS), case_sensitive=False)


@click.command(no_args_is_help=True)
@click.argument("concealed", required=False)
@click.option("--json", "from_json", is_flag=True, help="Read JSON lines from standard input instead; see below.")
@click.option("--ruleset", default="hkos-3-v1", show_default=True, help="The preset.")
@click.option("--seat", type=_WIND, metavar="WIND", default="E", show_default=True, help="The winner's seat wind.")
@click.option(
    "--round", "prevailing", type=_WIND, metavar="WIND", default="E", show_default=True, help="The prevailing wind."
)
@click.option("--win", metavar="TILE", help="The winning tile; without it the hand is won as dealt.")
@click.option("--self-draw", is_flag=True, help="The winner drew the winning tile.")
@click.option("--from", "discarder", type=_WIND, metavar="WIND", help="The seat that discarded the winning tile.")
@click.option("--rob", type=_WIND, metavar="WIND", help="The seat whose added kong is robbed.")
@click.option("--rob-concealed", type=_WIND, metavar="WIND", help="The seat whose concealed kong is robbed.")
@click.option("--chow", "chows", multiple=True, metavar="TILES", help="A declared chow, such as 345s. Repeatable.")
@click.option("--pung", "pungs", multiple=True, metavar="TILES", help="A declared pung, such as 555z. Repeatable.")
@click.option("--concealed-kong", multiple=True, metavar="TILES", help="A concealed kong. Repeatable.")
@click.option("--claimed-kong", multiple=True, metavar="TILES", help="A kong claimed from a discard. Repeatable.")
@click.option("--added-kong", multiple=True, metavar="TILES", help="A kong added to a pung. Repeatable.")
@click.option("--bonus", default="", metavar="TILES", help="Exposed flowers and seasons, such as 1f24g.")
@click.option("--flag", "flags", multiple=True, metavar="NAME", help="A circumstance, such as last_tile. Repeatable.")
def score(
    concealed: str | None,
    from_json: bool,
    ruleset: str,
    seat: str,
    prevailing: str,
    win: str | None,
    self_draw: bool,
    discarder: str | None,
    rob: str | None,
    rob_concealed: str | None,
    chows: tuple[str, ...],
    pungs: tuple[str, ...],
    concealed_kong: tuple[str, ...],
    claimed_kong: tuple[str, ...],
    added_kong: tuple[str, ...],
    bonus: str,
    flags: tuple[str, ...],
) -> None:
    """Say what a hand is worth and who pays.

    CONCEALED are the tiles in hand without the winning tile and without declared melds. 1m-9m are characters, 1p-9p
    dots, 1s-9s bamboo, 1z-7z East South West North Red Green White, 1f-4f flowers and 1g-4g seasons; digits may share
    a letter: 234m55z. A WIND is E, S, W or N.

    \b
    eastwind score --seat S --round E "234m567m345p67s99p" --win 8s --self-draw
    eastwind score --seat W 99m234m67m --pung 555z --chow 345m --bonus 3f --win 8m --from N
    eastwind score 9m --concealed-kong 1111m --added-kong 7777s --pung 222z --pung 333p --win 9m --rob S

    With --json every line of standard input is a win in the vector form (an object with preset, seat, round,
    concealed, melds, bonus, win, method, from, flags), and every line gives one line of output, in the form of the
    vectors' `expected`: for hkos-3-v1 legal, items, total, faan, payments; for classical legal, value, base, doubles,
    limit, payments; just legal for tiles that are no winning hand. A line that cannot be read gives
    {"error": "..."} in its place, and the rest goes on.

    The exit code is 0 whether hands win or not, and with --json also when lines could not be read. It is 2 when the
    options describe no hand.
    """
    if from_json:
        if concealed is not None:
            raise click.UsageError("--json reads hands from standard input, not from the command line")
        answer_lines()
        return
    if concealed is None:
        raise click.UsageError("which hand? give the tiles in hand, or --json")
    method, source = _way_of_winning(self_draw, discarder, rob, rob_concealed)
    sorts = (
        ("chow", MELD_KINDS["chow"][0], chows),
        ("pung", MELD_KINDS["pung"][0], pungs),
        ("kong", "concealed", concealed_kong),
        ("kong", "claimed", claimed_kong),
        ("kong", "added", added_kong),
    )
    form: dict[str, Any] = {
        "preset": ruleset,
        "seat": seat,
        "round": prevailing,
        "concealed": concealed,
        "melds": [{"type": kind, "kind": sort, "tiles": tiles} for kind, sort, melds in sorts for tiles in melds],
        "bonus": bonus,
        "win": win,
        "method": method,
        "from": source,
        "flags": list(flags),
    }
    try:
        preset, situation = read_situation(form)
    except SituationError as error:
        raise click.UsageError(str(error)) from error
    for line in described(preset, situation):
        click.echo(line)


def answer_lines() -> None:
    """Answer every line of standard input with one line on standard output, at once."""
    for line in sys.stdin.buffer:
        click.echo(json.dumps(answer(line), ensure_ascii=False, separators=(",", ":")))


def described(preset: Ruleset, situation: WinSituation) -> list[str]:
    """The score and the payments of a hand as lines for people."""
    worth = preset.score(situation)
    if not worth.complete:
        return [f"{preset.name}: not a winning hand"]
    lines = [f"{preset.name}, {'a win' if worth.legal else 'no win: below the minimum'}", ""]
    width = max((len(item.name) for item in worth.items), default=0)
    lines += [f"  {item.name:<{width}}  {item.amount:>4} {_unit(item)}" for item in worth.items]
    lines += [_sum(worth)]
    if worth.legal:
        settlement = preset.settle(situation)
        lines += ["", "Payments"]
        lines += [
            f"  {WIND_LETTERS[payment.payer]} pays {WIND_LETTERS[payment.payee]}  {payment.amount:>4}"
            for payment in settlement.payments
        ]
        changes = zip(WIND_LETTERS, settlement.changes, strict=True)
        lines += ["", "Points  " + "  ".join(f"{wind} {change:+d}" for wind, change in changes)]
    return lines


def _unit(item: ScoreItem) -> str:
    return "double" if item.unit is Unit.DOUBLES and item.amount == 1 else _UNITS[item.unit]


def _sum(worth: HandScore) -> str:
    units = {item.unit for item in worth.items}
    unit = _UNITS[Unit.FAAN] if units <= {Unit.FAAN} else _UNITS[Unit.POINTS]
    capped = f", counted as {worth.value}" if worth.value != worth.total else ""
    return f"  Together {worth.total} {unit}{capped}"


def _way_of_winning(
    self_draw: bool, discarder: str | None, rob: str | None, rob_concealed: str | None
) -> tuple[str, str | None]:
    ways: list[tuple[str, str | None]] = [("self", None)] if self_draw else []
    named = (("discard", discarder), ("rob", rob), ("rob_concealed", rob_concealed))
    ways += [(method, source) for method, source in named if source is not None]
    if len(ways) != 1:
        raise click.UsageError("say how the hand was won with one of --self-draw, --from, --rob, --rob-concealed")
    return ways[0]
