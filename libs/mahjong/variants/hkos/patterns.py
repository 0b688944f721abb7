"""The patterns of hkos-3-v1 (§1.7) and which of them remove which (§1.8), as data."""

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from libs.mahjong.scores import Circumstance, WinMethod
from libs.mahjong.shapes import KindMask, encode, mask_of
from libs.mahjong.tiles import (
    DRAGON_KINDS,
    EAST,
    FIRST_FLOWER,
    FIRST_SEASON,
    FLOWER_KINDS,
    HONOUR_KINDS,
    SEASON_KINDS,
    TERMINAL_KINDS,
    WIND_KINDS,
)
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


SUITS: Final[tuple[KindMask, ...]] = tuple(mask_of(range(start, start + 9)) for start in (0, 9, 18))
HONOURS: Final = mask_of(HONOUR_KINDS)
WINDS: Final = mask_of(WIND_KINDS)
DRAGONS: Final = mask_of(DRAGON_KINDS)
TERMINALS: Final = mask_of(TERMINAL_KINDS)
FLOWERS: Final = mask_of(FLOWER_KINDS)
SEASONS: Final = mask_of(SEASON_KINDS)

_GATES = encode((0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8))[0]
NINE_GATES: Final = frozenset(_GATES + encode((rank,))[0] for rank in range(9))
"""The codes of 1112345678999 with any tile of the suit."""

_BEFORE_FIRST_DISCARD = int(Circumstance.BEFORE_FIRST_DISCARD)
_FIRST_DISCARD = int(Circumstance.FIRST_DISCARD)
_KONG_REPLACEMENT = int(Circumstance.KONG_REPLACEMENT)
_LAST_TILE = int(Circumstance.LAST_TILE | Circumstance.LAST_DISCARD)
_DEALT = int(Circumstance.BEFORE_FIRST_DISCARD | Circumstance.KONGS_DECLARED)
_FIRST_TURN = int(Circumstance.FIRST_DISCARD | Circumstance.KONGS_DECLARED)


def all_sequences(hand: GroupedHand) -> int:
    """Four chows and any pair, open or closed, whatever the wait [A1]."""
    return hand.chows == 4


def all_pungs(hand: GroupedHand) -> int:
    """Four pungs or kongs and a pair."""
    return not hand.chows and not hand.orphans


def dragons(hand: GroupedHand) -> int:
    """How many pungs or kongs of dragons there are."""
    return (hand.pungs & DRAGONS).bit_count()


def small_three_dragons(hand: GroupedHand) -> int:
    """Two dragon pungs or kongs and a pair of the third."""
    return (hand.pungs & DRAGONS).bit_count() == 2 and hand.pair & DRAGONS > 0


def big_three_dragons(hand: GroupedHand) -> int:
    """Three dragon pungs or kongs."""
    return hand.pungs & DRAGONS == DRAGONS


def seat_wind(hand: GroupedHand) -> int:
    """A pung or kong of the seat wind of this hand."""
    return hand.pungs >> EAST + hand.situation.seat_wind & 1


def prevailing_wind(hand: GroupedHand) -> int:
    """A pung or kong of the round's wind."""
    return hand.pungs >> EAST + hand.situation.prevailing_wind & 1


def small_four_winds(hand: GroupedHand) -> int:
    """Three wind pungs or kongs and a pair of the fourth."""
    return (hand.pungs & WINDS).bit_count() == 3 and hand.pair & WINDS > 0


def big_four_winds(hand: GroupedHand) -> int:
    """Pungs or kongs of all four winds."""
    return hand.pungs & WINDS == WINDS


def half_flush(hand: GroupedHand) -> int:
    """Tiles of one suit and honours, at least one of each [A38]."""
    suited = hand.kinds & ~HONOURS
    return suited > 0 and suited != hand.kinds and any(not suited & ~suit for suit in SUITS)


def pure_flush(hand: GroupedHand) -> int:
    """Tiles of one suit and nothing else."""
    return any(not hand.kinds & ~suit for suit in SUITS)


def all_honours(hand: GroupedHand) -> int:
    """Winds and dragons only."""
    return not hand.kinds & ~HONOURS


def all_terminals(hand: GroupedHand) -> int:
    """Ones and nines of the suits only."""
    return not hand.kinds & ~TERMINALS


def thirteen_orphans(hand: GroupedHand) -> int:
    """One of every terminal and honour and one of them twice."""
    return hand.orphans


def nine_gates(hand: GroupedHand) -> int:
    """1112345678999 and any tile of the suit, without any meld; the wait does not matter [A9]."""
    return hand.gates in NINE_GATES


def four_kongs(hand: GroupedHand) -> int:
    """Four declared kongs of any sorts [A10]."""
    return hand.kongs == 4


def heavenly_hand(hand: GroupedHand) -> int:
    """East wins with the tiles of the deal, before any kong [A11]."""
    situation = hand.situation
    return (
        hand.circumstances & _DEALT == _BEFORE_FIRST_DISCARD
        and situation.seat_wind == 0
        and not situation.holding.melds
    )


def earthly_hand(hand: GroupedHand) -> int:
    """Another seat wins on East's first discard, before any kong [A12]."""
    situation = hand.situation
    return (
        hand.circumstances & _FIRST_TURN == _FIRST_DISCARD
        and situation.seat_wind != 0
        and situation.method is WinMethod.DISCARD
    )


def self_draw(hand: GroupedHand) -> int:
    """The winner drew the winning tile, from either end."""
    return hand.situation.method is WinMethod.SELF_DRAW


def kong_replacement(hand: GroupedHand) -> int:
    """The winning tile itself replaces a kong, not a bonus tile drawn for it [A16]."""
    return hand.situation.method is WinMethod.SELF_DRAW and hand.circumstances & _KONG_REPLACEMENT > 0


def robbing_a_kong(hand: GroupedHand) -> int:
    """The winning tile was being added to an exposed pung."""
    return hand.situation.method is WinMethod.ROBBED_KONG


def last_tile(hand: GroupedHand) -> int:
    """The final tile of the wall, or a discard made while the wall is empty [A18]."""
    return hand.circumstances & _LAST_TILE > 0


def no_bonus_tiles(hand: GroupedHand) -> int:
    """No flower or season is exposed."""
    return not hand.bonus


def own_flower(hand: GroupedHand) -> int:
    """The flower with the number of the own seat."""
    return hand.bonus >> FIRST_FLOWER + hand.situation.seat_wind & 1


def own_season(hand: GroupedHand) -> int:
    """The season with the number of the own seat."""
    return hand.bonus >> FIRST_SEASON + hand.situation.seat_wind & 1


def complete_flowers(hand: GroupedHand) -> int:
    """All four flowers."""
    return hand.bonus & FLOWERS == FLOWERS


def complete_seasons(hand: GroupedHand) -> int:
    """All four seasons."""
    return hand.bonus & SEASONS == SEASONS


def all_bonus_tiles(hand: GroupedHand) -> int:
    """All eight flowers and seasons."""
    return hand.bonus == FLOWERS | SEASONS


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
