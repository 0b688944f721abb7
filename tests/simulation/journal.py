"""What the store really took, and the laws that every table's log keeps: looked at with each script that runs.

The journal stands behind the network, at the store itself, so it knows what happened whatever anybody was told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from eastwind.events.v1 import envelope_pb2
from libs.mahjong.engine.codec import decode_entry
from libs.mahjong.engine.events import HandSettled, HandStarted
from libs.mahjong.engine.table_applying import apply, fold, remember
from libs.mahjong.engine.table_commands import Entry
from libs.mahjong.engine.table_events import OutageGranted, SeatAnswered, SeatTimedOut
from libs.mahjong.engine.table_state import TablePhase, TableState
from tests.conformance.laws import check_payments, tiles_are_conserved
from tests.simulation.store import Ran
from tests.simulation.virtual_time import VirtualLoop

_OK: Final = 0


class BrokenLawError(AssertionError):
    """Something happened that must never happen."""


@dataclass(slots=True)
class Resolved:
    """How a seat's decision ended: by an answer or by the clock, when (unix ms), and what it cost of the reserve.
    ``late_ms`` is how long after its end the clock ended it."""

    by_player: bool
    at_ms: int
    charged_ms: int
    base_ms: int
    command_id: str
    late_ms: int


@dataclass(slots=True)
class TableLog:
    """A table's log as the store has it."""

    table_id: str
    owner: str
    epoch: int
    state: TableState | None = None
    entries: list[bytes] = field(default_factory=list)
    decoded: list[Entry] = field(default_factory=list)
    commands: Counter[str] = field(default_factory=Counter)
    resolved: dict[tuple[int, int], Resolved] = field(default_factory=dict)
    hands: int = 0
    granted_ms: int = 0
    last_at_s: float = 0.0
    hand_events: set[int] = field(default_factory=set)

    @property
    def sequence(self) -> int:
        return len(self.entries)


