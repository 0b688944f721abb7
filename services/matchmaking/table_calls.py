"""Calls to the worker that has a table, wherever that is, with ids that make repeats safe."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.table.v1 import table_service_pb2_grpc, view_pb2
from libs.chassis.channels import Channels
from libs.chassis.errors import EastwindError, OwnedElsewhere, Unavailable
from libs.chassis.routing import TableRouter

TIMEOUT_S: Final = 2.0
TRIES: Final = 6
_AGAIN: Final = frozenset(("NOT_OWNER", "DRAINING", "UNAVAILABLE", "INTERNAL"))
Answer = TypeVar("Answer")


class TableCalls:
    """The table service as matchmaking uses it."""

    def __init__(self, router: TableRouter, channels: Channels) -> None:
        self._router = router
        self._channels = channels

    async def create(self, request: table_pb2.CreateTableRequest) -> None:
        """Make the table on the less loaded of two workers; a repeat with the same id changes nothing."""
        avoid: set[str] = set()

        async def once() -> table_pb2.CreateTableResponse:
            try:
                worker = await self._router.place(avoid=avoid)
            except Unavailable:
                avoid.clear()
                raise
            try:
                response: table_pb2.CreateTableResponse = await self._stub(worker.address).CreateTable(
                    request, timeout=TIMEOUT_S
                )
            except EastwindError:
                avoid.add(worker.worker)
                raise
            self._router.learn(request.table_id, response.worker_id)
            return response

        await self._again(once)

    async def act(self, table_id: str, account_id: str, command: table_pb2.TableCommand) -> int | None:
        """Carry out a command for an account; returns the seat that it holds afterwards. Raises the refusal."""
        response = await self._at_owner(
            table_id,
            lambda stub, take_over: stub.Act(
                table_pb2.ActRequest(table_id=table_id, account_id=account_id, command=command, take_over=take_over),
                timeout=TIMEOUT_S,
            ),
        )
        return response.seat if response.HasField("seat") else None

    async def view(self, table_id: str, account_id: str) -> view_pb2.TableView:
        """Return the table as the account sees it."""
        response = await self._at_owner(
            table_id,
            lambda stub, take_over: stub.GetView(
                table_pb2.GetViewRequest(table_id=table_id, account_id=account_id, take_over=take_over),
                timeout=TIMEOUT_S,
            ),
        )
        view: view_pb2.TableView = response.view
        return view

    async def _at_owner(self, table_id: str, call: Callable[[Any, bool], Awaitable[Any]]) -> Any:
        avoid: set[str] = set()

        async def once() -> Any:
            try:
                worker = await self._router.route(table_id, avoid=avoid)
            except Unavailable:
                # There is no other worker: the one that failed may be back.
                avoid.clear()
                raise
            try:
                return await call(self._stub(worker.address), bool(avoid))
            except Unavailable:
                avoid.add(worker.worker)
                self._router.forget(table_id)
                raise
            except OwnedElsewhere as error:
                self._router.forget(table_id)
                self._router.learn(table_id, error.owner)
                raise
            except EastwindError as error:
                if error.reason in _AGAIN:
                    self._router.forget(table_id)
                raise

        return await self._again(once)

    async def _again(self, once: Callable[[], Awaitable[Answer]]) -> Answer:
        for attempt in range(TRIES):
            try:
                return await once()
            except EastwindError as error:
                if attempt == TRIES - 1 or not (error.retriable or error.reason in _AGAIN):
                    raise
            await asyncio.sleep(random.uniform(0.5, 1.0) * 0.05 * 2**attempt)
        raise AssertionError("unreachable")

    def _stub(self, address: str) -> Any:
        return table_service_pb2_grpc.TableServiceStub(self._channels.at(address))
