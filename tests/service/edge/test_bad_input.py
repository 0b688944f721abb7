"""What players may not do is answered with a reason and changes nothing (field cases C048, C076, C132)."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import aiohttp
import grpc
import pytest

from eastwind.edge.v1 import frames_pb2
from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import table_service_pb2_grpc, view_pb2
from eastwind.type.v1 import action_pb2, settings_pb2
from libs.contracts.reasons import reason_name
from services.cli.edge_calls import EdgeRefusedError
from services.cli.edge_client import SUBPROTOCOL, EdgeClient, EdgeClosedError
from tests.service.edge.raw_socket import RawSocket
from tests.service.fleet import MATCHMAKING, House

pytestmark = pytest.mark.asyncio(loop_scope="module")

SIMPLES = range(136)


def choose(decision: int, kind: action_pb2.ActionType.ValueType, *tiles: int) -> table_pb2.TableCommand:
    action = action_pb2.Action(type=kind, tiles=tiles)
    return table_pb2.TableCommand(command_id=uuid4().hex, choose=table_pb2.Choose(decision=decision, action=action))


def discard(decision: int, tile: int) -> table_pb2.TableCommand:
    return choose(decision, action_pb2.ACTION_TYPE_DISCARD, tile)


async def refusal(client: EdgeClient, table_id: str, command: table_pb2.TableCommand) -> str:
    return reason_name((await client.command(table_id, command)).reason)


async def whole(client: EdgeClient, table_id: str) -> bytes:
    return (await client.resync(table_id)).SerializeToString(deterministic=True)


async def test_c048_refused_actions_change_nothing(house: House) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    seat = await house.deal(table_id, players)
    dealer, other = players[seat], players[(seat + 1) % 4]
    view = await dealer.resync(table_id)
    decision = view.decision.decision
    own = list(view.seats[seat].tiles)
    regular = [tile for tile in own if tile in SIMPLES]
    missing = next(tile for tile in SIMPLES if tile not in own)
    before = [await whole(player, table_id) for player in players]
    sequence = (await other.watch(table_id)).known
    refusals = [
        await refusal(dealer, table_id, discard(decision, missing)),
        await refusal(other, table_id, discard(decision, missing)),
        await refusal(dealer, table_id, choose(decision, action_pb2.ACTION_TYPE_CONCEALED_KONG, *regular[:3])),
        await refusal(dealer, table_id, choose(decision, action_pb2.ACTION_TYPE_WIN)),
        await refusal(dealer, table_id, choose(decision, action_pb2.ACTION_TYPE_CHOW, *regular[:2])),
        await refusal(dealer, table_id, choose(decision, action_pb2.ACTION_TYPE_PASS)),
        await refusal(dealer, table_id, choose(decision, action_pb2.ACTION_TYPE_DISCARD)),
        await refusal(dealer, table_id, choose(decision, action_pb2.ACTION_TYPE_DISCARD, *regular[:2])),
        await refusal(dealer, table_id, discard(decision, 999)),
        await refusal(dealer, table_id, choose(decision, action_pb2.ActionType.ValueType(77), regular[0])),
    ]
    assert refusals[:2] == ["TILE_NOT_HELD", "NOT_YOUR_DECISION"]
    assert refusals[2] in {"ACTION_NOT_OFFERED", "INVALID_ARGUMENT"}
    assert refusals[3] in {"ACTION_NOT_OFFERED", "NOT_A_WINNING_HAND", "BELOW_MINIMUM"}
    assert set(refusals[4:]) <= {"ACTION_NOT_OFFERED", "INVALID_ARGUMENT"}
    assert [await whole(player, table_id) for player in players] == before, "and the deadline is the same"
    assert (await other.watch(table_id)).known == sequence


async def test_c048_two_discards_in_one_turn_and_an_action_after_the_hand(house: House) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    seat = await house.deal(table_id, players)
    view = await players[seat].resync(table_id)
    tiles = [option.action.tiles[0] for option in view.decision.options if option.action.type == 1]
    commands = [discard(view.decision.decision, tile) for tile in tiles[:2]]
    answers = await asyncio.gather(*(refusal(players[seat], table_id, command) for command in commands))
    assert answers[0] == "UNSPECIFIED"
    assert answers[1] in {"STALE_DECISION", "NOT_YOUR_DECISION", "ALREADY_ANSWERED"}
    after = await players[seat].resync(table_id)
    assert len(after.seats[seat].river) == 1
    await house.play(table_id, players)
    late = discard(view.decision.decision, tiles[1])
    assert await refusal(players[seat], table_id, late) == "HAND_IS_OVER"


async def test_c076_c105_a_stale_action_is_answered_with_a_fresh_view_for_its_sender_alone(house: House) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    seat = await house.deal(table_id, players)
    by_seat = [house.heard[player] for player in players]
    table = await players[seat].watch(table_id)
    view = table.view
    own = [option.action.tiles[0] for option in view.decision.options if option.action.type == 1]
    frames = [len(recorder.frames) for recorder in by_seat]
    wholes = table.wholes
    answer = await players[seat].command(table_id, discard(view.decision.decision - 1, own[0]))
    assert reason_name(answer.reason) == "STALE_DECISION"
    assert answer.detail
    await table.until(lambda _: table.wholes > wholes)
    assert list(table.view.seats[seat].tiles) == list(view.seats[seat].tiles), "no tile is missing in the hand"
    assert table.view.decision == view.decision
    for each in range(4):
        fresh = by_seat[each].frames[frames[each] :]
        kinds = [frames_pb2.ServerFrame.FromString(frame).WhichOneof("frame") for frame in fresh]
        assert [kind for kind in kinds if kind != "probe"] == (["answer", "table"] if each == seat else [])


async def test_commands_that_players_may_not_send(house: House) -> None:
    player, stranger = await asyncio.gather(house.guest(), house.guest())
    table_id = await house.create(player)
    await player.watch(table_id)
    await stranger.watch(table_id)
    bots = table_pb2.TableCommand(seat_bots=table_pb2.SeatBots(level=settings_pb2.BOT_LEVEL_EASY))
    seat = table_pb2.TableCommand(
        take_seat=table_pb2.TakeSeat(player=settings_pb2.Player(account_id=stranger.session.account_id))
    )
    assert await refusal(player, table_id, bots) == "PERMISSION_DENIED"
    assert await refusal(stranger, table_id, seat) == "PERMISSION_DENIED"
    assert await refusal(stranger, table_id, table_pb2.TableCommand()) == "PERMISSION_DENIED"
    ready = table_pb2.TableCommand(ready=table_pb2.Ready(hand=1))
    assert await refusal(stranger, table_id, ready) == "NOT_SEATED"
    assert await refusal(player, table_id, table_pb2.TableCommand(ready=table_pb2.Ready(hand=7))) == "NOT_READY_STEP"
    seal = table_pb2.CommitNonce(hand=1, commitment=b"too short")
    assert await refusal(player, table_id, table_pb2.TableCommand(commit_nonce=seal)) == "INVALID_ARGUMENT"
    await player.unwatch(table_id)
    assert await refusal(player, table_id, table_pb2.TableCommand(leave_seat=table_pb2.LeaveSeat())) == "TABLE_UNKNOWN"


async def test_a_command_without_an_id_or_with_a_long_one_is_refused(house: House) -> None:
    player = await house.guest()
    table_id = await house.create(player)
    await player.close()
    async with RawSocket(house.http, house.calls.base_url) as socket:
        await socket.hello(player.session.access_token)
        await socket.watch(table_id)
        leave = table_pb2.TableCommand(leave_seat=table_pb2.LeaveSeat())
        assert reason_name((await socket.command(table_id, leave)).reason) == "INVALID_ARGUMENT"
        leave.command_id = "x" * 37
        assert reason_name((await socket.command(table_id, leave)).reason) == "INVALID_ARGUMENT"
        leave.command_id = "x" * 36
        assert reason_name((await socket.command(table_id, leave)).reason) == "UNSPECIFIED"


async def test_tables_that_are_not_there_or_not_for_everybody(house: House) -> None:
    player, stranger = await asyncio.gather(house.guest(), house.guest())
    table_id = await house.create(player, private=True)
    for unknown, reason in (
        ("0" * 22, "TABLE_UNKNOWN"),
        ("", "TABLE_UNKNOWN"),
        ("../../" * 40, "TABLE_UNKNOWN"),
        (table_id, "PERMISSION_DENIED"),
    ):
        with pytest.raises(EdgeClosedError) as refused:
            await stranger.watch(unknown)
        assert refused.value.reason == reason
    assert (await player.watch(table_id)).view.viewer in range(4)


async def test_frames_that_are_none_are_refused_and_then_end_the_connection(house: House) -> None:
    player = await house.guest()
    await player.close()
    async with RawSocket(house.http, house.calls.base_url) as socket:
        await socket.hello(player.session.access_token)
        for garbage in (b"\xff\xff\xff", b"", b"{}", b"\x0a\x7f"):
            await socket.ws.send_bytes(garbage)
            assert reason_name((await socket.until("problem")).problem.reason) == "MALFORMED_FRAME"
        await socket.ws.send_str('{"ping": {"id": 1}}')
        assert await socket.farewell() == ("MALFORMED_FRAME", 4009)


async def test_a_frame_that_is_too_large_ends_the_connection(house: House) -> None:
    player = await house.guest()
    await player.close()
    async with RawSocket(house.http, house.calls.base_url) as socket:
        await socket.hello(player.session.access_token)
        await socket.ws.send_bytes(b"\x00" * 40_000)
        reason, code = await socket.farewell()
        assert code == 1009
        assert reason in {"FRAME_TOO_LARGE", ""}


async def test_nobody_comes_in_without_a_good_token(house: House) -> None:
    player, other = await asyncio.gather(house.guest(), house.guest())
    token = player.session.access_token
    head, body, signature = token.split(".")
    forged = [
        f"{head}.{body}.{signature[:-4]}AAAA",
        "",
        "nonsense",
        f"{head}.{other.session.access_token.split('.')[1]}.{signature}",
    ]
    for each in forged:
        async with RawSocket(house.http, house.calls.base_url) as socket:
            await socket.send(frames_pb2.ClientFrame(hello=frames_pb2.Hello(access_token=each)))
            assert await socket.farewell() == ("UNAUTHENTICATED", 4001)
    async with RawSocket(house.http, house.calls.base_url) as socket:
        await socket.watch("0" * 22)
        assert await socket.farewell() == ("UNAUTHENTICATED", 4001)
    async with RawSocket(house.http, house.calls.base_url) as socket:
        await socket.ws.send_bytes(b"\xff\xff")
        assert (await socket.farewell())[0] == "MALFORMED_FRAME"
    async with RawSocket(house.http, house.calls.base_url) as socket:
        await socket.hello(token)
        await socket.send(frames_pb2.ClientFrame(hello=frames_pb2.Hello(access_token=other.session.access_token)))
        assert await socket.farewell() == ("UNAUTHENTICATED", 4001), "a connection keeps its account"


async def test_c132_nobody_acts_for_another_seat_or_account(house: House) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    seat = await house.deal(table_id, players)
    view = await players[seat].resync(table_id)
    tile = next(option.action.tiles[0] for option in view.decision.options if option.action.type == 1)
    before = await whole(players[seat], table_id)
    for other in range(4):
        if other != seat:
            assert await refusal(players[other], table_id, discard(view.decision.decision, tile)) in {
                "NOT_YOUR_DECISION",
                "TILE_NOT_HELD",
            }
    stranger = await house.guest()
    await stranger.watch(table_id)
    assert await refusal(stranger, table_id, discard(view.decision.decision, tile)) == "NOT_SEATED"

    forged = {"eastwind-account": players[seat].session.account_id, "x-eastwind-caller": "matchmaking"}
    request = matchmaking_pb2.LeaveTableRequest(table_id=table_id)
    async with house.http.post(
        f"{house.calls.base_url}/api/{MATCHMAKING}/LeaveTable",
        data=request.SerializeToString(),
        headers={"Content-Type": "application/protobuf", **forged},
    ) as answer:
        assert answer.status == 401
    with pytest.raises(EdgeRefusedError) as unknown:
        await house.calls.call(
            "eastwind.table.v1.TableService/Act", table_pb2.ActRequest(table_id=table_id), table_pb2.ActResponse
        )
    assert unknown.value.reason == "INVALID_ARGUMENT"

    worker = house.fleet.services["table"][0].grpc_address
    command = discard(view.decision.decision, tile)
    act = table_pb2.ActRequest(table_id=table_id, account_id=players[seat].session.account_id, command=command)
    async with grpc.aio.insecure_channel(worker) as channel:
        stub = table_service_pb2_grpc.TableServiceStub(channel)
        for metadata in ((), (("authorization", f"Bearer {players[seat].session.access_token}"),)):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stub.Act(act, metadata=metadata)
            assert refused.value.code() in {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}
    assert await whole(players[seat], table_id) == before


async def test_c133_sockets_of_other_sites_are_refused_before_they_open(house: House) -> None:
    url = house.calls.base_url
    host = url.removeprefix("http://")
    tries: list[tuple[str, dict[str, str], tuple[str, ...], int]] = [
        ("", {"Origin": "https://evil.example"}, (SUBPROTOCOL,), 403),
        ("", {"Origin": f"http://evil.example/{host}"}, (SUBPROTOCOL,), 403),
        ("", {"Origin": "null"}, (SUBPROTOCOL,), 403),
        ("", {}, (SUBPROTOCOL,), 403),
        ("?access_token=abc", {"Origin": url}, (SUBPROTOCOL,), 400),
        ("?token=abc", {"Origin": url}, (SUBPROTOCOL,), 400),
        ("", {"Origin": url}, ("chat",), 400),
    ]
    for query, headers, protocols, status in tries:
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await house.http.ws_connect(f"{url}/ws{query}", protocols=protocols, headers=headers)
        assert refused.value.status == status, (query, headers)


async def test_views_are_never_of_another_viewer(house: House) -> None:
    table_id, players = await house.four(speed=settings_pb2.SPEED_RELAXED)
    await house.deal(table_id, players)
    spectator = await house.guest()
    seen = (await spectator.watch(table_id)).view
    assert not seen.HasField("viewer")
    assert not any(seat.tiles for seat in seen.seats)
    for seat, player in enumerate(players):
        view: view_pb2.TableView = await player.resync(table_id)
        assert [bool(each.tiles) for each in view.seats] == [each == seat for each in range(4)]
