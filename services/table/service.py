"""``TableService``: the tables of this worker over gRPC."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any, Final

from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import table_service_pb2_grpc
from eastwind.type.v1 import reason_pb2
from libs.chassis.auth import AccessTokenVerifier
from libs.chassis.clocks import Clock
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import EastwindError, InvalidRequest, PermissionDenied
from libs.chassis.identifiers import is_table_id
from libs.contracts.reasons import reason_value
from libs.contracts.settings import player_from_proto, settings_from_proto
from libs.contracts.views import view_message
from libs.mahjong.engine.table_commands import OpenTable
from libs.mahjong.engine.table_state import SEATS
from libs.mahjong.engine.table_views import SPECTATOR
from libs.mahjong.fairness import SECRET_BYTES
from services.table.attach import GatewayStream
from services.table.commands import to_engine
from services.table.live_tables import LiveTables
from services.table.measuring import Measures

_NAME: Final = "/eastwind.table.v1.TableService"
ALLOW: Final = {
    f"{_NAME}/CreateTable": {"matchmaking"},
    f"{_NAME}/Attach": {"gateway"},
    f"{_NAME}/Act": {"matchmaking"},
    f"{_NAME}/GetView": {"matchmaking"},
    f"{_NAME}/Tick": {"clock"},
    f"{_NAME}/Drain": {"operator"},
}
"""Who may call what."""
TICK_PATIENCE_S: Final = 0.5
"""A table that takes longer over its tick is left to a later one, so that the answer for the others, and the sign that
this worker lives, is not held up by it."""
Context = Any


class TableServicer(table_service_pb2_grpc.TableServiceServicer):
    """The contract's methods on the live tables."""

    def __init__(
        self,
        tables: LiveTables,
        access_tokens: AccessTokenVerifier,
        clock: Clock,
        tasks: TaskOwner,
        draining: asyncio.Event,
        attach_queue: int,
        measures: Measures,
    ) -> None:
        self._tables = tables
        self._access_tokens = access_tokens
        self._clock = clock
        self._tasks = tasks
        self._draining = draining
        self._attach_queue = attach_queue
        self._measures = measures

    async def CreateTable(  # noqa: N802
        self, request: table_pb2.CreateTableRequest, context: Context
    ) -> table_pb2.CreateTableResponse:
        if not is_table_id(request.table_id):
            raise InvalidRequest("table_id is no table id")
        if len(request.players) not in (0, SEATS):
            raise InvalidRequest(f"players: {SEATS} of them, by seat, or none")
        occupants = (
            tuple(player_from_proto(player, f"players[{seat}]") for seat, player in enumerate(request.players))
            or (None,) * SEATS
        )
        command = OpenTable(
            "",
            self._clock.now_ms(),
            request.table_id,
            settings_from_proto(request.settings),
            request.first_dealer,
            (occupants[0], occupants[1], occupants[2], occupants[3]),
            secrets.token_bytes(SECRET_BYTES),
        )
        worker = await self._tables.open(command)
        return table_pb2.CreateTableResponse(table_id=request.table_id, worker_id=worker)

    async def Attach(  # noqa: N802
        self, request_iterator: AsyncIterator[table_pb2.AttachRequest], context: Context
    ) -> AsyncIterator[table_pb2.AttachResponse]:
        stream = GatewayStream(self._tables, self._access_tokens, self._tasks, self._attach_queue, self._measures)

        async def read() -> None:
            try:
                async for request in request_iterator:
                    for frame in request.frames:
                        stream.handle(frame)
            finally:
                stream.close()

        async def end_at_drain() -> None:
            await self._draining.wait()
            stream.close()

        tasks = [
            self._tasks.spawn(read(), name="attach-read"),
            self._tasks.spawn(end_at_drain(), name="attach-drain"),
        ]
        try:
            async for response in stream.outgoing():
                yield response
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            stream.close()

    async def Act(self, request: table_pb2.ActRequest, context: Context) -> table_pb2.ActResponse:  # noqa: N802
        if not request.account_id:
            raise InvalidRequest("account_id is missing")
        actor = await self._tables.get(request.table_id, take_over=request.take_over)
        command, account = request.command, request.account_id
        await actor.ask(lambda state, given: to_engine(state, account, command, given))
        return table_pb2.ActResponse(seat=actor.state.seat_of(account))

    async def GetView(  # noqa: N802
        self, request: table_pb2.GetViewRequest, context: Context
    ) -> table_pb2.GetViewResponse:
        actor = await self._tables.get(request.table_id, take_over=request.take_over)
        seat = actor.state.seat_of(request.account_id) if request.account_id else None
        if seat is None and actor.state.settings.private:
            raise PermissionDenied("only those who sit at a private table may see it")
        viewer = SPECTATOR if seat is None else seat
        return table_pb2.GetViewResponse(view=view_message(actor.state, viewer, actor.audience.connected(actor.state)))

    async def Tick(self, request: table_pb2.TickRequest, context: Context) -> table_pb2.TickResponse:  # noqa: N802
        async def one(due: table_pb2.DueTable) -> reason_pb2.Reason.ValueType:
            try:
                async with asyncio.timeout(TICK_PATIENCE_S):
                    await self._tables.tick(due.table_id, take_over=request.take_over)
            except EastwindError as error:
                return reason_value(error.reason)
            except TimeoutError:
                return reason_pb2.REASON_UNAVAILABLE
            return reason_pb2.REASON_UNSPECIFIED

        return table_pb2.TickResponse(reasons=await asyncio.gather(*(one(due) for due in request.tables)))

    async def Drain(self, request: table_pb2.DrainRequest, context: Context) -> table_pb2.DrainResponse:  # noqa: N802
        return table_pb2.DrainResponse(tables=await self._tables.drain())
