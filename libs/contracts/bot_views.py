"""A table's message as the hand that a computer player sees: the way back of ``libs.contracts.views``.

The message says which options there are, so the view takes them from it and derives none.
"""

from __future__ import annotations

from typing import Final

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from eastwind.table.v1 import view_pb2
from libs.contracts.scores import hand_score_from_proto
from libs.contracts.tiles import InvalidMessage, action_from_proto, meld_from_proto, tiles_from_proto
from libs.mahjong.engine.actions import Action, ActionType
from libs.mahjong.engine.events import DecisionKind, DecisionOpened, KongDeclared, TileDiscarded
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.engine.state import SEATS, Discard, Offer, SeatState
from libs.mahjong.engine.views import SeatView
from libs.mahjong.melds import MeldKind, chow, claimed_kong, concealed_kong, pung
from libs.mahjong.shapes import encode
from libs.mahjong.tiles import KIND_OF, REGULAR_TILES, Tile
from libs.mahjong.wall import Wall


def hand_view_from_proto(view: view_pb2.TableView) -> SeatView:
    """Return the hand as the message's viewer sees it, with the options that the message names.

    What the message does not tell is left at its start: the moment, how the last tile was drawn, and how many hands the
    dealer has won. Raises ``InvalidMessage`` for a message without a viewer that is asked, or that no hand can give;
    ``UnknownRuleset`` for a ruleset that is not registered.
    """
    if not view.HasField("viewer") or view.viewer >= SEATS:
        raise InvalidMessage("view.viewer", "a seat from 0 to 3 is wanted")
    if len(view.seats) != SEATS or [seat.seat for seat in view.seats] != list(range(SEATS)):
        raise InvalidMessage("view.seats", "the four seats in order are wanted")
    if view.dealer >= SEATS or view.prevailing_wind >= SEATS:
        raise InvalidMessage("view.dealer", "seats and winds are 0 to 3")
    viewer = view.viewer
    hand = SeatView(ruleset(view.settings.ruleset), viewer, moment=view.decision.decision)
    hand.hand = view.hand
    hand.dealer = view.dealer
    hand.prevailing_wind = view.prevailing_wind
    hand.commitment = view.commitment
    hand.wall = _wall(view, hand.wall)
    hand.seats = [_seat(message, message.seat != viewer) for message in view.seats]
    _check_tiles(hand)
    if view.HasField("last_discard"):
        hand.last_discard = _last_discard(view)
    if view.HasField("pending_kong"):
        hand.kong = _pending_kong(view)
    _open_decision(hand, view)
    return hand


def _wall(view: view_pb2.TableView, wall: Wall) -> Wall:
    """A wall with so many tiles left; from which end the others were taken is not known and does not matter."""
    taken, from_box = wall.live_left - view.wall_count, wall.box_left - view.kong_box_count
    if taken < 0 or from_box < 0:
        raise InvalidMessage("view.wall_count", "more tiles than the wall has")
    wall.front, wall.box = taken, from_box
    return wall


def _seat(message: view_pb2.SeatView, hidden: bool) -> SeatState:
    field = f"view.seats[{message.seat}]"
    seat = SeatState(hidden)
    seat.count = message.tile_count
    seat.melds = tuple(meld_from_proto(meld, f"{field}.melds") for meld in message.melds)
    seat.bonus = tiles_from_proto(message.bonus, f"{field}.bonus")
    seat.river = tuple(_discard(river, field) for river in message.river)
    seat.original_call = message.original_call
    if not hidden:
        tiles = tiles_from_proto(message.tiles, f"{field}.tiles")
        if len(tiles) != message.tile_count or tiles != tuple(sorted(tiles)) or (tiles and tiles[-1] >= REGULAR_TILES):
            raise InvalidMessage(f"{field}.tiles", "all regular tiles in hand are wanted, in ascending order")
        try:
            seat.codes = encode(KIND_OF[tile] for tile in tiles)
        except ValueError as error:
            raise InvalidMessage(f"{field}.tiles", str(error)) from error
        seat.tiles = tiles
        seat.drawn = message.drawn if message.HasField("drawn") else None
    return seat


def _discard(message: view_pb2.RiverTile, field: str) -> Discard:
    (tile,) = tiles_from_proto((message.tile,), f"{field}.river")
    return Discard(tile, message.claimed_by if message.HasField("claimed_by") else None, message.original_call)


