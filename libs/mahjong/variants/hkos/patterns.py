"""The patterns of hkos-3-v1 (§1.7) and which of them remove which (§1.8), as data."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from libs.mahjong.scores import Circumstance, WinMethod
from libs.mahjong.variants.hkos.grouped import GroupedTiles, Win


class PatternClass(enum.Enum):
    """The four classes of §1.7."""

    COMPONENT = "C"
    TEN_FAAN = "T"
    LIMIT = "L"
    BONUS = "B"


Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Pattern(Generic[Subject]):
    """One row of §1.7, of the tiles or of the win. ``count`` tells how often it is there: once, for dragons up to 3."""

    id: str
    name: str
    faan: int
    cls: PatternClass
    count: Callable[[Subject], int]


def all_sequences(tiles: GroupedTiles) -> int:
    """Four chows and any pair, open or closed, whatever the wait [A1]."""
    return tiles.chows and not tiles.pungs


def dragons(tiles: GroupedTiles) -> int:
    """How many pungs or kongs of dragons there are."""
    return tiles.dragon_pungs


def seat_wind(tiles: GroupedTiles) -> int:
    """A pung or kong of the seat wind of this hand."""
    return tiles.seat_wind


def prevailing_wind(tiles: GroupedTiles) -> int:
    """A pung or kong of the round's wind."""
    return tiles.prevailing_wind


def all_pungs(tiles: GroupedTiles) -> int:
    """Four pungs or kongs and a pair."""
    return tiles.pungs and not tiles.chows


def half_flush(tiles: GroupedTiles) -> int:
    """Tiles of one suit and honours, at least one of each [A38]."""
    return tiles.suits == 1 and tiles.honours


def small_three_dragons(tiles: GroupedTiles) -> int:
    """Two dragon pungs or kongs and a pair of the third."""
    return tiles.dragon_pungs == 2 and tiles.dragon_pair


def pure_flush(tiles: GroupedTiles) -> int:
    """Tiles of one suit and nothing else."""
    return tiles.suits == 1 and not tiles.honours


def big_three_dragons(tiles: GroupedTiles) -> int:
    """Three dragon pungs or kongs."""
    return tiles.dragon_pungs == 3


def small_four_winds(tiles: GroupedTiles) -> int:
    """Three wind pungs or kongs and a pair of the fourth."""
    return tiles.wind_pungs == 3 and tiles.wind_pair


def all_honours(tiles: GroupedTiles) -> int:
    """Winds and dragons only."""
    return tiles.suits == 0 and not tiles.orphans


def all_terminals(tiles: GroupedTiles) -> int:
    """Ones and nines of the suits only."""
    return not tiles.simples and not tiles.honours and not tiles.orphans


def thirteen_orphans(tiles: GroupedTiles) -> int:
    """One of every terminal and honour and one of them twice."""
    return tiles.orphans


def nine_gates(tiles: GroupedTiles) -> int:
    """1112345678999 and any tile of the suit, without any meld; the wait does not matter [A9]."""
    return tiles.gates


def big_four_winds(tiles: GroupedTiles) -> int:
    """Pungs or kongs of all four winds."""
    return tiles.wind_pungs == 4


def four_kongs(tiles: GroupedTiles) -> int:
    """Four declared kongs of any sorts [A10]."""
    return tiles.only_kongs


def _is_first_turn(win: Win, turn: Circumstance) -> bool:
    return turn in win.circumstances and Circumstance.KONGS_DECLARED not in win.circumstances


def heavenly_hand(win: Win) -> int:
    """East wins with the tiles of the deal, before any kong [A11]."""
    return win.seat_wind == 0 and _is_first_turn(win, Circumstance.BEFORE_FIRST_DISCARD)


def earthly_hand(win: Win) -> int:
    """Another seat wins on East's first discard, before any kong [A12]."""
    return win.seat_wind != 0 and win.method is WinMethod.DISCARD and _is_first_turn(win, Circumstance.FIRST_DISCARD)


def self_draw(win: Win) -> int:
    """The winner drew the winning tile, from either end."""
    return win.method is WinMethod.SELF_DRAW


def kong_replacement(win: Win) -> int:
    """The winning tile itself replaces a kong, not a bonus tile drawn for it [A16]."""
    return win.method is WinMethod.SELF_DRAW and Circumstance.KONG_REPLACEMENT in win.circumstances


def robbing_a_kong(win: Win) -> int:
    """The winning tile was being added to an exposed pung."""
    return win.method is WinMethod.ROBBED_KONG


def last_tile(win: Win) -> int:
    """The final tile of the wall, or a discard made while the wall is empty [A18]."""
    return bool(win.circumstances & (Circumstance.LAST_TILE | Circumstance.LAST_DISCARD))


