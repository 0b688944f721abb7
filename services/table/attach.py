"""The one stream between a gateway and this worker: many players, many frames in a message."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Final

import structlog

from eastwind.table.v1 import table_service_pb2 as table_pb2
from libs.chassis.auth import AccessTokenVerifier
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import EastwindError, PermissionDenied, ResourceExhausted
from libs.contracts.reasons import reason_value
from libs.mahjong.engine.actions import Reason, RuleViolation
from libs.mahjong.engine.table_views import SPECTATOR
from services.table.actor import TableActor
from services.table.audience import Subscriber
from services.table.commands import is_for_players, to_engine
from services.table.live_tables import LiveTables
from services.table.measuring import Measures
from services.table.refusals import refusal_error

MOST_WAITING_FRAMES: Final = 32
"""So many frames of a subscription may wait while its table is loaded."""
MOST_WAITING_COMMANDS: Final = 8
"""So many commands of a subscriber may wait for their answers: who floods a table keeps nobody else's commands out."""
MOST_PACKED: Final = 256
MOST_ROUND_TRIP_MS: Final = 10_000
_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class _Subscription:
    """A player who watches a table, or will once it is loaded; frames that come meanwhile wait."""

    table_id: str
    waiting: deque[table_pb2.GatewayFrame] = field(default_factory=deque)
    actor: TableActor | None = None
    subscriber: Subscriber | None = None


