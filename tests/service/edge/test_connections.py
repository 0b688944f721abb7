"""Connections that break, flood, fall asleep or come twice (field cases C071, C072, C075, C099, C120, C129)."""

from __future__ import annotations

import asyncio
import socket
from uuid import uuid4

import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import event_pb2, view_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import action_pb2, settings_pb2
from libs.contracts.reasons import reason_name
from services.cli.edge_client import EdgeClient, EdgeClosedError
from services.gateway.app import GatewayService
from tests.service.edge.raw_socket import RawSocket, masked, upgrade
from tests.service.fleet import HKOS, House, easy

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE_S = 40.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def strict_gateway(fleet: Fleet) -> GatewayService:
    """A second gateway with the limits of every day and short heartbeats."""
    gateway: GatewayService = await fleet.add("gateway", socket_rate=20.0, socket_burst=60, socket_heartbeat_s=0.2)
    return gateway


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def patient_gateway(fleet: Fleet) -> GatewayService:
    """A third gateway that lets players ask for as much as they like."""
    gateway: GatewayService = await fleet.add("gateway", socket_rate=1e6, socket_burst=1_000_000, socket_queue=128)
    return gateway


def strict_url(gateway: GatewayService) -> str:
    return f"http://{gateway.edge_address}"


async def closed_for(house: House, gateway: GatewayService, reason: str, times: float = 1.0) -> None:
    """Wait until the gateway has closed a socket for that reason."""
    wanted = f'eastwind_sockets_closed_total{{reason="{reason}"}} {times}'
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with house.http.get(f"http://{gateway.http_address}/metrics") as answer:
                if wanted in await answer.text():
                    return
            await asyncio.sleep(0.05)


async def test_a_flooder_is_cut_off_while_others_play_on(house: House, strict_gateway: GatewayService) -> None:
    table_id, players = await house.four()
    flooder = await house.guest()
    await flooder.close()
    playing = asyncio.create_task(house.play(table_id, players))
    async with RawSocket(house.http, strict_url(strict_gateway)) as raw:
        await raw.hello(flooder.session.access_token)
        for number in range(200):
            try:
                await raw.send(frames_pb2.ClientFrame(ping=frames_pb2.Ping(id=number)))
            except ConnectionError:
                break
        assert await raw.farewell() == ("RATE_LIMITED", 4008)
    results = await playing
    assert len({result.settled.record_id for (result,) in results}) == 1
    assert all(player.connections == 1 for player in players)


async def test_c129_a_reader_that_is_too_slow_is_closed_and_resumes(
    house: House, patient_gateway: GatewayService
) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    await house.deal(table_id, players)
    spectator = await house.guest()
    watched = (await spectator.watch(table_id)).view
    await spectator.close()
    host, port = patient_gateway.edge_address.split(":")
    sleeper = socket.socket()
    sleeper.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    sleeper.setblocking(False)
    loop = asyncio.get_running_loop()
    closed = asyncio.create_task(closed_for(house, patient_gateway, "slow_reader"))
    try:
        await loop.sock_connect(sleeper, (host, int(port)))
        await loop.sock_sendall(sleeper, upgrade(patient_gateway.edge_address))
        hello = frames_pb2.Hello(access_token=spectator.session.access_token)
        await loop.sock_sendall(sleeper, masked(frames_pb2.ClientFrame(hello=hello)))
        watch = frames_pb2.WatchTable(table_id=table_id)
        await loop.sock_sendall(sleeper, masked(frames_pb2.ClientFrame(watch_table=watch)))
        again = masked(frames_pb2.ClientFrame(resync_table=frames_pb2.ResyncTable(table_id=table_id)))
        while not closed.done():
            try:
                await loop.sock_sendall(sleeper, again * 20)
            except ConnectionError:
                break
            await asyncio.wait([closed], timeout=0.01)
        await closed
    finally:
        sleeper.close()
    back = await house.enter(EdgeClient(house.calls, spectator.session, house.http))
    assert (await back.watch(table_id)).view == watched, "who comes back sees all, and nothing has stood still"
    results = await house.play(table_id, players)
    assert len({result.settled.record_id for (result,) in results}) == 1


async def test_c072_the_newest_connection_has_the_seat_and_the_older_is_told(house: House) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    seat = await house.deal(table_id, players)
    old = players[seat]
    new = await house.enter(EdgeClient(house.calls, old.session, house.http))
    table = await new.watch(table_id)
    assert table.view.viewer == seat
    with pytest.raises(EdgeClosedError) as told:
        await old.command(table_id, table_pb2.TableCommand(leave_seat=table_pb2.LeaveSeat()))
    assert told.value.reason == "SUPERSEDED_CONNECTION"
    players[seat] = new
    assert [bool(each.player.account_id) for each in table.view.seats] == [True] * 4
    results = await house.play(table_id, players)
    assert len({result.settled.record_id for (result,) in results}) == 1


