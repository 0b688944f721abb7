"""`eastwind.history.v1.HistoryService`: messages in, messages out."""

from __future__ import annotations

from typing import Final

from sqlalchemy.ext.asyncio import AsyncEngine

from eastwind.history.v1 import history_service_pb2 as messages
from eastwind.history.v1 import history_service_pb2_grpc
from libs.chassis.auth import USER_METADATA, identity_of
from libs.chassis.database import is_retriable
from libs.chassis.errors import EastwindError, InvalidRequest, Unavailable
from libs.chassis.interceptors import Context
from libs.chassis.page_tokens import PageTokens, page_size
from libs.contracts.record_files import record_to_file
from services.history import reading
from services.history.verifying import Verifier

_LONGEST_ID: Final = 200


def adapt_error(error: BaseException) -> EastwindError | None:
    """A database that is away as a status that says so; `None` for other errors."""
    if is_retriable(error):
        return Unavailable("the history database does not answer")
    return None


class HistoryServicer(history_service_pb2_grpc.HistoryServiceServicer):
    """Answers from the tables, for the player whose access token comes with the call, or for anybody."""

    def __init__(self, engine: AsyncEngine, tokens: PageTokens, verifier: Verifier) -> None:
        self._engine = engine
        self._tokens = tokens
        self._verifier = verifier

    async def GetRecord(  # noqa: N802
        self, request: messages.GetRecordRequest, context: Context
    ) -> messages.GetRecordResponse:
        record = await reading.record_of(self._engine, _id(request.record_id, "record_id"), _viewer(context))
        return messages.GetRecordResponse(
            record=record, rating_changes=await reading.changes_of(self._engine, request.record_id)
        )

    async def ListRecords(  # noqa: N802
        self, request: messages.ListRecordsRequest, context: Context
    ) -> messages.ListRecordsResponse:
        wanted = reading.Filter(
            _id(request.account_id, "account_id", empty=True), _id(request.table_id, "table_id", empty=True)
        )
        viewer = _viewer(context)
        this_list = ("records", wanted.account_id, wanted.table_id, viewer)
        size = page_size(request.page_size)
        before: tuple[int, str] | None = None
        match self._tokens.read(this_list, request.page_token, (int, str)):
            case [int(ended_ms), str(record_id)]:
                before = (ended_ms, record_id)
        found = await reading.summaries(self._engine, wanted, viewer, before, size + 1)
        page = found[:size]
        return messages.ListRecordsResponse(
            records=[_summary(each) for each in page],
            next_page_token=(
                self._tokens.write(this_list, (page[-1].ended_ms, page[-1].record_id)) if len(found) > size else ""
            ),
        )

    async def ExportRecord(  # noqa: N802
        self, request: messages.ExportRecordRequest, context: Context
    ) -> messages.ExportRecordResponse:
        record = await reading.record_of(self._engine, _id(request.record_id, "record_id"), _viewer(context))
        return messages.ExportRecordResponse(
            content=record_to_file(record), file_name=f"eastwind-{record.record_id}.json"
        )

    async def VerifyRecord(  # noqa: N802
        self, request: messages.VerifyRecordRequest, context: Context
    ) -> messages.VerifyRecordResponse:
        record = await reading.record_of(self._engine, _id(request.record_id, "record_id"), _viewer(context))
        return await self._verifier.verify(record)


def _viewer(context: Context) -> str:
    """The account that asks; "" for nobody. A token that is not good has been refused before."""
    if USER_METADATA not in dict(context.invocation_metadata() or ()):
        return ""
    return identity_of(context).account_id


def _id(text: str, field: str, *, empty: bool = False) -> str:
    if len(text) > _LONGEST_ID or "\0" in text or not (text or empty):
        raise InvalidRequest(f"{field}: no such id")
    return text


def _summary(summary: reading.Summary) -> messages.RecordSummary:
    return messages.RecordSummary(
        record_id=summary.record_id,
        ruleset=summary.ruleset,
        table_id=summary.table_id,
        hand=summary.hand,
        ended_ms=summary.ended_ms,
        names=summary.names,
        changes=summary.changes,
        winner=summary.winner,
        rated=summary.rated,
    )
