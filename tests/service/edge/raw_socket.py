"""A bare socket at the edge, for what no well-behaved client does."""

from __future__ import annotations

import asyncio
import base64
import os
from types import TracebackType
from typing import Final, Self

import aiohttp

from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from libs.contracts.reasons import reason_name
from services.cli.edge_client import SUBPROTOCOL

PATIENCE_S: Final = 30.0


class RawSocket:
    """``async with RawSocket(http, url) as socket``: sends frames as they are and reads one after another."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http = http
        self._url = url

    async def __aenter__(self) -> Self:
        self.ws = await self._http.ws_connect(
            f"{self._url}/ws", protocols=(SUBPROTOCOL,), headers={"Origin": self._url}, autoping=True
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.ws.close()

    async def hello(self, access_token: str) -> frames_pb2.ServerFrame:
        """Say hello; returns the first frame of the server."""
        await self.send(frames_pb2.ClientFrame(hello=frames_pb2.Hello(access_token=access_token)))
        return await self.next()

    async def send(self, frame: frames_pb2.ClientFrame) -> None:
        await self.ws.send_bytes(frame.SerializeToString())

    async def watch(self, table_id: str) -> None:
        await self.send(frames_pb2.ClientFrame(watch_table=frames_pb2.WatchTable(table_id=table_id)))

    async def command(self, table_id: str, command: table_pb2.TableCommand) -> frames_pb2.CommandAnswer:
        """Send a command; returns the answer to it."""
        await self.send(frames_pb2.ClientFrame(command=frames_pb2.CommandTable(table_id=table_id, command=command)))
        return (await self.until("answer")).answer

    async def next(self) -> frames_pb2.ServerFrame:
        """The next frame. Raises ``ConnectionError`` when the server has closed."""
        async with asyncio.timeout(PATIENCE_S):
            message = await self.ws.receive()
        if message.type is not aiohttp.WSMsgType.BINARY:
            raise ConnectionError(f"closed with {self.ws.close_code}")
        return frames_pb2.ServerFrame.FromString(message.data)

    async def until(self, name: str) -> frames_pb2.ServerFrame:
        """The next frame of that kind; others are passed over."""
        while True:
            frame = await self.next()
            if frame.WhichOneof("frame") == name:
                return frame

    async def farewell(self) -> tuple[str, int | None]:
        """Read to the end; returns the reason of the goodbye and the code of the close."""
        reason = ""
        while True:
            try:
                frame = await self.next()
            except ConnectionError:
                return reason, self.ws.close_code
            if frame.HasField("goodbye"):
                reason = reason_name(frame.goodbye.reason)


def upgrade(host: str) -> bytes:
    """The request that opens a socket, for whoever writes to the connection itself."""
    key = base64.b64encode(os.urandom(16)).decode()
    return (
        f"GET /ws HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    ).encode()


def masked(frame: frames_pb2.ClientFrame) -> bytes:
    """A binary WebSocket frame of a client."""
    payload = frame.SerializeToString()
    size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
    return b"\x82" + size + bytes(4) + payload
