"""The public port: the page, the calls, and the upgrade to a socket."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import structlog
from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from eastwind.type.v1 import reason_pb2
from libs.chassis.client_address import network_of
from libs.chassis.clocks import Clock
from libs.chassis.http_port import HttpPort
from services.gateway.calls import MOST_BODY_BYTES, Calls, client_address
from services.gateway.settings import GatewaySettings
from services.gateway.sockets import BINARY, JSON, PlayerSocket
from services.gateway.surroundings import Surroundings

_CONTENT_POLICY: Final = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; connect-src 'self' ws: wss:; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
KEEP_ALIVE_S: Final = 75.0
"""So long a connection may be quiet between two requests."""
_FOREVER: Final = "public, max-age=31536000, immutable"
_log = structlog.get_logger(__name__)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Edge:
    """The HTTP application that players reach, and the sockets that are open on it."""

    def __init__(self, settings: GatewaySettings, around: Surroundings, calls: Calls, clock: Clock) -> None:
        self._settings = settings
        self._around = around
        self._calls = calls
        self._clock = clock
        self.sockets: set[PlayerSocket] = set()
        self.draining = False
        self._by_address: Counter[str] = Counter()
        self._have_asked: set[RequestHandler] = set()
        self._empty = asyncio.Event()
        self.port = 0
        self._dist = Path(settings.web_dist)
        self.app = web.Application(client_max_size=MOST_BODY_BYTES, middlewares=[self._note_request, _with_headers])
        self.app.router.add_get("/ws", self._open_socket)
        self.app.router.add_post("/api/{path:[A-Za-z0-9.]+/[A-Za-z]+}", calls.serve)
        self.app.router.add_get("/", self._page)
        self.app.router.add_get("/{path:.+}", self._file)
        self._port = HttpPort(self.app, keepalive_timeout=KEEP_ALIVE_S)

    async def start(self) -> int:
        """Listen; returns the port. Raises OSError when it is taken."""
        self.port = await self._port.start(self._settings.edge_host, self._settings.edge_port)
        return self.port

    async def stop(self) -> None:
        """Close the port and cut whatever is still open."""
        await self._port.stop()

    async def cut_silent_connections(self) -> None:
        """Cut connections whose first request does not come, or not to its end, until cancelled: each would hold a
        place of this process for as long as its client likes."""
        before: AbstractSet[RequestHandler] = set()
        while True:
            await asyncio.sleep(self._settings.call_header_s)
            now = self._port.connections
            self._have_asked &= now
            for silent in (before & now) - self._have_asked:
                if silent.transport is not None:
                    silent.transport.close()
            before = now

    @web.middleware
    async def _note_request(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        self._have_asked.add(request.protocol)
        return await handler(request)

    async def drain(self, reason: reason_pb2.Reason.ValueType, detail: str, grace_s: float) -> None:
        """Take no new sockets, tell the open ones to come again elsewhere at slightly different times, and wait."""
        self.draining = True
        for place, socket in enumerate(tuple(self.sockets)):
            socket.close(reason, detail, 200 + 37 * place % 3_000)
        if self.sockets:
            self._empty.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace_s):
                    await self._empty.wait()

    async def _open_socket(self, request: web.Request) -> web.StreamResponse:
        refusal = self._refusal(request)
        if refusal is not None:
            return refusal
        ws = web.WebSocketResponse(
            protocols=(BINARY, JSON),
            max_msg_size=self._settings.socket_frame_bytes,
            compress=False,
            autoping=False,
            timeout=2.0,
        )
        await ws.prepare(request)
        transport = request.transport
        socket = PlayerSocket(ws, self._settings, self._around, self._clock, transport)
        self.sockets.add(socket)
        self._around.measures.sockets_opened.inc()
        address = self._address(request)
        self._by_address[address] += 1
        try:
            await socket.run()
        finally:
            self.sockets.discard(socket)
            self._by_address[address] -= 1
            if not self._by_address[address]:
                del self._by_address[address]
            if not self.sockets:
                self._empty.set()
        return ws

    def _refusal(self, request: web.Request) -> web.Response | None:
        """Refuse an upgrade before it is accepted (field case C133)."""
        refused = self._around.measures.socket_refused
        if self.draining or len(self.sockets) >= self._settings.socket_limit:
            refused("no_room")
            return web.Response(status=503, text="no room here now; try again", headers={"Retry-After": "1"})
        if self._by_address[self._address(request)] >= self._settings.socket_limit_per_address:
            refused("address")
            return web.Response(status=429, text="too many connections from your address")
        if "token" in request.query_string or "access_token" in request.query_string:
            refused("token")
            return web.Response(status=400, text="a token belongs into the first message, never into the address")
        origin = request.headers.get("Origin")
        if origin is None or not self._is_allowed(origin, request.host):
            refused("origin")
            return web.Response(status=403, text="this origin may not open a socket")
        offered = {part.strip() for part in request.headers.get("Sec-WebSocket-Protocol", "").split(",")}
        if not offered & {BINARY, JSON}:
            refused("subprotocol")
            return web.Response(status=400, text=f"offer the subprotocol {BINARY} or {JSON}")
        return None

    def _address(self, request: web.Request) -> str:
        return network_of(client_address(request, self._settings.proxies))

    def _is_allowed(self, origin: str, host: str) -> bool:
        if self._settings.allowed_origins:
            return origin in self._settings.allowed_origins
        try:
            return urlsplit(origin).netloc == host
        except ValueError:
            return False

    async def _page(self, request: web.Request) -> web.StreamResponse:
        return self._index(request)

    async def _file(self, request: web.Request) -> web.StreamResponse:
        """Serve a file of the built client; any other path without a dot is a place within the page."""
        try:
            path = (self._dist / request.match_info["path"]).resolve()
            found = path.is_relative_to(self._dist.resolve()) and path.is_file()
        except (OSError, ValueError):
            # No file system has such a name.
            raise web.HTTPNotFound from None
        if found:
            cache = _FOREVER if "/assets/" in request.path else "no-cache"
            return web.FileResponse(path, headers={"Cache-Control": cache})
        if "." in request.match_info["path"].rsplit("/", 1)[-1] or request.path.startswith("/api/"):
            raise web.HTTPNotFound
        return self._index(request)

    def _index(self, request: web.Request) -> web.Response:
        index = self._dist / "index.html"
        try:
            page = index.read_bytes()
        except FileNotFoundError:
            return web.Response(status=503, text="The browser client is not built; run `make web`.")
        tag = f'"{hashlib.sha256(page).hexdigest()[:16]}"'
        headers = {"Cache-Control": "no-cache", "ETag": tag}
        if request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers=headers)
        return web.Response(body=page, content_type="text/html", charset="utf-8", headers=headers)


@web.middleware
async def _with_headers(request: web.Request, handler: Handler) -> web.StreamResponse:
    response = await handler(request)
    if not response.prepared:
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
    return response
