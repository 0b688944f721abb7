"""One player's WebSocket: frames in, frames out, and what is done when the player misbehaves or reads too slowly."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from typing import Final

import structlog
from aiohttp import WSMessage, WSMsgType, web
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from eastwind.edge.v1 import frames_pb2
from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import reason_pb2
from libs.chassis.auth import Identity
from libs.chassis.clocks import Clock
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import EastwindError
from libs.contracts.reasons import reason_name, reason_value
from services.gateway.rates import TokenBucket
from services.gateway.settings import GatewaySettings
from services.gateway.surroundings import Surroundings
from services.gateway.table_links import Watch

BINARY: Final = "eastwind.v1.proto"
JSON: Final = "eastwind.v1.json"
MOST_WATCHED: Final = 4
MOST_MALFORMED: Final = 5
MISSED_PROBES: Final = 3
VIEW_COST: Final = 4
"""A frame that is answered with a whole view counts as so many."""
_ASK_FOR_VIEWS: Final = frozenset(("watch_table", "resync_table"))
_PLAYERS_COMMANDS: Final = frozenset(("choose", "ready", "commit_nonce", "leave_seat"))
_CLOSE_CODES: Final = {
    reason_pb2.REASON_GOING_AWAY: 1001,
    reason_pb2.REASON_FRAME_TOO_LARGE: 1009,
    reason_pb2.REASON_UNAUTHENTICATED: 4001,
    reason_pb2.REASON_SUPERSEDED_CONNECTION: 4002,
    reason_pb2.REASON_SLOW_READER: 4003,
    reason_pb2.REASON_RATE_LIMITED: 4008,
    reason_pb2.REASON_MALFORMED_FRAME: 4009,
}
_log = structlog.get_logger(__name__)


class _TableWatcher:
    """Passes what a watch tells on to the socket."""

    __slots__ = ("_socket", "_table_id")

    def __init__(self, socket: PlayerSocket, table_id: str) -> None:
        self._socket = socket
        self._table_id = table_id

    def on_frame(self, frame: bytes) -> None:
        self._socket.send_bytes(frame)

    def on_answer(self, answer: table_pb2.Answer) -> None:
        self._socket.send(
            frames_pb2.ServerFrame(
                answer=frames_pb2.CommandAnswer(
                    table_id=self._table_id,
                    command_id=answer.command_id,
                    reason=answer.reason,
                    detail=answer.detail,
                )
            )
        )

    def on_ended(self, reason: reason_pb2.Reason.ValueType) -> None:
        self._socket.watch_ended(self._table_id, reason)


class PlayerSocket:
    """A socket from its upgrade to its close."""

    def __init__(
        self,
        ws: web.WebSocketResponse,
        settings: GatewaySettings,
        around: Surroundings,
        clock: Clock,
        transport: asyncio.WriteTransport | None,
    ) -> None:
        self._ws = ws
        self._json = ws.ws_protocol == JSON
        self._settings = settings
        self._around = around
        self._clock = clock
        self._transport = transport
        self._outgoing: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._closing: tuple[reason_pb2.Reason.ValueType, str, int] | None = None
        self._bucket = TokenBucket(settings.socket_rate, settings.socket_burst)
        self._malformed = 0
        self._watches: dict[str, Watch] = {}
        self._tasks = TaskOwner("socket")
        self._queue: asyncio.Task[None] | None = None
        self._probe = 0
        self._probed_at = 0.0
        self._unanswered_probes = 0
        self.identity: Identity | None = None
        self._access_token = ""

    async def run(self) -> None:
        """Serve until either side closes."""
        writing = self._tasks.spawn(self._write(), name="socket-write")
        try:
            if await self._expect_hello():
                self._tasks.start(self._probe_again(), name="socket-probe")
                await self._read()
        finally:
            self._end_watches()
            if self._closing is None:
                self._closing = (reason_pb2.REASON_UNSPECIFIED, "", 0)
            self._wake.set()
            await asyncio.wait([writing], timeout=2.0)
            await self._tasks.close()
            if not self._ws.closed:
                await self._ws.close()

    @property
    def watching(self) -> int:
        """How many tables this socket watches."""
        return len(self._watches)

    def watches(self, table_id: str) -> bool:
        """Tell whether this socket watches the table."""
        return table_id in self._watches

    def send(self, frame: frames_pb2.ServerFrame) -> None:
        """Queue a frame."""
        self.send_bytes(frame.SerializeToString())

    def send_bytes(self, frame: bytes) -> None:
        """Queue a serialised frame. A client that lets too many wait is closed; it connects again and resumes."""
        if self._closing is not None:
            return
        if len(self._outgoing) >= self._settings.socket_queue:
            self._outgoing.clear()
            self.close(reason_pb2.REASON_SLOW_READER, "too many frames waited for you", 500)
            return
        self._outgoing.append(frame)
        self._wake.set()

    def close(self, reason: reason_pb2.Reason.ValueType, detail: str, retry_after_ms: int = 0) -> None:
        """Say goodbye and close. ``retry_after_ms`` of 0 tells the client to stay away."""
        if self._closing is None:
            self._closing = (reason, detail, retry_after_ms)
            self._around.measures.socket_closed(reason)
            self._wake.set()

    def watch_ended(self, table_id: str, reason: reason_pb2.Reason.ValueType) -> None:
        """A watch is over for good."""
        self._watches.pop(table_id, None)
        if reason == reason_pb2.REASON_SUPERSEDED_CONNECTION:
            self.close(reason, "another connection of this account took over", 0)
        else:
            self.send(frames_pb2.ServerFrame(table_ended=frames_pb2.TableEnded(table_id=table_id, reason=reason)))

    async def _write(self) -> None:
        """Send what is queued; the goodbye is the last frame."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._outgoing:
                await self._put_on_wire(self._outgoing.popleft())
            if self._closing is not None:
                break
        reason, detail, retry_after_ms = self._closing
        if self._ws.closed or reason == reason_pb2.REASON_UNSPECIFIED:
            return
        goodbye = frames_pb2.Goodbye(reason=reason, detail=detail, retry_after_ms=retry_after_ms)
        try:
            async with asyncio.timeout(2.0):
                await self._put_on_wire(frames_pb2.ServerFrame(goodbye=goodbye).SerializeToString())
                await self._ws.close(code=_CLOSE_CODES.get(reason, 4000), message=reason_name(reason).encode())
        except (TimeoutError, ConnectionError):
            pass
        finally:
            self._cut()

    async def _put_on_wire(self, frame: bytes) -> None:
        try:
            if self._json:
                await self._ws.send_str(
                    json_format.MessageToJson(frames_pb2.ServerFrame.FromString(frame), indent=None)
                )
            else:
                await self._ws.send_bytes(frame)
        except (ConnectionError, RuntimeError):
            self._outgoing.clear()
            if self._closing is None:
                self._closing = (reason_pb2.REASON_UNSPECIFIED, "", 0)

    def _cut(self) -> None:
        """Cut the connection of a client that did not take its goodbye."""
        transport = self._transport
        if not self._ws.closed and transport is not None:
            transport.abort()

    async def _expect_hello(self) -> bool:
        try:
            async with asyncio.timeout(self._settings.socket_hello_s):
                frame = await self._receive()
        except TimeoutError:
            self.close(reason_pb2.REASON_UNAUTHENTICATED, "no hello came in time")
            return False
        if frame is None:
            return False
        if frame.WhichOneof("frame") != "hello":
            self.close(reason_pb2.REASON_UNAUTHENTICATED, "the first frame must be a hello")
            return False
        return await self._hello(frame.hello)

    async def _hello(self, hello: frames_pb2.Hello) -> bool:
        try:
            identity = await self._around.access_tokens.verify(hello.access_token)
        except EastwindError as error:
            retry = 2_000 if error.retriable else 0
            self.close(reason_value(error.reason), error.message, retry)
            return False
        if self.identity is not None:
            if identity.account_id != self.identity.account_id:
                self.close(reason_pb2.REASON_UNAUTHENTICATED, "a connection keeps its account")
                return False
            self._access_token = hello.access_token
            for watch in self._watches.values():
                watch.access_token = hello.access_token
            return True
        self.identity = identity
        self._access_token = hello.access_token
        self.send(
            frames_pb2.ServerFrame(
                welcome=frames_pb2.Welcome(
                    account_id=identity.account_id,
                    name=identity.name,
                    server_time_ms=self._clock.now_ms(),
                    table_id=await self._around.matchmaking.seat_of(hello.access_token),
                    heartbeat_ms=int(self._settings.socket_heartbeat_s * 1000 * MISSED_PROBES),
                )
            )
        )
        return True

    async def _read(self) -> None:
        while self._closing is None:
            frame = await self._receive()
            if frame is None:
                return
            self._unanswered_probes = 0
            if not self._bucket.take(VIEW_COST if frame.WhichOneof("frame") in _ASK_FOR_VIEWS else 1):
                self.close(reason_pb2.REASON_RATE_LIMITED, "too many frames", 5_000)
                return
            if not await self._handle(frame):
                return

    async def _receive(self) -> frames_pb2.ClientFrame | None:
        """Return the next frame; ``None`` when the socket is closed or has to be."""
        while True:
            message = await self._ws.receive()
            if message.type is WSMsgType.BINARY and not self._json:
                frame = self._parse(message.data)
            elif message.type is WSMsgType.TEXT and self._json:
                frame = self._parse_json(message.data)
            elif message.type in (WSMsgType.BINARY, WSMsgType.TEXT):
                frame = None
            elif message.type in (WSMsgType.PING, WSMsgType.PONG):
                if not await self._control_frame(message):
                    return None
                continue
            else:
                if message.type is WSMsgType.ERROR and self._ws.close_code == 1009:
                    self.close(reason_pb2.REASON_FRAME_TOO_LARGE, "the frame is too large")
                return None
            if frame is not None and frame.WhichOneof("frame") is not None:
                return frame
            self._malformed += 1
            if self._malformed >= MOST_MALFORMED or self.identity is None:
                self.close(reason_pb2.REASON_MALFORMED_FRAME, "frames that are none of the protocol")
                return None
            self._problem(reason_pb2.REASON_MALFORMED_FRAME, "this is no frame of the protocol")

    async def _control_frame(self, message: WSMessage) -> bool:
        """Answer a ping of the protocol below. They cost a client as much as frames do: else they could flood us."""
        if not self._bucket.take():
            self.close(reason_pb2.REASON_RATE_LIMITED, "too many frames", 5_000)
            return False
        if message.type is WSMsgType.PING:
            try:
                await self._ws.pong(message.data)
            except (ConnectionError, RuntimeError):
                return False
        return True

    def _parse(self, data: bytes) -> frames_pb2.ClientFrame | None:
        try:
            return frames_pb2.ClientFrame.FromString(data)
        except DecodeError:
            return None

    def _parse_json(self, data: str) -> frames_pb2.ClientFrame | None:
        try:
            return json_format.Parse(data, frames_pb2.ClientFrame(), max_recursion_depth=20)
        except (json_format.ParseError, RecursionError, ValueError):
            return None

    async def _handle(self, frame: frames_pb2.ClientFrame) -> bool:
        """Do what a frame asks; ``False`` when the connection is over."""
        name = frame.WhichOneof("frame")
        if name == "hello":
            return await self._hello(frame.hello)
        if name == "ping":
            pong = frames_pb2.Pong(id=frame.ping.id, server_time_ms=self._clock.now_ms())
            self.send(frames_pb2.ServerFrame(pong=pong))
        elif name == "probe_answer":
            self._answered(frame.probe_answer.id)
        elif name == "watch_table":
            self._watch(frame.watch_table)
        elif name == "unwatch_table":
            watch = self._watches.pop(frame.unwatch_table.table_id, None)
            if watch is not None:
                watch.close()
        elif name == "resync_table":
            watch = self._watches.get(frame.resync_table.table_id)
            if watch is not None:
                watch.resync()
        elif name == "command":
            self._command(frame.command)
        elif name == "enter_queue":
            self._enter_queue(frame.enter_queue.request)
        elif name == "leave_queue":
            self._tasks.start(self._leave_queue(), name="leave-queue")
        return True

    def _watch(self, request: frames_pb2.WatchTable) -> None:
        old = self._watches.pop(request.table_id, None)
        if old is not None:
            old.close()
        if len(self._watches) >= MOST_WATCHED:
            self._problem(reason_pb2.REASON_RATE_LIMITED, "too many tables at once", request.table_id)
            return
        last = request.last_sequence if request.HasField("last_sequence") else None
        watcher = _TableWatcher(self, request.table_id)
        self._watches[request.table_id] = self._around.links.watch(request.table_id, self._access_token, last, watcher)

    def _command(self, request: frames_pb2.CommandTable) -> None:
        watch = self._watches.get(request.table_id)
        command = request.command
        if watch is None:
            refusal, detail = reason_pb2.REASON_TABLE_UNKNOWN, "watch the table first"
        elif command.WhichOneof("command") not in _PLAYERS_COMMANDS:
            refusal, detail = reason_pb2.REASON_PERMISSION_DENIED, "players may not send this command"
        elif not command.command_id:
            refusal, detail = reason_pb2.REASON_INVALID_ARGUMENT, "command_id is missing"
        elif watch.send(command):
            return
        else:
            refusal, detail = reason_pb2.REASON_RATE_LIMITED, "too many commands wait for an answer"
        self._around.measures.refused(refusal)
        answer = frames_pb2.CommandAnswer(
            table_id=request.table_id, command_id=command.command_id, reason=refusal, detail=detail
        )
        self.send(frames_pb2.ServerFrame(answer=answer))

    def _enter_queue(self, request: matchmaking_pb2.EnterQueueRequest) -> None:
        if self._queue is not None:
            self._queue.cancel()
        self._queue = self._tasks.spawn(self._wait_in_queue(request), name="queue")

    async def _wait_in_queue(self, request: matchmaking_pb2.EnterQueueRequest) -> None:
        """Hold a ticket for as long as this socket is open, and pass on what becomes of it."""
        try:
            async for status in self._around.matchmaking.queue(self._access_token, request):
                self.send(frames_pb2.ServerFrame(queue=status))
        except EastwindError as error:
            self._problem(reason_value(error.reason), error.message)

    async def _leave_queue(self) -> None:
        try:
            await self._around.matchmaking.leave_queue(self._access_token)
        except EastwindError as error:
            self._problem(reason_value(error.reason), error.message)

    def _problem(self, reason: reason_pb2.Reason.ValueType, detail: str, table_id: str = "") -> None:
        problem = frames_pb2.Problem(reason=reason, detail=detail, table_id=table_id)
        self.send(frames_pb2.ServerFrame(problem=problem))

    async def _probe_again(self) -> None:
        """Measure the round trip, and close a socket whose other end is gone (field case C072)."""
        while True:
            await asyncio.sleep(self._settings.socket_heartbeat_s * random.uniform(0.9, 1.1))
            if self._unanswered_probes >= MISSED_PROBES:
                self.close(reason_pb2.REASON_GOING_AWAY, "nothing was heard from you", 1_000)
                return
            self._unanswered_probes += 1
            self._probe += 1
            self._probed_at = time.monotonic()
            self.send(frames_pb2.ServerFrame(probe=frames_pb2.Probe(id=self._probe)))

    def _answered(self, probe: int) -> None:
        if probe == self._probe and self._probed_at:
            took_s = time.monotonic() - self._probed_at
            self._around.measures.round_trip.observe(took_s)
            milliseconds = int(took_s * 1000)
            self._probed_at = 0.0
            for watch in self._watches.values():
                watch.measured(milliseconds)

    def _end_watches(self) -> None:
        watches, self._watches = self._watches, {}
        for watch in watches.values():
            watch.close()
