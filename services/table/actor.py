"""One live table: takes its commands one at a time, has them decided, persists what happened, and only then tells.

The actor has a task of its own only while commands wait. Nothing is acknowledged or shown before the append returned,
so whatever a player was told survives the worker (promise P1); an append that another owner's epoch refuses ends the
actor (promise P2).
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import structlog
from opentelemetry import context as otel_context
from opentelemetry import trace

from eastwind.table.v1 import event_pb2
from libs.chassis.clocks import Clock
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import (
    EastwindError,
    InvalidRequest,
    OwnedElsewhere,
    ResourceExhausted,
    SequenceConflict,
    StoreUnavailable,
    Unavailable,
)
from libs.chassis.table_store import OutboxMessage
from libs.chassis.telemetry import NO_TRACE, current_trace_parent, in_span
from libs.chassis.telemetry_contract import spans
from libs.contracts.tiles import InvalidMessage
from libs.mahjong.engine.actions import Reason, RuleViolation
from libs.mahjong.engine.codec import encode_entry
from libs.mahjong.engine.events import HandSettled, HandStarted
from libs.mahjong.engine.table import decide
from libs.mahjong.engine.table_commands import Entry, GrantOutage, SettleHand, TableCommand, Tick
from libs.mahjong.engine.table_snapshot import encode_state
from libs.mahjong.engine.table_state import TablePhase, TableState
from libs.mahjong.fairness import SECRET_BYTES
from services.table.announcing import announcements, settled_message
from services.table.audience import Audience, Subscriber
from services.table.commands import Circumstances, Make
from services.table.computers import Computers, Think
from services.table.credit import LEAST_OWED_MS, Credit
from services.table.measuring import Measures
from services.table.pacing import BEGINS_A_PAUSE, Pacing, on_turn
from services.table.refusals import refusal_error

CLOSED_KEPT_MS: Final = 10 * 60 * 1000
"""A closed table can still be looked at for so long; then its keys are removed."""
SNAPSHOT_AFTER_ENTRIES: Final = 256
"""A table between two hands is snapshotted when its log has grown so long."""
SLOW_APPEND_MS: Final = 500
"""An append that took so long was an outage to those whose time ran meanwhile: they are told at once that they have it
back. What is owed of shorter ones goes along with the next command."""
READY_PROLONGED_MS: Final = 10_000
"""A ready step that no hand may follow yet lasts so much longer, and once more so when a hand may follow again."""
_log = structlog.get_logger(__name__)


class Appender(Protocol):
    """What the actor needs of the writer."""

    async def append(
        self,
        table_id: str,
        epoch: int,
        expected_sequence: int,
        entries: Sequence[bytes],
        *,
        due_ms: int | None,
        outbox: Sequence[OutboxMessage],
        snapshot: bytes | None,
        trim_before: int | None,
    ) -> int: ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all tables of a worker share.

    ``settle`` returns the settlement of a hand that is over; ``think`` a computer player's action for a seat. ``lost``
    is called when the table turns out to live elsewhere. While ``backlog_full`` says so, no hand begins. ``runs`` is
    told before each command that this worker runs, so that a standstill is given back before the command counts.
    """

    appender: Appender
    clock: Clock
    tasks: TaskOwner
    pacing: Pacing
    thinking: Pacing
    settle: Callable[[TableState], Awaitable[HandSettled]]
    think: Think
    lost: Callable[[TableActor, bool], None]
    measures: Measures
    mailbox: int
    backlog_full: Callable[[], bool]
    runs: Callable[[], None]


@dataclass(slots=True)
class _Request:
    make: Make
    answer: Callable[[EastwindError | None], None]
    subscriber: Subscriber | None = None
    span: trace.Span | None = None
    gives_back: bool = False
    """It gives back what is owed, and nothing else."""


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """A table as read from the store, folded: its state, where its log ends, and the entries since its hand began."""

    state: TableState
    sequence: int
    epoch: int
    entries: tuple[Entry, ...]
    settled: event_pb2.HandSettled | None


_Step = tuple[TableState, Entry, TableState]
"""The state before, what happened, the state after."""


def _granting(outage_ms: int, make: Make) -> Make:
    """Return what gives time back, and then does what ``make`` says."""
    return lambda state, given: [GrantOutage(given.now_ms, outage_ms), *make(state, given)]


def _nothing(state: TableState, given: Circumstances) -> Sequence[TableCommand]:
    return ()


def _has(steps: Sequence[_Step], kind: type) -> bool:
    return any(type(event) is kind for _, entry, _ in steps for event in entry.events)


