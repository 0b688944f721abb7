"""Checks a stored record (promise P9): in a thread, since it takes a moment, and a bounded number at a time."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import libs.mahjong.variants  # noqa: F401  (registers the rulesets)
from eastwind.history.v1 import history_service_pb2 as messages
from eastwind.history.v1 import record_pb2
from libs.contracts.records import record_from_proto
from libs.contracts.tiles import InvalidMessage
from libs.mahjong.engine.ruleset import UnknownRuleset
from libs.mahjong.fairness import UnknownAlgorithm
from libs.mahjong.verification import verify

READABLE = "record"
"""The name of the check that comes first: can this version read the record, and does it know its rules?"""


class Verifier:
    """Runs checks in threads of its own."""

    def __init__(self, at_a_time: int) -> None:
        self._threads = ThreadPoolExecutor(at_a_time, thread_name_prefix="verify")

    async def verify(self, record: record_pb2.HandRecord) -> messages.VerifyRecordResponse:
        """What the checks find; a record that cannot be checked fails the first one, which says why."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, verified, record)

    async def close(self) -> None:
        """Wait for the checks that run."""
        await asyncio.to_thread(self._threads.shutdown)


def verified(record: record_pb2.HandRecord) -> messages.VerifyRecordResponse:
    """Check a record now."""
    try:
        report = verify(record_from_proto(record))
    except (InvalidMessage, UnknownRuleset, UnknownAlgorithm) as error:
        checks = [messages.Check(name=READABLE, passed=False, detail=str(error))]
        return messages.VerifyRecordResponse(verified=False, checks=checks)
    return messages.VerifyRecordResponse(
        verified=report.passed,
        checks=[
            messages.Check(name=READABLE, passed=True),
            *(
                messages.Check(name=finding.check.value, passed=finding.passed, detail=finding.detail)
                for finding in report.findings
            ),
        ],
    )
