"""The state of a table as bytes and back, its hand included."""

from __future__ import annotations

from typing import Any, Final

from libs.mahjong.clocks import SeatClock
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.codec import (
    VERSION,
    Decoder,
    Encoder,
    MalformedEncoding,
    Plain,
    codec_of,
    dump,
    load_versioned,
)
from libs.mahjong.engine.events import (
    DecisionOpened,
    DrawSource,
    HandDrawn,
    HandSettled,
    HandWon,
    KongDeclared,
    TileDiscarded,
)
from libs.mahjong.engine.ruleset import UnknownRuleset, ruleset
from libs.mahjong.engine.state import SEATS, Discard, HandState, SeatState
from libs.mahjong.engine.table_events import CloseCause, DecisionClock, Occupant, TableOpened, TableSettings
from libs.mahjong.engine.table_state import TablePhase, TableState
from libs.mahjong.fairness import SeatNonce
from libs.mahjong.melds import Meld
from libs.mahjong.shapes import encode as encode_tiles
from libs.mahjong.tiles import KIND_OF, REGULAR_TILES, TILE_COUNT
from libs.mahjong.wall import Wall

_Fields = tuple[tuple[str, Encoder | None, Decoder], ...]


def _fields(**kinds: Any) -> _Fields:
    return tuple((name, *codec_of(kind)) for name, kind in kinds.items())


_TABLE: Final = _fields(
    table_id=str,
    settings=TableSettings,
    phase=TablePhase,
    close_cause=CloseCause | None,
    occupants=tuple[Occupant | None, ...],
    points=tuple[int, ...],
    leaving=tuple[bool, ...],
    dealer=int,
    dealer_changes=int,
    dealer_wins=int,
    hand_number=int,
    clocks=tuple[SeatClock, ...],
    clock=DecisionClock | None,
    ready=tuple[bool, ...],
    ready_deadline_ms=int | None,
    commitment=bytes,
    commitments=tuple[bytes, ...],
    nonces=tuple[bytes | None, ...],
    next_commitments=tuple[bytes, ...],
    unit_rated=bool,
    settled=HandSettled | None,
    server_seed=bytes,
    hand_nonces=tuple[SeatNonce, ...],
    moment_before=int,
    hand_started_ms=int,
    hand_over_ms=int,
    decision_opened_ms=int,
    last_action_ms=int,
    now_ms=int,
    recent_commands=tuple[str, ...],
    stream_sequence=tuple[int, ...],
)
_HAND: Final = _fields(
    hand=int,
    dealer=int,
    prevailing_wind=int,
    dealer_wins=int,
    commitment=bytes,
    moment=int,
    turn=int | None,
    decision=DecisionOpened | None,
    held=tuple[Action | None, ...],
    last_discard=TileDiscarded | None,
    kong=KongDeclared | None,
    result=HandWon | HandDrawn | None,
    settlement=HandSettled | None,
)
_SEAT: Final = _fields(
    tiles=tuple[int, ...],
    count=int,
    melds=tuple[Meld, ...],
    river=tuple[Discard, ...],
    bonus=tuple[int, ...],
    drawn=int | None,
    drawn_source=DrawSource | None,
    kongs_in_row=int,
    original_call=bool,
)
_WALL: Final = _fields(tiles=tuple[int, ...], front=int, back=int, box=int)


def encode_state(state: TableState) -> bytes:
    """Return the state of a table as bytes."""
    hand = state.hand
    plain_hand = None
    if hand is not None:
        plain_hand = (
            _to_plain(hand, _HAND),
            _to_plain(hand.wall, _WALL),
            [_to_plain(seat, _SEAT) for seat in hand.seats],
        )
    return dump((VERSION, _to_plain(state, _TABLE), plain_hand))


def decode_state(raw: bytes) -> TableState:
    """Return the state that the bytes hold.

    Raises ``MalformedEncoding``, ``UnknownVersion``, ``UnknownEvent`` and, for a ruleset that is not registered,
    ``UnknownRuleset``.
    """
    plain_table, plain_hand = load_versioned(raw, 2)
    values = _from_plain(plain_table, _TABLE)
    settings = values["settings"]
    state = TableState(TableOpened(values["table_id"], settings, values["dealer"], 0))
    _set(state, values)
    if plain_hand is not None:
        state.hand = _hand_from_plain(plain_hand, settings.ruleset_id)
    return state


def _hand_from_plain(plain: Plain, ruleset_id: str) -> HandState:
    if type(plain) is not list or len(plain) != 3 or type(plain[2]) is not list or len(plain[2]) != SEATS:
        raise MalformedEncoding("a hand is its own fields, its wall and four seats")
    hand = HandState(ruleset(ruleset_id))
    _set(hand, _from_plain(plain[0], _HAND))
    wall = _from_plain(plain[1], _WALL)
    if set(wall["tiles"]) != set(range(TILE_COUNT)) or len(wall["tiles"]) != TILE_COUNT:
        raise MalformedEncoding("a wall holds each of the 144 tiles once")
    hand.wall = Wall(wall["tiles"], hand.ruleset.wall.kong_box)
    _set(hand.wall, wall)
    for seat, fields in zip(hand.seats, plain[2], strict=True):
        _set(seat, _from_plain(fields, _SEAT))
        _encode_codes(seat)
    return hand


def _encode_codes(seat: SeatState) -> None:
    """The suit codes follow from the tiles, so they are not kept."""
    try:
        seat.codes = encode_tiles(KIND_OF[tile] for tile in seat.tiles if tile < REGULAR_TILES)
    except (IndexError, ValueError) as error:
        raise MalformedEncoding(f"no tiles in hand: {error}") from None


def _to_plain(value: object, fields: _Fields) -> Plain:
    return [getattr(value, name) if encode is None else encode(getattr(value, name)) for name, encode, _ in fields]


def _from_plain(plain: Plain, fields: _Fields) -> dict[str, Any]:
    if type(plain) is not list or len(plain) != len(fields):
        raise MalformedEncoding(f"{len(fields)} fields expected")
    return {name: decode(part) for (name, _, decode), part in zip(fields, plain, strict=True)}


def _set(target: object, values: dict[str, Any]) -> None:
    for name, value in values.items():
        setattr(target, name, value)


__all__ = ["UnknownRuleset", "decode_state", "encode_state"]
