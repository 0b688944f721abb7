"""The streams of this gateway to the table workers, one each, shared by all players.

A watch stays, wherever its table goes: when a worker says that it is not the owner, drains or does not answer, the
owner is looked up again and the watch is taken up there. Commands that were not answered go along once more; their ids
make that safe.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from typing import Final, Protocol

import structlog

from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import table_service_pb2_grpc
from eastwind.type.v1 import reason_pb2
from libs.chassis.channels import Channels
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import EastwindError, TableUnknown, Unavailable
from libs.chassis.routing import TableRouter
from libs.chassis.table_store import WorkerInfo
from libs.chassis.telemetry import trace_parent_of
from libs.contracts.reasons import reason_value
from services.gateway.measuring import Measures, Unanswered

MOST_UNANSWERED: Final = 32
MOST_PACKED: Final = 256
MOST_TRIES: Final = 12
LOOK_EVERY_S: Final = 1.0
MISSED_LOOKS: Final = 2
LOOKS_AFTER_SILENCE: Final = 3
"""So many looks more may miss a worker when the registry itself did not answer before."""
_MOVES: Final = frozenset(
    (
        reason_pb2.REASON_NOT_OWNER,
        reason_pb2.REASON_GOING_AWAY,
        reason_pb2.REASON_DRAINING,
        reason_pb2.REASON_UNAVAILABLE,
    )
)
_log = structlog.get_logger(__name__)


class Watcher(Protocol):
    """What a watch tells."""

    def on_frame(self, frame: bytes) -> None:
        """A socket frame of the table."""

    def on_answer(self, answer: table_pb2.Answer) -> None:
        """The answer to a command."""

    def on_ended(self, reason: reason_pb2.Reason.ValueType) -> None:
        """The watch is over for good."""


class Watch:
    """One player's eyes on one table."""

    __slots__ = (
        "_links",
        "access_token",
        "closed",
        "last_sequence",
        "link",
        "moves",
        "moving",
        "round_trip_ms",
        "sought_since",
        "subscription",
        "table_id",
        "unanswered",
        "watcher",
    )

    def __init__(
        self, links: TableLinks, table_id: str, access_token: str, last_sequence: int | None, watcher: Watcher
    ) -> None:
        self._links = links
        self.table_id = table_id
        self.access_token = access_token
        self.last_sequence = last_sequence
        self.watcher = watcher
        self.subscription = 0
        self.link: _Link | None = None
        self.moving = False
        self.moves = 0
        self.closed = False
        self.round_trip_ms = 0
        self.sought_since = 0.0
        self.unanswered: OrderedDict[str, Unanswered] = OrderedDict()

    def send(self, command: table_pb2.TableCommand) -> bool:
        """Pass a command on; ``False`` when too many wait for an answer."""
        if len(self.unanswered) >= MOST_UNANSWERED:
            return False
        sent = self._links.measures.sent(self.table_id, command)
        if command.command_id:
            self.unanswered[command.command_id] = sent
        if self.link is not None:
            self.link.put(self._command_frame(sent))
        return True

    def resync(self) -> None:
        """Ask for the whole view."""
        if self.link is not None:
            self.link.put(table_pb2.GatewayFrame(resync=table_pb2.Resync(subscription=self.subscription)))
        else:
            # On its way to a worker: what it is sent first there is the whole view.
            self.last_sequence = None

    def measured(self, round_trip_ms: int) -> None:
        """Tell the worker a measured round trip to the player."""
        self.round_trip_ms = round_trip_ms
        if self.link is not None:
            self.link.put(self._round_trip_frame())

    def close(self) -> None:
        """Stop watching."""
        self.closed = True
        if self.link is not None:
            self.link.drop(self)

    def take_up(self, link: _Link, subscription: int, take_over: bool) -> None:
        """Watch through this link from now on."""
        self.link, self.subscription = link, subscription
        link.put(
            table_pb2.GatewayFrame(
                subscribe=table_pb2.Subscribe(
                    subscription=subscription,
                    table_id=self.table_id,
                    access_token=self.access_token,
                    last_sequence=self.last_sequence,
                    take_over=take_over,
                    sought_ms=round((asyncio.get_running_loop().time() - self.sought_since) * 1000),
                )
            )
        )
        # Frames pass through unread, so only the client knows how far it is: from here on it gets whole views.
        self.last_sequence = None
        if self.round_trip_ms:
            link.put(self._round_trip_frame())
        for sent in self.unanswered.values():
            link.put(self._command_frame(sent))

    def _command_frame(self, sent: Unanswered) -> table_pb2.GatewayFrame:
        return table_pb2.GatewayFrame(
            command=table_pb2.SubscriberCommand(
                subscription=self.subscription, command=sent.command, trace_parent=trace_parent_of(sent.span)
            )
        )

    def _round_trip_frame(self) -> table_pb2.GatewayFrame:
        return table_pb2.GatewayFrame(
            round_trip=table_pb2.RoundTrip(subscription=self.subscription, milliseconds=self.round_trip_ms)
        )


