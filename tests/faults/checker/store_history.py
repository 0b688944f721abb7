"""All that happened in the table store: every table's log, its owners, and the messages that left with the appends."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from eastwind.events.v1 import envelope_pb2
from tests.faults.checker.table_log import TableLog

_TABLE_KEY: Final = re.compile(rb"ew:\{(\d+)\}:t:(.+):(log|owner|snap)\Z")
_OUTBOX_KEY: Final = re.compile(rb"ew:\{\d+\}:out\Z")
_HANDS: Final = b"eastwind.hands.v1"


class StoreHistory:
    """Follows the commands of the append-only file."""

    def __init__(self) -> None:
        self.tables: dict[str, TableLog] = {}
        self.announced: dict[str, int] = {}
        """How many messages carry the record of a hand, by its id."""
        self.violations: list[str] = []
        self.appends = 0

    def follow(self, commands: Iterable[list[bytes]]) -> None:
        """Take in more commands."""
        for command in commands:
            name = command[0].upper()
            if name == b"XADD":
                self._added(command)
            elif name == b"HSET":
                self._set(command)

    @property
    def grants(self) -> int:
        """How many entries gave the time of an outage back."""
        return sum(table.grants for table in self.tables.values())

    def all_violations(self) -> list[str]:
        """What must not be, as sentences."""
        found = list(self.violations)
        for table in self.tables.values():
            found += table.violations
        return found

    def _added(self, command: list[bytes]) -> None:
        key = command[1]
        found = _TABLE_KEY.match(key)
        if found is not None and found[3] == b"log":
            self.appends += 1
            sequence = int(command[2].partition(b"-")[0])
            self._table(found[2]).append(sequence, command[4])
        elif _OUTBOX_KEY.match(key):
            fields = dict(zip(command[3::2], command[4::2], strict=True))
            if fields.get(b"t") == _HANDS:
                record = envelope_pb2.Envelope.FromString(fields[b"p"]).hand_finished.record
                self.announced[record.record_id] = self.announced.get(record.record_id, 0) + 1
                if self.announced[record.record_id] > 1:
                    self.violations.append(f"hand {record.record_id} was announced twice under ids of their own")

    def _set(self, command: list[bytes]) -> None:
        found = _TABLE_KEY.match(command[1])
        if found is None or found[3] != b"owner":
            return
        fields = dict(zip(command[2::2], command[3::2], strict=True))
        worker = fields.get(b"worker")
        if worker and b"epoch" in fields:
            self._table(found[2]).owned(worker.decode(), int(fields[b"epoch"]))

    def _table(self, raw: bytes) -> TableLog:
        table_id = raw.decode()
        table = self.tables.get(table_id)
        if table is None:
            table = self.tables[table_id] = TableLog(table_id)
        return table
