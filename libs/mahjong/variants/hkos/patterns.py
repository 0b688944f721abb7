"""The patterns of hkos-3-v1 (§1.7) and which of them remove which (§1.8), as data."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from libs.mahjong.scores import Circumstance, WinMethod
from libs.mahjong.variants.hkos.grouped import GroupedHand


class PatternClass(enum.Enum):
    """The four classes of §1.7."""

    COMPONENT = "C"
    TEN_FAAN = "T"
    LIMIT = "L"
    BONUS = "B"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One row of §1.7. ``count`` tells how often the pattern is in a grouped hand: 0 or 1, for dragons up to 3."""

    id: str
    name: str
    faan: int
    cls: PatternClass
    count: Callable[[GroupedHand], int]


_BEFORE_FIRST_DISCARD = int(Circumstance.BEFORE_FIRST_DISCARD)
_FIRST_DISCARD = int(Circumstance.FIRST_DISCARD)
_KONG_REPLACEMENT = int(Circumstance.KONG_REPLACEMENT)
_LAST_TILE = int(Circumstance.LAST_TILE | Circumstance.LAST_DISCARD)
_DEALT = int(Circumstance.BEFORE_FIRST_DISCARD | Circumstance.KONGS_DECLARED)
_FIRST_TURN = int(Circumstance.FIRST_DISCARD | Circumstance.KONGS_DECLARED)


def all_sequences(hand: GroupedHand) -> int:
    """Four chows and any pair, open or closed, whatever the wait [A1]."""
    return hand.chows == 4


def dragons(hand: GroupedHand) -> int:
    """How many pungs or kongs of dragons there are."""
    return hand.dragon_pungs


def seat_wind(hand: GroupedHand) -> int:
    """A pung or kong of the seat wind of this hand."""
    return hand.wind_pungs[hand.seat_wind]


def prevailing_wind(hand: GroupedHand) -> int:
    """A pung or kong of the round's wind."""
    return hand.wind_pungs[hand.prevailing_wind]


def all_pungs(hand: GroupedHand) -> int:
    """Four pungs or kongs and a pair."""
    return hand.chows == 0 and not hand.orphans


def half_flush(hand: GroupedHand) -> int:
    """Tiles of one suit and honours, at least one of each [A38]."""
    return hand.honours > 0 and hand.suits.count(0) == 2


def small_three_dragons(hand: GroupedHand) -> int:
    """Two dragon pungs or kongs and a pair of the third."""
    return hand.dragon_pungs == 2 and hand.dragon_pair


def pure_flush(hand: GroupedHand) -> int:
    """Tiles of one suit and nothing else."""
    return hand.honours == 0 and hand.suits.count(0) == 2


def big_three_dragons(hand: GroupedHand) -> int:
    """Three dragon pungs or kongs."""
    return hand.dragon_pungs == 3


def small_four_winds(hand: GroupedHand) -> int:
    """Three wind pungs or kongs and a pair of the fourth."""
    return sum(hand.wind_pungs) == 3 and hand.wind_pair


def all_honours(hand: GroupedHand) -> int:
    """Winds and dragons only."""
    return hand.honours > 0 and not any(hand.suits)


def all_terminals(hand: GroupedHand) -> int:
    """Ones and nines of the suits only."""
    return any(hand.suits) and hand.honours == 0 and hand.simples == 0


def thirteen_orphans(hand: GroupedHand) -> int:
    """One of every terminal and honour and one of them twice."""
    return hand.orphans


def nine_gates(hand: GroupedHand) -> int:
    """1112345678999 and any tile of the suit, without any meld; the wait does not matter [A9]."""
    return hand.gates


def big_four_winds(hand: GroupedHand) -> int:
    """Pungs or kongs of all four winds."""
    return all(hand.wind_pungs)


def four_kongs(hand: GroupedHand) -> int:
    """Four declared kongs of any sorts [A10]."""
    return hand.kongs == 4


def heavenly_hand(hand: GroupedHand) -> int:
    """East wins with the tiles of the deal, before any kong [A11]."""
    return hand.circumstances & _DEALT == _BEFORE_FIRST_DISCARD and hand.seat_wind == 0 and hand.kongs == 0


def earthly_hand(hand: GroupedHand) -> int:
    """Another seat wins on East's first discard, before any kong [A12]."""
    return (
        hand.circumstances & _FIRST_TURN == _FIRST_DISCARD and hand.seat_wind != 0 and hand.method is WinMethod.DISCARD
    )


def self_draw(hand: GroupedHand) -> int:
    """The winner drew the winning tile, from either end."""
    return hand.method is WinMethod.SELF_DRAW


def kong_replacement(hand: GroupedHand) -> int:
    """The winning tile itself replaces a kong, not a bonus tile drawn for it [A16]."""
    return hand.method is WinMethod.SELF_DRAW and hand.circumstances & _KONG_REPLACEMENT > 0


def robbing_a_kong(hand: GroupedHand) -> int:
    """The winning tile was being added to an exposed pung."""
    return hand.method is WinMethod.ROBBED_KONG


def last_tile(hand: GroupedHand) -> int:
    """The final tile of the wall, or a discard made while the wall is empty [A18]."""
    return hand.circumstances & _LAST_TILE > 0


def no_bonus_tiles(hand: GroupedHand) -> int:
    """No flower or season is exposed."""
    return hand.no_bonus


def own_flower(hand: GroupedHand) -> int:
    """The flower with the number of the own seat."""
    return hand.own_flower


def own_season(hand: GroupedHand) -> int:
    """The season with the number of the own seat."""
    return hand.own_season


def complete_flowers(hand: GroupedHand) -> int:
    """All four flowers."""
    return hand.all_flowers


def complete_seasons(hand: GroupedHand) -> int:
    """All four seasons."""
    return hand.all_seasons


def all_bonus_tiles(hand: GroupedHand) -> int:
    """All eight flowers and seasons."""
    return hand.all_flowers and hand.all_seasons


_C, _T, _L, _B = PatternClass.COMPONENT, PatternClass.TEN_FAAN, PatternClass.LIMIT, PatternClass.BONUS

PATTERNS: Final = (
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
    Pattern("HH", "Heavenly Hand", 13, _L, heavenly_hand),
    Pattern("EH", "Earthly Hand", 13, _L, earthly_hand),
    Pattern("NG", "Nine Gates", 13, _L, nine_gates),
    Pattern("B4", "Big Four Winds", 13, _L, big_four_winds),
    Pattern("FK", "Four Kongs", 13, _L, four_kongs),
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
"""Every pattern, in the order in which a score lists them."""

SECURED: Final = frozenset({"AS", "DR", "SW", "PW", "B3", "B4", "FK", "OF", "OS", "CF", "CS", "A8"})
"""The patterns that declared melds and bonus tiles can make certain before the hand is complete."""

SUPERSEDES: Final[dict[str, frozenset[str]]] = {
    "S3": frozenset({"DR"}),
    "B3": frozenset({"DR"}),
    "CF": frozenset({"OF"}),
    "CS": frozenset({"OS"}),
    "A8": frozenset({"CF", "CS", "OF", "OS"}),
    **{ten.id: frozenset(other.id for other in PATTERNS if other.cls is _C) for ten in PATTERNS if ten.cls is _T},
    **{
        limit.id: frozenset(other.id for other in PATTERNS[place + 1 :]) | {o.id for o in PATTERNS if o.cls is not _L}
        for place, limit in enumerate(PATTERNS)
        if limit.cls is _L
    },
}
"""What each present pattern removes (§1.8). Of two limits the one listed first stays."""
