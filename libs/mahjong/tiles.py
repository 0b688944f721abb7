"""The set of 144 tiles: ids, kinds and their notation.

A tile is an id 0..143, a kind a number 0..41:

====== ============ =======================================
kinds  notation     meaning
====== ============ =======================================
0-8    1m-9m        characters
9-17   1p-9p        dots
18-26  1s-9s        bamboo
27-30  1z-4z        winds East, South, West, North
31-33  5z-7z        dragons Red, Green, White
34-37  1f-4f        flowers, one copy each
38-41  1g-4g        seasons, one copy each
====== ============ =======================================

Ids 0..135 are the four copies of the kinds 0..33 (kind = id // 4); ids 136..143 are the bonus tiles
(kind = 34 + id - 136). The numbers of the bonus tiles belong to seat winds: 1 = East … 4 = North.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

Tile: TypeAlias = int
Kind: TypeAlias = int
Seat: TypeAlias = int
"""A fixed place at the table, 0..3 in turn order."""
Wind: TypeAlias = int
"""0 East, 1 South, 2 West, 3 North."""

TILE_COUNT: Final = 144
KIND_COUNT: Final = 42
REGULAR_TILES: Final = 136
"""Tiles 0..135 are regular; the others are bonus tiles."""
REGULAR_KINDS: Final = 34
"""Kinds 0..33 are regular; the others are bonus kinds."""
COPIES: Final = 4
"""Copies of every regular kind."""

EAST: Final[Kind] = 27
SOUTH: Final[Kind] = 28
WEST: Final[Kind] = 29
NORTH: Final[Kind] = 30
RED: Final[Kind] = 31
GREEN: Final[Kind] = 32
WHITE: Final[Kind] = 33
FIRST_FLOWER: Final[Kind] = 34
FIRST_SEASON: Final[Kind] = 38

WIND_KINDS: Final = (EAST, SOUTH, WEST, NORTH)
"""Indexed by ``Wind``."""
DRAGON_KINDS: Final = (RED, GREEN, WHITE)
FLOWER_KINDS: Final = (34, 35, 36, 37)
SEASON_KINDS: Final = (38, 39, 40, 41)

CHARACTERS: Final = 0
DOTS: Final = 1
BAMBOO: Final = 2
HONOURS: Final = 3
FLOWERS: Final = 4
SEASONS: Final = 5

SUIT_LETTERS: Final = "mpszfg"
"""The letter of each suit number."""

_SUIT_SIZES: Final = (9, 9, 9, 7, 4, 4)
_SUIT_STARTS: Final = (0, 9, 18, 27, 34, 38)

KIND_OF: Final[bytes] = bytes(
    tile // COPIES if tile < REGULAR_TILES else REGULAR_KINDS + tile - REGULAR_TILES for tile in range(TILE_COUNT)
)
"""The kind of every tile id."""

SUIT_OF_KIND: Final[bytes] = bytes(suit for suit, size in enumerate(_SUIT_SIZES) for _ in range(size))
"""The suit number of every kind: 0 characters, 1 dots, 2 bamboo, 3 honours, 4 flowers, 5 seasons."""

RANK_OF_KIND: Final[bytes] = bytes(rank for size in _SUIT_SIZES for rank in range(1, size + 1))
"""The number in the notation of every kind: 1..9 for suits, 1..7 for honours, 1..4 for bonus tiles."""

TERMINAL_KINDS: Final = (0, 8, 9, 17, 18, 26)
HONOUR_KINDS: Final = WIND_KINDS + DRAGON_KINDS
MAJOR_KINDS: Final = TERMINAL_KINDS + HONOUR_KINDS
"""Terminals and honours: the thirteen kinds of Thirteen Orphans."""

IS_TERMINAL: Final = tuple(kind in TERMINAL_KINDS for kind in range(KIND_COUNT))
IS_HONOUR: Final = tuple(kind in HONOUR_KINDS for kind in range(KIND_COUNT))
IS_MAJOR: Final = tuple(kind in MAJOR_KINDS for kind in range(KIND_COUNT))
IS_SIMPLE: Final = tuple(kind < REGULAR_KINDS and kind not in MAJOR_KINDS for kind in range(KIND_COUNT))


class NotationError(ValueError):
    """A text is not tile notation.

    ``text`` is the whole text, ``position`` the offset of the first character that cannot be read and
    ``reason`` says what is wrong there.
    """

    def __init__(self, text: str, position: int, reason: str) -> None:
        super().__init__(f"{reason} at position {position} of {text!r}")
        self.text = text
        self.position = position
        self.reason = reason


def kind_of(tile: Tile) -> Kind:
    """The kind of a tile id; ``IndexError`` for an id that is not in the set. Hot paths read ``KIND_OF``."""
    if tile < 0:
        raise IndexError(f"no tile has the id {tile}")
    return KIND_OF[tile]


def suit_of(kind: Kind) -> int:
    """The suit number of a kind: ``CHARACTERS`` … ``SEASONS``."""
    return SUIT_OF_KIND[kind]


def rank_of(kind: Kind) -> int:
    """The number of a kind in its suit, from 1."""
    return RANK_OF_KIND[kind]


def is_honour(kind: Kind) -> bool:
    """True for winds and dragons."""
    return EAST <= kind <= WHITE


def is_wind(kind: Kind) -> bool:
    """True for 1z-4z."""
    return EAST <= kind <= NORTH


def is_dragon(kind: Kind) -> bool:
    """True for 5z-7z."""
    return RED <= kind <= WHITE


def is_terminal(kind: Kind) -> bool:
    """True for ones and nines of the three suits."""
    return IS_TERMINAL[kind]


def is_major(kind: Kind) -> bool:
    """True for terminals and honours."""
    return IS_MAJOR[kind]


def is_simple(kind: Kind) -> bool:
    """True for 2-8 of the three suits."""
    return IS_SIMPLE[kind]


def is_bonus(kind: Kind) -> bool:
    """True for flowers and seasons."""
    return kind >= REGULAR_KINDS


def bonus_wind(kind: Kind) -> Wind:
    """The seat wind to which a bonus kind belongs (1 = East … 4 = North); ``ValueError`` for a regular kind."""
    if not is_bonus(kind):
        raise ValueError(f"{kind_name(kind)} is not a bonus tile")
    return RANK_OF_KIND[kind] - 1


def tiles_of_kind(kind: Kind) -> tuple[Tile, ...]:
    """The ids of all copies of a kind, ascending: four for a regular kind, one for a bonus kind."""
    return _TILES_OF_KIND[kind]


def kind_name(kind: Kind) -> str:
    """The notation of one kind, as "1m"; ``ValueError`` for a number that is no kind."""
    if not 0 <= kind < KIND_COUNT:
        raise ValueError(f"no kind has the number {kind}")
    return _KIND_NAMES[kind]


def format_kinds(kinds: Iterable[Kind]) -> str:
    """The notation of kinds, sorted and grouped by suit (m p s z f g), as "234m55z1f"; "" for none."""
    parts: list[str] = []
    digits = ""
    suit = -1
    for kind in sorted(kinds):
        name = kind_name(kind)
        if SUIT_OF_KIND[kind] != suit:
            if digits:
                parts.append(digits + SUIT_LETTERS[suit])
            digits, suit = "", SUIT_OF_KIND[kind]
        digits += name[0]
    if digits:
        parts.append(digits + SUIT_LETTERS[suit])
    return "".join(parts)


def format_tiles(tiles: Iterable[Tile]) -> str:
    """The notation of tile ids, as ``format_kinds``."""
    return format_kinds(kind_of(tile) for tile in tiles)


def parse_kinds(text: str) -> tuple[Kind, ...]:
    """The kinds of a text in the order in which they are written.

    Digits stand before the letter of their suit: "234m55z1f", "1m9m1p", "123m 456p". Spaces separate and mean nothing
    else, but may not stand between digits and their letter. Raises ``NotationError``.
    """
    return tuple(kind for kind, _ in _read(text))


def parse_tiles(text: str) -> tuple[Tile, ...]:
    """Distinct tile ids for a text, in the order written: each kind takes its next unused copy.

    Raises ``NotationError`` as ``parse_kinds``, and for more copies than the set has (the fifth of a regular kind, the
    second of a bonus kind).
    """
    used = [0] * KIND_COUNT
    tiles: list[Tile] = []
    for kind, position in _read(text):
        copies = _TILES_OF_KIND[kind]
        if used[kind] == len(copies):
            raise NotationError(text, position, f"the set has only {len(copies)} of {_KIND_NAMES[kind]}, one more")
        tiles.append(copies[used[kind]])
        used[kind] += 1
    return tuple(tiles)


def _read(text: str) -> list[tuple[Kind, int]]:
    """Kinds with the position of their digit."""
    found: list[tuple[Kind, int]] = []
    pending: list[tuple[int, int]] = []
    for position, character in enumerate(text):
        if "0" <= character <= "9":
            pending.append((int(character), position))
        elif character.isspace():
            if pending:
                raise NotationError(text, position, "a space between digits and the letter of their suit")
        else:
            suit = SUIT_LETTERS.find(character)
            if suit < 0:
                raise NotationError(text, position, f"{character!r} is no suit (expected one of m p s z f g)")
            if not pending:
                raise NotationError(text, position, f"no digit before the suit {character!r}")
            for rank, place in pending:
                if not 1 <= rank <= _SUIT_SIZES[suit]:
                    raise NotationError(text, place, f"there is no {rank}{character}")
                found.append((_SUIT_STARTS[suit] + rank - 1, place))
            pending = []
    if pending:
        raise NotationError(text, pending[0][1], "digits without the letter of a suit")
    return found


_KIND_NAMES: Final = tuple(f"{RANK_OF_KIND[kind]}{SUIT_LETTERS[SUIT_OF_KIND[kind]]}" for kind in range(KIND_COUNT))

_TILES_OF_KIND: Final = tuple(
    tuple(range(COPIES * kind, COPIES * kind + COPIES))
    if kind < REGULAR_KINDS
    else (REGULAR_TILES + kind - REGULAR_KINDS,)
    for kind in range(KIND_COUNT)
)
