"""The vector form: a win as one JSON object, and its result in the words of its ruleset.

========================= =============================================================================================
field                     meaning
========================= =============================================================================================
``preset``                the id of the ruleset
``seat``, ``round``       the winner's seat wind and the prevailing wind: ``E`` ``S`` ``W`` ``N``
``concealed``             the tiles in hand without the winning tile; with ``win`` null all of them
``melds``                 objects with ``type`` chow, pung or kong, ``tiles``, and ``kind`` open for chow and pung,
                          concealed, claimed or added for a kong
``bonus``                 flowers and seasons
``win``                   the winning tile; null when the hand was won as dealt
``method``, ``from``      ``self`` (from null), ``discard``, ``rob``, ``rob_concealed``; the seat it came from
``flags``                 names that the ruleset defines in ``Ruleset.win_flags``
``publicly_exhausted``    optional: kinds all four copies of which lie in discards or declared melds
``others``                optional: by wind, ``concealed``, ``melds`` and ``bonus`` of the other seats at the end
========================= =============================================================================================

Other fields are ignored. What cannot be a holding at the end of a hand is refused with the field that is wrong.
"""

import json
from collections.abc import Iterable
from typing import Final

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from libs.mahjong import melds as meld_builders
from libs.mahjong.engine.ruleset import Ruleset, UnknownRuleset, ruleset, rulesets
from libs.mahjong.melds import Meld
from libs.mahjong.result_form import WIND_LETTERS
from libs.mahjong.scores import Circumstance, Holding, WinMethod, WinSituation
from libs.mahjong.tiles import (
    COPIES,
    KIND_COUNT,
    REGULAR_KINDS,
    Kind,
    NotationError,
    Tile,
    Wind,
    kind_name,
    parse_kinds,
    tiles_of_kind,
)

HAND_TILES: Final = 13
"""Tiles of a holding that waits; every meld counts as three."""
MOST_MELDS: Final = 4

METHODS: Final = {
    "self": WinMethod.SELF_DRAW,
    "discard": WinMethod.DISCARD,
    "rob": WinMethod.ROBBED_KONG,
    "rob_concealed": WinMethod.ROBBED_CONCEALED_KONG,
}
MELD_KINDS: Final = {"chow": ("open",), "pung": ("open",), "kong": ("concealed", "claimed", "added")}
"""The kinds that each type of meld may have."""


class SituationError(ValueError):
    """An object is no win in the vector form: ``field`` names the place, ``reason`` says what is wrong with it."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}" if field else reason)
        self.field = field
        self.reason = reason


def answer(line: str | bytes) -> dict[str, object]:
    """The result of one line of JSON in the form of its ruleset, or ``{"error": …}`` when it cannot be read."""
    try:
        preset, situation = parse_line(line)
    except SituationError as error:
        return {"error": str(error)}
    return preset.result_form(situation)


def parse_line(line: str | bytes) -> tuple[Ruleset, WinSituation]:
    """The ruleset and the win that one line of JSON describes. Raises ``SituationError``."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise SituationError("", f"not a JSON object: {error}") from None
    return read_situation(data)


def read_situation(data: object) -> tuple[Ruleset, WinSituation]:
    """The ruleset and the win that a decoded JSON object describes. Raises ``SituationError``."""
    fields = _object(data, "")
    preset = _ruleset(fields)
    method = METHODS[_choice(fields, "method", tuple(METHODS))]
    seat_wind = _wind(fields, "seat")
    set_of_tiles = _TileSet()
    winning = None if _field(fields, "win") is None else set_of_tiles.take_one(fields, "win")
    if winning is None and method is not WinMethod.SELF_DRAW:
        raise SituationError("win", "only a hand won as dealt (method self) has no winning tile")
    dealt = HAND_TILES if winning is not None else HAND_TILES + 1
    holding = _holding(fields, "", dealt, seat_wind, set_of_tiles)
    situation = WinSituation(
        seat_wind=seat_wind,
        prevailing_wind=_wind(fields, "round"),
        holding=holding,
        winning=winning,
        method=method,
        source=_source(fields, method, seat_wind),
        circumstances=_circumstances(fields, preset, method, holding),
        exhausted=_exhausted(fields),
        others=_others(fields, seat_wind, set_of_tiles),
    )
    return preset, situation


