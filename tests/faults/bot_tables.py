"""The load: many tables at once, played through the public edge by clients that note down what they are told.

A client keeps little: the viewer's sequence, what it is asked, and what waits for an answer. It goes on by itself
whatever happens, and sends what was not answered again under the same id.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self

import aiohttp

from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import event_pb2, table_service_pb2, view_pb2
from eastwind.type.v1 import action_pb2
from libs.contracts.reasons import reason_name
from tests.faults.checker.notes import RETRIABLE, Acknowledged, Discard, Notes, Refused

RULESET: Final = "hkos-3-v1"
_ACTIONS: Final = frozenset(
    ("tile_discarded", "meld_claimed", "kong_declared", "hand_won", "choice_held", "seat_ready", "seat_answered")
)
"""Events that only an accepted action brings about."""
_CLAIMS: Final = frozenset(
    (action_pb2.ACTION_TYPE_PUNG, action_pb2.ACTION_TYPE_CHOW, action_pb2.ACTION_TYPE_CLAIMED_KONG)
)
_CALL_S: Final = 15.0
_SILENCE_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long clients think, in seconds."""

    least_s: float
    most_s: float


@dataclass(slots=True)
class Mark:
    """A moment, and for each table how many seconds after it the first action was accepted."""

    at_s: float
    wanted: frozenset[str]
    firsts: dict[str, float] = field(default_factory=dict)
    updates: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    """Of each table, when it sent something (the server's time) and when a client had it, unix seconds."""
    complete: asyncio.Event = field(default_factory=asyncio.Event)

    def action(self, table_id: str, accepted_s: float, now_s: float) -> None:
        """An action was accepted at a table at that time of the server and is known to a client now."""
        if accepted_s > self.at_s and table_id in self.wanted and table_id not in self.firsts:
            self.firsts[table_id] = now_s - self.at_s
            if len(self.firsts) == len(self.wanted):
                self.complete.set()

    def known_after(self, table_id: str, accepted_s: float) -> float | None:
        """Seconds from the mark until a client had something that the table sent after that moment, if one has."""
        known = [had for sent, had in self.updates[table_id] if sent >= accepted_s]
        return min(known) - self.at_s if known else None

    def look_again(self, table_ids: Iterable[str]) -> None:
        """Wait for one more action of each of these tables."""
        for table_id in table_ids:
            del self.firsts[table_id]
            self.complete.clear()


@dataclass(slots=True)
class Experience:
    """What one client went through; the difference of two tells of the time between them."""

    connections: int = 0
    wholes: int = 0
    gaps: int = 0
    accepted: int = 0
    refused: int = 0
    overtaken: int = 0
    """Refusals because the decision was over: another seat's claim may end a window at any time."""
    retried: int = 0
    table_ends: int = 0
    timeouts: int = 0

    def since(self, before: Experience) -> Experience:
        """What came on top of an earlier copy."""
        names = Experience.__slots__
        return Experience(**{name: getattr(self, name) - getattr(before, name) for name in names})


