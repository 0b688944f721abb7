"""The doubles of classical (§2.7) and which of them remove which (§2.9), as data."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from libs.mahjong.scores import Circumstance, ScoreItem, Unit, WinMethod
from libs.mahjong.shapes import KindMask
from libs.mahjong.tiles import (
    DRAGON_KINDS,
    FIRST_FLOWER,
    FIRST_SEASON,
    FLOWER_KINDS,
    SEASON_KINDS,
    WIND_KINDS,
)
from libs.mahjong.variants.classical.hands import (
    DRAGONS,
    GROUPS,
    HONOURS,
    MAJORS,
    SUITS,
    WINDS,
    Counted,
    Win,
)

Subject = TypeVar("Subject")


@dataclass(frozen=True, slots=True)
class Double(Generic[Subject]):
    """One row of §2.7. ``count`` tells how often it is there: once, for dragons up to three times."""

    id: str
    name: str
    doubles: int
    count: Callable[[Subject], int]


def dragons(tiles: Counted) -> int:
    """Each pung or kong of dragons."""
    return tiles.pungs_of(DRAGONS)


def small_three_dragons(tiles: Counted) -> int:
    """Two dragon groups and a pair of the third, concealed when the seat did not win (B44)."""
    return dragons(tiles) == 2 and any(kind in DRAGON_KINDS for kind in tiles.pairs)


def big_three_dragons(tiles: Counted) -> int:
    """Three dragon groups; the winner's fourth group is a chow then (B29), otherwise it is a limit."""
    return dragons(tiles) == 3


def seat_wind(tiles: Counted) -> int:
    """A pung or kong of the seat's wind."""
    return tiles.has_pung(tiles.scoring_winds()[0])


def round_wind(tiles: Counted) -> int:
    """A pung or kong of the round's wind, beside the seat wind when they are the same."""
    return tiles.has_pung(tiles.scoring_winds()[1])


def small_four_winds(tiles: Counted) -> int:
    """Three wind groups and a pair of the fourth, concealed when the seat did not win (B43)."""
    return tiles.pungs_of(WINDS) == 3 and any(kind in WIND_KINDS for kind in tiles.pairs)


def four_winds(tiles: Counted) -> int:
    """All four wind groups of a seat that did not win; the winner gets the limit."""
    return tiles.pungs_of(WINDS) == 4


def three_concealed_triplets(tiles: Counted) -> int:
    """Three or four concealed pungs or kongs; claimed kongs count, promoted ones do not."""
    return tiles.concealed_pungs >= 3


def own_flower_and_season(tiles: Counted) -> int:
    """Both bonus tiles of the own seat; one of them alone is nothing."""
    return FIRST_FLOWER + tiles.seat_wind in tiles.bonus and FIRST_SEASON + tiles.seat_wind in tiles.bonus


def all_flowers(tiles: Counted) -> int:
    """All four flowers."""
    return all(kind in tiles.bonus for kind in FLOWER_KINDS)


def all_seasons(tiles: Counted) -> int:
    """All four seasons."""
    return all(kind in tiles.bonus for kind in SEASON_KINDS)


def all_chows(win: Win) -> int:
    """Four chows and a pair that is worth no points; nothing else matters (B10)."""
    return not win.counted.pungs and not any(map(win.counted.is_scoring_pair, win.counted.pairs))


def all_pungs(win: Win) -> int:
    """Four pungs or kongs."""
    return win.counted.pungs.bit_count() == GROUPS


def only_majors(win: Win) -> int:
    """Terminals and honours, both of them there."""
    return not win.kinds & ~MAJORS and bool(win.kinds & HONOURS) and bool(win.kinds & ~HONOURS)


def one_suit_with_honours(win: Win) -> int:
    """Tiles of one suit together with honours."""
    return bool(win.kinds & HONOURS) and is_one_suit(win.kinds & ~HONOURS)


def pure_suit(win: Win) -> int:
    """Tiles of one suit alone."""
    return is_one_suit(win.kinds)


def concealed_self_draw(win: Win) -> int:
    """A self-draw with no exposed chow, pung or promoted kong."""
    return win.self_drawn and win.fully_concealed