class GatewayStream:
    """What this worker knows about one gateway's stream. It is the sink of all its subscribers."""

    def __init__(
        self,
        tables: LiveTables,
        access_tokens: AccessTokenVerifier,
        tasks: TaskOwner,
        most_waiting: int,
        measures: Measures,
    ) -> None:
        self._measures = measures
        self._tables = tables
        self._access_tokens = access_tokens
        self._tasks = tasks
        self._most_waiting = most_waiting
        self._subscriptions: dict[int, _Subscription] = {}
        self._outgoing: deque[table_pb2.WorkerFrame] = deque()
        self._wake = asyncio.Event()
        self._closed = False

    def deliver(self, subscriptions: list[int], frame: bytes) -> None:
        self._put(table_pb2.WorkerFrame(delivery=table_pb2.Delivery(subscriptions=subscriptions, frame=frame)))

    def end(self, subscription: int, reason: str) -> None:
        self._subscriptions.pop(subscription, None)
        self._put(
            table_pb2.WorkerFrame(
                ended=table_pb2.SubscriptionEnded(subscription=subscription, reason=reason_value(reason))
            )
        )

    def close(self) -> None:
        """End the stream: no more frames go out, and nobody here watches any more."""
        self._closed = True
        self._wake.set()
        subscriptions, self._subscriptions = self._subscriptions, {}
        for each in subscriptions.values():
            self._unwatch(each, lost=True)

    async def outgoing(self) -> AsyncIterator[table_pb2.AttachResponse]:
        """Yield messages until the stream is closed, each with all frames that waited.

        Raises ``ResourceExhausted`` when the gateway reads too slowly; it attaches anew and its players resume.
        """
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._outgoing:
                if len(self._outgoing) > self._most_waiting:
                    raise ResourceExhausted("the gateway reads too slowly", reason="SLOW_READER")
                frames = [self._outgoing.popleft() for _ in range(min(MOST_PACKED, len(self._outgoing)))]
                yield table_pb2.AttachResponse(frames=frames)
            if self._closed:
                return

    def handle(self, frame: table_pb2.GatewayFrame) -> None:
        """Take one frame in."""
        name = frame.WhichOneof("frame")
        if name == "subscribe":
            self._subscribe(frame.subscribe)
        elif name == "unsubscribe":
            gone = self._subscriptions.pop(frame.unsubscribe.subscription, None)
            if gone is not None:
                self._unwatch(gone, lost=False)
        elif name is not None:
            number = getattr(frame, name).subscription
            subscription = self._subscriptions.get(number)
            if subscription is None:
                self._refuse_unknown(frame)
            elif subscription.actor is None:
                if len(subscription.waiting) < MOST_WAITING_FRAMES:
                    subscription.waiting.append(frame)
                else:
                    self._refuse_unknown(frame, "RATE_LIMITED")
            else:
                self._handle_subscribed(number, subscription, frame)

    def _handle_subscribed(self, number: int, subscription: _Subscription, frame: table_pb2.GatewayFrame) -> None:
        actor, subscriber = subscription.actor, subscription.subscriber
        assert actor is not None
        assert subscriber is not None
        name = frame.WhichOneof("frame")
        if name == "command":
            self._command(number, actor, subscriber, frame.command.command, frame.command.trace_parent)
        elif name == "round_trip":
            subscriber.round_trip_ms = min(frame.round_trip.milliseconds, MOST_ROUND_TRIP_MS)
        elif name == "resync":
            self._measures.asked_to_resync.inc()
            actor.audience.resync(subscriber, lambda: actor.state)

    def _command(
        self,
        number: int,
        actor: TableActor,
        subscriber: Subscriber,
        command: table_pb2.TableCommand,
        trace_parent: str,
    ) -> None:
        measures, came_s = self._measures, time.perf_counter()
        span = measures.begin(actor.table_id, command.WhichOneof("command") or "", trace_parent)

        def taken(error: EastwindError | None) -> None:
            subscriber.waiting_commands -= 1
            answer(error)

        def answer(error: EastwindError | None) -> None:
            measures.answered(error, came_s, span)
            self._put(
                table_pb2.WorkerFrame(
                    answer=table_pb2.Answer(
                        subscription=number,
                        command_id=command.command_id,
                        reason=reason_value(error.reason) if error is not None else 0,  # type: ignore[arg-type]
                        detail=error.message if error is not None else "",
                    )
                )
            )

        if not is_for_players(command):
            answer(PermissionDenied("players may not send this command"))
            return
        account = subscriber.account_id
        if actor.state.seat_of(account) is None:
            answer(refusal_error(RuleViolation(Reason.NOT_SEATED, "the account has no seat at this table")))
            return
        if subscriber.waiting_commands >= MOST_WAITING_COMMANDS:
            answer(ResourceExhausted("too many of your commands wait at this table"))
            return
        subscriber.waiting_commands += 1
        actor.submit(lambda state, given: to_engine(state, account, command, given), taken, subscriber, span)

    def _subscribe(self, request: table_pb2.Subscribe) -> None:
        if request.subscription in self._subscriptions:
            return
        subscription = _Subscription(request.table_id)
        self._subscriptions[request.subscription] = subscription
        self._tasks.start(self._watch(request, subscription), name="subscribe")

    async def _watch(self, request: table_pb2.Subscribe, subscription: _Subscription) -> None:
        number, sought_since = request.subscription, asyncio.get_running_loop().time() - request.sought_ms / 1000
        try:
            identity = await self._access_tokens.verify(request.access_token)
            actor = await self._tables.get(request.table_id, take_over=request.take_over)
            seat = actor.state.seat_of(identity.account_id)
            if seat is None and actor.state.settings.private:
                raise PermissionDenied("only those who sit at a private table may watch it")
        except EastwindError as error:
            if self._subscriptions.get(number) is subscription:
                self.end(number, error.reason)
            return
        if self._subscriptions.get(number) is not subscription:
            return
        subscriber = Subscriber(self, number, identity.account_id, SPECTATOR if seat is None else seat)
        subscription.actor, subscription.subscriber = actor, subscriber
        last = request.last_sequence if request.HasField("last_sequence") else None
        if last is not None:
            self._measures.resumed.inc()
        actor.watched_by(subscriber, last, sought_since)
        while subscription.waiting:
            self._handle_subscribed(number, subscription, subscription.waiting.popleft())

    def _unwatch(self, subscription: _Subscription, *, lost: bool) -> None:
        actor, subscriber = subscription.actor, subscription.subscriber
        if actor is not None and subscriber is not None:
            actor.left_by(subscriber, lost=lost)

    def _refuse_unknown(self, frame: table_pb2.GatewayFrame, reason: str = "NOT_OWNER") -> None:
        if frame.WhichOneof("frame") == "command":
            self._measures.refused(reason)
            self._put(
                table_pb2.WorkerFrame(
                    answer=table_pb2.Answer(
                        subscription=frame.command.subscription,
                        command_id=frame.command.command.command_id,
                        reason=reason_value(reason),
                        detail="the table is not watched here",
                    )
                )
            )

    def _put(self, frame: table_pb2.WorkerFrame) -> None:
        if self._closed:
            return
        self._outgoing.append(frame)
        self._wake.set()
