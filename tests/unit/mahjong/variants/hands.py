"""Builders that read like the end of a hand: ``won("234m567m345p67s99p", by="8s", seat="S")``."""

from __future__ import annotations

from libs.mahjong.notation import read_situation
from libs.mahjong.scores import Circumstance, HandScore, WinSituation


def meld(text: str) -> dict[str, str]:
    """A meld as field cases write it: chow(345p), pung(5z), kong(8s) (claimed), ckong(1m), akong(5p)."""
    name, tiles = text.rstrip(")").split("(")
    number, suit = tiles[:-1], tiles[-1]
    if name == "chow":
        return {"type": "chow", "tiles": tiles, "kind": "open"}
    if name == "pung":
        return {"type": "pung", "tiles": number * 3 + suit, "kind": "open"}
    kind = {"kong": "claimed", "ckong": "concealed", "akong": "added"}[name]
    return {"type": "kong", "tiles": number * 4 + suit, "kind": kind}


def vector(
    concealed: str,
    *melds: str,
    by: str | None,
    seat: str = "S",
    wind: str = "E",
    source: str | None = None,
    method: str | None = None,
    bonus: str = "",
    flags: tuple[str, ...] = (),
    preset: str = "hkos-3-v1",
    exhausted: str = "",
    others: dict[str, dict[str, object]] | None = None,
) -> dict[str, object]:
    """The vector form of a win: by self-draw, or on the discard of ``source``."""
    return {
        "preset": preset,
        "seat": seat,
        "round": wind,
        "concealed": concealed,
        "melds": [meld(text) for text in melds],
        "bonus": bonus,
        "win": by,
        "method": method or ("discard" if source else "self"),
        "from": source,
        "flags": list(flags),
        "publicly_exhausted": [exhausted] if exhausted else [],
        "others": others or {},
    }


def other(concealed: str, *melds: str, bonus: str = "") -> dict[str, object]:
    """The 13 tiles of a seat that did not win, in the vector form."""
    return {"concealed": concealed, "melds": [meld(text) for text in melds], "bonus": bonus}


def won(
    concealed: str,
    *melds: str,
    by: str | None,
    circumstances: Circumstance = Circumstance.NONE,
    seat: str = "S",
    wind: str = "E",
    source: str | None = None,
    method: str | None = None,
    bonus: str = "",
    flags: tuple[str, ...] = (),
) -> WinSituation:
    """The situation of a win at ``hkos-3-v1``; ``circumstances`` are added to those of the flags."""
    form = vector(
        concealed, *melds, by=by, seat=seat, wind=wind, source=source, method=method, bonus=bonus, flags=flags
    )
    _, situation = read_situation(form)
    if circumstances:
        return WinSituation(
            situation.seat_wind,
            situation.prevailing_wind,
            situation.holding,
            situation.winning,
            situation.method,
            situation.source,
            situation.circumstances | circumstances,
        )
    return situation


def lines(score: HandScore) -> list[tuple[str, int]]:
    """The itemised patterns, in alphabetical order of their names."""
    return sorted((item.name, item.amount) for item in score.items)
