"""A gateway that goes away sends its players elsewhere, and no hand suffers (field case C125)."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from eastwind.table.v1 import view_pb2
from services.cli.edge_calls import EdgeCalls
from services.cli.edge_client import EdgeClient
from tests.service.edge.raw_socket import RawSocket
from tests.service.fleet import House, StartFleet

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]

SOCKETS = 20


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(start_fleet: StartFleet) -> Fleet:
    return await start_fleet(copies={"gateway": 2})


async def goodbye(socket: RawSocket) -> tuple[int, int | None]:
    """Read to the end; returns how long the client is to wait, and the code of the close."""
    wait_ms = (await socket.until("goodbye")).goodbye.retry_after_ms
    with pytest.raises(ConnectionError):
        await socket.next()
    return wait_ms, socket.ws.close_code


async def test_c125_sockets_are_sent_away_at_different_times_and_hands_go_on(house: House) -> None:
    leaving, staying = house.fleet.edge_urls
    guests = [await house.guest(url=url) for url in (leaving, staying, leaving, staying)]
    table_id = await house.create(guests[0])
    await house.joinable(table_id, guests[1])
    for guest in guests[1:]:
        await house.join(guest, table_id)
    players = dict[int, EdgeClient]()
    for guest in guests:
        table = await guest.watch(table_id)
        players[(await table.until(lambda view: view.HasField("viewer"))).viewer] = guest
    await house.deal(table_id, [players[seat] for seat in range(4)])

    spectator = await house.guest(url=staying)
    async with AsyncExitStack() as opened:
        sockets = [await opened.enter_async_context(RawSocket(house.http, leaving)) for _ in range(SOCKETS)]
        for socket in sockets:
            await socket.hello(spectator.session.access_token)
        farewells = asyncio.gather(*(goodbye(socket) for socket in sockets))
        await house.fleet.stop_one("gateway", 0, grace_s=10.0)
        told = await farewells
    assert {code for _, code in told} == {1001}
    waits = {wait_ms for wait_ms, _ in told}
    assert len(waits) == SOCKETS, "they do not all come back at once"
    assert all(0 < wait_ms < 5_000 for wait_ms in waits)

    for seat, player in players.items():
        if player.calls.base_url == leaving:
            await player.close()
            elsewhere = EdgeClient(EdgeCalls(staying, house.http), player.session, house.http)
            players[seat] = await house.enter(elsewhere)
            view = (await elsewhere.watch(table_id)).view
            assert (view.viewer, view.phase) == (seat, view_pb2.TABLE_PHASE_PLAYING)
    results = await house.play(table_id, [players[seat] for seat in range(4)])
    assert len({result.settled.record_id for (result,) in results}) == 1
    witness = next(player for player in guests if player.calls.base_url == staying)
    assert not any(event.HasField("seat_timed_out") for event in house.heard[witness].events)


UPGRADE = (
    "GET /ws HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Protocol: eastwind.v1.proto\r\n\r\n"
)


@pytest.mark.parametrize("turns", range(0, 24, 2))
async def test_c125_a_socket_that_is_just_being_opened_is_sent_away_too(house: House, turns: int) -> None:
    gateway = await house.fleet.add("gateway")
    host, _, port = gateway.edge_address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(UPGRADE.format(host=gateway.edge_address).encode())
    for _ in range(turns):
        await asyncio.sleep(0)
    stopping = asyncio.ensure_future(house.fleet.stop_one("gateway", -1, grace_s=5.0))
    async with asyncio.timeout(20):
        told = await reader.read()
        await stopping
    writer.close()
    # Either the drain came first and it is refused, or it is open and gets its goodbye.
    assert told.startswith(b"HTTP/1.1 503") or b"this server is going away" in told
