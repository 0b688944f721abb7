"""One pipelined connection to one Redis or Valkey server, shared by every task of the process.

All commands of one loop turn leave in one send, and replies are matched by order. That is several times the rate of a
pool and starves nobody: a caller waits for the commands in front of it, never for a free connection.

A caller that gives up (cancelled, or past its deadline) leaves its place in the queue behind, so that the reply that
still comes is matched to it and dropped, and nobody else gets it.
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import parse_qs, unquote, urlsplit

import hiredis
import structlog

from libs.chassis.errors import StoreUnavailable

Argument = bytes | str | int | float
Command = Sequence[Argument]

_log = structlog.get_logger(__name__)


def pack(command: Command) -> bytes:
    """A command as the bytes that the server reads."""
    packed: bytes = hiredis.pack_command(tuple(command))  # type: ignore[arg-type]
    return packed


class StoreReplyError(Exception):
    """The server answered a command with an error; `kind` is its first word (NOSCRIPT, MOVED, WRONGTYPE…)."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text
        self.kind = text.split(" ", 1)[0]


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens, and how to log in."""

    host: str
    port: int
    unix_path: str = ""
    database: int = 0
    user: str = ""
    password: str = field(default="", repr=False)
    tls: bool = False
    authority: str = ""
    """Path of the PEM certificate that a server is checked against over TLS; "" means the system's list."""

    @classmethod
    def parse(cls, url: str) -> Address:
        """From `redis://[[user]:password@]host[:port][/database]`, `rediss://…[?authority=PATH]` or `unix:///path`.

        Raises ValueError with a sentence about what is wrong; the password is not repeated.
        """
        parts = urlsplit(url)
        if parts.scheme not in ("redis", "rediss", "valkey", "valkeys", "unix"):
            raise ValueError("a Redis address begins with redis://, rediss:// or unix://")
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        if parts.scheme == "unix":
            return cls("", 0, unix_path=parts.path, user=user, password=password)
        database = parts.path.strip("/") or "0"
        if not database.isdecimal():
            raise ValueError("the database in a Redis address is a number")
        return cls(
            host=parts.hostname or "127.0.0.1",
            port=parts.port or 6379,
            database=int(database),
            user=user,
            password=password,
            tls=parts.scheme in ("rediss", "valkeys"),
            authority=parse_qs(parts.query).get("authority", [""])[-1],
        )

    @property
    def name(self) -> str:
        return self.unix_path or f"{self.host}:{self.port}"


@dataclass(slots=True)
class _Pending:
    reply: asyncio.Future[Any]
    deadline: float
    sent_at: float
    leads: bool
    """The first command of a send: its round trip is that of the send."""


