"""The socket between a page and its gateway, in the hands of a test: frames are counted, held back, or changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from playwright.async_api import Page, WebSocketRoute

from eastwind.edge.v1 import frames_pb2

_SOCKET: Final = re.compile(r"/ws$")


class Wire:
    """Stands between a page and its gateway. Frames keep their order in each direction."""

    def __init__(self, change: Callable[[frames_pb2.ServerFrame], None] = lambda frame: None) -> None:
        """`change` may change a server's frame in place before the page gets it."""
        self.commands: list[frames_pb2.CommandTable] = []
        self._change = change
        self._to_server: list[bytes] | None = None
        self._to_page: list[bytes] | None = None
        self._sockets: list[tuple[WebSocketRoute, WebSocketRoute]] = []

    async def attach(self, page: Page) -> None:
        """Take the sockets that the page opens from now on."""
        await page.route_web_socket(_SOCKET, self._opened)

    def hold_commands(self) -> None:
        """Keep back the page's commands until `release`; everything else goes on."""
        self._to_server = []

    def hold_updates(self) -> None:
        """Keep back everything that the server sends until `release`."""
        self._to_page = []

    def release(self) -> None:
        """Send what was held back."""
        to_server, self._to_server = self._to_server or [], None
        to_page, self._to_page = self._to_page or [], None
        page, server = self._sockets[-1]
        for frame in to_server:
            server.send(frame)
        for frame in to_page:
            page.send(frame)

    def chosen(self) -> list[frames_pb2.CommandTable]:
        """The answers to decisions that the page has sent."""
        return [each for each in self.commands if each.command.WhichOneof("command") == "choose"]

    def _opened(self, page: WebSocketRoute) -> None:
        server = page.connect_to_server()
        self._sockets.append((page, server))

        def from_page(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            frame = frames_pb2.ClientFrame.FromString(message)
            is_command = frame.WhichOneof("frame") == "command"
            if is_command:
                self.commands.append(frame.command)
            if is_command and self._to_server is not None:
                self._to_server.append(message)
            else:
                server.send(message)

        def from_server(message: str | bytes) -> None:
            assert isinstance(message, bytes)
            frame = frames_pb2.ServerFrame.FromString(message)
            self._change(frame)
            changed = frame.SerializeToString()
            if self._to_page is not None:
                self._to_page.append(changed)
            else:
                page.send(changed)

        page.on_message(from_page)
        server.on_message(from_server)
