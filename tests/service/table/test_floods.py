"""Who floods a table or asks for too much harms nobody else: no command of others is lost, no table moves for it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from deploy.local.fleet import Fleet
from deploy.local.roster import common_settings
from deploy.local.stack import BackingStack
from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import table_service_pb2_grpc
from eastwind.type.v1 import reason_pb2, settings_pb2
from libs.chassis.channels import Channels
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.telemetry import Telemetry
from libs.mahjong.fairness import commit
from services.cli.edge_client import EdgeClient
from services.gateway.app import GatewayService
from tests.service.edge.raw_socket import RawSocket, masked, upgrade
from tests.service.fleet import House, StartFleet, merged
from tests.service.table.workers import Workers, metric, open_workers

pytestmark = pytest.mark.asyncio(loop_scope="module")

FLOOD = 200
LAST = frames_pb2.ClientFrame(ping=frames_pb2.Ping(id=2**64 - 1))
LAST_ANSWERED = frames_pb2.Pong(id=2**64 - 1).SerializeToString()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def fleet(start_fleet: StartFleet) -> Fleet:
    return await start_fleet(merged({"table": {"attach_queue": 250}}), copies={"table": 2})


@pytest_asyncio.fixture(loop_scope="module")
async def workers(fleet: Fleet, backing_stack: BackingStack) -> AsyncIterator[Workers]:
    async with open_workers(fleet, backing_stack) as workers:
        yield workers


@pytest_asyncio.fixture(loop_scope="module")
async def channels(backing_stack: BackingStack) -> AsyncIterator[Channels]:
    """Channels of a gateway."""
    telemetry = Telemetry("test")
    channels = Channels("gateway", read(ServiceSettings, **common_settings(backing_stack)), telemetry)
    yield channels
    await channels.close()
    await telemetry.close()


def subscribe(number: int, table_id: str, client: EdgeClient) -> table_pb2.GatewayFrame:
    request = table_pb2.Subscribe(subscription=number, table_id=table_id, access_token=client.session.access_token)
    return table_pb2.GatewayFrame(subscribe=request)


def seal(number: int, command_id: str, hand: int) -> table_pb2.GatewayFrame:
    command = table_pb2.TableCommand(
        command_id=command_id, commit_nonce=table_pb2.CommitNonce(hand=hand, commitment=commit(os.urandom(32)))
    )
    return table_pb2.GatewayFrame(command=table_pb2.SubscriberCommand(subscription=number, command=command))


@pytest.mark.parametrize("flooder", ["a player", "a spectator"])
async def test_a_flood_of_one_keeps_no_command_of_another_out(
    house: House, workers: Workers, channels: Channels, flooder: str
) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    stranger = await house.guest()
    await asyncio.gather(*(client.close() for client in (*players, stranger)))
    worker = await workers.owner(table_id)
    stub = table_service_pb2_grpc.TableServiceStub(channels.at(worker.grpc_address))
    requests: asyncio.Queue[table_pb2.AttachRequest] = asyncio.Queue()

    async def sent() -> AsyncIterator[table_pb2.AttachRequest]:
        while True:
            yield await requests.get()

    loud = players[0] if flooder == "a player" else stranger
    requests.put_nowait(
        table_pb2.AttachRequest(frames=[subscribe(1, table_id, loud), subscribe(2, table_id, players[1])])
    )
    answers: dict[str, reason_pb2.Reason.ValueType] = {}
    seen: set[int] = set()
    async with asyncio.timeout(20):
        async for response in stub.Attach(sent()):
            for frame in response.frames:
                if frame.HasField("delivery") and len(seen) < 2:
                    seen.update(frame.delivery.subscriptions)
                    if len(seen) == 2:
                        frames = [seal(1, f"flood {number}", 7) for number in range(FLOOD)]
                        requests.put_nowait(table_pb2.AttachRequest(frames=[*frames, seal(2, "quiet", 1)]))
                elif frame.HasField("answer"):
                    answers[frame.answer.command_id] = frame.answer.reason
            if "quiet" in answers and len(answers) > FLOOD:
                break
    assert answers.pop("quiet") == reason_pb2.REASON_UNSPECIFIED
    allowed = {reason_pb2.REASON_NOT_READY_STEP, reason_pb2.REASON_RATE_LIMITED, reason_pb2.REASON_NOT_SEATED}
    assert set(answers.values()) <= allowed


async def test_no_table_moves_because_players_ask_for_too_much(house: House, workers: Workers) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    await house.deal(table_id, players)
    before = (await players[0].resync(table_id)).decision
    owner = await workers.owner(table_id)
    greedy = await house.guest()
    await greedy.close()
    gateway: GatewayService = await house.fleet.add(
        "gateway", socket_rate=1e6, socket_burst=1_000_000, socket_queue=100_000
    )
    watch = frames_pb2.ClientFrame(watch_table=frames_pb2.WatchTable(table_id=table_id))
    again = frames_pb2.ClientFrame(resync_table=frames_pb2.ResyncTable(table_id=table_id))
    hello = frames_pb2.ClientFrame(hello=frames_pb2.Hello(access_token=greedy.session.access_token))
    host, port = gateway.edge_address.split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(upgrade(gateway.edge_address) + masked(hello) + masked(watch))
        async with asyncio.timeout(20):
            await reader.readuntil(table_id.encode())
            for _ in range(4):
                # All of it comes in one packet, so that the worker is asked for all of it at once.
                writer.write(masked(again) * 1_000 + masked(LAST))
                tail = b""
                while LAST_ANSWERED not in tail:
                    tail = tail[-len(LAST_ANSWERED) :] + await reader.read(65_536)
                await players[0].resync(table_id)
    finally:
        writer.close()
    modest = await house.guest()
    await modest.close()
    async with RawSocket(house.http, f"http://{gateway.edge_address}") as socket:
        await socket.hello(modest.session.access_token)
        await socket.watch(table_id)
        await socket.until("table")
    for worker in workers.all:
        assert await metric(house.http, worker.http_address, "eastwind_table_moves_total", outcome="claimed") == 0
    assert (await workers.owner(table_id)) is owner
    assert (await players[0].resync(table_id)).decision == before, "nobody has won time"