class _Link:
    """The stream to one worker."""

    def __init__(self, worker: WorkerInfo, channels: Channels, lost: Callable[[_Link, bool], None]) -> None:
        self.worker = worker
        self._stub = table_service_pb2_grpc.TableServiceStub(channels.at(worker.address))
        self._lost = lost
        self._outgoing: deque[table_pb2.GatewayFrame] = deque()
        self._wake = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self.watches: dict[int, Watch] = {}
        self.open = True
        self.missed = 0
        """How many looks at the registry in a row did not find the worker there; less than none after its silence."""

    def start(self, tasks: TaskOwner) -> None:
        """Begin to read."""
        self._running = tasks.spawn(self.run(), name="attach")

    def abandon(self) -> None:
        """Give up on a worker that does not answer any more, though its connection stands."""
        if self._running is not None:
            self._running.cancel()

    def close(self) -> None:
        """End the stream from this side."""
        self.open = False
        self.watches.clear()
        self._wake.set()

    def put(self, frame: table_pb2.GatewayFrame) -> None:
        self._outgoing.append(frame)
        self._wake.set()

    def drop(self, watch: Watch) -> None:
        if self.watches.pop(watch.subscription, None) is not None:
            self.put(table_pb2.GatewayFrame(unsubscribe=table_pb2.Unsubscribe(subscription=watch.subscription)))

    async def run(self) -> None:
        """Read what the worker sends until the stream ends."""
        failed = True
        try:
            async for response in self._stub.Attach(self._requests()):
                for frame in response.frames:
                    self._receive(frame)
            failed = False
        except EastwindError as error:
            _log.warning("stream to a worker broke", worker=self.worker.worker, error=str(error))
            # Only a worker that cannot be reached loses its tables. One that ended the stream for another reason, as
            # when we read too slowly, keeps them: nobody gains time by asking for more than can be sent. Should it be
            # gone after all, the next stream finds out.
            failed = isinstance(error, Unavailable)
        finally:
            self.open = False
            # The requests end too; nobody may be left waiting in them.
            self._wake.set()
            self._lost(self, failed)

    async def _requests(self) -> AsyncIterator[table_pb2.AttachRequest]:
        while self.open:
            await self._wake.wait()
            self._wake.clear()
            while self._outgoing:
                frames = [self._outgoing.popleft() for _ in range(min(MOST_PACKED, len(self._outgoing)))]
                yield table_pb2.AttachRequest(frames=frames)

    def _receive(self, frame: table_pb2.WorkerFrame) -> None:
        name = frame.WhichOneof("frame")
        if name == "delivery":
            for subscription in frame.delivery.subscriptions:
                watch = self.watches.get(subscription)
                if watch is not None:
                    watch.moves = 0
                    watch.watcher.on_frame(frame.delivery.frame)
        elif name == "answer":
            watch = self.watches.get(frame.answer.subscription)
            if watch is not None:
                self._answer(watch, frame.answer)
        elif name == "ended":
            watch = self.watches.pop(frame.ended.subscription, None)
            if watch is not None:
                watch._links.ended(watch, frame.ended.reason)

    def _answer(self, watch: Watch, answer: table_pb2.Answer) -> None:
        if answer.reason in _MOVES and answer.command_id in watch.unanswered:
            return  # The watch moves, and the command goes along.
        sent = watch.unanswered.pop(answer.command_id, None)
        if sent is not None:
            watch._links.measures.answered(sent, answer.reason)
        watch.watcher.on_answer(answer)


