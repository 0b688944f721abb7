"""What must hold at the end of a simulation, between the store, the players and the faults."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from eastwind.events.v1 import envelope_pb2
from eastwind.table.v1 import view_pb2
from libs.chassis.table_store.keys import BucketKeys, TableKeys, bucket_of
from libs.contracts.records import record_from_proto
from libs.contracts.views import view_message
from libs.mahjong.engine.table_applying import fold
from libs.mahjong.engine.table_snapshot import decode_state
from libs.mahjong.engine.table_state import TablePhase
from libs.mahjong.verification import verify
from services.table.credit import ASTRAY_S
from tests.simulation.faults import Outage
from tests.simulation.journal import Journal, TableLog
from tests.simulation.players import Player
from tests.simulation.store import SimulatedStore
from tests.simulation.virtual_time import EPOCH_MS

VERIFY_EVERY: Final = 8
"""Of so many records one is verified in full."""
LAG_MS: Final = 400
"""What the way to the player and back, and appends that take no longer than usual, may cost beside the time that he
took."""
LATE_MESSAGE_MS: Final = 300
"""What each late message between gateway and worker may cost, where messages are late; and there may be two."""
LATENESS_MS: Final = 2_500
"""When nothing is wrong the clock ends a decision at most so long after its time is up."""


def check(
    journal: Journal, players: Sequence[Player], store: SimulatedStore, outages: Sequence[Outage], *, late: bool
) -> list[str]:
    """Return a sentence for every broken law. ``late`` tells that messages may have been late."""
    broken: list[str] = []
    lag_ms = LAG_MS + (2 * LATE_MESSAGE_MS if late else 0)
    for log in journal.tables.values():
        broken += _log_in_the_store(log, store)
    for player in players:
        broken += _answers(journal.tables[player.table_id], player)
        broken += _fairness(journal.tables[player.table_id], player, outages, lag_ms)
    broken += _events(journal, store)
    return broken


def _log_in_the_store(log: TableLog, store: SimulatedStore) -> Iterator[str]:
    """What the store kept is the end of what it took, and folds with its snapshot to the same state."""
    keys = TableKeys.of(log.table_id)
    rows = store.ask(b"XRANGE", keys.log, b"-", b"+")
    kept = [(int(row[0].partition(b"-")[0]), row[1][1]) for row in rows]
    first = kept[0][0] if kept else log.sequence + 1
    if kept != list(enumerate(log.entries[first - 1 :], start=first)):
        yield f"the log of {log.table_id} in the store is not what was appended"
    data, sequence = store.ask(b"HMGET", keys.snapshot, b"data", b"seq")
    covered = int(sequence or 0)
    if first > covered + 1:
        yield f"{log.table_id} lacks entries between its snapshot at {covered} and its log from {first} on"
    elif fold(log.decoded[covered:], None if data is None else decode_state(data)) != log.state:
        yield f"the snapshot of {log.table_id} at {covered} and what follows fold to another state"


def _answers(log: TableLog, player: Player) -> Iterator[str]:
    """Whatever was acknowledged is in the log, once; what was refused is not."""
    for command_id in player.acknowledged:
        if log.commands[f"{player.account}:{command_id}"] != 1:
            yield f"{player.account}'s command {command_id} was acknowledged and is not in the log of {log.table_id}"
    for command_id, reason in player.refused.items():
        if log.commands[f"{player.account}:{command_id}"]:
            yield f"{player.account}'s command {command_id} was refused ({reason}) and is in the log of {log.table_id}"


def _fairness(log: TableLog, player: Player, outages: Sequence[Outage], lag_ms: int) -> Iterator[str]:
    """A player pays for the time that he took and not for that in which the platform did not work; a decision that
    nobody answers is ended by the clock soon after its time is up."""
    for decision, asked in player.asked.items():
        resolved = log.resolved.get((decision, player.seat))
        if resolved is None:
            continue
        ended_s = (resolved.at_ms - EPOCH_MS) / 1000
        meanwhile = [each for each in outages if each.begins_s <= ended_s + 1 and each.ends_s >= asked.seen_s - 1]
        if not resolved.by_player and resolved.late_ms > LATENESS_MS and not meanwhile:
            yield f"decision {decision} of {player.account} was ended {resolved.late_ms} ms late"
        if asked.trouble or asked.sent_s is None or any(each.edge for each in meanwhile):
            continue
        if asked.unheard_s > ASTRAY_S:
            continue
        took_ms = round((asked.sent_s - asked.seen_s) * 1000) + lag_ms
        what = f"decision {decision} of {player.account} (seen {asked.seen_s:.3f}, answered {asked.sent_s:.3f})"
        if resolved.charged_ms > max(0, took_ms - resolved.base_ms):
            yield f"{what} cost {resolved.charged_ms} ms of the reserve at {ended_s:.3f}; meanwhile {meanwhile}"
        elif not resolved.by_player and took_ms < resolved.base_ms:
            yield f"{what} was ended by the clock at {ended_s:.3f}; meanwhile {meanwhile}"


def _events(journal: Journal, store: SimulatedStore) -> Iterator[str]:
    """Every finished hand is told once, and its record verifies."""
    found: dict[tuple[str, int], int] = {}
    for bucket in sorted({bucket_of(table_id) for table_id in journal.tables}):
        for number, (_, fields) in enumerate(store.ask(b"XRANGE", BucketKeys(bucket).outbox, b"-", b"+")):
            payload = dict(zip(fields[::2], fields[1::2], strict=True))[b"p"]
            envelope = envelope_pb2.Envelope.FromString(payload)
            if not envelope.HasField("hand_finished"):
                continue
            message = envelope.hand_finished.record
            key = (message.table_id, message.hand)
            found[key] = found.get(key, 0) + 1
            if number % VERIFY_EVERY == 0:
                report = verify(record_from_proto(message))
                if not report.passed:
                    yield f"the record of hand {message.hand} of {message.table_id} does not verify: {report.failed}"
    wanted = {(log.table_id, hand): 1 for log in journal.tables.values() for hand in range(1, log.hands + 1)}
    if found != wanted:
        yield f"events of hands: {sorted(set(wanted.items()) ^ set(found.items()))}"


def unequal_views(journal: Journal, players: Sequence[Player]) -> list[str]:
    """Return a sentence for every player who sees another table than there is."""
    unequal = []
    for player in players:
        state = journal.tables[player.table_id].state
        assert state is not None
        seat = state.seat_of(player.account)
        if player.ended or state.phase is TablePhase.CLOSED or seat is None:
            continue
        view = player.view
        if view is None:
            unequal.append(f"{player.account} sees nothing")
            continue
        whole = view_message(state, seat, (True,) * 4)
        if _comparable(view) != _comparable(whole):
            unequal.append(f"{player.account} sees another {player.table_id} at {player.sequence}")
    return unequal


def _comparable(view: view_pb2.TableView) -> view_pb2.TableView:
    """The view without what depends on who is connected and on what a worker remembers of the last settlement."""
    copy = view_pb2.TableView()
    copy.CopyFrom(view)
    for seat in copy.seats:
        seat.connected = False
    copy.settled.ClearField("record_id")
    copy.settled.ClearField("wall")
    return copy