class Client:
    """One account on one socket at one table."""

    def __init__(self, tables: BotTables, number: int, pace: Pace) -> None:
        self._tables = tables
        self._edge = number
        self._pace = pace
        self._random = random.Random(number)
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self.pending: dict[str, tuple[table_service_pb2.TableCommand, int]] = {}
        self._asked: tuple[int, int] = (0, 0)
        self._watching = False
        """Whether this connection watches the table; commands for another one are refused."""
        self._timer: asyncio.TimerHandle | None = None
        self._decision = view_pb2.DecisionView()
        self.account_id = ""
        self.token = ""
        self.table_id = ""
        self.seat = 0
        self.hand = 0
        self.ready_for = 0
        self.sequence: int | None = None
        self.whole_wanted = False
        self.experience = Experience()
        self.closes: Counter[str] = Counter()

    async def call(self, method: str, body: dict[str, Any], *, tries: int = 60) -> dict[str, Any]:
        """A unary method over HTTP at whichever gateway answers. Raises ``ConnectionError`` when none does."""
        service, name = method.split("/")
        path = f"/api/eastwind.{service.lower()}.v1.{service}Service/{name}"
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        last = ""
        for _ in range(tries):
            try:
                async with self._tables.http.post(self._here + path, json=body, headers=headers) as response:
                    answer: dict[str, Any] = await response.json()
                    if response.status == 200:
                        return answer
                    last = f"{response.status} {answer.get('reason', '')} {answer.get('message', '')}"
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                last = repr(error)
                self._edge += 1
            await asyncio.sleep(0.25)
        raise ConnectionError(f"{method}: {last}")

    async def register(self) -> None:
        """Become a guest."""
        session = (await self.call("Accounts/RegisterGuest", {"name": f"Load {uuid.uuid4().hex[:8]}"}))["session"]
        self.account_id, self.token = session["accountId"], session["accessToken"]

    async def run(self) -> None:
        """Stay connected and play, until cancelled."""
        while True:
            try:
                async with self._tables.http.ws_connect(
                    f"{self._here}/ws",
                    protocols=("eastwind.v1.proto",),
                    headers={"Origin": self._here},
                    max_msg_size=1 << 20,
                    timeout=aiohttp.ClientWSTimeout(ws_receive=_SILENCE_S, ws_close=1.0),
                ) as self._socket:
                    self.experience.connections += 1
                    await self._send(hello=frames_pb2.Hello(access_token=self.token))
                    await self._read(self._socket)
            except (aiohttp.ClientError, OSError, TimeoutError) as error:
                self.closes[type(error).__name__] += 1
            self._socket, self._watching = None, False
            self._edge += 1
            await asyncio.sleep(self._random.uniform(0.05, 0.25))

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        reason = "no goodbye"
        async for message in socket:
            if message.type is not aiohttp.WSMsgType.BINARY:
                break
            frame = frames_pb2.ServerFrame.FromString(message.data)
            if frame.HasField("goodbye"):
                reason = reason_name(frame.goodbye.reason)
            await self._take(frame)
        self.closes[reason] += 1

    @property
    def _here(self) -> str:
        return self._tables.edges[self._edge % len(self._tables.edges)]

    async def _send(self, **frame: Any) -> None:
        if self._socket is not None and not self._socket.closed:
            with contextlib.suppress(ConnectionError, aiohttp.ClientError):
                await self._socket.send_bytes(frames_pb2.ClientFrame(**frame).SerializeToString())

    async def _watch(self) -> None:
        last = None if self.whole_wanted else self.sequence
        await self._send(watch_table=frames_pb2.WatchTable(table_id=self.table_id, last_sequence=last))
        self._watching = True
        for command_id in tuple(self.pending):
            await self._send_pending(command_id)

    async def _send_pending(self, command_id: str) -> None:
        if self._watching and command_id in self.pending:
            command, _ = self.pending[command_id]
            await self._send(command=frames_pb2.CommandTable(table_id=self.table_id, command=command))

    async def _take(self, frame: frames_pb2.ServerFrame) -> None:
        name = frame.WhichOneof("frame")
        if name == "table":
            await self._update(frame.table)
        elif name == "answer":
            self._answered(frame.answer)
        elif name == "probe":
            await self._send(probe_answer=frames_pb2.ProbeAnswer(id=frame.probe.id))
        elif name == "welcome":
            await self._watch()
        elif name == "table_ended":
            self.experience.table_ends += 1
            self._watching = False
            self.closes[f"table ended: {reason_name(frame.table_ended.reason)}"] += 1
            asyncio.get_running_loop().call_later(0.2, lambda: self._tables.spawn(self._watch()))
        elif name == "problem":
            self.closes[f"problem: {reason_name(frame.problem.reason)}"] += 1

    async def _update(self, update: view_pb2.TableUpdate) -> None:
        self._tables.updated(self.table_id, update.server_time_ms / 1000)
        if update.HasField("view"):
            resumed = self.sequence is not None
            self._take_view(update)
            self._consider(resumed=resumed)
            return
        if self.sequence is None or self.whole_wanted:
            return
        if not update.events:
            return
        before = update.sequence - len(update.events)
        if update.sequence <= self.sequence:
            self._tables.notes.wrongs.append(
                f"table {self.table_id}: {self.account_id} was sent sequence {update.sequence} after {self.sequence}"
            )
            return
        if before != self.sequence:
            self.experience.gaps += 1
            self.whole_wanted = True
            await self._send(resync_table=frames_pb2.ResyncTable(table_id=self.table_id))
            return
        self.sequence = update.sequence
        acted = False
        for event in update.events:
            acted |= self._event(event)
        if acted:
            self._tables.action(self.table_id, update.server_time_ms / 1000)
        self._decision = update.decision
        self._consider()

    def _take_view(self, update: view_pb2.TableUpdate) -> None:
        view = update.view
        if self.sequence is not None:
            self.experience.wholes += 1
            if update.sequence < self.sequence:
                self._tables.notes.wrongs.append(
                    f"table {self.table_id}: {self.account_id} was taken back from {self.sequence} to {update.sequence}"
                )
        self.sequence, self.whole_wanted = update.sequence, False
        self.seat, self.hand = view.viewer, view.hand
        self.ready_for = 0
        if view.phase == view_pb2.TABLE_PHASE_READY and not view.seats[view.viewer].ready:
            self.ready_for = view.hand + 1 if view.HasField("settled") else view.hand
        self._decision = view.decision
        self._asked = (0, 0)

    def _event(self, event: event_pb2.TableEvent) -> bool:
        """Take in an event; true when an accepted action brought it about."""
        name = event.WhichOneof("event")
        if name == "tile_discarded":
            discard = Discard(self.hand, event.tile_discarded.seat, event.tile_discarded.tile)
            self._tables.notes.discards[self.table_id].add(discard)
        elif name == "ready_step_opened":
            self.ready_for = event.ready_step_opened.hand
        elif name == "hand_started":
            self.hand, self.ready_for = event.hand_started.hand, 0
        elif name == "seat_timed_out" and event.seat_timed_out.seat == self.seat:
            self.experience.timeouts += 1
        return name in _ACTIONS

    def _consider(self, *, resumed: bool = False) -> None:
        """Plan the answer to what is asked now, unless it is planned or sent. Who is ``resumed`` has thought enough."""
        if resumed and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._timer is not None or self.pending:
            return
        if self._wanted() not in ((0, 0), self._asked):
            pause = 0.0 if resumed else self._random.uniform(self._pace.least_s, self._pace.most_s)
            self._timer = asyncio.get_running_loop().call_later(pause, self._act)

    def _wanted(self) -> tuple[int, int]:
        if self.ready_for:
            return self.ready_for, 0
        if self._decision.options and not self._decision.HasField("held"):
            return self.hand, self._decision.decision
        return 0, 0

    def _act(self) -> None:
        self._timer = None
        wanted = self._wanted()
        if wanted in ((0, 0), self._asked) or self.pending:
            return
        self._asked = wanted
        hand, decision = wanted
        command = table_service_pb2.TableCommand(command_id=uuid.uuid4().hex)
        if decision:
            action = self._choice([option.action for option in self._decision.options])
            command.choose.CopyFrom(table_service_pb2.Choose(decision=decision, action=action))
        else:
            command.ready.hand = hand
        self.pending[command.command_id] = command, decision
        self._tables.asked()
        self._tables.spawn(self._send_pending(command.command_id))

    def _choice(self, actions: list[action_pb2.Action]) -> action_pb2.Action:
        for action in actions:
            if action.type == action_pb2.ACTION_TYPE_WIN:
                return action
        claims = [action for action in actions if action.type in _CLAIMS]
        if claims and self._random.random() < 0.5:
            return self._random.choice(claims)
        passes = [action for action in actions if action.type == action_pb2.ACTION_TYPE_PASS]
        return passes[0] if passes else self._random.choice(actions)

    def _answered(self, answer: frames_pb2.CommandAnswer) -> None:
        command, decision = self.pending.get(answer.command_id, (None, 0))
        if command is None:
            return
        now = time.time()
        reason = reason_name(answer.reason) if answer.reason else ""
        if reason in RETRIABLE:
            self.experience.retried += 1
            self.closes[f"retried: {reason}"] += 1
            again = answer.command_id
            asyncio.get_running_loop().call_later(0.3, lambda: self._tables.spawn(self._send_pending(again)))
            return
        del self.pending[answer.command_id]
        notes = self._tables.notes
        if reason:
            if reason == "STALE_DECISION":
                self.experience.overtaken += 1
            else:
                self.experience.refused += 1
            self.closes[f"refused: {reason}"] += 1
            notes.refused.append(Refused(self.table_id, self.account_id, answer.command_id, reason, now))
        else:
            self.experience.accepted += 1
            notes.acknowledged.append(Acknowledged(self.table_id, self.account_id, answer.command_id, decision, now))
            self._tables.accepted += 1
            # The events of it may not be here yet, and whatever is asked now must not be answered again.
            if not decision:
                self.ready_for = 0
            elif decision == self._decision.decision:
                self._decision = view_pb2.DecisionView()
        self._consider()