class _Wire(asyncio.Protocol):
    """The socket of one connection: bytes in, replies to the owner."""

    def __init__(self, owner: Multiplexed) -> None:
        self._owner = owner
        self._reader = hiredis.Reader(replyError=StoreReplyError, protocolError=hiredis.ProtocolError)
        self.transport: asyncio.Transport | None = None
        self.lost: asyncio.Future[BaseException | None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's classes, so this cannot be checked.
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        reader, receive = self._reader, self._owner._receive
        reader.feed(data)
        try:
            while (reply := reader.gets()) is not False:
                receive(self, reply)
        except hiredis.ProtocolError as error:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        if self.transport is not None:
            self.transport.abort()
        self.connection_lost(error if isinstance(error, Exception) else None)

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.lost.done():
            self.lost.set_result(exc)
            self._owner._disconnected(self)


class Multiplexed:
    """A connection that any number of tasks use at once, and that comes back by itself.

    `max_in_flight` bounds the commands that were sent and not answered; further callers wait in order of arrival, at
    most `max_waiting` of them.
    While the server is away, callers wait for it until their own deadline. `on_round_trip` is told the seconds from the
    first command of every send to its reply.
    """

    def __init__(
        self,
        address: Address,
        *,
        deadline_s: float = 2.0,
        max_in_flight: int = 4096,
        max_waiting: int = 65536,
        connect_timeout_s: float = 2.0,
        max_backoff_s: float = 1.0,
        client_name: str = "eastwind",
        tls: ssl.SSLContext | None = None,
        on_round_trip: Callable[[float], None] | None = None,
    ) -> None:
        self.address = address
        self.deadline_s = deadline_s
        self._max_in_flight = max_in_flight
        self._max_waiting = max_waiting
        self._connect_timeout_s = connect_timeout_s
        self._max_backoff_s = max_backoff_s
        self._client_name = client_name
        self._tls = tls or (ssl.create_default_context(cafile=address.authority or None) if address.tls else None)
        self._wire: _Wire | None = None
        self._ready = asyncio.Event()
        self._out: list[bytes] = []
        self._pending: deque[_Pending] = deque()
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._admitted = 0
        self._supervisor: asyncio.Task[None] | None = None
        self._sweeper: asyncio.TimerHandle | None = None
        self._closed = False
        self._on_round_trip = on_round_trip
        self.sends = 0
        self.commands = 0
        self.unanswered = 0
        self.connections_lost = 0

    @property
    def connected(self) -> bool:
        return self._ready.is_set()

    @property
    def in_flight(self) -> int:
        return len(self._pending)

    async def open(self) -> None:
        """Start connecting; returns at once, callers wait for the connection."""
        if self._supervisor is None:
            self._supervisor = asyncio.get_running_loop().create_task(self._supervise(), name="redis-connection")

    async def close(self) -> None:
        """Drop the connection. Whoever still waits gets `StoreUnavailable`."""
        self._closed = True
        if self._supervisor is not None:
            self._supervisor.cancel()
            await asyncio.gather(self._supervisor, return_exceptions=True)
            self._supervisor = None
        wire = self._wire
        if wire is not None and wire.transport is not None:
            wire.transport.abort()
            self._disconnected(wire)
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_exception(StoreUnavailable("the connection was closed", outcome_unknown=False))
        if self._sweeper is not None:
            self._sweeper.cancel()

    async def call(self, *command: Argument, deadline_s: float | None = None) -> Any:
        """Send one command and return its reply (bytes, int, list or None).

        Raises `StoreReplyError` for an error reply and `StoreUnavailable` when there is no reply within the deadline.
        """
        return await self.call_packed(pack(command), deadline_s=deadline_s)

    async def call_packed(self, packed: bytes, *, deadline_s: float | None = None) -> Any:
        """Like `call` for a command that `pack` made."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (self.deadline_s if deadline_s is None else deadline_s)
        if not self._ready.is_set() or len(self._pending) >= self._max_in_flight or self._waiters:
            await self._admission(deadline)
        return await self._enqueue(packed, deadline, loop)

    async def call_pair(self, first: Command, second: Command, *, deadline_s: float | None = None) -> Any:
        """Send two commands back to back with nothing between them; returns the second reply (ASKING needs this)."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (self.deadline_s if deadline_s is None else deadline_s)
        if not self._ready.is_set() or len(self._pending) >= self._max_in_flight or self._waiters:
            await self._admission(deadline)
        head = self._enqueue(pack(first), deadline, loop)
        tail = self._enqueue(pack(second), deadline, loop)
        try:
            await head
        except BaseException:
            tail.cancel()
            raise
        return await tail

    def _enqueue(self, packed: bytes, deadline: float, loop: asyncio.AbstractEventLoop) -> asyncio.Future[Any]:
        reply = loop.create_future()
        leads = not self._out
        if leads:
            loop.call_soon(self._flush)
        self._out.append(packed)
        self._pending.append(_Pending(reply, deadline, loop.time(), leads))
        if self._sweeper is None:
            self._sweeper = loop.call_later(0.05, self._sweep)
        return reply

    def _flush(self) -> None:
        wire = self._wire
        if not self._out or wire is None or wire.transport is None:
            return
        self.sends += 1
        self.commands += len(self._out)
        data = self._out[0] if len(self._out) == 1 else b"".join(self._out)
        self._out.clear()
        wire.transport.write(data)

    def _receive(self, wire: _Wire, reply: Any) -> None:
        if wire is not self._wire or not self._pending:
            return
        answered = self._pending.popleft()
        if answered.leads and self._on_round_trip is not None:
            self._on_round_trip(asyncio.get_running_loop().time() - answered.sent_at)
        future = answered.reply
        if not future.done():
            if isinstance(reply, StoreReplyError):
                future.set_exception(reply)
            else:
                future.set_result(reply)
        if self._waiters:
            self._admit()

    def _admit(self) -> None:
        free = self._max_in_flight - len(self._pending) - self._admitted
        while free > 0 and self._waiters and self._ready.is_set():
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                self._admitted += 1
                free -= 1

    async def _admission(self, deadline: float) -> None:
        """Wait for a connection and a free place."""
        if self._closed:
            raise StoreUnavailable("the connection was closed", outcome_unknown=False)
        loop = asyncio.get_running_loop()
        if len(self._waiters) >= self._max_waiting:
            raise StoreUnavailable("too many callers wait for the store", outcome_unknown=False)
        while True:
            waiter: asyncio.Future[None] = loop.create_future()
            self._waiters.append(waiter)
            try:
                async with asyncio.timeout_at(deadline):
                    await waiter
            except TimeoutError:
                raise StoreUnavailable(f"no connection to {self.address.name} in time", outcome_unknown=False) from None
            finally:
                if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                    self._admitted -= 1
            if self._ready.is_set():
                return

    def _sweep(self) -> None:
        """Give up on behalf of callers whose deadline passed; drop a connection that has stopped answering."""
        self._sweeper = None
        loop = asyncio.get_running_loop()
        now = loop.time()
        for entry in self._pending:
            if entry.deadline <= now and not entry.reply.done():
                self.unanswered += 1
                entry.reply.set_exception(
                    StoreUnavailable(f"no reply from {self.address.name} in time", outcome_unknown=True)
                )
        if self._pending:
            head = self._pending[0]
            if now - head.sent_at > max(2 * self.deadline_s, head.deadline - head.sent_at + 1.0):
                wire = self._wire
                if wire is not None:
                    wire.fail(TimeoutError("the server stopped answering"))
            else:
                self._sweeper = loop.call_later(0.05, self._sweep)

    def _disconnected(self, wire: _Wire) -> None:
        if wire is not self._wire:
            return
        self._wire = None
        self._ready.clear()
        self._out.clear()
        self.connections_lost += not self._closed
        pending, self._pending = self._pending, deque()
        for entry in pending:
            if not entry.reply.done():
                self.unanswered += 1
                entry.reply.set_exception(
                    StoreUnavailable(f"the connection to {self.address.name} was lost", outcome_unknown=True)
                )

    async def _supervise(self) -> None:
        failures = 0
        while True:
            try:
                async with asyncio.timeout(self._connect_timeout_s):
                    wire = await self._connect()
            except (OSError, TimeoutError, StoreReplyError, StoreUnavailable) as error:
                failures += 1
                if failures in (1, 10) or failures % 60 == 0:
                    _log.warning(
                        "store connection failed", address=self.address.name, error=repr(error), tries=failures
                    )
                await asyncio.sleep(random.uniform(0, min(self._max_backoff_s, 0.02 * 2 ** min(failures, 10))))
                continue
            if self._wire is wire:
                failures = 0
                self._ready.set()
                self._admit()
            lost = await wire.lost
            _log.warning("store connection lost", address=self.address.name, error=repr(lost))

    async def _connect(self) -> _Wire:
        loop = asyncio.get_running_loop()
        if self.address.unix_path:
            _, wire = await loop.create_unix_connection(lambda: _Wire(self), self.address.unix_path)
        else:
            _, wire = await loop.create_connection(
                lambda: _Wire(self), self.address.host, self.address.port, ssl=self._tls
            )
        if wire.lost.done():
            raise ConnectionError("the connection was lost at once")
        self._wire = wire
        try:
            await self._greet(loop)
        except BaseException as error:
            wire.fail(error)
            raise
        return wire

    async def _greet(self, loop: asyncio.AbstractEventLoop) -> None:
        deadline = loop.time() + self._connect_timeout_s
        hello: list[Command] = []
        if self.address.password:
            login = (self.address.user, self.address.password) if self.address.user else (self.address.password,)
            hello.append(("AUTH", *login))
        if self.address.database:
            hello.append(("SELECT", self.address.database))
        hello.append(("CLIENT", "SETNAME", self._client_name))
        hello.append(("PING",))
        replies = [self._enqueue(pack(command), deadline, loop) for command in hello]
        results = await asyncio.gather(*replies, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result
