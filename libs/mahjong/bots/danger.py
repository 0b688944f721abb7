"""How dangerous a discard is: which seats may be waiting, for what, and what they would win."""

from __future__ import annotations

from typing import Final

from libs.mahjong.bots.guidance import Guidance
from libs.mahjong.bots.position import Position
from libs.mahjong.engine.state import SEATS, SeatState
from libs.mahjong.engine.views import SeatView
from libs.mahjong.tiles import EAST, HONOURS, KIND_OF, REGULAR_KINDS, SUIT_OF_KIND, Kind, Seat

_WAITING_EARLY: Final = (0.0, 0.0, 0.0, 0.02, 0.50)
_WAITING_LATE: Final = (0.03, 0.15, 0.30, 0.50, 0.95)
"""The chance that a seat with so many melds waits for a legal win, at the start and at the end of the wall. With few
melds it grows with the square of the tiles that are gone."""
_FULL_WALL: Final = 91
_KINDS_WAITED_FOR: Final = 1.6
_BY_RANK: Final = (0.8, 1.0, 1.1, 1.2, 1.2, 1.2, 1.1, 1.0, 0.8)
"""How often a suited kind of each rank is waited for, compared with the average."""
_HONOUR_BY_UNSEEN: Final = (0.0, 0.5, 1.1, 1.4, 1.4)
"""The same for honours by the copies not seen: with none left nobody can use one but Thirteen Orphans."""
_OWN_DISCARD: Final = 0.3
"""What a kind still counts that the seat discarded itself."""
_ONE_SUIT: Final = ((1.0, 1.0, 1.0), (1.7, 1.0, 0.4), (2.0, 2.0, 0.2), (2.0, 2.0, 0.12), (2.0, 2.5, 0.12))
"""What kinds of the suit, honours and other kinds count against a seat whose melds, so many, are of one suit."""
_LEANING: Final = 1.5


def dangers(view: SeatView, position: Position, guidance: Guidance) -> tuple[float, ...]:
    """The points that a discard of each regular kind costs on average."""
    total = [0.0] * REGULAR_KINDS
    for seat in range(SEATS):
        if seat != view.viewer:
            _add_threat(total, view, seat, position, guidance)
    return tuple(total)


def waiting_chance(melds: int, live_left: int) -> float:
    """The chance that a seat with so many melds waits when so many tiles are left in the wall."""
    late = 1.0 - min(live_left, _FULL_WALL) / _FULL_WALL
    early, end = _WAITING_EARLY[melds], _WAITING_LATE[melds]
    return early + (end - early) * (late * late if melds < 3 else late)


def _add_threat(total: list[float], view: SeatView, seat: Seat, position: Position, guidance: Guidance) -> None:
    other = view.seats[seat]
    loss = guidance.expected_loss(
        other.melds, tuple(KIND_OF[tile] for tile in other.bonus), view.seat_wind(seat), view.prevailing_wind
    )
    weights = _weights(other, position)
    scale = sum(weights)
    if scale <= 0.0:
        return
    stake = waiting_chance(len(other.melds), view.live_left) * _KINDS_WAITED_FOR * loss / scale
    safe = _passed_by(view, seat)
    for kind in range(REGULAR_KINDS):
        if kind not in safe:
            total[kind] += weights[kind] * stake


def _weights(other: SeatState, position: Position) -> list[float]:
    """How likely the seat waits for each kind, in proportion."""
    suits = _suit_weights(other)
    weights = [_BY_RANK[kind % 9] * suits[SUIT_OF_KIND[kind]] for kind in range(EAST)]
    weights += [_HONOUR_BY_UNSEEN[position.unseen[kind]] * suits[HONOURS] for kind in range(EAST, REGULAR_KINDS)]
    for discard in other.river:
        weights[KIND_OF[discard.tile]] *= _OWN_DISCARD
    return weights


def _suit_weights(other: SeatState) -> list[float]:
    declared = {SUIT_OF_KIND[meld.base_kind] for meld in other.melds} - {HONOURS}
    weights = [1.0, 1.0, 1.0, 1.0]
    if len(declared) == 1:
        suited, honours, others = _ONE_SUIT[len(other.melds)]
        weights = [others, others, others, honours]
        for suit in declared:
            weights[suit] = suited
    elif len(other.river) >= 6:
        # A suit of which a seat hardly discards anything is the one that it collects.
        for suit in range(HONOURS):
            if sum(SUIT_OF_KIND[KIND_OF[discard.tile]] == suit for discard in other.river) * 8 <= len(other.river):
                weights[suit] *= _LEANING
    return weights


def _passed_by(view: SeatView, seat: Seat) -> set[Kind]:
    """The kinds discarded since the seat's own last discard: its tiles are the same as when it passed them."""
    passed: set[Kind] = set()
    other = view.seats[seat]
    if other.river:
        passed.add(KIND_OF[other.river[-1].tile])
    between = (seat + 1) % SEATS
    while between != view.viewer:
        river = view.seats[between].river
        if river:
            passed.add(KIND_OF[river[-1].tile])
        between = (between + 1) % SEATS
    return passed