def no_bonus_tiles(win: Win) -> int:
    """No flower or season is exposed."""
    return win.no_bonus


def own_flower(win: Win) -> int:
    """The flower with the number of the own seat."""
    return win.own_flower


def own_season(win: Win) -> int:
    """The season with the number of the own seat."""
    return win.own_season


def complete_flowers(win: Win) -> int:
    """All four flowers."""
    return win.all_flowers


def complete_seasons(win: Win) -> int:
    """All four seasons."""
    return win.all_seasons


def all_bonus_tiles(win: Win) -> int:
    """All eight flowers and seasons."""
    return win.all_flowers and win.all_seasons


_C, _T, _L, _B = PatternClass.COMPONENT, PatternClass.TEN_FAAN, PatternClass.LIMIT, PatternClass.BONUS

TILE_PATTERNS: Final = (
    Pattern("AS", "All Sequences", 1, _C, all_sequences),
    Pattern("DR", "Dragon pung/kong", 1, _C, dragons),
    Pattern("SW", "Seat wind", 1, _C, seat_wind),
    Pattern("PW", "Prevailing wind", 1, _C, prevailing_wind),
    Pattern("AP", "All Pungs", 3, _C, all_pungs),
    Pattern("HF", "Half Flush", 3, _C, half_flush),
    Pattern("S3", "Small Three Dragons", 5, _C, small_three_dragons),
    Pattern("PF", "Pure Flush", 7, _C, pure_flush),
    Pattern("B3", "Big Three Dragons", 8, _C, big_three_dragons),
    Pattern("S4", "Small Four Winds", 10, _T, small_four_winds),
    Pattern("AH", "All Honours", 10, _T, all_honours),
    Pattern("AT", "All Terminals", 10, _T, all_terminals),
    Pattern("TO", "Thirteen Orphans", 13, _L, thirteen_orphans),
    Pattern("NG", "Nine Gates", 13, _L, nine_gates),
    Pattern("B4", "Big Four Winds", 13, _L, big_four_winds),
    Pattern("FK", "Four Kongs", 13, _L, four_kongs),
)
"""The patterns of the tiles, in the order in which a score lists them."""

WIN_PATTERNS: Final = (
    Pattern("HH", "Heavenly Hand", 13, _L, heavenly_hand),
    Pattern("EH", "Earthly Hand", 13, _L, earthly_hand),
    Pattern("SD", "Self-draw", 1, _B, self_draw),
    Pattern("KR", "Kong replacement", 1, _B, kong_replacement),
    Pattern("RK", "Robbing a kong", 1, _B, robbing_a_kong),
    Pattern("LT", "Last tile", 1, _B, last_tile),
    Pattern("NF", "No flowers or seasons", 1, _B, no_bonus_tiles),
    Pattern("OF", "Own flower", 1, _B, own_flower),
    Pattern("OS", "Own season", 1, _B, own_season),
    Pattern("CF", "Complete flower set", 2, _B, complete_flowers),
    Pattern("CS", "Complete season set", 2, _B, complete_seasons),
    Pattern("A8", "All eight bonus tiles", 8, _B, all_bonus_tiles),
)
"""The patterns of the win and of the bonus tiles; they are listed after those of the tiles."""

AnyPattern = Pattern[GroupedTiles] | Pattern[Win]
PATTERNS: Final[tuple[AnyPattern, ...]] = (*TILE_PATTERNS, *WIN_PATTERNS)

SECURED: Final = frozenset({"DR", "SW", "PW", "B3", "B4", "OF", "OS", "CF", "CS", "A8"})
"""The patterns that declared melds and bonus tiles can make certain before the hand is complete."""
SECURED_BY_FOUR_MELDS: Final = SECURED | {"AS", "AP", "FK"}
"""Those that they make certain when only the pair is left."""

_LIMITS: Final = ("TO", "HH", "EH", "NG", "B4", "FK")
"""Of two limits the one listed first stays."""

SUPERSEDES: Final[dict[str, frozenset[str]]] = {
    "S3": frozenset({"DR"}),
    "B3": frozenset({"DR"}),
    "CF": frozenset({"OF"}),
    "CS": frozenset({"OS"}),
    "A8": frozenset({"CF", "CS", "OF", "OS"}),
    **{ten.id: frozenset(other.id for other in PATTERNS if other.cls is _C) for ten in PATTERNS if ten.cls is _T},
    **{
        limit: frozenset(pattern.id for pattern in PATTERNS) - frozenset(_LIMITS[: place + 1])
        for place, limit in enumerate(_LIMITS)
    },
}
"""What each present pattern removes (§1.8)."""