def last_live_tile(win: Win) -> int:
    """The winner drew the tile that left the live wall empty, be it as a flower's replacement (B18)."""
    return win.self_drawn and win.under(Circumstance.LAST_TILE)


def last_discard(win: Win) -> int:
    """A discard made while the live wall is empty (B17)."""
    return win.method is WinMethod.DISCARD and win.under(Circumstance.LAST_DISCARD)


def kong_replacement(win: Win) -> int:
    """The winning tile came from the kong box, with no flower in between."""
    return win.self_drawn and win.under(Circumstance.KONG_REPLACEMENT)


def robbing_a_kong(win: Win) -> int:
    """The winning tile was being added to an exposed pung."""
    return win.method is WinMethod.ROBBED_KONG


def original_call(win: Win) -> int:
    """The winner declared an Original Call."""
    return win.under(Circumstance.ORIGINAL_CALL)


def is_one_suit(kinds: KindMask) -> bool:
    """Whether there are kinds, all of one of the three suits."""
    return kinds != 0 and any(not kinds & ~suit for suit in SUITS)


EVERYBODY: Final = (
    Double("dragons", "dragon pung/kong", 1, dragons),
    Double("small-three-dragons", "Small Three Dragons", 3, small_three_dragons),
    Double("big-three-dragons", "Big Three Dragons", 5, big_three_dragons),
    Double("seat-wind", "seat wind", 1, seat_wind),
    Double("round-wind", "round wind", 1, round_wind),
    Double("small-four-winds", "Small Four Winds", 1, small_four_winds),
    Double("four-winds", "four winds", 4, four_winds),
    Double("three-concealed", "three concealed triplets", 1, three_concealed_triplets),
    Double("own-flower-and-season", "own flower and own season", 1, own_flower_and_season),
    Double("all-flowers", "all four flowers", 1, all_flowers),
    Double("all-seasons", "all four seasons", 1, all_seasons),
)
"""The doubles that every seat may have, in the order in which a score lists them."""

WINNER: Final = (
    Double("all-chows", "all chows, non-scoring pair", 1, all_chows),
    Double("all-pungs", "all pungs/kongs", 1, all_pungs),
    Double("only-majors", "only terminals and honours", 1, only_majors),
    Double("half-suit", "one suit with honours", 1, one_suit_with_honours),
    Double("pure-suit", "pure suit", 3, pure_suit),
    Double("concealed-self-draw", "concealed self-draw", 1, concealed_self_draw),
    Double("last-live-tile", "last live tile", 1, last_live_tile),
    Double("last-discard", "last discard", 1, last_discard),
    Double("kong-replacement", "kong replacement", 1, kong_replacement),
    Double("robbing-a-kong", "robbing a kong", 1, robbing_a_kong),
    Double("original-call", "Original Call", 1, original_call),
)
"""The doubles of a winner alone; they are listed after the others."""

REMOVES: Final[dict[str, frozenset[str]]] = {
    "small-three-dragons": frozenset({"dragons"}),
    "big-three-dragons": frozenset({"dragons"}),
    "four-winds": frozenset({"seat-wind", "round-wind", "small-four-winds"}),
    "kong-replacement": frozenset({"last-discard"}),
}
"""What each double removes when it is there (§2.9)."""


def winner(win: Win) -> tuple[ScoreItem, ...]:
    """The doubles of a winner in one arrangement, after one has removed another."""
    return _remaining([*_present(EVERYBODY, win.counted), *_present(WINNER, win)])


def non_winner(tiles: Counted) -> tuple[ScoreItem, ...]:
    """The doubles of a seat that did not win (B25)."""
    return _remaining(_present(EVERYBODY, tiles))


def _present(rows: Iterable[Double[Subject]], subject: Subject) -> list[ScoreItem]:
    return [_ITEMS[row.id] for row in rows for _ in range(row.count(subject))]


def _remaining(items: list[ScoreItem]) -> tuple[ScoreItem, ...]:
    removed: frozenset[str] = frozenset().union(*[REMOVES.get(item.pattern, frozenset()) for item in items])
    return tuple(item for item in items if item.pattern not in removed)


_ITEMS: Final = {row.id: ScoreItem(row.id, row.name, row.doubles, Unit.DOUBLES) for row in (*EVERYBODY, *WINNER)}
