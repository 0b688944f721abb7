"""A port that serves an aiohttp application, and closes within seconds whatever its clients do."""

from __future__ import annotations

import asyncio
from collections.abc import Set as AbstractSet
from typing import Any, Final

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

_TURNS: Final = 20
"""So many turns of the loop a connection needs at most until it waits for its first request."""


class HttpPort:
    """Serves `app` from `start` until `stop`.

    `answer_s` is how long requests in hand may take when the port closes; after as long again their connections are
    cut. `options` are those of aiohttp's `AppRunner`.
    """

    def __init__(self, app: web.Application, *, answer_s: float = 2.0, **options: Any) -> None:
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=answer_s, **options)

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port, a free one when 0 was asked for. Raises `OSError` when it is taken."""
        await self._runner.setup()
        await web.TCPSite(self._runner, host, port).start()
        return int(self._runner.addresses[0][1])

    @property
    def connections(self) -> AbstractSet[RequestHandler]:
        """The open connections; none once the port is closed."""
        server = self._runner.server
        return set() if server is None else set(server.connections)

    async def stop(self) -> None:
        """Close the port, answer the requests in hand, and cut whatever is open after twice `answer_s`."""
        # A connection that was accepted in the turn before the port closes would be forgotten, and its client would
        # hang. What a timer wakes comes after the connections of its turn are made, and before the loop accepts more.
        await asyncio.sleep(0.001)
        for site in tuple(self._runner.sites):
            await site.stop()
        # aiohttp tells each connection once that it closes. One that was accepted a moment ago does not hear it before
        # it waits for a request; it would take no request, and hold its client until it is cut.
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        await self._runner.cleanup()