class Journal:
    """All logs by table id. The first broken law is kept in ``broken``."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self.tables: dict[str, TableLog] = {}
        self.broken: list[str] = []
        self.event_ids: set[str] = set()
        self.hands = 0
        self.claims: Counter[str] = Counter()

    def ran(self, ran: Ran) -> None:
        """A script ran."""
        try:
            if ran.script == "create":
                self._created(ran)
            elif ran.script == "append":
                self._appended(ran)
            elif ran.script in ("claim", "settle"):
                self._claimed(ran)
            elif ran.script == "release" and ran.reply[0] == _OK:
                self._must_own(self._log(ran.keys[0]), ran.arguments[0], ran.arguments[1], "released")
        except BrokenLawError as error:
            self.broken.append(f"at {self._loop.time():.3f} s, {ran.process}: {error}")
        except AssertionError as error:
            self.broken.append(f"at {self._loop.time():.3f} s, {ran.process}: {ran.script} broke a law: {error!r}")

    def _log(self, key: bytes) -> TableLog:
        return self.tables[key.split(b":")[3].decode()]

    def _created(self, ran: Ran) -> None:
        if not ran.reply[0]:
            return
        arguments = ran.arguments
        table_id = arguments[0].decode()
        _law(table_id not in self.tables, f"table {table_id} was made twice")
        log = self.tables[table_id] = TableLog(table_id, arguments[1].decode(), 1)
        self._take(log, [arguments[3]], arguments[7:])

    def _claimed(self, ran: Ran) -> None:
        if ran.reply[0] != _OK:
            return
        log = self._log(ran.keys[0])
        epoch = ran.reply[1]
        _law(epoch == log.epoch + 1, f"epoch {epoch} of {log.table_id} follows {log.epoch}")
        if ran.script == "claim":
            log.owner = ran.arguments[0].decode()
            self.claims[log.table_id] += 1
            _law(ran.reply[4] == log.sequence, f"{log.table_id} was claimed at {ran.reply[4]}, not {log.sequence}")
        log.epoch = epoch

    def _must_own(self, log: TableLog, worker: bytes, epoch: bytes, what: str) -> None:
        _law(
            (worker.decode(), int(epoch)) == (log.owner, log.epoch),
            f"{log.table_id} was {what} by {worker.decode()} in epoch {int(epoch)}; it is {log.owner}'s in {log.epoch}",
        )

    def _appended(self, ran: Ran) -> None:
        if ran.reply[0] != _OK:
            return
        log, arguments = self._log(ran.keys[0]), ran.arguments
        self._must_own(log, arguments[1], arguments[2], "written")
        expected, count = int(arguments[3]), int(arguments[9])
        _law(expected == log.sequence, f"{log.table_id} goes on at {expected} after {log.sequence}")
        self._take(log, arguments[10 : 10 + count], arguments[10 + count :])
        _law(ran.reply[1] == log.sequence, f"{log.table_id} ends at {ran.reply[1]}, not {log.sequence}")

    def _take(self, log: TableLog, entries: Sequence[bytes], outbox: Sequence[bytes]) -> None:
        finished = []
        for raw in entries:
            entry = decode_entry(raw)
            log.entries.append(raw)
            log.decoded.append(entry)
            if self._fold(log, entry):
                finished.append(log.hands)
        log.last_at_s = self._loop.time()
        told = [envelope for envelope in map(_envelope, _payloads(outbox)) if envelope.HasField("hand_finished")]
        _law(
            [envelope.hand_finished.record.hand for envelope in told] == finished,
            f"hands {finished} of {log.table_id} ended, {len(told)} were told",
        )
        for envelope in told:
            _law(envelope.event_id not in self.event_ids, f"event {envelope.event_id} was told twice")
            self.event_ids.add(envelope.event_id)

    def _fold(self, log: TableLog, entry: Entry) -> bool:
        """Fold an entry, law by law; tells whether it settled a hand."""
        if entry.command_id:
            log.commands[entry.command_id] += 1
            _law(log.commands[entry.command_id] == 1, f"{log.table_id} took command {entry.command_id} twice")
        if log.state is None:
            log.state = fold([entry])
            return False
        state, settled = log.state, False
        for event in entry.events:
            if isinstance(event, SeatAnswered | SeatTimedOut):
                self._resolve(log, state, event, entry)
            elif isinstance(event, OutageGranted):
                log.granted_ms += event.outage_ms
            elif isinstance(event, HandSettled):
                check_payments(event)
                settled = True
                log.hands += 1
                self.hands += 1
                _law(state.hand_number == log.hands, f"hand {state.hand_number} of {log.table_id} is the {log.hands}th")
            apply(state, event, entry.at_ms)
            if isinstance(event, HandStarted):
                _law(event.hand == log.hands + 1, f"hand {event.hand} of {log.table_id} began after {log.hands}")
        remember(state, entry.command_id)
        if state.hand is not None and state.phase is TablePhase.PLAYING and state.hand.wall is not None:
            _law(tiles_are_conserved(state.hand), f"tiles of {log.table_id} were lost")
        if settled:
            _law(sum(state.points) == 4 * state.rules.starting_points, f"points of {log.table_id}: {state.points}")
        return settled

    def _resolve(self, log: TableLog, state: TableState, event: SeatAnswered | SeatTimedOut, entry: Entry) -> None:
        key = (event.decision, event.seat)
        _law(key not in log.resolved, f"decision {event.decision} of seat {event.seat} at {log.table_id} ended twice")
        clock = state.clock
        log.resolved[key] = Resolved(
            by_player=isinstance(event, SeatAnswered),
            at_ms=entry.at_ms,
            charged_ms=state.clocks[event.seat].reserve_ms - event.clock.reserve_ms,
            base_ms=0 if clock is None else clock.wait.base_ms,
            command_id=entry.command_id,
            late_ms=0 if clock is None else entry.at_ms - clock.closes_ms,
        )


def _payloads(arguments: Sequence[bytes]) -> list[bytes]:
    """The payloads of the outbox messages in the arguments of a script."""
    payloads, at = [], 0
    while at < len(arguments):
        count = int(arguments[at])
        fields = arguments[at + 1 : at + 1 + count]
        payloads.append(dict(zip(fields[::2], fields[1::2], strict=True))[b"p"])
        at += count + 1
    return payloads


def _envelope(payload: bytes) -> Any:
    return envelope_pb2.Envelope.FromString(payload)


def _law(kept: bool, sentence: str) -> None:
    if not kept:
        raise BrokenLawError(sentence)