async def test_c072_a_connection_that_answers_no_probe_is_closed_and_shown_as_gone(
    house: House, strict_gateway: GatewayService
) -> None:
    player, other = await asyncio.gather(house.guest(), house.guest())
    table_id = await house.create(player)
    table = await player.watch(table_id)
    await house.joinable(table_id, other)
    await house.join(other, table_id)
    await other.close()
    async with RawSocket(house.http, strict_url(strict_gateway)) as raw:
        await raw.hello(other.session.access_token)
        await raw.watch(table_id)
        await table.until(lambda view: sum(seat.connected for seat in view.seats) == 2)
        reason, code = await raw.farewell()
    assert (reason, code) == ("GOING_AWAY", 1001)
    await table.until(lambda view: sum(seat.connected for seat in view.seats) == 1)


async def test_c075_twenty_reconnects_land_in_the_same_hand(house: House) -> None:
    table_id, players = await house.four()
    seat, restless = 0, players[0]

    async def drops() -> list[str]:
        tables = []
        for cycle in range(20):
            restless.drop()
            await restless.connected_again(cycle + 2)
            tables.append(restless.welcome.table_id)
        tables.append(await restless.enter_queue(HKOS, rated=False))
        return tables

    gate = asyncio.Event()

    async def patient(view: view_pb2.TableView) -> action_pb2.Action:
        await gate.wait()
        return await easy(view)

    policies = [patient if each == seat else easy for each in range(4)]
    playing = asyncio.create_task(house.play(table_id, players, policies))
    await (await restless.watch(table_id)).until(lambda view: view.phase == view_pb2.TABLE_PHASE_PLAYING)
    assert await drops() == [table_id] * 21, "Quick Play answers with the running table"
    gate.set()
    results = await playing
    assert len({result.settled.record_id for (result,) in results}) == 1
    assert results[0][0].hand == 1
    assert [event.WhichOneof("event") for event in house.heard[restless].events].count("hand_settled") == 1


async def test_c071_a_view_after_a_reconnect_has_the_question_and_the_time_that_is_left(house: House) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    asked: asyncio.Future[view_pb2.TableView] = asyncio.get_running_loop().create_future()
    gate = asyncio.Event()

    async def until_a_claim(view: view_pb2.TableView) -> action_pb2.Action:
        if view.decision.kind == event_pb2.DECISION_KIND_CLAIM:
            if not asked.done():
                asked.set_result(view)
            await gate.wait()
        return await easy(view)

    playing = asyncio.create_task(house.play(table_id, players, [until_a_claim] * 4))
    async with asyncio.timeout(PATIENCE_S):
        view = await asked
    player = players[view.viewer]
    table = await player.watch(table_id)
    connections = player.connections
    player.drop()
    await player.connected_again(connections + 1)
    for resumed in (table.view, await player.resync(table_id)):
        assert resumed.decision == view.decision
        assert resumed.decision.options
        assert resumed.decision.deadline_ms == view.decision.deadline_ms > 0
        assert list(resumed.seats[view.viewer].tiles) == list(view.seats[view.viewer].tiles)
        assert resumed.last_discard == view.last_discard
    gate.set()
    results = await playing
    assert len({result.settled.record_id for (result,) in results}) == 1


async def test_c099_c120_a_command_that_comes_twice_is_carried_out_once(house: House) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    seat = await house.deal(table_id, players)
    player = players[seat]
    view = await player.resync(table_id)
    option = next(option for option in view.decision.options if option.action.type == 1)
    choice = table_pb2.Choose(decision=view.decision.decision, action=option.action)
    command = table_pb2.TableCommand(command_id=uuid4().hex, choose=choice)
    frame = frames_pb2.ClientFrame(command=frames_pb2.CommandTable(table_id=table_id, command=command))
    await player.close()
    async with RawSocket(house.http, house.calls.base_url) as raw:
        await raw.hello(player.session.access_token)
        await raw.watch(table_id)
        await raw.until("table")
        await raw.send(frame)
        await raw.send(frame)
        answers = [(await raw.until("answer")).answer for _ in range(2)]
    async with RawSocket(house.http, house.calls.base_url) as raw:
        await raw.hello(player.session.access_token)
        await raw.watch(table_id)
        await raw.send(frame)
        answers.append((await raw.until("answer")).answer)
    assert [reason_name(answer.reason) for answer in answers] == ["UNSPECIFIED"] * 3
    back = players[seat] = await house.enter(EdgeClient(house.calls, player.session, house.http))
    after = (await back.watch(table_id)).view
    river = after.seats[seat].river
    assert [tile.tile for tile in river] == [option.action.tiles[0]]
