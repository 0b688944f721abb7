"""The table store of a simulation: a real server, reached over simulated connections.

A command runs on the real server, with the real scripts, at the virtual moment at which it arrives; the thread waits
for the reply, and the reply is then on its way for a virtual time. ``redis.call('TIME')`` in a script gives virtual
time, which comes along as one more argument.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from random import Random
from typing import Any, Final, Protocol

import hiredis

from libs.chassis.multiplexed import Address, StoreReplyError, pack
from libs.chassis.redis_client import Script
from libs.chassis.table_store.lua import script
from tests.simulation.trace import Trace
from tests.simulation.virtual_time import NETWORK, TICK_S, Process, VirtualLoop, this_process

_TIME: Final = b"redis.call('TIME')"
_VIRTUAL_TIME: Final = b"{math.floor(simulated_ms / 1000), simulated_ms % 1000 * 1000}"
_NEWEST_ID: Final = b"'XADD', KEYS[6], '*'"
_VIRTUAL_ID: Final = b"'XADD', KEYS[6], simulated_ms .. '-*'"
_TOLD_TIME: Final = b"local simulated_ms = table.remove(ARGV)\n"


@dataclass(frozen=True, slots=True)
class Ran:
    """A script that the server ran: its keys, its other arguments, and the reply."""

    process: str
    script: str
    keys: Sequence[bytes]
    arguments: Sequence[bytes]
    reply: Any


class Observer(Protocol):
    """Sees every script that ran."""

    def ran(self, ran: Ran) -> None: ...


@cache
def _scripts() -> dict[bytes, Script]:
    """The table store's scripts by their digest."""
    folder = resources.files("libs.chassis.table_store").joinpath("scripts")
    names = sorted(path.name.removesuffix(".lua") for path in folder.iterdir() if path.name.endswith(".lua"))
    return {each.digest: each for each in map(script, names)}


@cache
def _on_virtual_time(source: bytes) -> Script:
    """The script with the server's clock replaced by the simulation's, which is told as the last argument."""
    return Script.of("virtual", _TOLD_TIME + source.replace(_TIME, _VIRTUAL_TIME).replace(_NEWEST_ID, _VIRTUAL_ID))


@dataclass(slots=True)
class StoreFaults:
    """How the store and the way to it behave; the faults of a simulation change it.

    Seconds for times, and chances per message. ``away`` refuses everybody.
    """

    delay_s: tuple[float, float] = (0.0001, 0.0006)
    slow_chance: float = 0.0
    slow_s: tuple[float, float] = (0.05, 2.5)
    cut_before_chance: float = 0.0
    cut_after_chance: float = 0.0
    away: bool = False