class BotTables:
    """All tables of the load. ``async with`` seats the clients and lets them play until it ends."""

    def __init__(
        self,
        edges: Sequence[str],
        *,
        casual: int,
        rated: int,
        pace: Pace,
        speed: str = "SPEED_STANDARD",
    ) -> None:
        """``casual`` tables have one client and three computers, ``rated`` ones four clients."""
        self.edges = edges
        self.notes = Notes()
        self.accepted = 0
        self.clients: list[Client] = []
        self._casual, self._rated, self._pace, self._speed = casual, rated, pace, speed
        self._marks: list[Mark] = []
        self._asked = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self.http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=_CALL_S)
        )
        count = self._casual + 4 * self._rated
        self.clients = [Client(self, number, self._pace) for number in range(count)]
        gate = asyncio.Semaphore(8)

        async def seat(clients: list[Client]) -> None:
            async with gate:
                await self._seat(clients)

        groups = [[client] for client in self.clients[: self._casual]]
        groups += [self.clients[at : at + 4] for at in range(self._casual, count, 4)]
        try:
            await asyncio.gather(*(seat(group) for group in groups))
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    @property
    def table_ids(self) -> frozenset[str]:
        """All tables."""
        return frozenset(client.table_id for client in self.clients)

    def mark(self, tables: frozenset[str] | None = None) -> Mark:
        """Note this moment; the next action at each of these tables (all if none are named) is timed from it."""
        mark = Mark(time.time(), self.table_ids if tables is None else tables)
        self._marks.append(mark)
        return mark

    async def moved_on(self, mark: Mark, within_s: float = 90.0, *, last: bool = True) -> list[float]:
        """Wait until every table had an action after the mark; returns how many seconds after it, ascending.

        Unless this is the `last` use of the mark, it goes on to note what tables send until it is forgotten. Raises
        ``TimeoutError`` with what the clients of tables that stand still know.
        """
        try:
            async with asyncio.timeout(within_s):
                await mark.complete.wait()
        except TimeoutError:
            stuck = mark.wanted - mark.firsts.keys()
            about = [self._about(client) for client in self.clients if client.table_id in stuck]
            raise TimeoutError(f"{len(stuck)} tables stand still:\n" + "\n".join(about[:20])) from None
        finally:
            if last:
                self.forget(mark)
        return sorted(mark.firsts.values())

    def forget(self, mark: Mark) -> None:
        """Nobody asks for the mark any more."""
        self._marks.remove(mark)

    async def play_on(self, within_s: float = 90.0) -> None:
        """Wait until an action was accepted at every table from now on."""
        await self.moved_on(self.mark(), within_s)

    async def commands_wait(self, count: int, within_s: float = 60.0) -> None:
        """Wait until so many clients have a command that was not answered yet."""
        async with asyncio.timeout(within_s):
            while sum(bool(client.pending) for client in self.clients) < count:
                self._asked.clear()
                await self._asked.wait()

    def asked(self) -> None:
        """A client has sent a command."""
        self._asked.set()

    def action(self, table_id: str, accepted_s: float) -> None:
        """A client was told of an action that was accepted at that time."""
        now = time.time()
        for mark in self._marks:
            mark.action(table_id, accepted_s, now)

    def updated(self, table_id: str, sent_s: float) -> None:
        """A client got what a table sent at that time of the server."""
        now = time.time()
        for mark in self._marks:
            mark.updates[table_id].append((sent_s, now))

    def experiences(self) -> dict[str, Experience]:
        """A copy of what every client went through, by account."""
        return {client.account_id: client.experience.since(Experience()) for client in self.clients}

    def experienced_since(self, before: dict[str, Experience]) -> list[Experience]:
        """What every client went through since an earlier copy."""
        return [client.experience.since(before[client.account_id]) for client in self.clients]

    def closes(self) -> Counter[str]:
        """Why sockets closed, tables ended and commands were refused, all clients together."""
        return sum((client.closes for client in self.clients), Counter[str]())

    def spawn(self, work: Any) -> None:
        """Run something on the side until it ends or the load does."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _seat(self, clients: list[Client]) -> None:
        for client in clients:
            await client.register()
        rated = len(clients) == 4
        settings = {"ruleset": RULESET, "speed": self._speed, "rated": rated}
        body: dict[str, Any] = {"requestId": uuid.uuid4().hex, "settings": settings}
        if not rated:
            body["fillWith"] = "BOT_LEVEL_EASY"
        table_id = (await clients[0].call("Matchmaking/CreateTable", body))["tableId"]
        for client in clients[1:]:
            await client.call("Matchmaking/JoinTable", {"tableId": table_id})
        for client in clients:
            client.table_id = table_id
            self.spawn(client.run())

    async def _close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.http.close()

    def _about(self, client: Client) -> str:
        return (
            f"{client.table_id} {client.account_id}: sequence {client.sequence}, hand {client.hand}, ready for"
            f" {client.ready_for}, decision {client._decision.decision} with {len(client._decision.options)} options,"
            f" pending {len(client.pending)}, asked {client._asked}, {client.experience}, {dict(client.closes)}"
        )
