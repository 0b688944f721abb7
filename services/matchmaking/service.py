"""``MatchmakingService``: queues, the lobby, and seats at tables."""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from collections.abc import AsyncIterator
from typing import Any, Final

import grpc

from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from eastwind.matchmaking.v1 import matchmaking_service_pb2_grpc
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import reason_pb2, settings_pb2
from libs.chassis.auth import Identity, identity_of
from libs.chassis.clocks import Clock
from libs.chassis.errors import EastwindError, InvalidRequest, NotFound
from libs.chassis.identifiers import is_table_id, new_table_id
from libs.chassis.page_tokens import page_size
from libs.contracts.computers import computer_player
from libs.contracts.settings import settings_from_proto
from libs.contracts.tiles import InvalidMessage
from libs.mahjong import variants  # noqa: F401  (registers the rulesets)
from libs.mahjong.engine.ruleset import UnknownRuleset, ruleset
from services.matchmaking.lobby import Lobby, MadeTable, new_code
from services.matchmaking.settings import MatchmakingSettings
from services.matchmaking.table_calls import TableCalls
from services.matchmaking.tickets import TABLE_SEATS, QueueName, Tickets

_NAME: Final = "/eastwind.matchmaking.v1.MatchmakingService"
ALLOW: Final = {
    f"{_NAME}/{method.name}": {"gateway"}
    for method in matchmaking_pb2.DESCRIPTOR.services_by_name["MatchmakingService"].methods
}
"""Who may call what: the gateway, with the player's access token."""
MOST_REQUEST_ID: Final = 36
Context = Any


