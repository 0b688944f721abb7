"""Hand records between protobuf and the game's own type."""

from __future__ import annotations

from typing import Final

from eastwind.history.v1 import record_pb2
from libs.contracts.events import hand_event_from_proto, hand_event_to_proto
from libs.contracts.settings import player_from_proto, player_to_proto, settings_from_proto, settings_to_proto
from libs.contracts.tiles import InvalidMessage
from libs.mahjong.fairness import SECRET_BYTES, SeatNonce
from libs.mahjong.record import HandRecord, IncompleteHand, TimedEvent, check_whole

FORMAT: Final = 1
SEATS: Final = 4


def record_id(table_id: str, hand: int) -> str:
    """Return the id under which a hand's record is kept; as unguessable as the table's."""
    return f"{table_id}-{hand}"


def record_to_proto(record: HandRecord) -> record_pb2.HandRecord:
    """Return the message of a record."""
    return record_pb2.HandRecord(
        record_id=record_id(record.table_id, record.hand),
        format=FORMAT,
        ruleset=record.ruleset_id,
        algorithm=record.algorithm,
        table_id=record.table_id,
        hand=record.hand,
        settings=settings_to_proto(record.settings),
        players=[player_to_proto(player) for player in record.players],
        points_before=record.points_before,
        dealer_changes=record.dealer_changes,
        dealer_wins=record.dealer_wins,
        started_ms=record.started_ms,
        ended_ms=record.ended_ms,
        seed=record.server_seed,
        nonces=[part.nonce or b"" for part in record.nonces],
        commitments=[part.commitment for part in record.nonces],
        events=[
            record_pb2.RecordedEvent(offset_ms=max(0, timed.offset_ms), event=hand_event_to_proto(timed.event))
            for timed in record.events
        ],
        rated=record.rated,
        first_moment=record.moment,
        unit_id=record.unit_id,
        dealer=record.dealer,
        prevailing_wind=record.prevailing_wind,
        match_places=record.match_places,
    )


def record_from_proto(message: record_pb2.HandRecord) -> HandRecord:
    """Return the record.

    Raises ``InvalidMessage`` for a newer format, an event of an unknown kind, or a message that is no whole record;
    whether what it says is true is for ``libs.mahjong.verification`` to find out.
    """
    if message.format != FORMAT:
        raise InvalidMessage("format", f"this is format {message.format}; this version reads format {FORMAT}")
    for field in ("players", "points_before", "nonces", "commitments"):
        if len(getattr(message, field)) != SEATS:
            raise InvalidMessage(field, f"a record has {SEATS} of them")
    if message.ruleset != message.settings.ruleset:
        raise InvalidMessage("ruleset", "not the one of the settings")
    if message.record_id != record_id(message.table_id, message.hand):
        raise InvalidMessage("record_id", "not the one of this table and hand")
    for field in ("nonces", "commitments"):
        if any(len(secret) not in (0, SECRET_BYTES) for secret in getattr(message, field)):
            raise InvalidMessage(field, f"one has not {SECRET_BYTES} bytes")
    if len(message.seed) != SECRET_BYTES:
        raise InvalidMessage("seed", f"it has not {SECRET_BYTES} bytes")
    if not message.events:
        raise InvalidMessage("events", "there are none")
    events = []
    for index, recorded in enumerate(message.events):
        try:
            event = hand_event_from_proto(recorded.event)
        except InvalidMessage as error:
            raise InvalidMessage(f"events[{index}].{error.field}", error.detail) from error
        if event is None:
            raise InvalidMessage(f"events[{index}]", "no event of a hand")
        events.append(TimedEvent(recorded.offset_ms, event))
    try:
        check_whole(events, message.hand)
    except IncompleteHand as error:
        raise InvalidMessage("events", str(error)) from error
    players = []
    for seat, player in enumerate(message.players):
        occupant = player_from_proto(player, f"players[{seat}]")
        if occupant is None:
            raise InvalidMessage(f"players[{seat}]", "nobody held the seat")
        players.append(occupant)
    return HandRecord(
        algorithm=message.algorithm,
        table_id=message.table_id,
        settings=settings_from_proto(message.settings),
        hand=message.hand,
        dealer=message.dealer,
        dealer_changes=message.dealer_changes,
        dealer_wins=message.dealer_wins,
        prevailing_wind=message.prevailing_wind,
        moment=message.first_moment,
        unit_id=message.unit_id,
        rated=message.rated,
        players=tuple(players),
        points_before=tuple(message.points_before),
        started_ms=message.started_ms,
        server_seed=message.seed,
        nonces=tuple(
            SeatNonce(commitment, nonce or None)
            for commitment, nonce in zip(message.commitments, message.nonces, strict=True)
        ),
        match_places=tuple(message.match_places),
        events=tuple(events),
    )
