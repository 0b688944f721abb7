"""What an entry of a table's log tells the other services: the messages that leave in the same append."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eastwind.events.v1 import envelope_pb2
from eastwind.history.v1 import record_pb2
from eastwind.table.v1 import event_pb2
from libs.chassis.events import HANDS, MATCHES, TABLES, event_headers
from libs.chassis.identifiers import new_event_id
from libs.chassis.table_store import OutboxMessage
from libs.chassis.telemetry import trace_headers
from libs.contracts.events import hand_event_to_proto
from libs.contracts.records import record_id, record_to_proto
from libs.contracts.settings import player_to_proto, settings_to_proto
from libs.contracts.table_events import close_reason
from libs.mahjong.engine.events import HandSettled, HandStarted
from libs.mahjong.engine.table_commands import Entry
from libs.mahjong.engine.table_events import MatchEnded, SeatReleased, SeatTaken, TableClosed, TableOpened
from libs.mahjong.engine.table_state import TableState
from libs.mahjong.fairness import ALGORITHM
from libs.mahjong.record import HandRecord, hand_record

_SEATS_CHANGED = (TableOpened, SeatTaken, SeatReleased, TableClosed)


def settled_message(before: TableState, settled: HandSettled) -> event_pb2.HandSettled:
    """Return the settlement as players see it: with the record's id and with all that opens the wall's seal."""
    message = hand_event_to_proto(settled).hand_settled
    message.record_id = record_id(before.table_id, before.hand_number)
    message.wall.CopyFrom(
        event_pb2.WallRevealed(
            hand=before.hand_number,
            algorithm=ALGORITHM,
            seed=before.server_seed,
            nonces=[part.nonce or b"" for part in before.hand_nonces],
            commitments=[part.commitment for part in before.hand_nonces],
        )
    )
    return message


def announcements(
    before: TableState | None, entry: Entry, after: TableState, sequence: int, hand_entries: Sequence[Entry]
) -> list[OutboxMessage]:
    """Return the messages of an entry with that log sequence.

    ``before`` is the state that it changed, ``None`` for the first entry; ``hand_entries`` are the entries from the one
    that started the running hand up to this one, which is not among them.
    """
    messages = []
    if any(type(event) in _SEATS_CHANGED for event in entry.events):
        messages.append(_message(TABLES, entry, after, sequence, table_changed=_table_changed(after)))
    settled = next((event for event in entry.events if isinstance(event, HandSettled)), None)
    if settled is not None and before is not None:
        record = hand_record(before, [*hand_entries, _up_to_next_hand(entry)])
        finished = envelope_pb2.HandFinished(record=record_to_proto(record))
        messages.append(_message(HANDS, entry, after, sequence, hand_finished=finished))
        ended = next((event for event in entry.events if isinstance(event, MatchEnded)), None)
        if ended is not None:
            match = envelope_pb2.MatchFinished(match=_match(record, ended, entry.at_ms))
            messages.append(_message(MATCHES, entry, after, sequence, match_finished=match))
    return messages


def _up_to_next_hand(entry: Entry) -> Entry:
    """The entry without the start of another hand in it: when nobody is left to wait for, that follows at once."""
    for place, event in enumerate(entry.events):
        if type(event) is HandStarted:
            return replace(entry, events=entry.events[:place])
    return entry


def _table_changed(state: TableState) -> envelope_pb2.TableChanged:
    return envelope_pb2.TableChanged(
        table_id=state.table_id,
        settings=settings_to_proto(state.settings),
        players=[player_to_proto(occupant) for occupant in state.occupants],
        closed=state.close_cause is not None,
        reason=close_reason(state.close_cause),
    )


def _match(last: HandRecord, ended: MatchEnded, at_ms: int) -> record_pb2.MatchRecord:
    return record_pb2.MatchRecord(
        match_id=last.unit_id,
        ruleset=last.ruleset_id,
        table_id=last.table_id,
        players=[player_to_proto(player) for player in last.players],
        points=ended.points,
        record_ids=[record_id(last.table_id, hand) for hand in range(1, last.hand + 1)],
        rated=last.rated,
        ended_ms=at_ms,
    )


def _message(
    topic: str,
    entry: Entry,
    state: TableState,
    sequence: int,
    *,
    table_changed: envelope_pb2.TableChanged | None = None,
    hand_finished: envelope_pb2.HandFinished | None = None,
    match_finished: envelope_pb2.MatchFinished | None = None,
) -> OutboxMessage:
    event_id = new_event_id()
    trace = trace_headers()
    envelope = envelope_pb2.Envelope(
        event_id=event_id,
        aggregate_id=state.table_id,
        sequence=sequence,
        occurred_ms=entry.at_ms,
        trace_parent=trace.get("traceparent", ""),
        rules_version=state.settings.ruleset_id,
        table_changed=table_changed,
        hand_finished=hand_finished,
        match_finished=match_finished,
    )
    return OutboxMessage(topic, state.table_id, envelope.SerializeToString(), event_headers(event_id, trace))