class _TileSet:
    """The one set of tiles that all fields of a line are taken from."""

    def __init__(self) -> None:
        self._used = [0] * KIND_COUNT

    def take(self, kind: Kind, field: str) -> Tile:
        """The next unused copy of a kind."""
        copies = tiles_of_kind(kind)
        number = self._used[kind]
        if number == len(copies):
            many = f"a fifth {kind_name(kind)}" if number == COPIES else f"{kind_name(kind)} twice"
            raise SituationError(field, f"{many}: the set has {number} of it")
        self._used[kind] = number + 1
        return copies[number]

    def take_all(self, kinds: tuple[Kind, ...], field: str) -> tuple[Tile, ...]:
        return tuple(self.take(kind, field) for kind in kinds)

    def take_one(self, fields: dict[str, object], name: str) -> Kind:
        kinds = _kinds(fields, name, name)
        if len(kinds) != 1 or kinds[0] >= REGULAR_KINDS:
            raise SituationError(name, f"one regular tile is wanted, not {fields[name]!r}")
        self.take(kinds[0], name)
        return kinds[0]


def _holding(fields: dict[str, object], path: str, tiles: int, wind: Wind, set_of_tiles: _TileSet) -> Holding:
    entries = _field(fields, "melds", path)
    if not isinstance(entries, list):
        raise SituationError(f"{path}melds", "a list of melds is wanted")
    if len(entries) > MOST_MELDS:
        raise SituationError(f"{path}melds", f"{len(entries)} melds, a hand has at most {MOST_MELDS}")
    melds = tuple(_meld(entry, f"{path}melds[{i}]", wind, set_of_tiles) for i, entry in enumerate(entries))
    concealed = _kinds(fields, "concealed", f"{path}concealed")
    for kind in concealed:
        if kind >= REGULAR_KINDS:
            raise SituationError(f"{path}concealed", f"{kind_name(kind)} is a bonus tile and belongs to bonus")
    wanted = tiles - 3 * len(melds)
    if len(concealed) != wanted:
        whole = f"{tiles} when won as dealt" if tiles > HAND_TILES else f"{tiles} without the winning tile"
        raise SituationError(
            f"{path}concealed", f"{len(concealed)} tiles instead of {wanted} ({whole}, 3 less for every meld)"
        )
    set_of_tiles.take_all(concealed, f"{path}concealed")
    bonus = _kinds(fields, "bonus", f"{path}bonus")
    for kind in bonus:
        if kind < REGULAR_KINDS:
            raise SituationError(f"{path}bonus", f"{kind_name(kind)} is neither flower nor season")
    set_of_tiles.take_all(bonus, f"{path}bonus")
    return Holding(tuple(sorted(concealed)), melds, tuple(sorted(bonus)))


def _meld(entry: object, path: str, wind: Wind, set_of_tiles: _TileSet) -> Meld:
    """The form does not say who gave a claimed tile; the seat before the owner stands for it. It changes no score."""
    fields = _object(entry, path)
    kind = _choice(fields, "type", tuple(MELD_KINDS), f"{path}.")
    sort = _choice(fields, "kind", MELD_KINDS[kind], f"{path}.")
    place = f"{path}.tiles"
    kinds = _kinds(fields, "tiles", place)
    size = 4 if kind == "kong" else 3
    if len(kinds) != size or max(kinds) >= REGULAR_KINDS:
        raise SituationError(place, f"a {kind} has {size} regular tiles, not {fields['tiles']!r}")
    *held, last = set_of_tiles.take_all(kinds, place)
    source = (wind - 1) % 4
    try:
        if kind == "chow":
            return meld_builders.chow(held, last, source)
        if kind == "pung":
            return meld_builders.pung(held, last, source)
        if sort == "concealed":
            return meld_builders.concealed_kong((*held, last))
        if sort == "claimed":
            return meld_builders.claimed_kong(held, last, source)
        return meld_builders.added_kong(meld_builders.pung(held[:2], held[2], source), last)
    except ValueError:
        raise SituationError(place, f"{fields['tiles']!r} is no {kind}") from None


