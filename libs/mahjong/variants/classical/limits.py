"""The limit hands of classical (§2.8), as data."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from libs.mahjong.scores import Circumstance, WinMethod
from libs.mahjong.shapes import mask_of
from libs.mahjong.tiles import GREEN, parse_kinds
from libs.mahjong.variants.classical.doubles import all_pungs, concealed_self_draw, pure_suit
from libs.mahjong.variants.classical.hands import DRAGONS, GROUPS, HONOURS, MAJORS, WINDS, Sort, Win

LIMIT: Final = 1_000
"""What a limit hand is worth, and the most that any seat's tiles are worth (§2.7)."""

_GREEN_KINDS: Final = mask_of((*parse_kinds("23468s"), GREEN))
(_ONE_CIRCLE,) = parse_kinds("1p")
(_FIVE_CIRCLES,) = parse_kinds("5p")
(_TWO_BAMBOO,) = parse_kinds("2s")


@dataclass(frozen=True, slots=True)
class Limit:
    """One row of §2.8; ``present`` tells whether an arrangement has it."""

    id: str
    name: str
    present: Callable[[Win], bool]


def all_green(win: Win) -> bool:
    """Only 2, 3, 4, 6, 8 bamboo and green dragons; the dragon is not required (B30)."""
    return not win.kinds & ~_GREEN_KINDS


def four_kongs(win: Win) -> bool:
    """Four kongs of any sort and a pair."""
    return sum(group.sort is Sort.KONG for group in win.counted.groups) == GROUPS


def four_concealed_triplets(win: Win) -> bool:
    """Four pungs or kongs that count as concealed, won by self-draw."""
    return win.self_drawn and win.counted.concealed_pungs == GROUPS


def three_dragons_and_a_pung(win: Win) -> bool:
    """Groups of all dragons, and the fourth group no chow."""
    return win.counted.pungs_of(DRAGONS) == 3 and bool(all_pungs(win))


def all_honours(win: Win) -> bool:
    """Winds and dragons only."""
    return not win.kinds & ~HONOURS


def all_terminals(win: Win) -> bool:
    """Ones and nines only."""
    return not win.kinds & ~(MAJORS & ~HONOURS)


def four_winds(win: Win) -> bool:
    """Groups of all four winds."""
    return win.counted.pungs_of(WINDS) == 4


def nine_gates(win: Win) -> bool:
    """1112345678999 of one suit and any tile of it, all in hand; the wait does not matter (B27)."""
    return win.gates


def thirteen_orphans(win: Win) -> bool:
    """One of each terminal and honour and a second of one."""
    return win.orphans


def concealed_pure_suit(win: Win) -> bool:
    """A pure suit with no exposed chow, pung or promoted kong, won by self-draw (B26)."""
    return bool(concealed_self_draw(win) and pure_suit(win))


def before_the_first_discard(win: Win) -> bool:
    """East wins with the tiles of the deal, after bonus replacements and concealed kongs, too (B14)."""
    return win.counted.seat_wind == 0 and win.self_drawn and win.under(Circumstance.BEFORE_FIRST_DISCARD)


def on_the_first_discard(win: Win) -> bool:
    """Another seat wins on East's first discard, after opening kongs, too (B15)."""
    return win.counted.seat_wind != 0 and win.method is WinMethod.DISCARD and win.under(Circumstance.FIRST_DISCARD)


def moon_from_the_sea(win: Win) -> bool:
    """1-circle as the last live tile or as a last discard; a tile of the kong box is no live tile (B39)."""
    last = Circumstance.LAST_TILE if win.self_drawn else Circumstance.LAST_DISCARD
    return win.winning == _ONE_CIRCLE and win.under(last)


def plum_blossom_on_the_roof(win: Win) -> bool:
    """5-circle straight from the kong box."""
    return win.winning == _FIVE_CIRCLES and win.self_drawn and win.under(Circumstance.KONG_REPLACEMENT)


def scratching_a_carrying_pole(win: Win) -> bool:
    """A 2-bamboo that another seat adds to its pung."""
    return win.winning == _TWO_BAMBOO and win.method is WinMethod.ROBBED_KONG


def kong_on_kong(win: Win) -> bool:
    """The replacement of a second consecutive kong (B13)."""
    return win.self_drawn and win.under(Circumstance.KONG_ON_KONG)


def thirteenth_win(win: Win) -> bool:
    """East's thirteenth win in a row as East (B12)."""
    return win.counted.seat_wind == 0 and win.under(Circumstance.THIRTEENTH_WIN)


LIMITS: Final = (
    Limit("all-green", "All green", all_green),
    Limit("four-kongs", "Four kongs", four_kongs),
    Limit("four-concealed-triplets", "Four concealed triplets, self-drawn", four_concealed_triplets),
    Limit("three-dragons-and-pung", "Three dragon groups + fourth pung/kong", three_dragons_and_a_pung),
    Limit("all-honours", "All honours", all_honours),
    Limit("all-terminals", "All terminals", all_terminals),
    Limit("four-winds", "Four winds", four_winds),
    Limit("nine-gates", "Nine Gates", nine_gates),
    Limit("thirteen-orphans", "Thirteen Orphans", thirteen_orphans),
    Limit("concealed-pure-suit", "Fully concealed pure suit, self-drawn", concealed_pure_suit),
    Limit("before-first-discard", "East's win before the first discard", before_the_first_discard),
    Limit("on-first-discard", "win on East's first discard", on_the_first_discard),
    Limit("moon-from-the-sea", "1-circle from the bottom of the sea", moon_from_the_sea),
    Limit("plum-blossom", "5-circle kong replacement", plum_blossom_on_the_roof),
    Limit("carrying-pole", "robbing a 2-bamboo kong", scratching_a_carrying_pole),
    Limit("kong-on-kong", "kong on kong", kong_on_kong),
    Limit("thirteenth-win", "East's 13th consecutive win", thirteenth_win),
)
"""The limit hands; of several that a win has the first is named (B37)."""


def limit_of(win: Win) -> Limit | None:
    """The limit of one arrangement, if it has one."""
    return next((limit for limit in LIMITS if limit.present(win)), None)