class MatchmakingServicer(matchmaking_service_pb2_grpc.MatchmakingServiceServicer):
    """The contract's methods. The account is always that of the access token."""

    def __init__(
        self,
        settings: MatchmakingSettings,
        tickets: Tickets,
        lobby: Lobby,
        tables: TableCalls,
        clock: Clock,
        draining: asyncio.Event,
    ) -> None:
        self._settings = settings
        self._tickets = tickets
        self._lobby = lobby
        self._tables = tables
        self._clock = clock
        self._draining = draining

    async def EnterQueue(  # noqa: N802
        self, request: matchmaking_pb2.EnterQueueRequest, context: Context
    ) -> matchmaking_pb2.EnterQueueResponse:
        identity = identity_of(context)
        _known_ruleset(request.ruleset)
        table_id = await self._current_table(identity.account_id)
        if table_id:
            return matchmaking_pb2.EnterQueueResponse(table_id=table_id)
        entered = await self._tickets.enter(identity, QueueName(request.ruleset, request.rated), self._clock.now_ms())
        return matchmaking_pb2.EnterQueueResponse(ticket_id=entered.ticket_id, table_id=entered.table_id)

    async def LeaveQueue(  # noqa: N802
        self, request: matchmaking_pb2.LeaveQueueRequest, context: Context
    ) -> matchmaking_pb2.LeaveQueueResponse:
        await self._tickets.leave(identity_of(context).account_id)
        return matchmaking_pb2.LeaveQueueResponse()

    async def WatchQueue(  # noqa: N802
        self, request: matchmaking_pb2.WatchQueueRequest, context: Context
    ) -> AsyncIterator[matchmaking_pb2.WatchQueueResponse]:
        account = identity_of(context).account_id
        fill_after = int(self._settings.queue_fill_after_s * 1000)
        told: matchmaking_pb2.WatchQueueResponse | None = None
        while not self._draining.is_set():
            ticket = await self._tickets.look(account)
            if ticket is None:
                yield matchmaking_pb2.WatchQueueResponse(state=matchmaking_pb2.QUEUE_STATE_LEFT)
                return
            if ticket.waiting and ticket.seat:
                # Somebody who sits down elsewhere while waiting has found a table.
                table_id = await self._current_table(account)
                if table_id:
                    await self._tickets.leave(account)
                    yield matchmaking_pb2.WatchQueueResponse(
                        state=matchmaking_pb2.QUEUE_STATE_MATCHED, table_id=table_id
                    )
                    return
            elif not ticket.waiting and not ticket.pending:
                yield matchmaking_pb2.WatchQueueResponse(
                    state=matchmaking_pb2.QUEUE_STATE_MATCHED, table_id=ticket.table_id, rated=ticket.rated
                )
                return
            status = matchmaking_pb2.WatchQueueResponse(
                state=matchmaking_pb2.QUEUE_STATE_WAITING,
                waiting=await self._tickets.waiting(ticket.queue),
                fill_at_ms=ticket.entered_ms + fill_after,
                rated=QueueName.parse(ticket.queue).rated,
            )
            if status != told:
                told = status
                yield status
            await asyncio.sleep(self._settings.queue_poll_s)

    async def CreateTable(  # noqa: N802
        self, request: matchmaking_pb2.CreateTableRequest, context: Context
    ) -> matchmaking_pb2.CreateTableResponse:
        identity = identity_of(context)
        if not 0 < len(request.request_id) <= MOST_REQUEST_ID:
            raise InvalidRequest(f"request_id has 1 to {MOST_REQUEST_ID} characters")
        settings = _checked_settings(request.settings)
        if request.fill_with not in settings_pb2.BotLevel.values():
            raise InvalidRequest("fill_with: easy, medium, hard, or nothing")
        if request.fill_with:
            # Computers make a table casual (common C10).
            settings.rated = False
        made = await self._lobby.request_made(
            identity.account_id,
            request.request_id,
            MadeTable(new_table_id(), new_code() if settings.private else ""),
        )
        await self._reserve(identity, made.table_id)
        try:
            await self._tables.create(self._new_table(identity, settings, made, request.fill_with))
            if made.code:
                await self._lobby.open_with(made.code, made.table_id)
        except EastwindError as error:
            if not error.retriable:
                await self._lobby.unseat(identity.account_id, made.table_id)
            raise
        return matchmaking_pb2.CreateTableResponse(table_id=made.table_id, code=made.code)

    def _new_table(
        self,
        identity: Identity,
        settings: settings_pb2.TableSettings,
        made: MadeTable,
        fill_with: settings_pb2.BotLevel.ValueType,
    ) -> table_pb2.CreateTableRequest:
        own = secrets.randbelow(TABLE_SEATS)
        players = [
            computer_player(made.table_id, seat, fill_with) if fill_with else settings_pb2.Player()
            for seat in range(TABLE_SEATS)
        ]
        players[own] = _player(identity)
        return table_pb2.CreateTableRequest(
            table_id=made.table_id,
            settings=settings,
            players=players,
            first_dealer=secrets.randbelow(TABLE_SEATS),
        )

    async def ListTables(  # noqa: N802
        self, request: matchmaking_pb2.ListTablesRequest, context: Context
    ) -> matchmaking_pb2.ListTablesResponse:
        size = page_size(request.page_size)
        tables, token = await self._lobby.listed(request.ruleset, size, request.page_token)
        return matchmaking_pb2.ListTablesResponse(tables=tables, next_page_token=token)

    async def JoinTable(  # noqa: N802
        self, request: matchmaking_pb2.JoinTableRequest, context: Context
    ) -> matchmaking_pb2.JoinTableResponse:
        identity = identity_of(context)
        table_id = await self._joinable(request, identity.account_id)
        await self._reserve(identity, table_id)
        command = table_pb2.TableCommand(take_seat=table_pb2.TakeSeat(player=_player(identity)))
        try:
            seat = await self._tables.act(table_id, identity.account_id, command)
        except EastwindError as error:
            if error.reason == "ALREADY_SEATED":
                seat = (await self._tables.view(table_id, identity.account_id)).viewer
            elif error.retriable:
                # The seat may be taken, or a repeat at another replica may be taking it just now. What the table says
                # counts, and it is asked before the account sits down elsewhere.
                raise
            else:
                await self._lobby.unseat(identity.account_id, table_id)
                if error.reason in ("TABLE_UNKNOWN", "TABLE_CLOSED"):
                    await self._lobby.forget(table_id)
                raise
        if seat is None:
            raise EastwindError(
                "the table closed meanwhile", reason="TABLE_CLOSED", code=grpc.StatusCode.FAILED_PRECONDITION
            )
        return matchmaking_pb2.JoinTableResponse(table_id=table_id, seat=seat)

    async def _joinable(self, request: matchmaking_pb2.JoinTableRequest, account_id: str) -> str:
        if request.code:
            table_id = await self._lobby.table_of(request.code)
            if not table_id or (request.table_id and request.table_id != table_id):
                raise NotFound("no table has this invitation code", reason="WRONG_CODE")
            return table_id
        if not is_table_id(request.table_id):
            raise InvalidRequest("table_id is no table id")
        # The table itself is asked: news of one that has just been made may not have come yet.
        try:
            await self._tables.view(request.table_id, account_id)
        except EastwindError as error:
            if error.reason == "TABLE_UNKNOWN":
                await self._lobby.forget(request.table_id)
            if error.reason == "PERMISSION_DENIED":
                raise NotFound("this table needs its invitation code", reason="WRONG_CODE") from error
            raise
        return request.table_id

    async def LeaveTable(  # noqa: N802
        self, request: matchmaking_pb2.LeaveTableRequest, context: Context
    ) -> matchmaking_pb2.LeaveTableResponse:
        identity = identity_of(context)
        command = table_pb2.TableCommand(leave_seat=table_pb2.LeaveSeat())
        try:
            seat = await self._tables.act(request.table_id, identity.account_id, command)
        except EastwindError as error:
            if error.reason not in ("NOT_SEATED", "TABLE_UNKNOWN", "TABLE_CLOSED"):
                raise
            seat = None
        if seat is not None and not await self._is_closed(request.table_id, identity):
            return matchmaking_pb2.LeaveTableResponse(pending=reason_pb2.REASON_HAND_NOT_OVER)
        await self._lobby.unseat(identity.account_id, request.table_id)
        return matchmaking_pb2.LeaveTableResponse()

    async def FillWithBots(  # noqa: N802
        self, request: matchmaking_pb2.FillWithBotsRequest, context: Context
    ) -> matchmaking_pb2.FillWithBotsResponse:
        identity = identity_of(context)
        if request.level not in (1, 2, 3):
            raise InvalidRequest("level: easy, medium or hard")
        view = await self._tables.view(request.table_id, identity.account_id)
        if not view.HasField("viewer"):
            raise EastwindError(
                "only those who sit at the table may fill it",
                reason="NOT_SEATED",
                code=grpc.StatusCode.FAILED_PRECONDITION,
            )
        free = sum(not seat.HasField("player") for seat in view.seats)
        command = table_pb2.TableCommand(seat_bots=table_pb2.SeatBots(level=request.level))
        await self._tables.act(request.table_id, identity.account_id, command)
        return matchmaking_pb2.FillWithBotsResponse(filled=free)

    async def GetSeat(  # noqa: N802
        self, request: matchmaking_pb2.GetSeatRequest, context: Context
    ) -> matchmaking_pb2.GetSeatResponse:
        return matchmaking_pb2.GetSeatResponse(table_id=await self._current_table(identity_of(context).account_id))

    async def _current_table(self, account_id: str) -> str:
        """Return the table where the account really sits; what the lobby remembers is checked with the table.

        A match whose table is still to be made keeps its seats, but they are no table yet.
        """
        table_id = await self._lobby.seat_of(account_id)
        if not table_id or await self._tickets.is_pending(table_id):
            return ""
        try:
            view = await self._tables.view(table_id, account_id)
        except EastwindError as error:
            if error.reason not in ("TABLE_UNKNOWN", "PERMISSION_DENIED"):
                raise
        else:
            if view.HasField("viewer") and not view.close_reason:
                return table_id
        await self._lobby.unseat(account_id, table_id)
        return ""

    async def _is_closed(self, table_id: str, identity: Identity) -> bool:
        view = await self._tables.view(table_id, identity.account_id)
        return view.close_reason != reason_pb2.REASON_UNSPECIFIED

    async def _reserve(self, identity: Identity, table_id: str) -> None:
        """Have the account sit at this table and no other, and in no queue."""
        if await self._lobby.seat_of(identity.account_id) != table_id:
            # A repeat that comes while this very table is being made must not take its seat for a stale one.
            await self._current_table(identity.account_id)
        seated = await self._lobby.reserve(identity.account_id, table_id)
        if seated != table_id:
            raise EastwindError(
                "the account plays at another table",
                reason="ALREADY_PLAYING",
                code=grpc.StatusCode.FAILED_PRECONDITION,
                metadata={"table_id": seated},
            )
        await self._tickets.leave(identity.account_id)


def _player(identity: Identity) -> settings_pb2.Player:
    return settings_pb2.Player(account_id=identity.account_id, name=identity.name, guest=identity.guest)


def _known_ruleset(name: str) -> None:
    try:
        ruleset(name)
    except UnknownRuleset as error:
        raise InvalidRequest(str(error), reason="RULESET_UNKNOWN") from error


def _checked_settings(wanted: settings_pb2.TableSettings) -> settings_pb2.TableSettings:
    """Return the settings as a table gets them. Private tables are casual (common C16); rated ones keep their pace."""
    _known_ruleset(wanted.ruleset)
    settings = settings_pb2.TableSettings()
    settings.CopyFrom(wanted)
    settings.name = _clean(wanted.name)
    if settings.private and settings.rated:
        raise InvalidRequest("a private table is casual")
    if settings.rated:
        settings.uniform_pacing = True
    try:
        settings_from_proto(settings)
    except InvalidMessage as error:
        raise InvalidRequest(str(error)) from error
    return settings


def _clean(name: str) -> str:
    """Return a table's name without characters that hide or turn text (field case C135)."""
    words = " ".join(unicodedata.normalize("NFKC", name).split())
    return " ".join("".join(char for char in words if unicodedata.category(char)[0] != "C").split())
