"""The situation of a win: what a ruleset looks at to say what the winner's tiles are worth.

Everything is taken from a picture of the hand, so a viewer's picture gives the viewer's own situation as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from libs.mahjong.engine.applying import added_tile, draw_end
from libs.mahjong.engine.events import DecisionKind, DrawSource, HandSettled, HandWon, SeatPayment
from libs.mahjong.engine.ruleset import WallEnd
from libs.mahjong.engine.state import SEATS, HandPicture, HandState, SeatState
from libs.mahjong.melds import MeldKind
from libs.mahjong.scores import Circumstance, Holding, WindSettlement, WinMethod, WinSituation
from libs.mahjong.tiles import COPIES, KIND_OF, REGULAR_KINDS, Kind, Seat, Tile

WINS_BEFORE_THIRTEENTH: Final = 12


@dataclass(frozen=True, slots=True)
class WinningTile:
    """The tile that completes a hand, how it comes to the winner, and the seat it comes from, if another."""

    tile: Tile
    method: WinMethod
    source: Seat | None = None


def win_situation(picture: HandPicture, seat: Seat) -> WinSituation:
    """Return the situation in which ``seat`` won, or would win at the open decision.

    ``others`` is filled when the ruleset lays all hands open, with the seats that the picture knows. Raises
    ``ValueError`` when there is no tile with which the seat could win.
    """
    others: tuple[Seat, ...] = ()
    if picture.ruleset.reveals_all:
        others = tuple(other for other in range(SEATS) if other != seat and not picture.seats[other].hidden)
    return situation_of(picture, seat, winning_tile(picture, seat), others)


def situation_of(picture: HandPicture, seat: Seat, winning: WinningTile, others: tuple[Seat, ...] = ()) -> WinSituation:
    """The situation of a win of ``seat`` with that tile; ``others`` do not change what the winner's tiles are worth."""
    tile, method = winning.tile, winning.method
    dealt = _is_won_as_dealt(picture, seat, method)
    return WinSituation(
        seat_wind=picture.seat_wind(seat),
        prevailing_wind=picture.prevailing_wind,
        holding=_holding(picture.seats[seat], None if dealt else tile),
        winning=None if dealt else KIND_OF[tile],
        method=method,
        source=None if winning.source is None else picture.seat_wind(winning.source),
        circumstances=_circumstances(picture, seat, method),
        exhausted=_exhausted(picture, tile),
        others=tuple(
            (wind, _holding(picture.seats[other], None))
            for wind, other in sorted((picture.seat_wind(other), other) for other in others)
        ),
    )


def winning_tile(picture: HandPicture, seat: Seat) -> WinningTile:
    """The tile with which ``seat`` won or would win at the open decision. Raises ``ValueError`` when there is none."""
    result = picture.result
    if isinstance(result, HandWon) and result.seat == seat:
        return WinningTile(result.tile, result.method, result.source)
    decision = picture.decision
    if decision is not None and seat in decision.seats:
        if decision.kind is DecisionKind.CLAIM:
            return discarded_tile(picture)
        if decision.kind is DecisionKind.ROB:
            return robbed_tile(picture)
        drawn = picture.seats[seat].drawn
        if drawn is not None:
            return WinningTile(drawn, WinMethod.SELF_DRAW)
    raise ValueError(f"there is nothing with which seat {seat} could win")


def discarded_tile(picture: HandPicture) -> WinningTile:
    """The newest discard as a winning tile of another seat."""
    discard = picture.last_discard
    assert discard is not None
    return WinningTile(discard.tile, WinMethod.DISCARD, discard.seat)


def robbed_tile(picture: HandPicture) -> WinningTile:
    """The tile of the declared kong that another seat could win with."""
    kong = picture.kong
    assert kong is not None
    if kong.meld.kind is MeldKind.ADDED_KONG:
        return WinningTile(added_tile(picture.seats[kong.seat], kong.meld), WinMethod.ROBBED_KONG, kong.seat)
    return WinningTile(kong.meld.tiles[-1], WinMethod.ROBBED_CONCEALED_KONG, kong.seat)


