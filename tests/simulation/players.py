"""A simulated player: knows its table from the frames that reach it, and from nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final, Protocol

from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import view_pb2
from eastwind.type.v1 import reason_pb2
from libs.contracts.view_folding import any_person_ready, apply_event, coming_hand
from libs.mahjong.fairness import commit
from tests.simulation.edge import Connection
from tests.simulation.play import choose
from tests.simulation.trace import Trace
from tests.simulation.virtual_time import VirtualLoop

ANSWER_WITHIN_S: Final = 4.0
"""A command that has no answer by then is sent again over a new connection."""
SILENCE_S: Final = 8.0
"""A player who hears nothing for so long connects anew."""
_TRY_AGAIN: Final = frozenset(
    (
        reason_pb2.REASON_UNAVAILABLE,
        reason_pb2.REASON_INTERNAL,
        reason_pb2.REASON_RATE_LIMITED,
        reason_pb2.REASON_NOT_OWNER,
        reason_pb2.REASON_DRAINING,
        reason_pb2.REASON_GOING_AWAY,
    )
)


@dataclass(frozen=True, slots=True)
class Nature:
    """How a player behaves: chances per decision, seconds to think."""

    thinks_s: tuple[float, float] = (0.01, 0.2)
    slow_chance: float = 0.01
    slow_s: tuple[float, float] = (1.0, 4.0)
    silent_chance: float = 0.01


@dataclass(slots=True)
class Asked:
    """A decision as the player met it, in seconds of the simulation. ``trouble`` tells that the player's own connection
    broke meanwhile; ``command_id`` is that of the answer. For ``unheard_s`` no frame had come before it was seen."""

    seen_s: float
    sent_s: float | None = None
    command_id: str = ""
    trouble: bool = False
    unheard_s: float = 0.0


class Town(Protocol):
    """What a player finds around it."""

    @property
    def closing(self) -> bool:
        """True when no new hand shall begin."""

    def connect(self, player: Player) -> Connection: ...


@dataclass(eq=False)
class Player:
    """One seat's holder."""

    loop: VirtualLoop
    town: Town
    trace: Trace
    account: str
    token: str
    table_id: str
    seat: int
    nature: Nature
    chance: Random
    view: view_pb2.TableView | None = None
    sequence: int = 0
    acknowledged: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    refusals: Counter[str] = field(default_factory=Counter)
    asked: dict[int, Asked] = field(default_factory=dict)
    connections: int = 0
    gaps: int = 0
    ended: str = ""
    _connection: Connection | None = None
    _unanswered: dict[str, table_pb2.TableCommand] = field(default_factory=dict)
    _waiting: dict[str, asyncio.TimerHandle] = field(default_factory=dict)
    _nonces: dict[bytes, bytes] = field(default_factory=dict)
    _numbers: int = 0
    _heard_at: float = 0.0
    _frame_at: float = 0.0
    _unheard_s: float = 0.0
    _sealed_for: int = 0
    _ready_for: bytes = b""
    _left: bool = False

    def start(self) -> None:
        """Sit down in front of the screen."""
        self._reconnect()
        self.loop.call_later(SILENCE_S, self._listen)

    # What the connection tells:

    def heard(self, connection: Connection, frame: bytes) -> None:
        """A frame came."""
        if connection is not self._connection:
            return
        self._heard_at = self.loop.time()
        self._unheard_s, self._frame_at = self._heard_at - self._frame_at, self._heard_at
        update = frames_pb2.ServerFrame.FromString(frame).table
        if self._fold(update):
            self._consider()
        else:
            self.gaps += 1
            connection.resync()

    def answered(self, connection: Connection, answer: table_pb2.Answer) -> None:
        """An answer to a command came."""
        self._heard_at = self.loop.time()
        command_id = answer.command_id
        if command_id not in self._unanswered:
            return
        if not answer.reason:
            del self._unanswered[command_id]
            self._waiting.pop(command_id).cancel()
            self.acknowledged.append(command_id)
        elif answer.reason in _TRY_AGAIN:
            self.loop.call_later(self.chance.uniform(0.2, 0.5), self._again, command_id)
        else:
            command = self._unanswered.pop(command_id)
            self._waiting.pop(command_id).cancel()
            reason = reason_pb2.Reason.Name(answer.reason)
            self.refused[command_id] = reason
            self.refusals[f"{command.WhichOneof('command')} {reason}"] += 1
            self._consider()

    def cut_off(self, connection: Connection, reason: str) -> None:
        """The connection is over."""
        if connection is not self._connection:
            return
        self._connection = None
        for asked in self.asked.values():
            if asked.sent_s is None or asked.command_id in self._unanswered:
                asked.trouble = True
        if reason in ("REASON_TABLE_UNKNOWN", "REASON_TABLE_CLOSED", "REASON_PERMISSION_DENIED"):
            self.ended = reason
        else:
            self.loop.call_later(self.chance.uniform(0.05, 0.4), self._reconnect)

    # What the player does:

    def _reconnect(self) -> None:
        if self._connection is not None:
            return
        self.connections += 1
        self._heard_at = self.loop.time()
        self._connection = self.town.connect(self)
        self._connection.watch(self.table_id, self.token, None if self.view is None else self.sequence)
        for command in self._unanswered.values():
            self._connection.send(command)

    def _listen(self) -> None:
        """Connect anew after a long silence."""
        if self.ended:
            return
        connection = self._connection
        if connection is not None and self.loop.time() - self._heard_at > SILENCE_S:
            connection.broke("silence")
        self.loop.call_later(SILENCE_S / 2, self._listen)

    def _fold(self, update: view_pb2.TableUpdate) -> bool:
        """Take an update in; ``False`` when the whole view is needed."""
        view = self.view
        if update.HasField("view"):
            self.view = view_pb2.TableView()
            self.view.CopyFrom(update.view)
            self.sequence = update.sequence
            return True
        if view is None:
            return False
        if update.sequence < self.sequence or (update.events and update.sequence == self.sequence):
            return True
        if self.sequence + len(update.events) != update.sequence:
            return False
        for event in update.events:
            apply_event(view, event)
        if update.events:
            view.ClearField("decision")
            if update.HasField("decision"):
                view.decision.CopyFrom(update.decision)
        for seat, connected in zip(view.seats, update.connected, strict=False):
            seat.connected = connected
        self.sequence = update.sequence
        return True

    def _consider(self) -> None:
        """Do what the newest view asks for."""
        view = self.view
        if view is None or not view.HasField("viewer"):
            return
        if view.phase == view_pb2.TABLE_PHASE_PLAYING:
            if view.decision.options and view.decision.decision not in self.asked:
                self._think(view.decision.decision)
        elif view.phase != view_pb2.TABLE_PHASE_CLOSED and not self.town.closing:
            self._prepare(view)

    def _think(self, decision: int) -> None:
        self.asked[decision] = Asked(self.loop.time(), unheard_s=self._unheard_s)
        nature, draw = self.nature, self.chance.random()
        if draw < nature.silent_chance:
            return
        slow = draw < nature.silent_chance + nature.slow_chance
        self._later(self.chance.uniform(*(nature.slow_s if slow else nature.thinks_s)), self._choose, decision)

    def _choose(self, decision: int) -> None:
        view = self.view
        if view is None or view.decision.decision != decision or not view.decision.options:
            return
        action = choose(view, self.seat, self.chance)
        command_id = self._send(table_pb2.TableCommand(choose=table_pb2.Choose(decision=decision, action=action)))
        asked = self.asked[decision]
        asked.sent_s, asked.command_id = self.loop.time(), command_id

    def _prepare(self, view: view_pb2.TableView) -> None:
        """Seal a nonce and say ready."""
        own, hand = view.seats[self.seat], coming_hand(view)
        if own.ready:
            return
        if not own.nonce_commitment and not any_person_ready(view) and self._sealed_for != hand:
            self._sealed_for = hand
            seal = table_pb2.CommitNonce(hand=hand, commitment=self._seal())
            self._send(table_pb2.TableCommand(commit_nonce=seal))
        elif view.phase == view_pb2.TABLE_PHASE_READY and self._ready_for != view.commitment:
            self._ready_for = view.commitment
            self._later(self.chance.uniform(0.02, 0.3), self._say_ready, view.commitment)

    def _say_ready(self, commitment: bytes) -> None:
        view = self.view
        if view is None or view.commitment != commitment or view.phase != view_pb2.TABLE_PHASE_READY:
            return
        nonce = self._nonces.get(view.seats[self.seat].nonce_commitment, b"")
        ready = table_pb2.Ready(hand=coming_hand(view), nonce=nonce, next_commitment=self._seal())
        self._send(table_pb2.TableCommand(ready=ready))

    def leave(self) -> None:
        """Give the seat up."""
        if not self._left:
            self._left = True
            self._send(table_pb2.TableCommand(leave_seat=table_pb2.LeaveSeat()))

    def _seal(self) -> bytes:
        nonce = self.chance.randbytes(32)
        seal = commit(nonce)
        self._nonces[seal] = nonce
        return seal

    def _send(self, command: table_pb2.TableCommand) -> str:
        self._numbers += 1
        command.command_id = str(self._numbers)
        self._unanswered[command.command_id] = command
        self._again(command.command_id)
        return command.command_id

    def _again(self, command_id: str) -> None:
        command = self._unanswered.get(command_id)
        if command is None:
            return
        if self._connection is not None:
            self._connection.send(command)
        self._wait_for_answer(command_id)

    def _wait_for_answer(self, command_id: str) -> None:
        waiting = self._waiting.get(command_id)
        if waiting is not None:
            waiting.cancel()
        self._waiting[command_id] = self._later(ANSWER_WITHIN_S, self._missing, command_id, self._connection)

    def _missing(self, command_id: str, connection: Connection | None) -> None:
        """No answer came: the connection may be no good."""
        if command_id not in self._unanswered or self.ended:
            return
        if connection is not None and connection is self._connection:
            connection.broke("no answer")
        self._wait_for_answer(command_id)

    def _later(self, seconds: float, act: Callable[..., None], *args: object) -> asyncio.TimerHandle:
        return self.loop.call_later(seconds, act, *args)
