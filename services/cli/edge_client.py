"""A client of the public edge: the same binary socket that a browser uses, with resume and safe repeats.

A lost connection is taken up again for as long as it takes: tables go on from the sequence that the client has, and
commands that were not answered go out once more under their ids, so that each is carried out once.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Final

import aiohttp

from eastwind.edge.v1 import frames_pb2
from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import view_pb2
from eastwind.type.v1 import reason_pb2
from libs.contracts.reasons import reason_name
from libs.contracts.view_folding import FollowedTable, SequenceGap, follow
from services.cli.edge_calls import EdgeCalls, EdgeRefusedError, EdgeSession, EdgeUnreachableError

SUBPROTOCOL: Final = "eastwind.v1.proto"
CONNECT_TIMEOUT_S: Final = 10.0
MOST_UNANSWERED: Final = 32
"""So many commands may wait for their answers; the server has the same bound."""
REMEMBERED_RATINGS: Final = 64
_LONGEST_PAUSE_S: Final = 10.0
_RENEW_BEFORE_S: Final = 60.0
_WELCOME_S: Final = 30.0
_WATCH_AGAIN_S: Final = 2.0
_MOST_MESSAGE_BYTES: Final = 1 << 20


class EdgeClosedError(Exception):
    """The server ended the connection for good; ``reason`` is a name of the contract's ``Reason``."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{detail or 'the server closed the connection'} ({reason})")
        self.reason = reason


class WatchedTable:
    """A table that the client watches: its newest view, and ways to wait for the next one.

    ``version`` counts what was taken in, ``wholes`` the whole views among it, ``resyncs`` the gaps that were found;
    ``whole_wanted`` tells that a whole view is on its way, ``ended`` is set once the server shows the table no more.
    """

    def __init__(self, table_id: str) -> None:
        self.table_id = table_id
        self.known: FollowedTable | None = None
        self.version = 0
        self.ended: reason_pb2.Reason.ValueType | None = None
        self.wholes = 0
        self.resyncs = 0
        self.whole_wanted = False
        self._changed = asyncio.Event()

    @property
    def view(self) -> view_pb2.TableView:
        """The newest view, not to be changed; there is one once ``EdgeClient.watch`` returned."""
        assert self.known is not None
        return self.known.view

    def take_in(self, update: view_pb2.TableUpdate) -> bool:
        """Fold an update in; ``False`` when the whole view must be asked for."""
        try:
            self.known = follow(self.known, update)
        except SequenceGap:
            if self.whole_wanted:
                return True
            self.whole_wanted = True
            self.resyncs += 1
            return False
        if update.HasField("view"):
            self.whole_wanted = False
            self.wholes += 1
        self.wake()
        return True

    def end(self, reason: reason_pb2.Reason.ValueType) -> None:
        """The table is shown no more."""
        self.ended = reason
        self.wake()

    def wake(self) -> None:
        """Let everybody look again."""
        self.version += 1
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def changed_since(self, version: int) -> None:
        """Return once ``version`` is history. Raises ``EdgeClosedError`` when nothing more will come."""
        while self.version == version:
            if self.ended is not None:
                raise EdgeClosedError(reason_name(self.ended), "the table is shown no more")
            await self._changed.wait()

    async def until(self, condition: Callable[[view_pb2.TableView], bool]) -> view_pb2.TableView:
        """Return the first newest view for which ``condition`` holds; views that were overtaken are not looked at."""
        while True:
            version = self.version
            if self.known is not None and condition(self.known.view):
                return self.known.view
            await self.changed_since(version)


