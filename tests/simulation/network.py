"""The network between processes: messages that are late, lost or repeated, streams that break, sides that are cut off.

Calls go through generated stubs on one side and generated handlers on the other, as bytes. What a caller sees of a
fault is what gRPC shows: UNAVAILABLE for a refused or broken connection, DEADLINE_EXCEEDED for silence.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, NoReturn

import grpc
import grpc.aio

from libs.chassis.channels import Channels
from libs.chassis.error_layer import ErrorLayer
from libs.chassis.errors import DeadlineMissing, ErrorAdapter, from_rpc_error
from libs.chassis.transport import PING_EVERY_S, PING_TIMEOUT_S
from tests.simulation.trace import Trace
from tests.simulation.virtual_time import NETWORK, TICK_S, Process, VirtualLoop

KEEPALIVE_S: Final = PING_EVERY_S + PING_TIMEOUT_S
"""A connection that carries nothing for so long is given up."""
MAY_BE_REPEATED: Final = frozenset(("Tick", "CreateTable", "Act", "SettleHand", "Decide", "GetView"))
"""Methods whose requests may come twice."""


@dataclass(slots=True)
class NetworkFaults:
    """How messages fare; the faults of a simulation change it. Seconds for times, chances per message."""

    delay_s: tuple[float, float] = (0.0002, 0.002)
    late_chance: float = 0.0
    late_s: tuple[float, float] = (0.02, 0.3)
    lost_chance: float = 0.0
    repeated_chance: float = 0.0


class _Abort(grpc.aio.AbortError):
    """Ends a handler with a status."""


class _Context:
    """What a handler sees of its call."""

    def __init__(self) -> None:
        self.error: grpc.aio.AioRpcError | None = None

    async def abort(self, code: grpc.StatusCode, details: str = "", trailing_metadata: Any = ()) -> NoReturn:
        self.error = _status(code, details, trailing_metadata)
        raise _Abort(details)


def _status(code: grpc.StatusCode, details: str, trailing: Any = ()) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(*trailing), details=details)


@dataclass(eq=False)
class Server:
    """What a process serves under its address. Handlers are added by the generated ``add_…_to_server``."""

    process: Process
    address: str
    adapters: Sequence[ErrorAdapter] = ()
    methods: dict[str, Any] = field(default_factory=dict)
    open: bool = True

    def add_generic_rpc_handlers(self, handlers: Sequence[Any]) -> None:
        """Generated code gives everything twice; see below."""

    def add_registered_method_handlers(self, service: str, handlers: dict[str, Any]) -> None:
        self.methods.update({f"/{service}/{name}": handler for name, handler in handlers.items()})


@dataclass(eq=False)
class _Call:
    """A unary call on its way."""

    source: Process
    server: Server
    method: str
    request: bytes
    reply: asyncio.Future[bytes]
    handlers: list[asyncio.Task[None]] = field(default_factory=list)


class Network:
    """All processes that talk, by address."""

    def __init__(self, loop: VirtualLoop, chance: Random, trace: Trace) -> None:
        self.faults = NetworkFaults()
        self._loop = loop
        self._chance = chance
        self._trace = trace
        self._servers: dict[str, Server] = {}
        self._calls: list[_Call] = []
        self._streams: list[Stream] = []
        self._cut: set[frozenset[str]] = set()

    def serve(self, server: Server) -> None:
        """Let a process be reached under its address."""
        self._servers[server.address] = server

    def delay(self) -> float:
        """How long the next message is on its way."""
        faults = self.faults
        if faults.late_chance and self._chance.random() < faults.late_chance:
            return self._chance.uniform(*faults.late_s)
        return self._chance.uniform(*faults.delay_s)

    def deliver(self, target: Process, act: Callable[..., object], *args: object) -> None:
        """Have ``act`` happen in ``target`` when the message has come."""
        self._loop.call_later(self.delay(), act, *args, context=target.context)

    def is_cut(self, one: Process, other: Process) -> bool:
        return frozenset((one.name, other.name)) in self._cut

    def cut(self, one: Process, other: Process) -> None:
        """Let nothing pass between two processes until ``mend``."""
        self._cut.add(frozenset((one.name, other.name)))

    def mend(self, one: Process, other: Process) -> None:
        """Let messages pass again; those of streams that did not break meanwhile are sent again."""
        self._cut.discard(frozenset((one.name, other.name)))
        for stream in tuple(self._streams):
            if {stream.source, stream.server.process} == {one, other}:
                stream.mended()

    def vanished(self, process: Process, *, silently: bool) -> None:
        """A process is gone: its machine says so for it, or nobody does (``silently``)."""
        for address, server in tuple(self._servers.items()):
            if server.process is process:
                server.open = False
                if not silently:
                    del self._servers[address]
        wait = KEEPALIVE_S if silently else 0.0
        for stream in tuple(self._streams):
            if process in (stream.source, stream.server.process):
                self._loop.call_later(wait + self.delay(), stream.broke, context=NETWORK.context)
        for call in tuple(self._calls):
            if call.server.process is process and not silently:
                self.deliver(call.source, _fail, call.reply, _status(grpc.StatusCode.UNAVAILABLE, "connection reset"))
            elif call.source is process:
                self._loop.call_later(wait + self.delay(), _end_all, call.handlers, context=NETWORK.context)

    def break_streams(self, one: Process, other: Process) -> None:
        """Break the streams between two processes, which both go on."""
        for stream in tuple(self._streams):
            if {stream.source, stream.server.process} == {one, other}:
                stream.broke()

    def close(self) -> None:
        """Nothing is carried any more."""
        self._servers.clear()
        self._streams.clear()

    async def call(self, source: Process, address: str, method: str, request: bytes, timeout_s: float) -> bytes:
        """Make a unary call; returns the response's bytes. Raises ``grpc.aio.AioRpcError``."""
        server = self._servers.get(address)
        if server is None:
            await asyncio.sleep(self.delay())
            raise _status(grpc.StatusCode.UNAVAILABLE, f"nobody listens at {address}")
        call = _Call(source, server, method, request, self._loop.create_future())
        self._calls.append(call)
        self._request(call)
        name = method.rpartition("/")[2]
        if name in MAY_BE_REPEATED and self._happens(self.faults.repeated_chance):
            self._trace.note(source.name, f"{name} to {server.process.name} goes twice")
            self._request(call)
        try:
            async with asyncio.timeout(timeout_s):
                return await call.reply
        except TimeoutError:
            self.deliver(server.process, _end_all, call.handlers)
            raise _status(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded") from None
        finally:
            self._calls.remove(call)

    def attach(self, source: Process, address: str, method: str, requests: AsyncIterator[bytes]) -> Stream:
        """Open a stream both ways."""
        server = self._servers.get(address) or Server(Process(address), address, open=False)
        stream = Stream(self, self._loop, source, server, method, requests)
        self._streams.append(stream)
        stream.open()
        return stream

    def ended(self, stream: Stream) -> None:
        """A stream is over."""
        if stream in self._streams:
            self._streams.remove(stream)

    def _request(self, call: _Call) -> None:
        server = call.server
        if self._lost(call.source, server.process, call.method):
            return
        self.deliver(server.process, self._arrived, call)

    def _lost(self, source: Process, target: Process, what: str) -> bool:
        if self.is_cut(source, target):
            return True
        if self._happens(self.faults.lost_chance):
            self._trace.note(source.name, f"{what.rpartition('/')[2]} with {target.name} is lost")
            return True
        return False

    def _happens(self, chance: float) -> bool:
        return chance > 0 and self._chance.random() < chance

    def _arrived(self, call: _Call) -> None:
        handler = call.server.methods[call.method]
        work = self._serve(call, handler)
        call.handlers.append(self._loop.create_task(work, name=call.method))

    async def _serve(self, call: _Call, handler: Any) -> None:
        response, error = await _handled(call, handler)
        if self._lost(call.server.process, call.source, call.method):
            return
        if error is not None:
            self.deliver(call.source, _fail, call.reply, error)
        else:
            self.deliver(call.source, _answer, call.reply, response)


async def _handled(call: _Call, handler: Any) -> tuple[bytes, grpc.aio.AioRpcError | None]:
    context = _Context()
    try:
        async with ErrorLayer(call.server.adapters).around(call.method, context):  # type: ignore[arg-type]
            response = await handler.unary_unary(handler.request_deserializer(call.request), context)
            return handler.response_serializer(response), None
    except _Abort:
        pass
    return b"", context.error


def _answer(reply: asyncio.Future[bytes], response: bytes) -> None:
    if not reply.done():
        reply.set_result(response)


def _fail(reply: asyncio.Future[bytes], error: BaseException) -> None:
    if not reply.done():
        reply.set_exception(error)


def _end_all(handlers: list[asyncio.Task[None]]) -> None:
    for task in handlers:
        task.cancel()


_END: Final = object()


class _Way:
    """One direction of a stream: in order, and held back while the two sides are cut off from each other."""

    def __init__(self) -> None:
        self.received: asyncio.Queue[Any] = asyncio.Queue()
        self.held: deque[Any] = deque()
        self.arrives = 0.0


class Stream:
    """A stream both ways. Iterate over it for the responses' bytes."""

    def __init__(
        self,
        network: Network,
        loop: VirtualLoop,
        source: Process,
        server: Server,
        method: str,
        requests: AsyncIterator[bytes],
    ) -> None:
        self.source = source
        self.server = server
        self._network = network
        self._loop = loop
        self._method = method
        self._requests = requests
        self._up, self._down = _Way(), _Way()
        self._over = False
        self._sending: asyncio.Task[None] | None = None
        self._handler: asyncio.Task[None] | None = None
        self._cut_since: float | None = None

    def open(self) -> None:
        """Ask the server to serve it."""
        if not self.server.open:
            self._loop.call_later(self._network.delay(), self.broke, context=NETWORK.context)
            return
        self._sending = self._loop.create_task(self._send(), name="stream-send")
        self._network.deliver(self.server.process, self._opened)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            while True:
                item = await self._down.received.get()
                if item is _END:
                    return
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            self._left()

    def broke(self) -> None:
        """The connection breaks: both sides find out."""
        if self._over:
            return
        self._end()
        self._loop.call_soon(
            self._down.received.put_nowait,
            _status(grpc.StatusCode.UNAVAILABLE, "the stream broke"),
            context=self.source.context,
        )
        self._loop.call_soon(self._stop_serving, context=self.server.process.context)

    def mended(self) -> None:
        """Messages pass again."""
        for way, target in ((self._up, self.server.process), (self._down, self.source)):
            held, way.held = way.held, deque()
            for item in held:
                self._carry(way, target, item)

    def _end(self) -> None:
        self._over = True
        self._network.ended(self)
        if self._sending is not None:
            self._loop.call_soon(self._sending.cancel, context=self.source.context)

    def _left(self) -> None:
        """The client does not listen any more."""
        if not self._over:
            self._end()
            self._network.deliver(self.server.process, self._stop_serving)

    def _opened(self) -> None:
        handler = self.server.methods[self._method]
        if not self._over:
            self._handler = self._loop.create_task(self._serve(handler), name="stream-serve")

    def _stop_serving(self) -> None:
        self._up.received.put_nowait(_END)
        if self._handler is not None:
            self._handler.cancel()

    async def _send(self) -> None:
        async for request in self._requests:
            self._carry(self._up, self.server.process, request)
        self._carry(self._up, self.server.process, _END)

    async def _serve(self, handler: Any) -> None:
        context = _Context()
        end: object = _END
        try:
            async with ErrorLayer(self.server.adapters).around(self._method, context):  # type: ignore[arg-type]
                async for response in handler.stream_stream(self._incoming(handler.request_deserializer), context):
                    self._carry(self._down, self.source, handler.response_serializer(response))
        except _Abort:
            end = context.error
        self._carry(self._down, self.source, end)
        self._end()

    async def _incoming(self, deserialize: Callable[[bytes], Any]) -> AsyncIterator[Any]:
        while (item := await self._up.received.get()) is not _END:
            yield deserialize(item)

    def _carry(self, way: _Way, target: Process, item: Any) -> None:
        """Send a message after those before it."""
        if self._over:
            return
        if way.held or self._network.is_cut(self.source, self.server.process):
            if not way.held:
                self._loop.call_later(KEEPALIVE_S, self._give_up, context=NETWORK.context)
            way.held.append(item)
            return
        way.arrives = max(way.arrives + TICK_S, self._loop.time() + self._network.delay())
        self._loop.call_at(way.arrives, way.received.put_nowait, item, context=target.context)

    def _give_up(self) -> None:
        if self._up.held or self._down.held:
            self.broke()


class SimulatedCall:
    """A unary call: await it for the response."""

    def __init__(self, send: Callable[[], Any]) -> None:
        self._send = send

    def __await__(self) -> Generator[Any, None, Any]:
        return self._response().__await__()

    async def _response(self) -> Any:
        try:
            return await self._send()
        except grpc.aio.AioRpcError as error:
            raise from_rpc_error(error) from None


class SimulatedChannel:
    """A channel for generated stubs."""

    def __init__(self, network: Network, source: Process, addresses: Sequence[str], timeout_s: float | None) -> None:
        self._network = network
        self._source = source
        self._addresses = addresses
        self._timeout_s = timeout_s
        self._next = 0

    def unary_unary(
        self, method: str, request_serializer: Any, response_deserializer: Any, **_: Any
    ) -> Callable[..., SimulatedCall]:
        def call(request: Any, *, timeout: float | None = None) -> SimulatedCall:
            limit = timeout if timeout is not None else self._timeout_s
            if limit is None:
                raise DeadlineMissing(f"{method} was called without a deadline")

            async def send() -> Any:
                raw = request_serializer(request)
                return response_deserializer(await self._network.call(self._source, self._pick(), method, raw, limit))

            return SimulatedCall(send)

        return call

    def stream_stream(
        self, method: str, request_serializer: Any, response_deserializer: Any, **_: Any
    ) -> Callable[..., AsyncIterator[Any]]:
        async def call(requests: AsyncIterator[Any]) -> AsyncIterator[Any]:
            async def serialized() -> AsyncIterator[bytes]:
                async for request in requests:
                    yield request_serializer(request)

            try:
                async for raw in self._network.attach(self._source, self._pick(), method, serialized()):
                    yield response_deserializer(raw)
            except grpc.aio.AioRpcError as error:
                raise from_rpc_error(error) from None

        return call

    def unary_stream(self, method: str, *_: Any, **__: Any) -> Callable[..., Any]:
        return lambda *_: NotImplemented

    stream_unary = unary_stream

    def _pick(self) -> str:
        self._next += 1
        return self._addresses[self._next % len(self._addresses)]


class SimulatedChannels(Channels):
    """The channels of one process over the simulated network."""

    def __init__(self, network: Network, process: Process, services: dict[str, Sequence[str]]) -> None:
        self._network = network
        self._process = process
        self._services = services
        self._made: dict[tuple[str, ...], SimulatedChannel] = {}

    def to(self, service: str, *, idempotent: Collection[str] = (), timeout_s: float | None = None) -> Any:
        return self._to(tuple(self._services[service]), timeout_s)

    def at(self, address: str, *, idempotent: Collection[str] = (), timeout_s: float | None = None) -> Any:
        return self._to((address,), timeout_s)

    def _to(self, addresses: tuple[str, ...], timeout_s: float | None) -> SimulatedChannel:
        channel = self._made.get(addresses)
        if channel is None:
            channel = self._made[addresses] = SimulatedChannel(
                self._network, self._process, addresses, timeout_s or 2.0
            )
        return channel