def _begins_a_pause(steps: Sequence[_Step]) -> bool:
    return any(type(event) in BEGINS_A_PAUSE for _, entry, _ in steps for event in entry.events)


def _due_ms(state: TableState) -> int:
    """Return when the table wants its next tick; a closed one when its keys may go."""
    due = state.next_due_ms
    return state.now_ms + CLOSED_KEPT_MS if due is None else due


class TableActor:
    """One live table of this worker."""

    __slots__ = (
        "_around",
        "_computers",
        "_credit",
        "_entries",
        "_held_up",
        "_mailbox",
        "_release_ms",
        "_running",
        "_settling",
        "_since_snapshot",
        "_window_ms",
        "audience",
        "closed",
        "epoch",
        "sequence",
        "state",
        "table_id",
        "touched_ms",
    )

    def __init__(self, loaded: LoadedTable, around: Surroundings) -> None:
        self.table_id = loaded.state.table_id
        self.state = loaded.state
        self.sequence = loaded.sequence
        self.epoch = loaded.epoch
        self.audience = Audience(self.table_id, around.clock.now_ms)
        self.audience.remember(loaded.entries, loaded.settled)
        self.closed = False
        self.touched_ms = around.clock.now_ms()
        self._around = around
        self._entries = list(loaded.entries)
        self._since_snapshot = len(loaded.entries)
        self._mailbox: deque[_Request] = deque()
        self._running: asyncio.Task[None] | None = None
        self._settling = False
        self._computers = Computers(self, around.think, around.thinking, around.clock, around.tasks)
        self._release_ms = 0
        self._window_ms = 0
        self._held_up = False
        self._credit = Credit()

    def wake(self, *, resumed: bool = False) -> None:
        """Go on with whatever the state waits for: a settlement, computer players.

        Computers that are asked at a table that is ``resumed`` were asked before it moved here: they think no longer.
        """
        if resumed:
            self._computers.resume()
        self._follow_up()

    def submit(
        self,
        make: Make,
        answer: Callable[[EastwindError | None], None],
        subscriber: Subscriber | None = None,
        span: trace.Span | None = None,
    ) -> None:
        """Put a command in line. ``answer`` is called once: with ``None`` when it was accepted, or with the refusal.

        A full mailbox, and a table that is leaving, refuse at once. What follows from the command belongs to the trace
        of ``span``.
        """
        if self.closed:
            answer(OwnedElsewhere("the table has left this worker", owner=""))
        elif len(self._mailbox) >= self._around.mailbox:
            answer(ResourceExhausted("too many commands wait at this table"))
        else:
            self._mailbox.append(_Request(make, answer, subscriber, span))
            self._go_on()

    async def ask(self, make: Make) -> None:
        """Put a command in line and wait for its answer. Raises the refusal."""
        answered: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def answer(error: EastwindError | None) -> None:
            if answered.done():
                return
            if error is None:
                answered.set_result(None)
            else:
                answered.set_exception(error)

        span = trace.get_current_span()
        self.submit(make, answer, span=span if span.is_recording() else None)
        await answered

    async def tick(self) -> None:
        """Resolve whatever is due. Nothing happens when nothing is."""
        await self.ask(self._tick)

    def _tick(self, state: TableState, given: Circumstances) -> Sequence[TableCommand]:
        ready_until = state.ready_deadline_ms
        if ready_until is not None and ready_until < given.now_ms < state.expires_ms:
            full = self._around.backlog_full()
            if full or self._held_up:
                # Who was ready, and was told that the hand waits, can say so again once there is room.
                self._held_up = full
                return [GrantOutage(given.now_ms, given.now_ms - ready_until + READY_PROLONGED_MS)]
        return [Tick(given.now_ms, given.server_seed, given.hold_ms)]

    async def quiesce(self) -> None:
        """Take no more commands and wait for those in hand. Refuses the rest."""
        self.closed = True
        waiting, self._mailbox = self._mailbox, deque()
        for request in waiting:
            request.answer(OwnedElsewhere("the table has left this worker", owner=""))
        if self._running is not None and self._running is not asyncio.current_task():
            await asyncio.wait([self._running])
        self._computers.cancel()

    @property
    def due_ms(self) -> int:
        """When the table wants its next tick, unix ms."""
        return _due_ms(self.state)

    @property
    def idle(self) -> bool:
        """True when nobody watches, nothing waits and no clock runs: the table may leave memory."""
        state = self.state
        return (
            not len(self.audience)
            and self._running is None
            and not self.audience.holds
            and not self._settling
            and not state.awaited_bots
            and state.clock is None
            and state.ready_deadline_ms is None
        )

    def _go_on(self) -> None:
        if self._running is None:
            self._running = self._around.tasks.spawn(self._run(), name="table")

    async def _run(self) -> None:
        # Whose command it was that began this task says nothing about those that follow.
        otel_context.attach(NO_TRACE)
        try:
            while self._mailbox:
                request = self._mailbox.popleft()
                try:
                    if request.span is None:
                        await self._carry_out(request)
                    else:
                        with in_span(request.span):
                            await self._carry_out(request)
                except Exception as error:
                    # A fault at one table must not touch the others: it is loaded again from what was persisted.
                    _log.error("command crashed", table_id=self.table_id, exc_info=error)
                    failure = EastwindError("the table met a fault and is loaded again", retriable=True)
                    request.answer(failure)
                    self.leave(failure)
        finally:
            self._running = None

    async def _carry_out(self, request: _Request) -> None:
        self._around.runs()
        now = self._around.clock.now_ms()
        self.touched_ms = now
        pause = self._pause_ms(now)
        round_trip = request.subscriber.round_trip_ms if request.subscriber is not None else 0
        given = Circumstances(now, secrets.token_bytes(SECRET_BYTES), pause, round_trip)
        owed = self._credit.owed_ms
        make = _granting(owed, request.make) if owed else request.make
        try:
            transitions, state = self._decide(make, given)
            if pause and not _begins_a_pause(transitions) and on_turn(self.state):
                transitions, state = self._decide(make, replace(given, hold_ms=0))
        except RuleViolation as refusal:
            request.answer(refusal_error(refusal))
            if refusal.reason is Reason.STALE_DECISION and request.subscriber is not None:
                self._around.measures.stale_decision.inc()
                self.audience.resync(request.subscriber, lambda: self.state)
            return
        except InvalidMessage as invalid:
            request.answer(InvalidRequest(str(invalid)))
            return
        if _has(transitions, HandStarted):
            self._held_up = self._around.backlog_full()
            if self._held_up:
                request.answer(ResourceExhausted("too many results wait; the next hand begins when they are kept"))
                return
        if not transitions:
            self.state = state
            request.answer(None)
            self._follow_up()
            return
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            settled = await self._persist(transitions, state)
        except OwnedElsewhere as error:
            request.answer(error)
            self.leave(error)
            return
        except (SequenceConflict, StoreUnavailable, Unavailable) as error:
            request.answer(Unavailable("the table store does not answer; try again"))
            self.leave(error)
            return
        self.state = state
        self._credit.paid(owed)
        for entry_before, entry, entry_after in transitions:
            if _begins_a_pause([(entry_before, entry, entry_after)]):
                self._release_ms = now + pause
            self.audience.publish(entry_before, entry, entry_after, settled, self._release_ms)
            self._window_ms = self._around.measures.happened(entry, entry_after.settings.ruleset_id, self._window_ms)
        request.answer(None)
        self.give_back_since(started, in_turn=bool(owed) or request.gives_back)
        self._follow_up()

    def give_back_since(self, moment: float, *, cause: str = "slow_append", in_turn: bool = False) -> None:
        """The store was silent, or this worker stood still, since that moment (loop time) and goes on. If that was
        long, give the time back before anything else happens: questions left so much later, and answers had to wait
        (promise P4).

        When the append before it was slow ``in_turn``, or it was not so long, the time is owed and leaves with the next
        command instead: a busy store that got an append more for each slow one would never be done with them.
        """
        late_ms = self._credit.late_since(moment, self.state)
        if late_ms < SLOW_APPEND_MS or self.closed:
            return
        self._around.measures.credited(late_ms, cause)
        if not in_turn:
            _log.warning("lost time is given back", table_id=self.table_id, late_ms=late_ms, cause=cause)
            self._give_back_first()

    def expect_everybody(self) -> None:
        """Nobody watches here yet, though they may have watched elsewhere: time stands still until they come."""
        for occupant in self.state.occupants:
            if occupant is not None and occupant.is_human:
                self._credit.strayed(occupant.account_id, self.state)

    def watched_by(self, subscriber: Subscriber, last_sequence: int | None, sought_since: float) -> None:
        """Somebody watches from now on; what was missed since ``last_sequence``, or the whole view, comes first.
        Until now the table had been looked for since that moment (loop time)."""
        self.audience.add(subscriber, lambda: self.state, last_sequence)
        self._credit.came(subscriber.account_id, sought_since, self.state)
        if self._credit.owed_ms >= SLOW_APPEND_MS and not self.closed:
            self._give_back_first()

    def left_by(self, subscriber: Subscriber, *, lost: bool) -> None:
        """Somebody watches no more: went away, or was ``lost`` with the stream of the gateway."""
        if lost and not self.closed and self.audience.has(subscriber):
            self._credit.strayed(subscriber.account_id, self.state)
        self.audience.remove(subscriber, lambda: self.state)

    def _give_back_first(self) -> None:
        self._mailbox.appendleft(_Request(_nothing, lambda error: None, gives_back=True))
        self._go_on()

    async def pay_up(self) -> None:
        """Give back what is owed, before another worker has the table; called after ``quiesce``."""
        if self._credit.owed_ms >= LEAST_OWED_MS:
            await self._carry_out(_Request(_nothing, lambda error: None, gives_back=True))

    def _decide(self, make: Make, given: Circumstances) -> tuple[list[_Step], TableState]:
        """Return what the commands bring about, step by step, and the state after them. Raises their refusal."""
        state = self.state
        steps: list[_Step] = []
        for command in make(state, given):
            transition = decide(state, command)
            if transition.entry.events:
                steps.append((state, transition.entry, transition.state))
            state = transition.state
        return steps, state

    async def _persist(self, steps: list[_Step], state: TableState) -> event_pb2.HandSettled | None:
        """Append everything at once; returns the message of the settlement in it, if there is one."""
        outbox: list[OutboxMessage] = []
        settled = None
        sequence = self.sequence
        for before, entry, after in steps:
            sequence += 1
            if any(type(event) is HandSettled for event in entry.events):
                settlement = next(event for event in entry.events if isinstance(event, HandSettled))
                settled = settled_message(before, settlement)
            outbox += announcements(before, entry, after, sequence, self._entries)
            if _has([(before, entry, after)], HandStarted):
                self._entries.clear()
            self._entries.append(entry)
        # Between two hands alone: the log since the start of a hand is what its record is made from.
        between = state.phase is not TablePhase.PLAYING
        due = settled is not None or self._since_snapshot > SNAPSHOT_AFTER_ENTRIES
        snapshot = encode_state(state) if between and due else None
        self.sequence = await self._around.appender.append(
            self.table_id,
            self.epoch,
            self.sequence,
            [encode_entry(entry) for _, entry, _ in steps],
            due_ms=_due_ms(state),
            outbox=outbox,
            snapshot=snapshot,
            trim_before=None if snapshot is None else sequence,
        )
        self._since_snapshot += len(steps)
        if snapshot is not None:
            self._entries.clear()
            self._since_snapshot = 0
        return settled

    def _pause_ms(self, now: int) -> int:
        """Return how long the public events that follow are held back: a fresh pause on a turn, which may end in a
        discard; what is left of the running pause in the window that the discard opened."""
        if not self.state.settings.uniform_pacing:
            return 0
        return self._around.pacing.draw_ms() if on_turn(self.state) else max(0, self._release_ms - now)

    def _follow_up(self) -> None:
        if self.closed:
            return
        state = self.state
        self._credit.consider(state)
        if state.needs_settlement and not self._settling:
            self._settling = True
            self._around.tasks.start(self._settle(), name="settle")
        self._computers.follow(self._release_ms)

    async def _settle(self) -> None:
        state, telemetry = self.state, self._around.measures.telemetry
        span = telemetry.child(spans.SETTLE, current_trace_parent(), {spans.TABLE_ID: self.table_id})
        try:
            with in_span(span):
                settlement = await self._around.settle(state)
                await self.ask(lambda _, given: [SettleHand("", given.now_ms, settlement, given.server_seed)])
        except EastwindError as error:
            _log.warning("settlement was not accepted; the deadline settles", table_id=self.table_id, error=str(error))
        finally:
            self._settling = False
            if span is not None:
                span.end()

    def leave(self, error: EastwindError) -> None:
        """The store did not take an append, or not answer for too long: what is in memory may be wrong, so the table
        leaves this worker. Whoever waits is refused."""
        self.closed = True
        self._computers.cancel()
        waiting, self._mailbox = self._mailbox, deque()
        for request in waiting:
            request.answer(OwnedElsewhere("the table has left this worker", owner=""))
        fenced = isinstance(error, OwnedElsewhere)
        _log.warning("table leaves this worker", table_id=self.table_id, reason=error.reason, fenced=fenced)
        self._around.lost(self, fenced)