def _check_tiles(hand: SeatView) -> None:
    """Every tile lies in one place, and every seat has as many as a hand gives."""
    seen: list[Tile] = []
    for number, seat in enumerate(hand.seats):
        seen += seat.tiles
        seen += seat.bonus
        seen += [discard.tile for discard in seat.river if discard.claimed_by is None]
        for meld in seat.melds:
            seen += meld.tiles
        if seat.count + 3 * len(seat.melds) not in (13, 14):
            raise InvalidMessage(f"view.seats[{number}].tile_count", "with its melds a seat has 13 or 14 tiles")
    if len(set(seen)) != len(seen):
        raise InvalidMessage("view.seats", "one tile lies in two places")


def _last_discard(view: view_pb2.TableView) -> TileDiscarded:
    (tile,) = tiles_from_proto((view.last_discard,), "view.last_discard")
    if view.last_discard_seat >= SEATS:
        raise InvalidMessage("view.last_discard_seat", "seats are 0 to 3")
    return TileDiscarded(view.last_discard_seat, tile)


def _pending_kong(view: view_pb2.TableView) -> KongDeclared:
    if view.pending_kong.seat >= SEATS:
        raise InvalidMessage("view.pending_kong.seat", "seats are 0 to 3")
    return KongDeclared(view.pending_kong.seat, meld_from_proto(view.pending_kong.meld, "view.pending_kong.meld"))


def _open_decision(hand: SeatView, view: view_pb2.TableView) -> None:
    message = view.decision
    try:
        kind = DecisionKind(message.kind)
    except ValueError as error:
        raise InvalidMessage("view.decision.kind", f"{message.kind} is no kind of decision") from error
    if message.seat != hand.viewer or not message.options:
        raise InvalidMessage("view.decision", "the viewer is not asked")
    actions = []
    score = None
    for number, option in enumerate(message.options):
        action = action_from_proto(option.action, f"view.decision.options[{number}].action")
        _check_option(hand, action, f"view.decision.options[{number}]")
        actions.append(action)
        if option.HasField("score"):
            score = hand_score_from_proto(option.score)
    hand.decision = DecisionOpened(message.decision, kind, (hand.viewer,))
    hand.turn = hand.viewer if kind is DecisionKind.TURN else None
    hand.offers = {hand.viewer: Offer(tuple(actions), score)}


def _check_option(hand: SeatView, action: Action, field: str) -> None:
    """An option must be one that a player can weigh: own tiles, and a discard to claim where one is needed."""
    own = hand.seats[hand.viewer]
    if any(tile not in own.tiles for tile in action.tiles):
        raise InvalidMessage(field, "names a tile that the viewer does not have")
    wanted = _TILES_OF_ACTION[action.type]
    if len(action.tiles) != wanted:
        raise InvalidMessage(field, f"{action.type.name} names {wanted} tiles")
    try:
        if action.type in _CLAIMS:
            if hand.last_discard is None:
                raise InvalidMessage(field, "there is no discard to claim")
            _CLAIMS[action.type](action.tiles, hand.last_discard.tile, hand.last_discard.seat)
        elif action.type is ActionType.CONCEALED_KONG:
            concealed_kong(action.tiles)
        elif action.type is ActionType.ADDED_KONG:
            kind = KIND_OF[action.tiles[0]]
            if not any(meld.kind is MeldKind.PUNG and meld.base_kind == kind for meld in own.melds):
                raise InvalidMessage(field, "there is no pung to add to")
    except InvalidMessage:
        raise
    except ValueError as error:
        raise InvalidMessage(field, str(error)) from error


_CLAIMS: Final = {ActionType.CHOW: chow, ActionType.PUNG: pung, ActionType.CLAIMED_KONG: claimed_kong}
_TILES_OF_ACTION: Final = {
    ActionType.DISCARD: 1,
    ActionType.WIN: 0,
    ActionType.CONCEALED_KONG: 4,
    ActionType.ADDED_KONG: 1,
    ActionType.CLAIMED_KONG: 3,
    ActionType.PUNG: 2,
    ActionType.CHOW: 2,
    ActionType.PASS: 0,
    ActionType.ORIGINAL_CALL: 1,
}