def _holding(seat: SeatState, apart: Tile | None) -> Holding:
    return Holding(
        concealed=tuple(KIND_OF[tile] for tile in seat.tiles if tile != apart),
        melds=seat.melds,
        bonus=tuple(sorted(KIND_OF[tile] for tile in seat.bonus)),
    )


def discards_made(picture: HandPicture) -> int:
    """How many tiles were discarded in the hand, claimed ones included."""
    return sum(len(seat.river) for seat in picture.seats)


def _is_won_as_dealt(picture: HandPicture, seat: Seat, method: WinMethod) -> bool:
    return (
        method is WinMethod.SELF_DRAW
        and seat == picture.dealer
        and not picture.seats[seat].melds
        and not discards_made(picture)
    )


def _circumstances(picture: HandPicture, seat: Seat, method: WinMethod) -> Circumstance:
    found = Circumstance.NONE
    holder = picture.seats[seat]
    empty = picture.wall.live_left == 0
    first_turn = Circumstance.NONE
    if method is WinMethod.SELF_DRAW:
        drawn_source = holder.drawn_source
        if drawn_source is DrawSource.KONG:
            found |= Circumstance.KONG_REPLACEMENT
            if holder.kongs_in_row >= 2:
                found |= Circumstance.KONG_ON_KONG
        if empty and drawn_source is not None and draw_end(picture, drawn_source) is not WallEnd.KONG_BOX:
            found |= Circumstance.LAST_TILE
        if seat == picture.dealer and not discards_made(picture):
            first_turn = Circumstance.BEFORE_FIRST_DISCARD
    elif method is WinMethod.DISCARD:
        if empty:
            found |= Circumstance.LAST_DISCARD
        if discards_made(picture) == 1:
            first_turn = Circumstance.FIRST_DISCARD
    if first_turn:
        found |= first_turn
        if any(meld.is_kong for other in picture.seats for meld in other.melds):
            found |= Circumstance.KONGS_DECLARED
    if holder.original_call:
        found |= Circumstance.ORIGINAL_CALL
    if seat == picture.dealer and picture.dealer_wins == WINS_BEFORE_THIRTEENTH:
        found |= Circumstance.THIRTEENTH_WIN
    return found


def _exhausted(picture: HandPicture, winning: Tile) -> frozenset[Kind]:
    """The kinds of which all copies lie in rivers and melds; the winning tile itself is the winner's, no discard."""
    seen = bytearray(REGULAR_KINDS)
    for seat in picture.seats:
        for discard in seat.river:
            if discard.claimed_by is None and discard.tile != winning:
                seen[KIND_OF[discard.tile]] += 1
        for meld in seat.melds:
            for tile in meld.tiles:
                seen[KIND_OF[tile]] += 1
    return frozenset(kind for kind, copies in enumerate(seen) if copies == COPIES)


def settlement_of(state: HandState) -> HandSettled:
    """Return the result in points of a hand that is over, settled by its own ruleset.

    Raises ``ValueError`` when the hand goes on.
    """
    result = state.result
    if result is None:
        raise ValueError("the hand is not over")
    if not isinstance(result, HandWon):
        return HandSettled(
            winner=None, scores=(None,) * SEATS, payments=(), changes=(0,) * SEATS, revealed=(None,) * SEATS
        )
    return settled(state, state.ruleset.settle(win_situation(state, result.seat)))


def settled(state: HandState, by_wind: WindSettlement) -> HandSettled:
    """Return the settlement of a won hand, which speaks in winds, as the event that speaks in seats.

    Raises ``ValueError`` when it names another winner than the hand has.
    """
    result = state.result
    if not isinstance(result, HandWon) or state.seat_wind(result.seat) != by_wind.winner:
        raise ValueError("the settlement is not that of this hand")
    winds = tuple(state.seat_wind(seat) for seat in range(SEATS))
    return HandSettled(
        winner=result.seat,
        scores=tuple(by_wind.scores[wind] for wind in winds),
        payments=tuple(
            SeatPayment((state.dealer + one.payer) % SEATS, (state.dealer + one.payee) % SEATS, one.amount)
            for one in by_wind.payments
        ),
        changes=tuple(by_wind.changes[wind] for wind in winds),
        revealed=tuple(
            other.tiles if seat == result.seat or state.ruleset.reveals_all else None
            for seat, other in enumerate(state.seats)
        ),
    )