def _others(fields: dict[str, object], seat_wind: Wind, set_of_tiles: _TileSet) -> tuple[tuple[Wind, Holding], ...]:
    entries = fields.get("others")
    if entries is None:
        return ()
    found: list[tuple[Wind, Holding]] = []
    for letter, entry in _object(entries, "others").items():
        if letter not in tuple(WIND_LETTERS) or WIND_LETTERS.index(letter) == seat_wind:
            raise SituationError("others", f"{letter!r} is not the wind of another seat")
        wind, path = WIND_LETTERS.index(letter), f"others.{letter}"
        found.append((wind, _holding(_object(entry, path), f"{path}.", HAND_TILES, wind, set_of_tiles)))
    return tuple(sorted(found, key=lambda other: other[0]))


def _exhausted(fields: dict[str, object]) -> frozenset[Kind]:
    entries = fields.get("publicly_exhausted")
    if entries is None:
        return frozenset()
    if not isinstance(entries, list):
        raise SituationError("publicly_exhausted", "a list of tiles is wanted")
    return frozenset(kind for i, entry in enumerate(entries) for kind in _read_kinds(entry, f"publicly_exhausted[{i}]"))


def _circumstances(fields: dict[str, object], preset: Ruleset, method: WinMethod, holding: Holding) -> Circumstance:
    """The form has no flag for kongs before a win in the first turn; the winner's own are seen."""
    flags = _field(fields, "flags")
    if not isinstance(flags, list):
        raise SituationError("flags", "a list of names is wanted")
    found = Circumstance.NONE
    for flag in flags:
        by_method = preset.win_flags.get(flag) if isinstance(flag, str) else None
        if by_method is None:
            raise SituationError("flags", f"{preset.id} knows no flag {flag!r}, only {_list(preset.win_flags)}")
        if method not in by_method:
            methods = _list(name for name, known in METHODS.items() if known in by_method)
            raise SituationError("flags", f"{flag} goes with the method {methods} only")
        found |= by_method[method]
    first_turn = Circumstance.BEFORE_FIRST_DISCARD | Circumstance.FIRST_DISCARD
    if found & first_turn and any(meld.is_kong for meld in holding.melds):
        found |= Circumstance.KONGS_DECLARED
    return found


def _source(fields: dict[str, object], method: WinMethod, seat_wind: Wind) -> Wind | None:
    if method is WinMethod.SELF_DRAW:
        if fields.get("from") is not None:
            raise SituationError("from", "a self-drawn tile comes from no seat")
        return None
    source = _wind(fields, "from")
    if source == seat_wind:
        raise SituationError("from", "the winner cannot win on an own tile")
    return source


def _ruleset(fields: dict[str, object]) -> Ruleset:
    ruleset_id = _field(fields, "preset")
    try:
        return ruleset(ruleset_id if isinstance(ruleset_id, str) else repr(ruleset_id))
    except UnknownRuleset:
        known = _list(preset.id for preset in rulesets())
        raise SituationError("preset", f"no ruleset {ruleset_id!r}, only {known}") from None


def _object(data: object, path: str) -> dict[str, object]:
    if not isinstance(data, dict):
        raise SituationError(path, f"a JSON object is wanted, not {type(data).__name__}")
    return data


def _field(fields: dict[str, object], name: str, path: str = "") -> object:
    if name not in fields:
        raise SituationError(f"{path}{name}", "missing")
    return fields[name]


def _choice(fields: dict[str, object], name: str, choices: tuple[str, ...], path: str = "") -> str:
    value = _field(fields, name, path)
    if not isinstance(value, str) or value not in choices:
        raise SituationError(f"{path}{name}", f"{value!r} is not one of {_list(choices)}")
    return value


def _wind(fields: dict[str, object], name: str) -> Wind:
    return WIND_LETTERS.index(_choice(fields, name, tuple(WIND_LETTERS)))


def _kinds(fields: dict[str, object], name: str, path: str) -> tuple[Kind, ...]:
    if name not in fields:
        raise SituationError(path, "missing")
    return _read_kinds(fields[name], path)


def _read_kinds(text: object, path: str) -> tuple[Kind, ...]:
    if not isinstance(text, str):
        raise SituationError(path, f"tiles are a text such as '234m55z', not {text!r}")
    try:
        return parse_kinds(text)
    except NotationError as error:
        raise SituationError(path, str(error)) from None


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
