"""What every event does to a picture of a hand.

The same functions serve the table's state and a viewer's picture: a field that a viewer may not know is ``None`` in its
copy of the event, and the seat in question is hidden in its picture.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any, Final

from libs.mahjong.engine.events import (
    BonusExposed,
    ChoiceHeld,
    DecisionKind,
    DecisionOpened,
    DrawSource,
    HandDrawn,
    HandEvent,
    HandSettled,
    HandStarted,
    HandWon,
    KongCompleted,
    KongDeclared,
    MeldClaimed,
    TileDiscarded,
    TileDrawn,
    TilesDealt,
)
from libs.mahjong.engine.ruleset import Ruleset, WallEnd
from libs.mahjong.engine.state import NO_ANSWERS, SEATS, Discard, HandPicture, HandState, SeatState
from libs.mahjong.melds import Meld, MeldKind
from libs.mahjong.scores import WinMethod
from libs.mahjong.shapes import SUIT_OF_KIND, UNIT_OF_KIND, Codes, with_tile, without_tile
from libs.mahjong.tiles import COPIES, KIND_OF, REGULAR_TILES, Seat, Tile
from libs.mahjong.wall import Wall

# Looking up a member of an enumeration costs more than comparing with it, so the common ones are looked up once.
_TURN: Final = DecisionKind.TURN
_FROM_WALL: Final = DrawSource.WALL
_FRONT: Final = WallEnd.FRONT

DEALT: Final = 13
"""Tiles dealt to each seat; the dealer then draws a fourteenth."""


_DISCARDS: Final = tuple(Discard(tile) for tile in range(REGULAR_TILES))


def apply(picture: HandPicture, event: HandEvent) -> None:
    """Change ``picture`` by what happened. Total for every event that ``hand.decide`` or ``hand.start_hand`` made."""
    APPLIERS[type(event)](picture, event)


def fold(ruleset: Ruleset, events: Iterable[HandEvent], moment: int = 0, dealer_wins: int = 0) -> HandState:
    """Return the state of a hand after ``events``, which start with its ``HandStarted``.

    ``moment`` and ``dealer_wins`` are those with which the hand was started.
    """
    state = HandState(ruleset, moment, dealer_wins)
    for event in events:
        apply(state, event)
    return state


def draw_end(picture: HandPicture, source: DrawSource) -> WallEnd:
    """Where a tile drawn for that reason comes from."""
    if source is _FROM_WALL:
        return _FRONT
    layout = picture.ruleset.wall
    return layout.kong_from if source is DrawSource.KONG else layout.bonus_from


def _step(picture: HandPicture) -> None:
    """A public step: it is over with whatever was being asked."""
    picture.moment += 1
    picture.decision = None
    picture.held = NO_ANSWERS
    picture.offers = None


def _hand_started(picture: HandPicture, event: HandStarted) -> None:
    _step(picture)
    picture.hand = event.hand
    picture.dealer = event.dealer
    picture.prevailing_wind = event.prevailing_wind
    picture.commitment = event.commitment
    picture.wall = Wall(event.wall, picture.ruleset.wall.kong_box)


def _tiles_dealt(picture: HandPicture, event: TilesDealt) -> None:
    _step(picture)
    picture.wall.advance(_FRONT, SEATS * DEALT)
    for number, tiles in enumerate(event.hands):
        seat = picture.own_seat(number)
        seat.count = DEALT
        if tiles is not None:
            seat.tiles = tiles
            seat.codes = _codes_of(tiles)


def _tile_drawn(picture: HandPicture, event: TileDrawn) -> None:
    picture.moment += 1
    picture.decision = None
    picture.held = NO_ANSWERS
    picture.offers = None
    seat = picture.own_seat(event.seat)
    seat.count += 1
    source = seat.drawn_source = event.source
    if source is _FROM_WALL:
        picture.wall.front += 1
        seat.kongs_in_row = 0
    else:
        picture.wall.advance(draw_end(picture, source))
    tile = event.tile
    if tile is not None:
        tiles = seat.tiles
        at = bisect_left(tiles, tile)
        seat.tiles = (*tiles[:at], tile, *tiles[at:])
        if tile < REGULAR_TILES:
            seat.codes = with_tile(seat.codes, KIND_OF[tile])
            seat.waits = None
            # Replacements during the deal complete a holding of thirteen: they belong to no turn.
            seat.drawn = tile if seat.count % 3 == 2 else None


def _bonus_exposed(picture: HandPicture, event: BonusExposed) -> None:
    _step(picture)
    seat = picture.own_seat(event.seat)
    seat.bonus = (*seat.bonus, event.tile)
    seat.count -= 1
    if not seat.hidden:
        seat.tiles = tuple(tile for tile in seat.tiles if tile != event.tile)


def _decision_opened(picture: HandPicture, event: DecisionOpened) -> None:
    picture.decision = event
    picture.held = NO_ANSWERS
    picture.offers = None
    if event.kind is _TURN:
        picture.turn = event.seats[0]
        picture.moment = event.decision


def _choice_held(picture: HandPicture, event: ChoiceHeld) -> None:
    decision = picture.decision
    if decision is not None and decision.kind is DecisionKind.OPENING_KONG:
        picture.decision = None
        return
    held = picture.held
    picture.held = (*held[: event.seat], event.action, *held[event.seat + 1 :])


def _tile_discarded(picture: HandPicture, event: TileDiscarded) -> None:
    picture.moment += 1
    picture.decision = None
    picture.held = NO_ANSWERS
    picture.offers = None
    seat = picture.own_seat(event.seat)
    tile = event.tile
    seat.count -= 1
    if not seat.hidden:
        tiles = seat.tiles
        at = tiles.index(tile)
        seat.tiles = tiles[:at] + tiles[at + 1 :]
        seat.codes = without_tile(seat.codes, KIND_OF[tile])
        seat.waits = None
    seat.river = (*seat.river, Discard(tile, None, True) if event.original_call else _DISCARDS[tile])
    seat.drawn = None
    seat.drawn_source = None
    seat.kongs_in_row = 0
    if event.original_call:
        seat.original_call = True
    picture.last_discard = event


def _meld_claimed(picture: HandPicture, event: MeldClaimed) -> None:
    _step(picture)
    meld = event.meld
    seat = picture.own_seat(event.seat)
    _remove(seat, tuple(tile for tile in meld.tiles if tile != meld.claimed))
    seat.melds = (*seat.melds, meld)
    seat.drawn = None
    seat.drawn_source = None
    seat.kongs_in_row = 1 if meld.kind is MeldKind.CLAIMED_KONG else 0
    assert meld.source is not None
    _take_from_river(picture.own_seat(meld.source), event.seat)
    picture.last_discard = None


def _kong_declared(picture: HandPicture, event: KongDeclared) -> None:
    _step(picture)
    picture.kong = event


def _kong_completed(picture: HandPicture, event: KongCompleted) -> None:
    _step(picture)
    seat = picture.own_seat(event.seat)
    meld = event.meld
    if meld.kind is MeldKind.ADDED_KONG:
        _remove(seat, (added_tile(seat, meld),))
        seat.melds = tuple(
            meld if other.kind is MeldKind.PUNG and other.base_kind == meld.base_kind else other for other in seat.melds
        )
    else:
        _remove(seat, meld.tiles)
        seat.melds = (*seat.melds, meld)
    seat.drawn = None
    seat.kongs_in_row += 1
    picture.kong = None


def _hand_won(picture: HandPicture, event: HandWon) -> None:
    _step(picture)
    if event.source is not None:
        source = picture.own_seat(event.source)
        if event.method is WinMethod.DISCARD:
            _take_from_river(source, event.seat)
        else:
            _remove(source, (event.tile,))
    winner = picture.own_seat(event.seat)
    _reveal(winner, tuple(sorted((*event.concealed, event.tile))))
    winner.drawn = event.tile if event.method is WinMethod.SELF_DRAW else None
    picture.last_discard = None
    picture.kong = None
    picture.result = event


def _hand_drawn(picture: HandPicture, event: HandDrawn) -> None:
    _step(picture)
    picture.last_discard = None
    picture.result = event


def _hand_settled(picture: HandPicture, event: HandSettled) -> None:
    _step(picture)
    picture.settlement = event
    for number, tiles in enumerate(event.revealed):
        if tiles is not None and number != event.winner:
            seat = picture.own_seat(number)
            _reveal(seat, tiles)
            seat.drawn = None


def fourth_tile(pung: Meld) -> Tile:
    """The tile that would make a kong of a pung."""
    return COPIES * COPIES * KIND_OF[pung.tiles[0]] + sum(range(COPIES)) - sum(pung.tiles)


def added_tile(seat: SeatState, meld: Meld) -> Tile:
    """The tile that makes ``meld``, an added kong, of one of the seat's exposed pungs."""
    for pung in seat.melds:
        if pung.kind is MeldKind.PUNG and pung.base_kind == meld.base_kind:
            return fourth_tile(pung)
    raise LookupError(f"no pung to which {meld} adds")


