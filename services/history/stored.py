"""`python -m services.history.stored` checks every record in the database, as `eastwind verify` checks one.

For operators, after a restore. It needs `EASTWIND_DATABASE_URL` alone, and reads beside a service that runs.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from eastwind.history.v1 import record_pb2
from libs.chassis import database
from libs.chassis.settings import load
from services.history.settings import HistorySettings
from services.history.tables import records
from services.history.verifying import Verifier

_PAGE: Final = 200


@dataclass(frozen=True, slots=True)
class Failure:
    """A record that did not pass, and the first check that it failed."""

    record_id: str
    check: str
    detail: str


async def failures(engine: AsyncEngine, verifier: Verifier) -> AsyncIterator[Failure | None]:
    """What is wrong with each stored record, in the order of their ids; `None` for one that passes."""
    last = ""
    page = sa.select(records.c.record_id, records.c.content).order_by(records.c.record_id).limit(_PAGE)
    while True:
        async with engine.connect() as connection:
            rows = (await connection.execute(page.where(records.c.record_id > last))).all()
        if not rows:
            return
        last = rows[-1].record_id
        answers = await asyncio.gather(
            *(verifier.verify(record_pb2.HandRecord.FromString(row.content)) for row in rows)
        )
        for row, answer in zip(rows, answers, strict=True):
            failed = next((check for check in answer.checks if not check.passed), None)
            yield None if failed is None else Failure(row.record_id, failed.name, failed.detail)


async def check_all(settings: HistorySettings) -> int:
    """Print what fails and how many records pass; returns the exit code, 0 when all do."""
    engine = database.engine(settings.database_url, pool_size=1, overflow=0)
    verifier = Verifier(settings.verifications)
    passed = failed = 0
    try:
        async for failure in failures(engine, verifier):
            if failure is None:
                passed += 1
            else:
                failed += 1
                sys.stdout.write(f"{failure.record_id}: {failure.check}: {failure.detail}\n")
    finally:
        await verifier.close()
        await engine.dispose()
    sys.stdout.write(f"{passed} records pass, {failed} fail.\n")
    return 0 if failed == 0 else 1


def main() -> None:
    """The command."""
    settings = load(HistorySettings)
    if not settings.database_url:
        sys.exit("EASTWIND_DATABASE_URL is not set, and records are kept in PostgreSQL.")
    sys.exit(asyncio.run(check_all(settings)))


if __name__ == "__main__":
    main()
