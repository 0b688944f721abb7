"""Four players at a table, over the same sockets as the browser: they play, lose their connection, and come back alone.

A player knows the table only by folding what its socket brings (``libs.contracts.view_folding``), as the browser does.
Nothing in here waits for a fault or knows of one.
"""

from __future__ import annotations

import asyncio
import random
import uuid
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Self

import aiohttp
from google.protobuf import json_format

from eastwind.edge.v1 import frames_pb2
from eastwind.history.v1 import history_service_pb2, record_pb2
from eastwind.table.v1 import table_service_pb2, view_pb2
from eastwind.type.v1 import action_pb2
from libs.contracts.view_folding import FollowedTable, SequenceGap, follow

PLAYING, READY = view_pb2.TABLE_PHASE_PLAYING, view_pb2.TABLE_PHASE_READY
WIN, PASS = action_pb2.ACTION_TYPE_WIN, action_pb2.ACTION_TYPE_PASS
RULESET = "hkos-3-v1"
_CALL_TRIES = 40


class CallRefused(Exception):
    """A call was answered by an error; ``reason`` is its name."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(f"{reason}: {message}")


class Player:
    """One account with one socket. ``changed`` is called whenever something came in."""

    def __init__(self, session: aiohttp.ClientSession, edges: Sequence[str], edge: int, seed: int) -> None:
        self._session = session
        self._edges = edges
        self._edge = edge
        self._random = random.Random(seed)
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._pending: dict[str, table_service_pb2.TableCommand] = {}
        self._asked: set[tuple[int, int]] = set()
        self.changed: Callable[[], None] = lambda: None
        self.account_id = ""
        self.access_token = ""
        self.refresh_token = ""
        self.table_id = ""
        self.known: FollowedTable | None = None
        self.served: view_pb2.TableUpdate | None = None
        self.plays = True
        """Whether the player answers; one who does not only looks."""
        self.readies = True
        self.ended = False
        """Whether the player has been told that the table is shown no more."""
        self.connections = 0
        self.gaps = 0
        self.sequences: list[int] = []
        self.events: list[tuple[int, Any]] = []
        self.accepted: list[tuple[int, table_service_pb2.TableCommand]] = []
        self.refused: list[tuple[str, int]] = []
        self.ratings: list[frames_pb2.RatingsChanged] = []

    @property
    def view(self) -> view_pb2.TableView:
        """The table as this player knows it."""
        assert self.known is not None
        return self.known.view

    @property
    def is_asked(self) -> bool:
        """Whether the table waits for this player, and for nothing that is on its way."""
        return bool(self.known and self.view.decision.options and not self._pending)

    async def call(self, path: str, body: dict[str, Any], *, tries: int = _CALL_TRIES) -> dict[str, Any]:
        """A unary method over HTTP, at whichever gateway answers. Raises ``CallRefused``."""
        service = path.split("/", maxsplit=1)[0].lower()
        url = f"/api/eastwind.{service}.v1.{path.split('/', maxsplit=1)[0]}Service/{path.split('/', maxsplit=1)[1]}"
        headers = {"Authorization": f"Bearer {self.access_token}"} if self.access_token else {}
        for attempt in range(tries):
            try:
                async with self._session.post(self._here + url, json=body, headers=headers) as response:
                    answer: dict[str, Any] = await response.json()
                    if response.status == 200:
                        return answer
                    if response.status not in (503, 504) or attempt == tries - 1:
                        raise CallRefused(answer.get("reason", ""), answer.get("message", ""))
            except (aiohttp.ClientError, TimeoutError):
                self._edge += 1
                if attempt == tries - 1:
                    raise
            await asyncio.sleep(0.25)
        raise AssertionError("unreachable")

    async def register(self, name: str) -> None:
        """Become a guest."""
        self._take_session((await self.call("Accounts/RegisterGuest", {"name": name}))["session"])

    async def refresh(self) -> None:
        """Renew the session with its refresh token."""
        self._take_session(
            (await self.call("Accounts/RefreshSession", {"refreshToken": self.refresh_token}))["session"]
        )

    async def record(self, record_id: str) -> record_pb2.HandRecord:
        """The record of a finished hand, once history has it."""
        while True:
            try:
                answer = await self.call("History/GetRecord", {"recordId": record_id})
            except CallRefused as refused:
                if refused.reason not in ("NOT_FOUND", "RECORD_UNKNOWN"):
                    raise
                await asyncio.sleep(0.1)
            else:
                return json_format.ParseDict(answer, history_service_pb2.GetRecordResponse()).record

    async def wait_for_ratings(self, units: list[str], within_s: float = 30.0) -> None:
        """Wait until exactly these units, newest first, have changed this player's rating. Raises ``TimeoutError``."""
        found: list[str] = []
        try:
            async with asyncio.timeout(within_s):
                while True:
                    answer = await self.call("Ratings/GetHistory", {"accountId": self.account_id, "ruleset": RULESET})
                    found = [change["unitId"] for change in answer.get("changes", [])]
                    if found == units:
                        return
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise TimeoutError(f"rated were {found}, not {units}") from None

    async def run(self) -> None:
        """Stay connected and play, until cancelled."""
        while True:
            try:
                url = f"{self._here}/ws"
                async with self._session.ws_connect(
                    url, protocols=("eastwind.v1.proto",), headers={"Origin": self._here}, max_msg_size=1 << 20
                ) as self._socket:
                    self.connections += 1
                    await self._send(hello=frames_pb2.Hello(access_token=self.access_token))
                    async for message in self._socket:
                        await self._take(frames_pb2.ServerFrame.FromString(message.data))
            except (aiohttp.ClientError, ConnectionError):
                pass
            self._socket = None
            self._edge += 1
            await asyncio.sleep(0.1)

    async def resync(self) -> None:
        """Ask for the whole view; it comes into ``served``."""
        self.served = None
        await self._send(resync_table=frames_pb2.ResyncTable(table_id=self.table_id))

    @property
    def _here(self) -> str:
        return self._edges[self._edge % len(self._edges)]

    def _take_session(self, session: dict[str, Any]) -> None:
        self.account_id, self.access_token = session["accountId"], session["accessToken"]
        self.refresh_token = session["refreshToken"]

    async def _send(self, **frame: Any) -> None:
        if self._socket is not None and not self._socket.closed:
            await self._socket.send_bytes(frames_pb2.ClientFrame(**frame).SerializeToString())

    async def _take(self, frame: frames_pb2.ServerFrame) -> None:
        name = frame.WhichOneof("frame")
        if name == "welcome":
            last = None if self.known is None else self.known.sequence
            await self._send(watch_table=frames_pb2.WatchTable(table_id=self.table_id, last_sequence=last))
            for command in self._pending.values():
                await self._send(command=frames_pb2.CommandTable(table_id=self.table_id, command=command))
        elif name == "probe":
            await self._send(probe_answer=frames_pb2.ProbeAnswer(id=frame.probe.id))
        elif name == "answer":
            self._answered(frame.answer)
            await self.play()
        elif name == "table":
            await self._update(frame.table)
        elif name == "table_ended":
            self.ended = True
            await self._send(watch_table=frames_pb2.WatchTable(table_id=self.table_id))
        elif name == "ratings":
            self.ratings.append(frame.ratings)
        self.changed()

    async def _update(self, update: view_pb2.TableUpdate) -> None:
        try:
            known = follow(self.known, update)
        except SequenceGap:
            self.gaps += 1
            await self._send(resync_table=frames_pb2.ResyncTable(table_id=self.table_id))
            return
        if update.HasField("view"):
            self.served = update
            # Whatever was asked before is asked again by the view.
            self._asked.clear()
        if known is not self.known:
            self.events += [(known.view.hand, event) for event in update.events]
            self.sequences.append(known.sequence)
        self.known = known
        await self.play()

    def _answered(self, answer: frames_pb2.CommandAnswer) -> None:
        command = self._pending.pop(answer.command_id, None)
        if command is None:
            return
        if answer.reason:
            self.refused.append((answer.command_id, answer.reason))
            self._asked.clear()
        else:
            self.accepted.append((self.view.hand, command))

    async def play(self) -> None:
        """Answer what the view asks, once."""
        if not self.plays or self.known is None or self._pending:
            return
        view = self.view
        if view.phase == READY and self.readies and not view.seats[view.viewer].ready:
            # A view shows the hand that was played until the next one begins.
            coming = view.hand + 1 if view.HasField("settled") else view.hand
            await self._command(coming, 0, ready=table_service_pb2.Ready(hand=coming))
        elif view.phase == PLAYING and view.decision.options and not view.decision.HasField("held"):
            options = [option.action for option in view.decision.options]
            wins = [action for action in options if action.type == WIN]
            passes = [action for action in options if action.type == PASS]
            action = self._random.choice(wins or passes or options)
            decision = view.decision.decision
            choose = table_service_pb2.Choose(decision=decision, action=action)
            await self._command(view.hand, decision, choose=choose)

    async def _command(self, hand: int, decision: int, **command: Any) -> None:
        if (hand, decision) in self._asked:
            return
        self._asked.add((hand, decision))
        command_id = uuid.uuid4().hex
        self._pending[command_id] = table_service_pb2.TableCommand(command_id=command_id, **command)
        await self._send(command=frames_pb2.CommandTable(table_id=self.table_id, command=self._pending[command_id]))