class TableLinks:
    """All watches of this gateway and the streams behind them."""

    def __init__(self, router: TableRouter, channels: Channels, tasks: TaskOwner, measures: Measures) -> None:
        self.measures = measures
        self._router = router
        self._channels = channels
        self._tasks = tasks
        self._links: dict[str, _Link] = {}
        self._next = 0
        self._closed = False

    def watch(self, table_id: str, access_token: str, last_sequence: int | None, watcher: Watcher) -> Watch:
        """Begin to watch; what comes of it is told to ``watcher``."""
        watch = Watch(self, table_id, access_token, last_sequence, watcher)
        self._move(watch, None)
        return watch

    async def close(self) -> None:
        """End all streams."""
        self._closed = True
        for link in tuple(self._links.values()):
            link.close()

    async def look_after_workers(self) -> None:
        """Leave workers that fell silent, until cancelled.

        A connection to a machine that is gone, or to a process that stands still, stays open for a long time. Whoever
        is missing in the registry in two looks one after another is such a one; its tables are taken over.
        """
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if not self._links:
                continue
            try:
                live = await self._router.live_workers()
            except Unavailable:
                # Workers could not tell either that they live; they may need a moment more than this gateway to do so.
                for link in self._links.values():
                    link.missed = -LOOKS_AFTER_SILENCE
                continue
            for link in tuple(self._links.values()):
                link.missed = 0 if link.worker.worker in live else link.missed + 1
                if link.missed >= MISSED_LOOKS:
                    _log.warning("worker fell silent", worker=link.worker.worker)
                    link.abandon()

    def ended(self, watch: Watch, reason: reason_pb2.Reason.ValueType) -> None:
        """The worker ended a watch: it moves, or is over."""
        watch.link = None
        if watch.closed or self._closed:
            return
        if reason in _MOVES:
            self.measures.told_to_move.inc()
            self._router.forget(watch.table_id)
            self._move(watch, None)
        else:
            self._give_up(watch, reason)

    def _move(self, watch: Watch, avoid: str | None) -> None:
        if not watch.moving:
            watch.moving = True
            if not watch.moves:
                watch.sought_since = asyncio.get_running_loop().time()
            self._tasks.start(self._take_up(watch, avoid), name="watch-table")

    async def _take_up(self, watch: Watch, avoid: str | None) -> None:
        """Find the owner and watch there; a worker in ``avoid`` did not answer, so its tables are taken over."""
        try:
            if watch.moves:
                await asyncio.sleep(random.uniform(0.5, 1.0) * min(1.0, 0.02 * 2**watch.moves))
            watch.moves += 1
            for attempt in range(MOST_TRIES):
                if watch.closed or self._closed:
                    return
                try:
                    worker = await self._router.route(watch.table_id, avoid=() if avoid is None else (avoid,))
                except TableUnknown:
                    self._give_up(watch, reason_pb2.REASON_TABLE_UNKNOWN)
                    return
                except Unavailable as error:
                    _log.info("no worker for a table yet", table_id=watch.table_id, error=str(error))
                    # There is no other one: the one that failed may be back, or only its stream had broken.
                    avoid = None
                    await asyncio.sleep(random.uniform(0.5, 1.0) * min(2.0, 0.1 * 2**attempt))
                    continue
                link = self._link(worker)
                self._next += 1
                link.watches[self._next] = watch
                watch.take_up(link, self._next, take_over=avoid is not None)
                return
            self._give_up(watch, reason_pb2.REASON_UNAVAILABLE)
        except EastwindError as error:
            self._give_up(watch, reason_value(error.reason))
        finally:
            watch.moving = False

    def _give_up(self, watch: Watch, reason: reason_pb2.Reason.ValueType) -> None:
        watch.closed = True
        for sent in watch.unanswered.values():
            self.measures.answered(sent, reason)
        watch.unanswered.clear()
        watch.watcher.on_ended(reason)

    def _link(self, worker: WorkerInfo) -> _Link:
        link = self._links.get(worker.address)
        if link is None or not link.open:
            link = self._links[worker.address] = _Link(worker, self._channels, self._lost)
            link.start(self._tasks)
        return link

    def _lost(self, link: _Link, failed: bool) -> None:
        if self._links.get(link.worker.address) is link:
            del self._links[link.worker.address]
        watches, link.watches = link.watches, {}
        for watch in watches.values():
            watch.link = None
            if not watch.closed and not self._closed:
                (self.measures.worker_unreachable if failed else self.measures.stream_ended).inc()
                self._router.forget(watch.table_id)
                self._move(watch, link.worker.worker if failed else None)
