"""A port closes whatever its clients do, and nobody is left hanging on it."""

from __future__ import annotations

import asyncio
import socket

import pytest
from aiohttp import web

from libs.chassis.http_port import HttpPort

LOOPBACK = "127.0.0.1"
REQUEST = b"GET / HTTP/1.1\r\nHost: eastwind\r\n\r\n"


class Page:
    """Answers `/`, and says when it was asked; until `answer` is set it lets whoever asks wait."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.answer = asyncio.Event()
        self.app = web.Application()
        self.app.router.add_get("/", self._serve)

    async def _serve(self, _request: web.Request) -> web.Response:
        self.asked.set()
        await self.answer.wait()
        return web.Response(text="here")


async def rest_of(reader: asyncio.StreamReader) -> bytes:
    """What comes until the other side closes."""
    try:
        return await reader.read()
    except ConnectionError:
        return b""


async def connect_while_it_closes(turns: int) -> None:
    """Connect and ask, and let the port close so many turns of the loop after the kernel took the connection."""
    page = Page()
    page.answer.set()
    # A connection that does not end by itself would be cut too late for this test.
    port = HttpPort(page.app, answer_s=100)
    number = await port.start(LOOPBACK, 0)
    # The kernel takes the connection at once; the loop comes to it in the turns that follow.
    client = socket.create_connection((LOOPBACK, number))
    client.setblocking(False)
    for _ in range(turns):
        await asyncio.sleep(0)
    stopping = asyncio.ensure_future(port.stop())
    reader, writer = await asyncio.open_connection(sock=client)
    writer.write(REQUEST)
    async with asyncio.timeout(30):
        answer = await rest_of(reader)
        await stopping
    writer.close()
    assert answer == b"" or answer.endswith(b"here")
    assert not port.connections


@pytest.mark.parametrize("turns", range(30))
async def test_a_connection_that_comes_while_the_port_closes_is_answered_or_closed(turns: int) -> None:
    await connect_while_it_closes(turns)


async def test_a_request_in_hand_is_answered_before_its_connection_closes() -> None:
    page = Page()
    port = HttpPort(page.app)
    reader, writer = await asyncio.open_connection(LOOPBACK, await port.start(LOOPBACK, 0))
    writer.write(REQUEST)
    await page.asked.wait()
    stopping = asyncio.get_running_loop().create_task(port.stop())
    page.answer.set()
    assert (await rest_of(reader)).endswith(b"here")
    await stopping
    writer.close()


async def test_a_request_that_is_never_answered_does_not_hold_the_port_open() -> None:
    page = Page()
    port = HttpPort(page.app, answer_s=0.1)
    reader, writer = await asyncio.open_connection(LOOPBACK, await port.start(LOOPBACK, 0))
    writer.write(REQUEST)
    await page.asked.wait()
    async with asyncio.timeout(30):
        await port.stop()
    assert await rest_of(reader) == b""
    assert not port.connections
    writer.close()


async def test_a_port_that_is_taken_says_so_and_can_be_stopped() -> None:
    first, second = HttpPort(Page().app), HttpPort(Page().app)
    number = await first.start(LOOPBACK, 0)
    with pytest.raises(OSError, match="address already in use"):
        await second.start(LOOPBACK, number)
    await second.stop()
    await first.stop()
