"""A tick of many tables is answered in time, whatever one of them does."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import reason_pb2
from libs.chassis.clocks import SteadyClock
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import OwnedElsewhere
from services.table.live_tables import LiveTables
from services.table.service import TableServicer


class Tables:
    """Live tables of which one does not come to an end, and one is elsewhere."""

    def __init__(self) -> None:
        self.ticked: list[str] = []

    async def tick(self, table_id: str, *, take_over: bool) -> None:
        if table_id == "hangs":
            await asyncio.Event().wait()
        if table_id == "elsewhere":
            raise OwnedElsewhere("it is held by another worker", owner="another")
        self.ticked.append(table_id)


async def test_one_table_that_hangs_does_not_hold_up_the_answer_for_the_others() -> None:
    tables = Tables()
    unused: Any = None
    servicer = TableServicer(
        cast(LiveTables, tables), unused, SteadyClock(), TaskOwner("test"), asyncio.Event(), 1, unused
    )
    names = ("first", "hangs", "elsewhere", "last")
    request = table_pb2.TickRequest(tables=[table_pb2.DueTable(table_id=name) for name in names])
    response = await servicer.Tick(request, None)
    assert list(response.reasons) == [
        reason_pb2.REASON_UNSPECIFIED,
        reason_pb2.REASON_UNAVAILABLE,
        reason_pb2.REASON_NOT_OWNER,
        reason_pb2.REASON_UNSPECIFIED,
    ]
    assert tables.ticked == ["first", "last"]
