"""The tables that this worker owns: claimed on demand, renewed together, given up when idle, lost or draining."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from libs.chassis.clocks import Clock
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import EastwindError, OwnedElsewhere, StoreUnavailable, TableUnknown, Unavailable
from libs.chassis.table_store import Claimed, TableStore, WorkerInfo, WorkerRegistry, Writer
from libs.mahjong.engine.codec import CodecError, decode_entry, encode_entry
from libs.mahjong.engine.events import HandSettled, HandStarted
from libs.mahjong.engine.ruleset import UnknownRuleset
from libs.mahjong.engine.table import open_table
from libs.mahjong.engine.table_applying import fold
from libs.mahjong.engine.table_commands import Entry, GrantOutage, OpenTable
from libs.mahjong.engine.table_snapshot import decode_state
from libs.mahjong.engine.table_state import TablePhase, TableState
from services.table.actor import LoadedTable, Surroundings, TableActor
from services.table.announcing import announcements
from services.table.computers import Think
from services.table.credit import began_ms
from services.table.measuring import Measures
from services.table.pacing import Pacing
from services.table.settings import TableWorkerSettings
from services.table.standstill import Standstill

_DRAIN_AT_ONCE: Final = 64
_log = structlog.get_logger(__name__)


class LiveTables:
    """All live tables of one worker."""

    def __init__(
        self,
        settings: TableWorkerSettings,
        worker: str,
        store: TableStore,
        writer: Writer,
        registry: WorkerRegistry,
        clock: Clock,
        tasks: TaskOwner,
        measures: Measures,
        *,
        settle: Callable[[TableState], Awaitable[HandSettled]],
        think: Think,
        backlog_full: Callable[[], bool] = lambda: False,
    ) -> None:
        self._settings = settings
        self.worker = worker
        self._store = store
        self._registry = registry
        self._backlog_full = backlog_full
        self._clock = clock
        self._tasks = tasks
        self._actors: dict[str, TableActor] = {}
        self._loading: dict[str, asyncio.Future[TableActor]] = {}
        self._folding = asyncio.Lock()
        """Held for one fold at a time: when many tables come at once, the first go on while the others are folded."""
        self._address = ""
        self._renew_every_s = min(settings.table_lease_ms / 3, registry.ttl_ms / 3) / 1000
        self._renewed_at: float | None = None
        self._started_ms = clock.now_ms()
        self._lapse: asyncio.TimerHandle | None = None
        self.draining = False
        self._standstill = Standstill(self._stood_still)
        self._around = Surroundings(
            appender=writer,
            clock=clock,
            tasks=tasks,
            pacing=Pacing(settings.pacing_least_ms, settings.pacing_most_ms),
            thinking=Pacing(settings.bot_think_least_ms, settings.bot_think_most_ms),
            settle=settle,
            think=think,
            lost=self._lost,
            measures=measures,
            mailbox=settings.table_mailbox,
            backlog_full=backlog_full,
            runs=self._standstill.notice,
        )
        self._measures = measures
        self._gauge = measures.live_tables
        self._moves = measures.moves
        measures.capacity.set(settings.table_capacity)
        measures.running_clocks.set_function(self._running_clocks)

    def __len__(self) -> int:
        return len(self._actors)

    def _running_clocks(self) -> int:
        return sum(
            actor.state.clock is not None or actor.state.ready_deadline_ms is not None
            for actor in self._actors.values()
        )

    async def open(self, command: OpenTable) -> str:
        """Make a table, owned by this worker; returns the worker that owns it. A repeat returns who owns it already.

        Raises ``RuleViolation`` for a table that cannot be, ``Unavailable`` while the backlog is full, and the store's
        errors.
        """
        self._refuse_when_draining()
        if self._backlog_full():
            raise Unavailable("too many results wait to be kept; no table is made until they are")
        transition = open_table(command)
        made = await self._store.create(
            command.table_id,
            self.worker,
            encode_entry(transition.entry),
            due_ms=transition.state.next_due_ms,
            lease_ms=self._settings.table_lease_ms,
            outbox=announcements(None, transition.entry, transition.state, 1, ()),
        )
        if made.created:
            loaded = LoadedTable(transition.state, made.sequence, made.epoch, (transition.entry,), None)
            actor = TableActor(loaded, self._around)
            self._keep(actor, "created")
            actor.wake()
        return made.worker

    async def get(self, table_id: str, *, take_over: bool = False) -> TableActor:
        """Return the live table, claiming it from the store when it is not here.

        Raises ``OwnedElsewhere`` while another worker's lease runs (unless ``take_over``) or this worker drains, and
        ``TableUnknown``.
        """
        actor = self._actors.get(table_id)
        if actor is not None and not actor.closed:
            return actor
        self._refuse_when_draining()
        loading = self._loading.get(table_id)
        if loading is None:
            loading = self._loading[table_id] = asyncio.get_running_loop().create_future()
            loading.add_done_callback(_retrieve)
            self._tasks.start(self._load(table_id, take_over, loading), name="load-table")
        return await asyncio.shield(loading)

    async def tick(self, table_id: str, *, take_over: bool = False) -> None:
        """Resolve what is due at the table; correct the deadline index when nothing was.

        Raises ``Unavailable`` while a renewal is overdue: the time since then has to be given back first.
        """
        if self._is_overdue():
            raise Unavailable("the table store has not answered for a while")
        actor = await self.get(table_id, take_over=take_over)
        sequence = actor.sequence
        if actor.state.phase is TablePhase.CLOSED and self._clock.now_ms() >= actor.due_ms:
            await self._discard(actor)
            return
        await actor.tick()
        if actor.sequence == sequence and not actor.closed:
            try:
                await self._store.set_due(table_id, self.worker, actor.epoch, actor.due_ms)
            except OwnedElsewhere:
                await actor.quiesce()
                self._lost(actor, True)
                raise

    async def keep_alive(self) -> None:
        """Heartbeat, renew leases, and let idle tables go, until cancelled.

        When the store has not answered for as long as a lease, all tables leave: for all that this worker knows, others
        have them. When it was silent for a shorter while, that time is given back to whoever was being waited for, and
        so is the time for which this worker itself stood still.
        """
        loop = asyncio.get_running_loop()
        self._note_renewal(loop.time())
        self._standstill.begin()
        try:
            while True:
                asked_at = loop.time()
                try:
                    # Side by side, and a round begins when it is due however long the last one took: else a store that
                    # is merely slow would seem to be silent.
                    rounds = (self._registry.heartbeat(self._about()), self._renew())
                    for failed in await asyncio.gather(*rounds, return_exceptions=True):
                        if failed is not None:
                            raise failed
                    self._note_renewal(asked_at)
                    await self._passivate()
                except Unavailable as error:
                    _log.warning("leases not renewed; the store does not answer", error=str(error))
                await asyncio.sleep(max(0.0, asked_at + self._renew_every_s - loop.time()))
        finally:
            self._standstill.end()
            if self._lapse is not None:
                self._lapse.cancel()

    def announce(self, address: str) -> None:
        """Tell under which address other services reach this worker; called before ``keep_alive``."""
        self._address = address

    async def heartbeat(self) -> None:
        """Be in the registry from now on."""
        await self._registry.heartbeat(self._about())

    async def drain(self) -> int:
        """Leave the registry and hand all tables over; returns how many. No table is taken any more."""
        self.draining = True
        try:
            await self._registry.leave(self.worker)
        except Unavailable as error:
            _log.warning("the registry could not be left", error=str(error))
        handed = 0
        reachable = True
        while self._actors or self._loading:
            if self._loading:
                await asyncio.wait(list(self._loading.values()))
            # Without the store nothing can be released: then all go at once, and their leases run out.
            batch = list(self._actors.values())[: _DRAIN_AT_ONCE if reachable else None]
            released = await asyncio.gather(*(self._give_up(actor, "GOING_AWAY", "drained") for actor in batch))
            handed += len(batch)
            reachable = all(released)
        return handed

    def _about(self) -> WorkerInfo:
        settings = self._settings
        return WorkerInfo(
            self.worker,
            self._address,
            len(self._actors),
            settings.table_capacity,
            self.draining,
            settings.rollout,
            self._started_ms,
        )

    def _refuse_when_draining(self) -> None:
        if self.draining:
            raise EastwindError("this worker takes no new tables", reason="DRAINING", retriable=True)

    async def _load(self, table_id: str, take_over: bool, loading: asyncio.Future[TableActor]) -> None:
        loop = asyncio.get_running_loop()
        asked_at = loop.time()
        try:
            claimed = await self._store.claim(table_id, self.worker, self._settings.table_lease_ms, take_over=take_over)
            async with self._folding:
                loaded = await self._understood(claimed)
            actor = TableActor(loaded, self._around)
            self._keep(actor, "claimed")
            self._measures.claimed(claimed, self.worker, unreachable=take_over)
            if actor.state.clock is not None or actor.state.ready_deadline_ms is not None:
                # Somebody's time was running while nobody could play: it is given back before anything else happens.
                # Of an owner that was lost nobody knows what it still told whom, nor whether it had given back what
                # it owed: then the whole time since the question counts as the outage.
                outage = claimed.outage_ms + round((loop.time() - asked_at) * 1000)
                if claimed.previous_owner:
                    outage = max(outage, self._clock.now_ms() - began_ms(actor.state))
                self._measures.credited(outage, "takeover" if claimed.previous_owner else "handover")
                actor.expect_everybody()
                await actor.ask(lambda _, given: [GrantOutage(given.now_ms, outage)])
            else:
                actor.expect_everybody()
            actor.wake(resumed=True)
            loading.set_result(actor)
        except EastwindError as error:
            loading.set_exception(error)
        except Exception as error:
            _log.error("table cannot be loaded", table_id=table_id, exc_info=error)
            loading.set_exception(EastwindError("the table cannot be loaded"))
        finally:
            del self._loading[table_id]

    async def _understood(self, claimed: Claimed) -> LoadedTable:
        """Return the table. Raises ``Unavailable`` for one that a later version wrote, and leaves it to its workers.

        Two versions run side by side while one is replaced, and after a roll-back the store holds what the later one
        wrote: nothing of that is lost, it waits for a worker that can read it.
        """
        try:
            return _fold(claimed)
        except (CodecError, UnknownRuleset) as error:
            _log.warning("a later version wrote this table", table_id=claimed.table_id, error=str(error))
            try:
                await self._store.decline(claimed)
            except (OwnedElsewhere, TableUnknown, StoreUnavailable):
                _log.warning("table not declined; its lease runs out", table_id=claimed.table_id)
            raise Unavailable("a later version wrote this table") from error

    def _keep(self, actor: TableActor, outcome: str) -> None:
        self._actors[actor.table_id] = actor
        self._gauge.set(len(self._actors))
        self._moves.labels(outcome).inc()

    def _lost(self, actor: TableActor, fenced: bool) -> None:
        """The table left by itself: another worker has it, or the store did not answer and it is loaded again."""
        if self._actors.get(actor.table_id) is actor:
            del self._actors[actor.table_id]
            self._gauge.set(len(self._actors))
            self._moves.labels("fenced" if fenced else "unsettled").inc()
        actor.audience.end_all("NOT_OWNER")

    def _is_overdue(self) -> bool:
        """True when the store has let two renewals pass: nobody could play meanwhile."""
        now = asyncio.get_running_loop().time()
        return self._renewed_at is not None and now - self._renewed_at > 2 * self._renew_every_s

    def _note_renewal(self, asked_at: float) -> None:
        """The store answered what it was asked at that moment (loop time): all leases ran then."""
        if self._renewed_at is not None and self._is_overdue():
            _log.warning("the table store was silent; that time is given back", tables=len(self._actors))
            for actor in self._actors.values():
                actor.give_back_since(self._renewed_at)
        self._renewed_at = asked_at
        if self._lapse is not None:
            self._lapse.cancel()
        lease_s = self._settings.table_lease_ms / 1000
        self._lapse = asyncio.get_running_loop().call_at(asked_at + lease_s, self._leases_lapsed)

    def _stood_still(self, since: float) -> None:
        """This worker stood still since that moment (loop time): nobody could play here."""
        _log.warning("this worker stood still; that time is given back", tables=len(self._actors))
        for actor in tuple(self._actors.values()):
            actor.give_back_since(since, cause="standstill")

    def _leases_lapsed(self) -> None:
        """No renewal was answered for as long as a lease: from now on any worker may have these tables."""
        _log.warning("leases ran out; all tables leave this worker", tables=len(self._actors))
        error = Unavailable("the table store does not answer")
        for actor in tuple(self._actors.values()):
            actor.leave(error)

    async def _renew(self) -> None:
        epochs = {table_id: actor.epoch for table_id, actor in self._actors.items()}
        if not epochs:
            return
        for table_id in await self._store.renew(self.worker, epochs):
            actor = self._actors.get(table_id)
            if actor is not None and actor.epoch == epochs[table_id]:
                await actor.quiesce()
                self._lost(actor, True)

    async def _passivate(self) -> None:
        before = self._clock.now_ms() - int(self._settings.table_passivate_after_s * 1000)
        idle = [actor for actor in self._actors.values() if actor.touched_ms < before and actor.idle]
        for actor in idle:
            await self._give_up(actor, "NOT_OWNER", "passivated")

    async def _give_up(self, actor: TableActor, reason: str, outcome: str) -> bool:
        """Let a table go; false when the store could not be told. Whoever watches is told when others may have it."""
        await actor.quiesce()
        try:
            await actor.pay_up()
            await self._store.release(actor.table_id, self.worker, actor.epoch)
            self._moves.labels(outcome).inc()
            return True
        except (OwnedElsewhere, StoreUnavailable) as error:
            # Its lease runs out; whoever needs the table then takes it.
            _log.warning("table not released", table_id=actor.table_id, error=str(error))
            return isinstance(error, OwnedElsewhere)
        finally:
            self._forget(actor)
            actor.audience.end_all(reason)

    def _forget(self, actor: TableActor) -> None:
        if self._actors.get(actor.table_id) is actor:
            del self._actors[actor.table_id]
            self._gauge.set(len(self._actors))

    async def _discard(self, actor: TableActor) -> None:
        await actor.quiesce()
        actor.audience.end_all("TABLE_CLOSED")
        self._forget(actor)
        await self._store.delete(actor.table_id, self.worker, actor.epoch)
        self._moves.labels("discarded").inc()


def _fold(claimed: Claimed) -> LoadedTable:
    snapshot = None if claimed.snapshot is None else decode_state(claimed.snapshot)
    entries = [decode_entry(raw) for _, raw in claimed.entries]
    state = fold(entries, snapshot)
    return LoadedTable(state, claimed.sequence, claimed.epoch, _since_hand_began(entries), None)


def _since_hand_began(entries: list[Entry]) -> tuple[Entry, ...]:
    for place in range(len(entries) - 1, -1, -1):
        if any(type(event) is HandStarted for event in entries[place].events):
            return tuple(entries[place:])
    return tuple(entries)


def _retrieve(future: asyncio.Future[TableActor]) -> None:
    """Mark a failed load as seen, also when nobody waits for it any more."""
    if not future.cancelled():
        future.exception()