class EdgeClient:
    """A signed-in player on one socket. ``start`` before anything else, ``close`` at the end.

    ``on_frame`` is called with every frame of the server, as it came; ``origin`` is the page that the socket says it
    belongs to, the server's own if there is none.
    """

    def __init__(
        self,
        calls: EdgeCalls,
        session: EdgeSession,
        http: aiohttp.ClientSession,
        *,
        on_frame: Callable[[bytes], None] | None = None,
        origin: str = "",
    ) -> None:
        self.calls = calls
        self.session = session
        self.welcome = frames_pb2.Welcome()
        self.connections = 0
        self.ratings: deque[frames_pb2.RatingsChanged] = deque(maxlen=REMEMBERED_RATINGS)
        self.problems: deque[frames_pb2.Problem] = deque(maxlen=REMEMBERED_RATINGS)
        self._http = http
        self._on_frame = on_frame
        self._origin = origin or calls.origin
        self._tables: dict[str, WatchedTable] = {}
        self._unanswered: dict[str, tuple[frames_pb2.ClientFrame, asyncio.Future[frames_pb2.CommandAnswer]]] = {}
        self._queue: tuple[matchmaking_pb2.EnterQueueRequest, asyncio.Future[str]] | None = None
        self._ws: aiohttp.ClientWebSocketResponse | None = None
        self._closed: EdgeClosedError | None = None
        self._goodbye: frames_pb2.Goodbye | None = None
        self._welcomed = asyncio.Event()
        self._sending = asyncio.Lock()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Connect; returns when the server has said welcome.

        Raises ``EdgeUnreachableError`` when it cannot be reached, ``EdgeClosedError`` when it does not let us in.
        """
        ws = await self._connect()
        self._tasks = [
            asyncio.create_task(self._run(ws), name="edge"),
            asyncio.create_task(self._renew(), name="renew"),
        ]
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await self.connected_again(1)
        except TimeoutError as error:
            await self.close()
            raise EdgeUnreachableError(f"{self.calls.base_url} does not answer on its socket") from error
        except EdgeClosedError:
            await self.close()
            raise

    async def close(self) -> None:
        """End the connection."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        if self._ws is not None:
            await self._ws.close()
        self._end(EdgeClosedError("UNSPECIFIED", "the client has closed"))

    def drop(self) -> None:
        """Cut the connection without a word, as a broken network does; the client then connects again."""
        wire = None if self._ws is None else self._ws.get_extra_info("socket")
        if wire is not None:
            with contextlib.suppress(OSError):
                wire.shutdown(socket.SHUT_RDWR)

    async def connected_again(self, times: int) -> None:
        """Return once the server has said welcome so many times. Raises ``EdgeClosedError`` when it will not."""
        while self.connections < times:
            if self._closed is not None:
                raise self._closed
            await self._welcomed.wait()

    async def watch(self, table_id: str) -> WatchedTable:
        """Watch a table; returns when its view is there. Raises ``EdgeClosedError`` with the reason of a refusal."""
        table = self._tables.get(table_id)
        if table is None or table.ended is not None:
            table = self._tables[table_id] = WatchedTable(table_id)
            await self._send(frames_pb2.ClientFrame(watch_table=frames_pb2.WatchTable(table_id=table_id)))
        _ = await table.until(lambda _: True)
        return table

    async def resync(self, table_id: str) -> view_pb2.TableView:
        """Ask a watched table for its whole view and return it."""
        table = self._tables[table_id]
        before, table.whole_wanted = table.wholes, True
        await self._send(frames_pb2.ClientFrame(resync_table=frames_pb2.ResyncTable(table_id=table_id)))
        return await table.until(lambda _: table.wholes > before)

    async def unwatch(self, table_id: str) -> None:
        """Stop watching."""
        if self._tables.pop(table_id, None) is not None:
            await self._send(frames_pb2.ClientFrame(unwatch_table=frames_pb2.UnwatchTable(table_id=table_id)))

    async def command(self, table_id: str, command: table_pb2.TableCommand) -> frames_pb2.CommandAnswer:
        """Send a command and return its answer; its reason is unspecified when it was accepted.

        A command without an id gets one. Raises ``EdgeClosedError`` when no answer will come any more, and
        ``EdgeRefusedError`` when too many wait.
        """
        if self._closed is not None:
            raise self._closed
        if len(self._unanswered) >= MOST_UNANSWERED:
            raise EdgeRefusedError("RATE_LIMITED", "too many commands wait for an answer")
        if not command.command_id:
            command.command_id = str(uuid.uuid4())
        frame = frames_pb2.ClientFrame(command=frames_pb2.CommandTable(table_id=table_id, command=command))
        answered: asyncio.Future[frames_pb2.CommandAnswer] = asyncio.get_running_loop().create_future()
        self._unanswered[command.command_id] = frame, answered
        try:
            await self._send(frame)
            return await answered
        finally:
            self._unanswered.pop(command.command_id, None)

    async def enter_queue(self, ruleset: str, *, rated: bool) -> str:
        """Wait in a queue; returns the table once one is found, or the one where the account plays already."""
        request = matchmaking_pb2.EnterQueueRequest(ruleset=ruleset, rated=rated)
        found: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._queue = request, found
        await self._send(frames_pb2.ClientFrame(enter_queue=frames_pb2.EnterQueue(request=request)))
        try:
            return await found
        finally:
            self._queue = None

    async def _connect(self) -> aiohttp.ClientWebSocketResponse:
        base = self.calls.base_url
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                return await self._http.ws_connect(
                    f"{base}/ws",
                    protocols=(SUBPROTOCOL,),
                    headers={"Origin": self._origin},
                    autoping=True,
                    max_msg_size=_MOST_MESSAGE_BYTES,
                )
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise EdgeUnreachableError(f"no Eastwind answers at {base}: {error}") from error

    async def _run(self, ws: aiohttp.ClientWebSocketResponse | None) -> None:
        """Serve one connection after another, until the server ends it for good."""
        failures = 0
        while self._closed is None:
            try:
                if ws is None:
                    ws = await self._connect()
                before = self.connections
                await self._serve(ws)
                failures = 0 if self.connections > before else failures + 1
            except (EdgeUnreachableError, aiohttp.ClientError, ConnectionError, TimeoutError):
                failures += 1
            finally:
                self._ws, ws = None, None
            if self._goodbye is not None and self._goodbye.retry_after_ms == 0:
                self._end(EdgeClosedError(reason_name(self._goodbye.reason), self._goodbye.detail))
            else:
                pause = min(_LONGEST_PAUSE_S, 0.05 * 2 ** min(failures, 10))
                if self._goodbye is not None:
                    pause = max(pause, self._goodbye.retry_after_ms / 1000)
                await asyncio.sleep(pause * random.uniform(0.5, 1.0))

    async def _serve(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self._goodbye = None
        hello = frames_pb2.Hello(access_token=self.session.access_token, client="eastwind command line")
        await ws.send_bytes(frames_pb2.ClientFrame(hello=hello).SerializeToString())
        silence_s = _WELCOME_S
        try:
            while True:
                async with asyncio.timeout(silence_s):
                    message = await ws.receive()
                if message.type is not aiohttp.WSMsgType.BINARY:
                    break
                if self._on_frame is not None:
                    self._on_frame(message.data)
                frame = frames_pb2.ServerFrame.FromString(message.data)
                if frame.HasField("welcome"):
                    silence_s = max(1.0, frame.welcome.heartbeat_ms / 1000)
                await self._receive(ws, frame)
        finally:
            await ws.close()

    async def _receive(self, ws: aiohttp.ClientWebSocketResponse, frame: frames_pb2.ServerFrame) -> None:
        name = frame.WhichOneof("frame")
        if name == "table":
            await self._update(ws, frame.table)
        elif name == "answer":
            _, answered = self._unanswered.get(frame.answer.command_id, (None, None))
            if answered is not None and not answered.done():
                answered.set_result(frame.answer)
        elif name == "probe":
            await _put(ws, frames_pb2.ClientFrame(probe_answer=frames_pb2.ProbeAnswer(id=frame.probe.id)))
        elif name == "welcome":
            await self._go_on(ws, frame.welcome)
        elif name == "queue":
            self._queue_status(frame.queue)
        elif name == "ratings":
            self.ratings.append(frame.ratings)
            self._wake(frame.ratings.table_id)
        elif name == "problem":
            self._problem(frame.problem)
        elif name == "table_ended":
            self._table_ended(frame.table_ended)
        elif name == "goodbye":
            self._goodbye = frame.goodbye

    async def _update(self, ws: aiohttp.ClientWebSocketResponse, update: view_pb2.TableUpdate) -> None:
        table = self._tables.get(update.table_id)
        if table is not None and not table.take_in(update):
            await _put(ws, frames_pb2.ClientFrame(resync_table=frames_pb2.ResyncTable(table_id=update.table_id)))

    async def _go_on(self, ws: aiohttp.ClientWebSocketResponse, welcome: frames_pb2.Welcome) -> None:
        """Take up on a new connection what the last one left: tables first, then commands, then the queue."""
        async with self._sending:
            self._ws = ws
            frames = [self._watch_frame(table) for table in self._tables.values()]
            frames += [frame for frame, _ in self._unanswered.values()]
            if self._queue is not None:
                frames.append(frames_pb2.ClientFrame(enter_queue=frames_pb2.EnterQueue(request=self._queue[0])))
            for frame in frames:
                await _put(ws, frame)
        self.welcome = welcome
        self.connections += 1
        self._tell_waiting()

    def _table_ended(self, ended: frames_pb2.TableEnded) -> None:
        table = self._tables.get(ended.table_id)
        if table is None:
            return
        if ended.reason == reason_pb2.REASON_UNAVAILABLE and table.known is not None:
            # The server has given up looking for it for now; the table is still there.
            self._tasks.append(asyncio.create_task(self._watch_again(table), name="watch-again"))
        else:
            del self._tables[ended.table_id]
            table.end(ended.reason)

    async def _watch_again(self, table: WatchedTable) -> None:
        """Ask for a table that could not be reached, and for the answers that it owes."""
        await asyncio.sleep(random.uniform(0.5, 1.0) * _WATCH_AGAIN_S)
        async with self._sending:
            if self._ws is None or self._tables.get(table.table_id) is not table:
                return
            with contextlib.suppress(ConnectionError, aiohttp.ClientError):
                await _put(self._ws, self._watch_frame(table))
                for frame, _ in tuple(self._unanswered.values()):
                    if frame.command.table_id == table.table_id:
                        await _put(self._ws, frame)

    def _watch_frame(self, table: WatchedTable) -> frames_pb2.ClientFrame:
        watch = frames_pb2.WatchTable(table_id=table.table_id)
        if table.known is not None and not table.whole_wanted:
            watch.last_sequence = table.known.sequence
        return frames_pb2.ClientFrame(watch_table=watch)

    def _tell_waiting(self) -> None:
        welcomed, self._welcomed = self._welcomed, asyncio.Event()
        welcomed.set()

    def _queue_status(self, status: matchmaking_pb2.WatchQueueResponse) -> None:
        if self._queue is None or self._queue[1].done():
            return
        if status.state == matchmaking_pb2.QUEUE_STATE_MATCHED:
            self._queue[1].set_result(status.table_id)
        elif status.state == matchmaking_pb2.QUEUE_STATE_LEFT:
            self._queue[1].set_exception(EdgeRefusedError("NOT_QUEUED", "the place in the queue is lost"))

    def _problem(self, problem: frames_pb2.Problem) -> None:
        self.problems.append(problem)
        if self._queue is not None and not problem.table_id and not self._queue[1].done():
            self._queue[1].set_exception(EdgeRefusedError(reason_name(problem.reason), problem.detail))

    def _wake(self, table_id: str) -> None:
        table = self._tables.get(table_id)
        if table is not None:
            table.wake()

    async def _send(self, frame: frames_pb2.ClientFrame) -> None:
        """Send now when connected; what matters goes out with the next connection otherwise."""
        if self._closed is not None:
            raise self._closed
        async with self._sending:
            if self._ws is not None:
                with contextlib.suppress(ConnectionError, aiohttp.ClientError):
                    await _put(self._ws, frame)

    def _end(self, why: EdgeClosedError) -> None:
        """Nothing more will come: whoever waits is told why."""
        if self._closed is None:
            self._closed = why
        for _, answered in self._unanswered.values():
            if not answered.done():
                answered.set_exception(self._closed)
        if self._queue is not None and not self._queue[1].done():
            self._queue[1].set_exception(self._closed)
        for table in self._tables.values():
            if table.ended is None:
                table.end(reason_pb2.REASON_GOING_AWAY)
        self._tell_waiting()

    async def _renew(self) -> None:
        """Renew the session before its access token ends, and tell the open socket."""
        while True:
            await asyncio.sleep(max(5.0, self.session.expires_ms / 1000 - time.time() - _RENEW_BEFORE_S))
            try:
                self.session = await self.calls.refresh(self.session)
            except EdgeUnreachableError:
                continue
            except EdgeRefusedError as error:
                self._end(EdgeClosedError(error.reason, error.detail))
                return
            hello = frames_pb2.Hello(access_token=self.session.access_token)
            await self._send(frames_pb2.ClientFrame(hello=hello))


async def _put(ws: aiohttp.ClientWebSocketResponse, frame: frames_pb2.ClientFrame) -> None:
    await ws.send_bytes(frame.SerializeToString())
