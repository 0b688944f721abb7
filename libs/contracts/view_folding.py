"""What every update does to a viewer's table: the model of a client, the browser's included.

The law of this module: folding the updates of a stream gives the same ``TableView`` as the server makes when it is
asked for it whole (``libs.contracts.views``), for every viewer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from eastwind.scoring.v1 import score_pb2
from eastwind.table.v1 import event_pb2, view_pb2
from eastwind.type.v1 import settings_pb2, tile_pb2
from libs.contracts.settings import settings_from_proto
from libs.mahjong.engine.applying import DEALT
from libs.mahjong.engine.ruleset import RatedUnit, Ruleset, WallEnd, ruleset
from libs.mahjong.engine.state import SEATS
from libs.mahjong.tiles import KIND_OF, REGULAR_TILES, TILE_COUNT


class SequenceGap(Exception):
    """Updates are missing: the viewer has to ask for the whole view."""


@dataclass(frozen=True, slots=True)
class FollowedTable:
    """A table as a client knows it: the newest view and the sequence that it has. The view is not to be changed."""

    view: view_pb2.TableView
    sequence: int


def follow(known: FollowedTable | None, update: view_pb2.TableUpdate) -> FollowedTable:
    """Return the table after an update; ``known`` is left as it is, and is returned when the update is a repeat.

    Raises ``SequenceGap`` when updates before this one are missing, or when there is no view yet to build on.
    ``UnknownRuleset`` for a table whose ruleset is not registered here.
    """
    if update.HasField("view"):
        view = view_pb2.TableView()
        view.CopyFrom(update.view)
        return FollowedTable(view, update.sequence)
    if known is None:
        raise SequenceGap("no view came yet")
    if update.sequence < known.sequence or (update.events and update.sequence == known.sequence):
        return known
    if known.sequence + len(update.events) != update.sequence:
        raise SequenceGap(f"at {known.sequence}, and {len(update.events)} events lead to {update.sequence}")
    return FollowedTable(apply_update(known.view, update), update.sequence)


def apply_update(view: view_pb2.TableView, update: view_pb2.TableUpdate) -> view_pb2.TableView:
    """Return the view after an update that follows it directly; ``view`` is left as it is."""
    after = view_pb2.TableView()
    after.CopyFrom(update.view if update.HasField("view") else view)
    for event in update.events:
        apply_event(after, event)
    if update.events:
        after.ClearField("decision")
        if update.HasField("decision"):
            after.decision.CopyFrom(update.decision)
    for seat, connected in zip(after.seats, update.connected, strict=False):
        seat.connected = connected
    return after


def apply_event(view: view_pb2.TableView, event: event_pb2.TableEvent) -> None:
    """Change ``view`` by what its viewer was told. An event of a later server that is not known changes nothing.

    The running decision is not touched: updates carry it whole.
    """
    name = event.WhichOneof("event")
    if name in _APPLIERS:
        _APPLIERS[name](view, getattr(event, name))


def _rules(view: view_pb2.TableView) -> Ruleset:
    return ruleset(view.settings.ruleset)


def _reserve_ms(view: view_pb2.TableView) -> int:
    return settings_from_proto(view.settings).time_control.reserve_ms


def _table_opened(view: view_pb2.TableView, event: event_pb2.TableOpened) -> None:
    view.settings.CopyFrom(event.settings)
    view.dealer = event.first_dealer


def _seat_taken(view: view_pb2.TableView, event: event_pb2.SeatTaken) -> None:
    seat = view.seats[event.seat]
    seat.player.CopyFrom(event.player)
    seat.points = view.starting_points
    seat.reserve_ms = _reserve_ms(view)


def _seat_released(view: view_pb2.TableView, event: event_pb2.SeatReleased) -> None:
    if view.phase == view_pb2.TABLE_PHASE_READY:
        _end_ready_step(view)
        view.commitment = b""
    view.phase = view_pb2.TABLE_PHASE_WAITING
    seat = view.seats[event.seat]
    seat.ClearField("player")
    seat.points = view.starting_points
    seat.leaving = False
    seat.nonce_commitment = b""


def _end_ready_step(view: view_pb2.TableView) -> None:
    view.ClearField("ready_deadline_ms")
    for seat in view.seats:
        seat.ready = False


def _seat_leaving(view: view_pb2.TableView, event: event_pb2.SeatLeaving) -> None:
    view.seats[event.seat].leaving = True


def _seat_returned(view: view_pb2.TableView, event: event_pb2.SeatReturned) -> None:
    view.seats[event.seat].leaving = False


def _nonce_committed(view: view_pb2.TableView, event: event_pb2.NonceCommitted) -> None:
    view.seats[event.seat].nonce_commitment = event.commitment


def _ready_step_opened(view: view_pb2.TableView, event: event_pb2.ReadyStepOpened) -> None:
    _end_ready_step(view)
    view.phase = view_pb2.TABLE_PHASE_READY
    view.commitment = event.commitment
    if event.HasField("deadline_ms"):
        view.ready_deadline_ms = event.deadline_ms


def _seat_ready(view: view_pb2.TableView, event: event_pb2.SeatReady) -> None:
    seat = view.seats[event.seat]
    seat.ready = True
    # The revealed nonce is spent; what the seat reveals next is under the seal that came with it.
    seat.nonce_commitment = event.next_commitment
    if event.by_player:
        seat.leaving = False


def _hand_started(view: view_pb2.TableView, event: event_pb2.HandStarted) -> None:
    rules = _rules(view)
    if event.hand == 1 or rules.rated_unit is RatedUnit.HAND:
        view.unit_rated = view.settings.rated and all(
            seat.HasField("player") and not seat.player.bot_level for seat in view.seats
        )
    _end_ready_step(view)
    view.phase = view_pb2.TABLE_PHASE_PLAYING
    view.hand = event.hand
    view.dealer = event.dealer
    view.prevailing_wind = event.prevailing_wind
    view.commitment = event.commitment
    view.wall_count = TILE_COUNT - rules.wall.kong_box
    view.kong_box_count = rules.wall.kong_box
    for field in ("won", "drawn", "settled", "pending_kong", "last_discard", "last_discard_seat"):
        view.ClearField(field)
    reserve_ms = _reserve_ms(view)
    for seat in view.seats:
        seat.reserve_ms = reserve_ms
        for field in ("tile_count", "tiles", "drawn", "melds", "river", "bonus", "original_call"):
            seat.ClearField(field)  # type: ignore[arg-type]
    view.hand_dealer = event.dealer
    view.hand_prevailing_wind = event.prevailing_wind


def _tiles_dealt(view: view_pb2.TableView, event: event_pb2.TilesDealt) -> None:
    view.wall_count -= SEATS * DEALT
    for seat, tiles, count in zip(view.seats, event.hands, event.counts, strict=True):
        seat.tile_count = count
        seat.tiles[:] = sorted(tiles.tiles)


def _tile_drawn(view: view_pb2.TableView, event: event_pb2.TileDrawn) -> None:
    layout = _rules(view).wall
    end = WallEnd.FRONT
    if event.source == event_pb2.DRAW_SOURCE_KONG:
        end = layout.kong_from
    elif event.source == event_pb2.DRAW_SOURCE_BONUS:
        end = layout.bonus_from
    if end is WallEnd.KONG_BOX:
        view.kong_box_count -= 1
    else:
        view.wall_count -= 1
    seat = view.seats[event.seat]
    seat.tile_count += 1
    if not event.HasField("tile"):
        return
    seat.tiles[:] = sorted((*seat.tiles, event.tile))
    if event.tile < REGULAR_TILES:
        seat.ClearField("drawn")
        # Replacements during the deal complete a holding of thirteen: they belong to no turn.
        if seat.tile_count % 3 == 2:
            seat.drawn = event.tile


def _bonus_exposed(view: view_pb2.TableView, event: event_pb2.BonusExposed) -> None:
    seat = view.seats[event.seat]
    seat.bonus.append(event.tile)
    _remove(seat, (event.tile,))


def _tile_discarded(view: view_pb2.TableView, event: event_pb2.TileDiscarded) -> None:
    seat = view.seats[event.seat]
    _remove(seat, (event.tile,))
    seat.river.append(view_pb2.RiverTile(tile=event.tile, original_call=event.original_call))
    seat.original_call = seat.original_call or event.original_call
    seat.ClearField("drawn")
    view.last_discard = event.tile
    view.last_discard_seat = event.seat


def _meld_claimed(view: view_pb2.TableView, event: event_pb2.MeldClaimed) -> None:
    seat = view.seats[event.seat]
    _remove(seat, [tile for tile in event.meld.tiles if tile != event.meld.claimed])
    seat.melds.append(event.meld)
    seat.ClearField("drawn")
    view.seats[event.meld.source].river[-1].claimed_by = event.seat
    _clear_discard(view)


def _kong_declared(view: view_pb2.TableView, event: event_pb2.KongDeclared) -> None:
    view.pending_kong.CopyFrom(event)


def _kong_completed(view: view_pb2.TableView, event: event_pb2.KongCompleted) -> None:
    seat, meld = view.seats[event.seat], event.meld
    if meld.kind == tile_pb2.MELD_KIND_ADDED_KONG:
        pung = next(
            other
            for other in seat.melds
            if other.kind == tile_pb2.MELD_KIND_PUNG and KIND_OF[other.tiles[0]] == KIND_OF[meld.tiles[0]]
        )
        _remove(seat, [tile for tile in meld.tiles if tile not in pung.tiles])
        pung.CopyFrom(meld)
    else:
        _remove(seat, meld.tiles)
        seat.melds.append(meld)
    seat.ClearField("drawn")
    view.ClearField("pending_kong")


def _hand_won(view: view_pb2.TableView, event: event_pb2.HandWon) -> None:
    if event.HasField("source"):
        source = view.seats[event.source]
        if event.method == score_pb2.WIN_METHOD_DISCARD:
            source.river[-1].claimed_by = event.seat
        else:
            _remove(source, (event.tile,))
    winner = view.seats[event.seat]
    _reveal(winner, (*event.concealed, event.tile))
    winner.ClearField("drawn")
    if event.method == score_pb2.WIN_METHOD_SELF_DRAW:
        winner.drawn = event.tile
    _clear_discard(view)
    view.ClearField("pending_kong")
    view.won.CopyFrom(event)


def _hand_drawn(view: view_pb2.TableView, event: event_pb2.HandDrawn) -> None:
    _clear_discard(view)
    view.drawn.CopyFrom(event)


def _hand_settled(view: view_pb2.TableView, event: event_pb2.HandSettled) -> None:
    winner = event.winner if event.HasField("winner") else None
    for seat, change in zip(view.seats, event.changes, strict=True):
        seat.points += change
    for seat, revealed in zip(view.seats, event.revealed, strict=True):
        if revealed.tiles and seat.seat != winner:
            _reveal(seat, revealed.tiles)
            seat.ClearField("drawn")
    view.settled.CopyFrom(event)
    if winner is not None and winner != view.dealer:
        view.dealer = (view.dealer + 1) % SEATS
        view.dealer_changes += 1
        view.prevailing_wind = _rules(view).prevailing_wind(view.dealer_changes)
    view.phase = view_pb2.TABLE_PHASE_WAITING
    view.commitment = b""


def _seat_answered(view: view_pb2.TableView, event: event_pb2.SeatAnswered) -> None:
    seat = view.seats[event.seat]
    seat.reserve_ms = event.reserve_ms
    if event.kind == event_pb2.DECISION_KIND_TURN:
        seat.leaving = False


def _seat_timed_out(view: view_pb2.TableView, event: event_pb2.SeatTimedOut) -> None:
    view.seats[event.seat].reserve_ms = event.reserve_ms


def _outage_granted(view: view_pb2.TableView, event: event_pb2.OutageGranted) -> None:
    if view.HasField("ready_deadline_ms"):
        view.ready_deadline_ms += event.outage_ms


def _table_closed(view: view_pb2.TableView, event: event_pb2.TableClosed) -> None:
    view.phase = view_pb2.TABLE_PHASE_CLOSED
    view.close_reason = event.reason
    view.ClearField("ready_deadline_ms")


def _remove(seat: view_pb2.SeatView, gone: Iterable[int]) -> None:
    gone = set(gone)
    seat.tile_count -= len(gone)
    seat.tiles[:] = [tile for tile in seat.tiles if tile not in gone]


def _reveal(seat: view_pb2.SeatView, tiles: Iterable[int]) -> None:
    seat.tiles[:] = sorted(tiles)
    seat.tile_count = len(seat.tiles)


def _clear_discard(view: view_pb2.TableView) -> None:
    view.ClearField("last_discard")
    view.ClearField("last_discard_seat")


_APPLIERS: Final[dict[str, Callable[[view_pb2.TableView, Any], None]]] = {
    "table_opened": _table_opened,
    "seat_taken": _seat_taken,
    "seat_released": _seat_released,
    "seat_leaving": _seat_leaving,
    "seat_returned": _seat_returned,
    "nonce_committed": _nonce_committed,
    "ready_step_opened": _ready_step_opened,
    "seat_ready": _seat_ready,
    "hand_started": _hand_started,
    "tiles_dealt": _tiles_dealt,
    "tile_drawn": _tile_drawn,
    "bonus_exposed": _bonus_exposed,
    "tile_discarded": _tile_discarded,
    "meld_claimed": _meld_claimed,
    "kong_declared": _kong_declared,
    "kong_completed": _kong_completed,
    "hand_won": _hand_won,
    "hand_drawn": _hand_drawn,
    "hand_settled": _hand_settled,
    "seat_answered": _seat_answered,
    "seat_timed_out": _seat_timed_out,
    "outage_granted": _outage_granted,
    "table_closed": _table_closed,
}
"""Events that are missing here tell something that a view does not keep: decisions and clocks come with the update."""


def own_seat(view: view_pb2.TableView) -> view_pb2.SeatView | None:
    """Return the viewer's own seat, ``None`` for a spectator."""
    return view.seats[view.viewer] if view.HasField("viewer") else None


def any_person_ready(view: view_pb2.TableView) -> bool:
    """Tell whether a person has said ready in this step: from then on no new nonce is sealed for the coming hand."""
    return any(seat.ready and not seat.player.bot_level for seat in view.seats)


def coming_hand(view: view_pb2.TableView) -> int:
    """Return the number of the hand that is being prepared or played; a finished hand is shown until the next one."""
    return view.hand + 1 if view.HasField("settled") else view.hand


def is_computer(player: settings_pb2.Player) -> bool:
    """Tell whether a seat's holder is a computer player of the platform."""
    return player.bot_level != settings_pb2.BOT_LEVEL_UNSPECIFIED
