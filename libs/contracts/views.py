"""A table as one viewer sees it, as a message, and back as far as a computer player needs it."""

from __future__ import annotations

from functools import lru_cache

from eastwind.table.v1 import event_pb2, view_pb2
from libs.contracts.events import hand_event_to_proto
from libs.contracts.frames import length_delimited
from libs.contracts.scores import hand_score_to_proto
from libs.contracts.settings import player_to_proto, settings_to_proto
from libs.contracts.table_events import close_reason, decision_kind
from libs.contracts.tiles import action_to_proto, meld_to_proto
from libs.mahjong.engine.actions import Action, ActionType
from libs.mahjong.engine.events import DecisionKind, HandDrawn, HandWon
from libs.mahjong.engine.legal import offer_of
from libs.mahjong.engine.state import HandPicture, SeatState
from libs.mahjong.engine.table_events import DecisionClock
from libs.mahjong.engine.table_state import TablePicture, TableState
from libs.mahjong.engine.table_views import SPECTATOR, TableView, table_view
from libs.mahjong.tiles import Seat


def decision_view(table: TablePicture, viewer: Seat) -> view_pb2.DecisionView | None:
    """Return the open decision as the viewer may see it: the public turn, or a window in which it is asked itself.

    ``table`` may be the table's state or the viewer's own view; both give the same. ``None`` when the viewer sees none.
    """
    hand = table.hand
    if hand is None or hand.decision is None:
        return None
    decision = hand.decision
    public = decision.kind is DecisionKind.TURN
    if not public and viewer not in decision.seats:
        return None
    seat = decision.seats[0] if public else viewer
    message = view_pb2.DecisionView(decision=decision.decision, kind=decision_kind(decision.kind), seat=seat)
    clock = table.clock
    if clock is not None and clock.decision == decision.decision and seat in clock.seats:
        _set_clock(message, clock)
    if viewer in decision.seats:
        held = hand.held[viewer]
        if held is not None:
            message.held.CopyFrom(action_to_proto(held))
        else:
            message.options.extend(_options(hand, viewer))
    return message


def decision_bytes(table: TablePicture, viewer: Seat) -> bytes:
    """Return ``decision_view`` serialised; nothing for none.

    What a turn looks like to those who only look on is the same for all of them, and options are the same again and
    again: their bytes are made once.
    """
    hand = table.hand
    if hand is None or hand.decision is None:
        return b""
    offer = offer_of(hand, viewer)
    if not offer.actions or offer.score is not None:
        message = decision_view(table, viewer)
        return b"" if message is None else message.SerializeToString()
    decision = hand.decision
    asked = view_pb2.DecisionView(decision=decision.decision, kind=decision_kind(decision.kind), seat=viewer)
    clock = table.clock
    if clock is not None and clock.decision == decision.decision and viewer in clock.seats:
        _set_clock(asked, clock)
    return b"".join((asked.SerializeToString(), *map(_option_bytes, offer.actions)))


@lru_cache(maxsize=8192)
def _option_bytes(action: Action) -> bytes:
    raw = view_pb2.Option(action=action_to_proto(action)).SerializeToString()
    return length_delimited(view_pb2.DecisionView, "options", raw)


def _set_clock(message: view_pb2.DecisionView, clock: DecisionClock) -> None:
    message.opened_ms = clock.wait.opened_ms
    message.deadline_ms = clock.wait.deadline_ms
    message.base_ms = clock.wait.base_ms + clock.wait.granted_ms
    message.reserve_ms = clock.wait.reserve_ms


def _options(hand: HandPicture, viewer: Seat) -> list[view_pb2.Option]:
    offer = offer_of(hand, viewer)
    options = []
    for action in offer.actions:
        option = view_pb2.Option(action=action_to_proto(action))
        if action.type is ActionType.WIN and offer.score is not None:
            option.score.CopyFrom(hand_score_to_proto(offer.score))
        options.append(option)
    return options


def view_message(
    state: TableState, viewer: Seat, connected: tuple[bool, ...], settled: event_pb2.HandSettled | None = None
) -> view_pb2.TableView:
    """Return the whole table as the viewer sees it. ``connected`` is by seat; ``settled`` the message of the finished
    hand's settlement with its wall laid open, when it is kept."""
    view = table_view(state, viewer)
    message = view_pb2.TableView(
        table_id=view.table_id,
        settings=settings_to_proto(view.settings),
        phase=view_pb2.TablePhase.ValueType(view.phase),
        seats=[_seat_view(view, seat, connected[seat]) for seat in range(len(view.occupants))],
        hand=view.hand_number if view.hand is None or view.hand.hand != view.hand_number - 1 else view.hand.hand,
        dealer=view.dealer,
        prevailing_wind=view.prevailing_wind,
        dealer_changes=view.dealer_changes,
        decision=decision_view(view, viewer),
        commitment=view.commitment,
        ready_deadline_ms=view.ready_deadline_ms,
        unit_rated=view.unit_rated,
        starting_points=view.rules.starting_points,
        close_reason=close_reason(view.close_cause),
    )
    if viewer != SPECTATOR:
        message.viewer = viewer
    if view.hand is not None:
        _add_hand(message, view.hand, settled)
    return message


def _add_hand(message: view_pb2.TableView, hand: HandPicture, settled: event_pb2.HandSettled | None) -> None:
    message.hand_dealer = hand.dealer
    message.hand_prevailing_wind = hand.prevailing_wind
    message.wall_count = hand.live_left
    message.kong_box_count = hand.kong_box_left
    if hand.last_discard is not None:
        message.last_discard = hand.last_discard.tile
        message.last_discard_seat = hand.last_discard.seat
    if hand.kong is not None:
        message.pending_kong.CopyFrom(hand_event_to_proto(hand.kong).kong_declared)
    if isinstance(hand.result, HandWon):
        message.won.CopyFrom(hand_event_to_proto(hand.result).hand_won)
    elif isinstance(hand.result, HandDrawn):
        message.drawn.CopyFrom(hand_event_to_proto(hand.result).hand_drawn)
    if settled is not None:
        message.settled.CopyFrom(settled)
    elif hand.settlement is not None:
        message.settled.CopyFrom(hand_event_to_proto(hand.settlement).hand_settled)


def _seat_view(view: TableView, seat: Seat, connected: bool) -> view_pb2.SeatView:
    message = view_pb2.SeatView(
        seat=seat,
        points=view.points[seat],
        ready=view.ready[seat],
        connected=connected,
        # A seat that is ready has revealed its nonce, so the seal of the next one is what it will reveal.
        nonce_commitment=view.next_commitments[seat] if view.ready[seat] else view.commitments[seat],
        leaving=view.leaving[seat],
        reserve_ms=view.clocks[seat].reserve_ms,
    )
    occupant = view.occupants[seat]
    if occupant is not None:
        message.player.CopyFrom(player_to_proto(occupant))
    if view.hand is not None:
        _add_tiles(message, view.hand.seats[seat])
    return message


def _add_tiles(message: view_pb2.SeatView, seat: SeatState) -> None:
    message.tile_count = seat.count
    message.tiles.extend(seat.tiles)
    if not seat.hidden and seat.drawn is not None:
        message.drawn = seat.drawn
    message.melds.extend(meld_to_proto(meld) for meld in seat.melds)
    message.river.extend(
        view_pb2.RiverTile(tile=discard.tile, claimed_by=discard.claimed_by, original_call=discard.original_call)
        for discard in seat.river
    )
    message.bonus.extend(seat.bonus)
    message.original_call = seat.original_call