def _remove(seat: SeatState, gone: tuple[Tile, ...]) -> None:
    seat.count -= len(gone)
    if seat.hidden:
        return
    tiles = seat.tiles
    for tile in gone:
        at = tiles.index(tile)
        tiles = tiles[:at] + tiles[at + 1 :]
        seat.codes = without_tile(seat.codes, KIND_OF[tile])
    seat.tiles = tiles
    seat.waits = None


def _reveal(seat: SeatState, tiles: tuple[Tile, ...]) -> None:
    seat.hidden = False
    seat.tiles = tiles
    seat.codes = _codes_of(tiles)
    seat.count = len(tiles)
    seat.waits = None


def _codes_of(tiles: tuple[Tile, ...]) -> Codes:
    """The suit codes of distinct tiles, bonus tiles left out."""
    codes = [0, 0, 0, 0]
    for tile in tiles:
        if tile < REGULAR_TILES:
            kind = KIND_OF[tile]
            codes[SUIT_OF_KIND[kind]] += UNIT_OF_KIND[kind]
    return codes[0], codes[1], codes[2], codes[3]


def _take_from_river(seat: SeatState, claimer: Seat) -> None:
    last = seat.river[-1]
    seat.river = (*seat.river[:-1], Discard(last.tile, claimer, last.original_call))


APPLIERS: Final[dict[type, Callable[[HandPicture, Any], None]]] = {
    HandStarted: _hand_started,
    TilesDealt: _tiles_dealt,
    TileDrawn: _tile_drawn,
    BonusExposed: _bonus_exposed,
    DecisionOpened: _decision_opened,
    ChoiceHeld: _choice_held,
    TileDiscarded: _tile_discarded,
    MeldClaimed: _meld_claimed,
    KongDeclared: _kong_declared,
    KongCompleted: _kong_completed,
    HandWon: _hand_won,
    HandDrawn: _hand_drawn,
    HandSettled: _hand_settled,
}
"""What each type of event does to a picture."""