class Four:
    """Four players at one table of their own. `async with` seats and connects them; they play until it ends."""

    def __init__(self, edges: Sequence[str], *, speed: str = "SPEED_STANDARD", rated: bool = False) -> None:
        self._edges = edges
        self._speed = speed
        self._rated = rated
        self._exits = AsyncExitStack()
        self._moved = asyncio.Event()
        self.table_id = ""
        self.players: list[Player] = []

    async def __aenter__(self) -> Self:
        self.session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=10))
        await self._exits.enter_async_context(self.session)
        self.players = [Player(self.session, self._edges, seat, seat) for seat in range(4)]
        for number, player in enumerate(self.players):
            player.changed = self._moved.set
            await player.register(f"Player {uuid.uuid4().hex[:6]}{number}")
        settings = {"ruleset": RULESET, "speed": self._speed, "rated": self._rated}
        body = {"requestId": uuid.uuid4().hex, "settings": settings}
        self.table_id = (await self.players[0].call("Matchmaking/CreateTable", body))["tableId"]
        for player in self.players[1:]:
            await self._join(player)
        for player in self.players:
            player.table_id = self.table_id
            self._start(player)
        return self

    async def _join(self, player: Player) -> None:
        while True:
            try:
                await player.call("Matchmaking/JoinTable", {"tableId": self.table_id})
            except CallRefused as refused:
                # The lobby learns of a new table by its event.
                if refused.reason != "TABLE_UNKNOWN":
                    raise
                await asyncio.sleep(0.05)
            else:
                return

    def _start(self, player: Player) -> None:
        task = asyncio.ensure_future(player.run())

        async def end() -> None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        self._exits.push_async_callback(end)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._exits.aclose()

    async def until(self, true: Callable[[], bool], within_s: float = 30.0) -> None:
        """Wait until something is true of the players. Raises ``TimeoutError`` with what they know."""
        try:
            async with asyncio.timeout(within_s):
                while not true():
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            raise TimeoutError("; ".join(map(_about, self.players))) from None

    @property
    def discards(self) -> int:
        """How many discards the players have been told of in all hands, as the best informed of them knows."""
        return max(
            sum(event.WhichOneof("event") == "tile_discarded" for _, event in each.events) for each in self.players
        )

    async def play_on(self, discards: int, within_s: float = 30.0) -> None:
        """Return after so many more discards."""
        goal = self.discards + discards
        await self.until(lambda: self.discards >= goal, within_s)

    async def finish_hand(self, within_s: float = 60.0) -> int:
        """Let the running hand end and hold the players before the next one; returns the number of the ended hand."""
        hand = max(player.view.hand for player in self.players if player.known is not None)
        for player in self.players:
            player.readies = False
        await self.until(lambda: all(each.known and each.view.HasField("settled") for each in self.players), within_s)
        return hand

    def hold(self) -> None:
        """Let the players only look, from now on."""
        for player in self.players:
            player.plays = False

    async def go_on(self) -> None:
        """Let them play again."""
        for player in self.players:
            player.plays = True
            await player.play()

    async def next_hand(self) -> None:
        """Say ready again."""
        for player in self.players:
            player.readies = True
            await player.play()
        await self.until(lambda: all(player.view.phase == PLAYING for player in self.players))

    async def compare_with_server(self) -> None:
        """Every player's own model equals what the server shows that player when asked for the whole view.

        The table must be quiet.
        """
        own = [player.known for player in self.players]
        for player in self.players:
            await player.resync()
        await self.until(lambda: all(player.served is not None for player in self.players))
        for player, known in zip(self.players, own, strict=True):
            assert known is not None
            assert player.served is not None
            assert known.sequence == player.served.sequence
            assert known.view == player.served.view

    async def check_record(self, hand: int) -> record_pb2.HandRecord:
        """Every accepted action of the hand is in its record; returns the record."""
        async with asyncio.timeout(30):
            record = await self.players[0].record(f"{self.table_id}-{hand}")
        discards: list[tuple[int, int]] = []
        winners: list[int] = []
        for recorded in record.events:
            event = recorded.event
            if event.WhichOneof("event") == "tile_discarded":
                discards.append((event.tile_discarded.seat, event.tile_discarded.tile))
            elif event.WhichOneof("event") == "hand_won":
                winners.append(event.hand_won.seat)
        assert len(set(discards)) == len(discards), "a tile was discarded twice"
        for player in self.players:
            seat = player.view.viewer
            chosen = [
                command.choose.action for at, command in player.accepted if at == hand and command.HasField("choose")
            ]
            for action in chosen:
                if action.type == action_pb2.ACTION_TYPE_DISCARD:
                    assert (seat, action.tiles[0]) in discards, f"seat {seat}'s accepted discard {action} is lost"
            if any(action.type == WIN for action in chosen):
                assert winners, "an accepted win is lost"
        return record

    def timeouts(self) -> list[Any]:
        """What the players were told of seats that did not answer in time."""
        return [
            event for each in self.players for _, event in each.events if event.WhichOneof("event") == "seat_timed_out"
        ]

    def granted_ms(self) -> int:
        """How much time the table has given back, as the first player was told."""
        return sum(
            event.outage_granted.outage_ms
            for _, event in self.players[0].events
            if event.WhichOneof("event") == "outage_granted"
        )


def _about(player: Player) -> str:
    if player.known is None:
        return f"{player.account_id}: no view yet, {player.connections} connections"
    view = player.view
    return (
        f"{player.account_id}: hand {view.hand}, phase {view.phase}, sequence {player.known.sequence}, decision "
        f"{view.decision.decision} of seat {view.decision.seat} with {len(view.decision.options)} options, "
        f"{len(player.accepted)} accepted, {len(player.refused)} refused, {player.connections} connections"
    )