class SimulatedStore:
    """All connections to the one real server at ``url``, which is emptied first and belongs to this simulation."""

    def __init__(self, loop: VirtualLoop, url: str, chance: Random, trace: Trace, observer: Observer) -> None:
        address = Address.parse(url)
        self.faults = StoreFaults()
        self.unreachable: set[str] = set()
        self._loop = loop
        self._chance = chance
        self._trace = trace
        self._observer = observer
        self._connections: list[StoreConnection] = []
        self._closed = False
        self._socket = socket.create_connection((address.host, address.port), timeout=30.0)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for command in ((b"SELECT", b"%d" % address.database), (b"FLUSHDB", b"SYNC"), (b"SCRIPT", b"FLUSH", b"SYNC")):
            assert self.ask(*command) == b"OK"

    def close(self) -> None:
        """Nothing arrives any more."""
        self._closed = True
        self._socket.close()

    def ask(self, *command: bytes) -> Any:
        """Ask the real server something, beside the simulation and at once."""
        replies, _ = self._exchange(pack(command), 1)
        return replies[0]

    async def connect(self, protocol_factory: Any) -> tuple[asyncio.Transport, asyncio.BaseProtocol]:
        """Connect the process that asks. Raises ConnectionRefusedError while the server is away."""
        process = this_process()
        await asyncio.sleep(self._delay())
        if self.faults.away:
            raise ConnectionRefusedError("the store is away")
        if process.name in self.unreachable:
            await asyncio.sleep(60.0)
            raise TimeoutError("the store cannot be reached")
        protocol = protocol_factory()
        connection = StoreConnection(self, process, protocol)
        self._connections = [each for each in self._connections if not each.closed]
        self._connections.append(connection)
        protocol.connection_made(connection)
        return connection, protocol

    def cut_off(self, process: Process) -> None:
        """Let nothing of a process through until ``let_through``; what it writes meanwhile comes late."""
        self.unreachable.add(process.name)

    def let_through(self, process: Process) -> None:
        """Let a process reach the store again."""
        self.unreachable.discard(process.name)
        for connection in self._connections:
            if connection.process is process:
                held, connection.held = connection.held, []
                for data in held:
                    # At once: what is on its way already was written after it, and must not overtake it.
                    self._arrived(connection, data)

    def cut_all(self) -> None:
        """Break every connection; what is on its way is lost."""
        for connection in tuple(self._connections):
            connection.cut()

    def cut(self, process: Process) -> None:
        """Break the connections of a process."""
        for connection in tuple(self._connections):
            if connection.process is process:
                connection.cut()

    def send(self, connection: StoreConnection, data: bytes) -> None:
        """A process wrote: it arrives later, after everything that it wrote before on this connection."""
        at = max(connection.arrives + TICK_S, self._loop.time() + self._delay())
        connection.arrives = at
        self._loop.call_at(at, self._arrived, connection, data, context=NETWORK.context)

    def _delay(self) -> float:
        faults = self.faults
        if faults.slow_chance and self._chance.random() < faults.slow_chance:
            return self._chance.uniform(*faults.slow_s)
        return self._chance.uniform(*faults.delay_s)

    def _arrived(self, connection: StoreConnection, data: bytes) -> None:
        faults = self.faults
        if self._closed or connection.closed or faults.away:
            return
        if connection.held or connection.process.name in self.unreachable:
            # The network sends it again and again: what was written arrives in its order, or the connection ends.
            connection.held.append(data)
            return
        if faults.cut_before_chance and self._chance.random() < faults.cut_before_chance:
            self._trace.note(connection.process.name, "store connection cut before its commands arrived")
            connection.cut()
            return
        raw = self._carry_out(connection.process, data)
        if faults.cut_after_chance and self._chance.random() < faults.cut_after_chance:
            self._trace.note(connection.process.name, "store connection cut before the replies came back")
            connection.cut()
            return
        at = max(connection.replies + TICK_S, self._loop.time() + self._delay())
        connection.replies = at
        self._loop.call_at(at, connection.deliver, raw, context=connection.process.context)

    def _carry_out(self, process: Process, data: bytes) -> bytes:
        """Run what arrived on the real server; returns its raw replies."""
        reader = hiredis.Reader()
        reader.feed(data)
        commands: list[list[bytes]] = []
        while (command := reader.gets()) is not False:
            commands.append(command)
        names = [self._prepare(command) for command in commands]
        replies, raw = self._exchange(b"".join(map(pack, commands)), len(commands))
        for name, command, reply in zip(names, commands, replies, strict=True):
            self._note(process, name, command, reply)
        return raw

    def _prepare(self, command: list[bytes]) -> str:
        """Put virtual time into a script's call; returns the script's name, or the command's."""
        kind = command[0].upper()
        if kind == b"EVALSHA":
            known = _scripts()[command[1]]
            command[1] = _on_virtual_time(known.source).digest
        elif kind == b"EVAL":
            known = _scripts()[Script.of("", command[1]).digest]
            command[1] = _on_virtual_time(known.source).source
        else:
            return kind.decode()
        command.append(b"%d" % self._loop.unix_ms)
        return known.name

    def _note(self, process: Process, name: str, command: list[bytes], reply: Any) -> None:
        if command[0] not in (b"EVALSHA", b"EVAL"):
            return
        if isinstance(reply, StoreReplyError):
            self._trace.note(process.name, f"store {name}: {reply.text}")
            return
        keys = int(command[2])
        ran = Ran(process.name, name, command[3 : 3 + keys], command[3 + keys : -1], reply)
        if name in _TOLD:
            self._trace.note(process.name, f"store {name} {ran.keys[0].decode()} {_brief(reply)}")
        self._observer.ran(ran)

    def _exchange(self, data: bytes, count: int) -> tuple[list[Any], bytes]:
        self._socket.sendall(data)
        reader = hiredis.Reader(replyError=StoreReplyError)
        replies: list[Any] = []
        raw = b""
        while len(replies) < count:
            received = self._socket.recv(1 << 20)
            if not received:
                raise ConnectionError("the real store of the simulation has ended")
            raw += received
            reader.feed(received)
            while (reply := reader.gets()) is not False:
                replies.append(reply)
        return replies, raw


class StoreConnection(asyncio.Transport):
    """A process's end of a connection to the store."""

    def __init__(self, store: SimulatedStore, process: Process, protocol: Any) -> None:
        super().__init__()
        self.process = process
        self.arrives = 0.0
        self.replies = 0.0
        self.closed = False
        self.held: list[bytes] = []
        self._store = store
        self._protocol = protocol

    def write(self, data: Any) -> None:
        if not self.closed:
            self._store.send(self, bytes(data))

    def deliver(self, raw: bytes) -> None:
        """Replies come in."""
        if not self.closed:
            self._protocol.data_received(raw)

    def cut(self) -> None:
        """Break; the process is told."""
        if not self.closed:
            self.closed = True
            loop = self._store._loop
            loop.call_soon(self._protocol.connection_lost, ConnectionResetError("cut"), context=self.process.context)

    def abort(self) -> None:
        self.closed = True

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed


_TOLD: Final = frozenset(("append", "claim", "create", "release", "settle", "set_due", "delete"))


def _brief(reply: Any) -> str:
    """The reply without the bulk of it."""
    if isinstance(reply, list):
        return "[" + " ".join(_brief(each) for each in reply if not isinstance(each, list)) + "]"
    if isinstance(reply, bytes):
        return reply.decode() if len(reply) < 24 else f"<{len(reply)} bytes>"
    return str(reply)
