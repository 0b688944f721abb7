"""Calls and upgrades that no browser makes: each is answered with a reason, none costs the others anything."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from eastwind.edge.v1 import frames_pb2
from eastwind.type.v1 import reason_pb2
from services.cli.edge_client import SUBPROTOCOL
from services.gateway.app import GatewayService
from tests.service.edge.raw_socket import RawSocket
from tests.service.fleet import MATCHMAKING, House, StartFleet, merged

pytestmark = pytest.mark.asyncio(loop_scope="module")

GUEST = "/api/eastwind.accounts.v1.AccountsService/RegisterGuest"
SEAT = f"/api/{MATCHMAKING}/GetSeat"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(start_fleet: StartFleet) -> Fleet:
    return await start_fleet(merged({"gateway": {"call_body_s": 0.5}}))


def post(path: str, body: bytes, *headers: bytes, length: int = -1) -> bytes:
    size = len(body) if length < 0 else length
    lines = [b"POST %s HTTP/1.1" % path.encode(), b"Host: x", b"Content-Type: application/json", *headers]
    return b"\r\n".join([*lines, b"Content-Length: %d" % size, b"", body])


def get(path: str, *headers: bytes) -> bytes:
    return b"\r\n".join([b"GET %s HTTP/1.1" % path.encode(), b"Host: x", *headers, b"", b""])


async def answer(house: House, *parts: bytes) -> tuple[int, bytes]:
    """Send the parts one after another, each as it is; returns the status and what followed."""
    host, port = house.calls.base_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        async with asyncio.timeout(20):
            for part in parts:
                writer.write(part)
                await writer.drain()
                # The next part comes in a packet of its own.
                await asyncio.sleep(0.02)
            head = await reader.readuntil(b"\r\n\r\n")
            return int(head.split(b" ", 2)[1]), head + await reader.read(1000)
    finally:
        writer.close()


async def test_a_body_in_several_packets_is_one_body(house: House) -> None:
    whole = post(GUEST, b'{"name": "Slow Sender"}')
    status, text = await answer(house, whole[:-20], whole[-20:-7], whole[-7:])
    assert status == 200, text
    assert b"Slow Sender" in text


async def test_a_body_that_never_ends_is_refused_in_time(house: House) -> None:
    for begun in (b"", b'{"name"'):
        status, text = await answer(house, post(GUEST, begun, length=60))
        assert status == 400
        assert b"INVALID_ARGUMENT" in text


async def test_bodies_that_cannot_be_read_are_refused(house: House) -> None:
    garbage = post(GUEST, b"no deflate at all", b"Content-Encoding: deflate")
    assert (await answer(house, garbage))[0] == 400
    assert (await answer(house, post(GUEST, b"{}", length=70_000)))[0] == 400


@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: x\r\n"])
async def test_a_connection_that_never_asks_is_cut_while_others_stay(house: House, fleet: Fleet, begun: bytes) -> None:
    gateway: GatewayService = await fleet.add("gateway", call_header_s=0.2)
    url = f"http://{gateway.edge_address}"
    player = await house.guest(url=url)
    host, port = gateway.edge_address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(begun)
        async with asyncio.timeout(20):
            assert await reader.read() == b""
    finally:
        writer.close()
    await player.watch(await house.create(player))
    assert player.connections == 1


@pytest.mark.parametrize("value", [b"Bearer \xc3\xa9", b"Bearer \xff\xfe", b"bearer\tabc", b"Basic abc", b"Bearer"])
async def test_an_authorization_that_is_none_is_told_so(house: House, value: bytes) -> None:
    status, text = await answer(house, post(SEAT, b"{}", b"Authorization: " + value))
    assert status == 401
    assert b"UNAUTHENTICATED" in text


@pytest.mark.parametrize(
    "path", ["/%00", "/a%00.js", "/" + "a" * 300, "/%0d%0aSet-Cookie:x", "/assets/%2e%2e/%2e%2e/app.py"]
)
async def test_names_that_no_file_has_are_not_found(house: House, path: str) -> None:
    status, text = await answer(house, get(path))
    assert status == 404
    assert b"Set-Cookie" not in text


async def test_an_origin_that_is_no_address_is_refused(house: House) -> None:
    headers = (
        b"Origin: http://[x",
        b"Connection: Upgrade",
        b"Upgrade: websocket",
        b"Sec-WebSocket-Version: 13",
        b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        b"Sec-WebSocket-Protocol: eastwind.v1.json",
    )
    assert (await answer(house, get("/ws", *headers)))[0] == 403


async def test_one_address_cannot_take_all_sockets(house: House, fleet: Fleet) -> None:
    gateway: GatewayService = await fleet.add("gateway", socket_limit_per_address=3, proxies=1)
    url = f"http://{gateway.edge_address}"

    async def status(*seen: str) -> int:
        """The answer to an upgrade that is none, from behind a proxy that saw these addresses."""
        headers = {"Origin": url, "Sec-WebSocket-Protocol": SUBPROTOCOL, "X-Forwarded-For": ", ".join(seen)}
        async with house.http.get(f"{url}/ws", headers=headers) as answered:
            return answered.status

    async with RawSocket(house.http, url), RawSocket(house.http, url), RawSocket(house.http, url):
        assert await status("192.0.2.7", "127.0.0.1") == 429, "what the proxy saw counts"
        assert await status("127.0.0.1", "192.0.2.7") == 400, "no upgrade, but there is room for one"


async def test_pings_of_the_socket_itself_are_answered_and_count(house: House, fleet: Fleet) -> None:
    player = await house.guest()
    await player.close()
    gateway: GatewayService = await fleet.add("gateway", socket_rate=20.0, socket_burst=20)
    url = f"http://{gateway.edge_address}"
    headers = {"Origin": url}
    async with house.http.ws_connect(f"{url}/ws", protocols=(SUBPROTOCOL,), headers=headers, autoping=False) as ws:
        hello = frames_pb2.ClientFrame(hello=frames_pb2.Hello(access_token=player.session.access_token))
        await ws.send_bytes(hello.SerializeToString())
        await ws.receive(timeout=20)
        await ws.ping(b"are you there")
        pong = await ws.receive(timeout=20)
        assert (pong.type, bytes(pong.data)) == (aiohttp.WSMsgType.PONG, b"are you there")
        for _ in range(100):
            await ws.ping(b"flood")
        while (message := await ws.receive(timeout=20)).type is aiohttp.WSMsgType.PONG:
            pass
        assert frames_pb2.ServerFrame.FromString(message.data).goodbye.reason == reason_pb2.REASON_RATE_LIMITED
