"""Tables in Redis: ownership with fencing, log, snapshot, deadline and outbox, each change one atomic script."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import structlog

from libs.chassis.errors import Fenced, OwnedElsewhere, SequenceConflict, StoreUnavailable, TableUnknown
from libs.chassis.multiplexed import Argument
from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store.keys import TableKeys
from libs.chassis.table_store.lua import script
from libs.chassis.table_store.values import KEEP, Claimed, Due, OutboxMessage, Owner, Ownership

_CREATE = script("create")
_APPEND = script("append")
_CLAIM = script("claim")
_RENEW = script("renew")
_RELEASE = script("release")
_DECLINE = script("decline")
_SETTLE = script("settle")
_DELETE = script("delete")
_SET_DUE = script("set_due")
_OWNER = script("owner")

_OK, _FENCED, _CONFLICT, _UNKNOWN = 0, 1, 2, 3
_log = structlog.get_logger(__name__)


class TableStore:
    """The store of live tables. Safe for any number of tasks at once; one instance per process is enough.

    Every method raises `StoreUnavailable` when the store does not answer within the deadline.
    """

    def __init__(self, client: RedisClient, *, deadline_s: float = 2.0) -> None:
        self.client = client
        self._deadline_s = deadline_s

    async def create(
        self,
        table_id: str,
        worker: str,
        entry: bytes,
        snapshot: bytes | None = None,
        *,
        due_ms: int | None = None,
        lease_ms: int = 5000,
        outbox: Sequence[OutboxMessage] = (),
    ) -> Ownership:
        """Make a table whose log begins with `entry` (sequence 1), owned by `worker` in epoch 1.

        Idempotent by table id: when the table exists nothing is written, and the ownership that stands is returned with
        `created` false (its worker may be another one).
        """
        keys = TableKeys.of(table_id)
        arguments: list[Argument] = [
            table_id,
            worker,
            lease_ms,
            entry,
            b"0" if snapshot is None else b"1",
            snapshot or b"",
            b"" if due_ms is None else due_ms,
        ]
        _add_outbox(arguments, outbox)
        created, owner, epoch, sequence = await self.client.run(
            _CREATE,
            (keys.owner, keys.log, keys.snapshot, keys.due, keys.claimed, keys.outbox),
            arguments,
            deadline_s=self._deadline_s,
        )
        return Ownership(table_id, _text(owner), epoch, sequence, created=bool(created))

    async def claim(self, table_id: str, worker: str, lease_ms: int = 5000, *, take_over: bool = False) -> Claimed:
        """Become the owner in the next epoch and read the table.

        Raises `OwnedElsewhere` while another worker's lease runs, unless `take_over`; `TableUnknown` when there is no
        such table. A worker that claims its own table again also moves the epoch on.
        """
        keys = TableKeys.of(table_id)
        reply = await self.client.run(
            _CLAIM,
            (keys.owner, keys.log, keys.snapshot),
            (worker, lease_ms, b"1" if take_over else b"0"),
            deadline_s=self._deadline_s,
        )
        if reply[0] == _FENCED:
            owner = _text(reply[1])
            raise OwnedElsewhere(f"table {table_id} is held by {owner}", owner=owner)
        _check(table_id, reply)
        _, epoch, snapshot, snapshot_sequence, sequence, previous, renewed, now, entries = reply
        return Claimed(
            table_id=table_id,
            worker=worker,
            epoch=epoch,
            snapshot=snapshot,
            snapshot_sequence=snapshot_sequence,
            sequence=sequence,
            entries=_entries(entries),
            previous_owner=_text(previous),
            renewed_ms=renewed,
            now_ms=now,
        )

    async def append(
        self,
        table_id: str,
        worker: str,
        epoch: int,
        expected_sequence: int,
        entries: Sequence[bytes],
        *,
        due_ms: Due = KEEP,
        outbox: Sequence[OutboxMessage] = (),
        snapshot: bytes | None = None,
        trim_before: int | None = None,
        deadline_s: float | None = None,
    ) -> int:
        """Add entries, set the deadline, add outbox messages, keep the snapshot, trim: all or nothing.

        Returns the new last sequence. `snapshot` is the state after these entries; `trim_before` drops older entries of
        the log (the one with that sequence stays). Also renews the lease.

        Raises `Fenced` when this worker does not hold the table in this epoch, `SequenceConflict` when the log does not
        end at `expected_sequence`, `TableUnknown`. When the connection breaks, the append is sent again until the
        deadline: the expected sequence makes the repeat harmless. `StoreUnavailable` with `outcome_unknown` means that
        it is still open whether the append happened: call `settle`.
        """
        keys = TableKeys.of(table_id)
        if due_ms is KEEP:
            mode, due = b"k", b""
        elif due_ms is None:
            mode, due = b"c", b""
        else:
            mode, due = b"s", b"%d" % due_ms
        arguments: list[Argument] = [
            table_id,
            worker,
            epoch,
            expected_sequence,
            mode,
            due,
            b"0" if snapshot is None else b"1",
            snapshot or b"",
            b"" if trim_before is None else trim_before,
            len(entries),
            *entries,
        ]
        if outbox:
            _add_outbox(arguments, outbox)
        names = (keys.owner, keys.log, keys.snapshot, keys.due, keys.claimed, keys.outbox)
        limit = self._deadline_s if deadline_s is None else deadline_s
        try:
            reply = await self.client.run(_APPEND, names, arguments, deadline_s=limit)
        except StoreUnavailable as error:
            if not error.outcome_unknown:
                raise
            reply = await self._append_again(table_id, names, arguments, expected_sequence + len(entries), limit)
        if reply[0] != _OK:
            _check(table_id, reply)
        sequence: int = reply[1]
        return sequence

    async def _append_again(
        self, table_id: str, names: Sequence[bytes], arguments: Sequence[Argument], after: int, limit: float
    ) -> Any:
        """Settle an append whose outcome is unknown by sending it again.

        Only this worker in this epoch can have moved the sequence, so a conflict at exactly `after` is our own success.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + limit
        while True:
            left = deadline - loop.time()
            if left <= 0:
                raise StoreUnavailable(f"it is open whether the append to {table_id} happened", outcome_unknown=True)
            try:
                reply = await self.client.run(_APPEND, names, arguments, deadline_s=left)
            except StoreUnavailable:
                await asyncio.sleep(random.uniform(0.005, 0.05))
                continue
            if reply[0] == _CONFLICT and reply[1] == after:
                _log.info("append settled after a lost connection", table_id=table_id, sequence=after)
                return [_OK, after]
            return reply

    async def settle(self, table_id: str, worker: str, epoch: int) -> Ownership:
        """Find out for good where the log ends after an append with an unknown outcome.

        Moves this worker's epoch on, so that the append, were it still on its way, is refused. Go on with the epoch and
        the sequence that are returned. Raises `Fenced`, `TableUnknown`.
        """
        reply = await self.client.run(
            _SETTLE, (TableKeys.of(table_id).owner,), (worker, epoch), deadline_s=self._deadline_s
        )
        _check(table_id, reply)
        return Ownership(table_id, worker, reply[1], reply[2])

    async def renew(self, worker: str, epochs: Mapping[str, int]) -> list[str]:
        """Renew the leases of tables (id to epoch); returns the ids of those that this worker no longer holds."""
        by_key = {TableKeys.of(table_id).owner: table_id for table_id in epochs}
        lost: list[str] = []
        batches = [
            group[start : start + 200] for group in self.client.groups(by_key) for start in range(0, len(group), 200)
        ]
        replies = await asyncio.gather(
            *(
                self.client.run(
                    _RENEW,
                    batch,
                    [worker, *(epochs[by_key[key]] for key in batch)],
                    deadline_s=self._deadline_s,
                )
                for batch in batches
            )
        )
        for batch, positions in zip(batches, replies, strict=True):
            lost.extend(by_key[batch[position - 1]] for position in positions)
        return lost

    async def release(
        self, table_id: str, worker: str, epoch: int, *, sequence: int = 0, snapshot: bytes | None = None
    ) -> None:
        """Give the table up so that any worker may claim it at once; the deadline stays set.

        `snapshot` is the state at `sequence`. Raises `Fenced`, `SequenceConflict`, `TableUnknown`; then nothing is
        changed.
        """
        keys = TableKeys.of(table_id)
        reply = await self.client.run(
            _RELEASE,
            (keys.owner, keys.log, keys.snapshot),
            (worker, epoch, sequence, b"0" if snapshot is None else b"1", snapshot or b""),
            deadline_s=self._deadline_s,
        )
        _check(table_id, reply)

    async def decline(self, claimed: Claimed) -> None:
        """Undo a claim, of which nothing is made: any worker may claim the table at once, and finds the same outage.

        Only the epoch stays. Raises `Fenced`, `TableUnknown`.
        """
        reply = await self.client.run(
            _DECLINE,
            (TableKeys.of(claimed.table_id).owner,),
            (claimed.worker, claimed.epoch, claimed.previous_owner, claimed.renewed_ms),
            deadline_s=self._deadline_s,
        )
        _check(claimed.table_id, reply)

    async def set_due(self, table_id: str, worker: str, epoch: int, due_ms: int | None) -> None:
        """Set or clear the deadline without a log entry: after a tick that found nothing due.

        Raises `Fenced`, `TableUnknown`.
        """
        keys = TableKeys.of(table_id)
        reply = await self.client.run(
            _SET_DUE,
            (keys.owner, keys.due, keys.claimed),
            (table_id, worker, epoch, b"" if due_ms is None else due_ms),
            deadline_s=self._deadline_s,
        )
        _check(table_id, reply)

    async def delete(self, table_id: str, worker: str, epoch: int) -> None:
        """Remove every key of the table; a table that is gone already is no error. Raises `Fenced`."""
        keys = TableKeys.of(table_id)
        reply = await self.client.run(
            _DELETE,
            (keys.owner, keys.log, keys.snapshot, keys.due, keys.claimed),
            (table_id, worker, epoch),
            deadline_s=self._deadline_s,
        )
        if reply[0] != _UNKNOWN:
            _check(table_id, reply)

    async def owner(self, table_id: str) -> Owner:
        """Who holds the table. Raises `TableUnknown`."""
        reply = await self.client.run(_OWNER, (TableKeys.of(table_id).owner,), (), deadline_s=self._deadline_s)
        _check(table_id, reply)
        _, worker, epoch, sequence, renewed, lease, now = reply
        name = _text(worker)
        return Owner(table_id, name, epoch, sequence, renewed, lease, live=bool(name) and now < renewed + lease)

    async def last_sequence(self, table_id: str) -> int:
        """The last sequence of the log. Raises `TableUnknown`."""
        return (await self.owner(table_id)).sequence

    async def read_log(self, table_id: str, after: int = 0, limit: int | None = None) -> list[tuple[int, bytes]]:
        """Log entries with a sequence above `after`, in order; trimmed ones are missing."""
        keys = TableKeys.of(table_id)
        bound: tuple[Argument, ...] = () if limit is None else (b"COUNT", limit)
        reply = await self.client.call(
            b"XRANGE", keys.log, b"%d-0" % (after + 1), b"+", *bound, key=keys.log, deadline_s=self._deadline_s
        )
        return list(_entries(reply))

    async def read_snapshot(self, table_id: str) -> tuple[int, bytes] | None:
        """The last snapshot and its sequence, or None."""
        keys = TableKeys.of(table_id)
        sequence, data = await self.client.call(
            b"HMGET", keys.snapshot, b"seq", b"data", key=keys.snapshot, deadline_s=self._deadline_s
        )
        return None if sequence is None else (int(sequence), data)


def _add_outbox(arguments: list[Argument], outbox: Iterable[OutboxMessage]) -> None:
    for message in outbox:
        fields: list[Argument] = [b"t", message.topic, b"k", message.key, b"p", message.payload]
        for name, value in message.headers.items():
            fields += ("h:" + name, value)
        arguments.append(len(fields))
        arguments += fields


def _check(table_id: str, reply: Sequence[Any]) -> None:
    status = reply[0]
    if status == _FENCED:
        owner = _text(reply[1])
        raise Fenced(
            f"table {table_id} is held by {owner or 'nobody'} in epoch {reply[2]}", owner=owner, epoch=reply[2]
        )
    if status == _CONFLICT:
        raise SequenceConflict(f"the log of table {table_id} ends at {reply[1]}", actual=reply[1])
    if status == _UNKNOWN:
        raise TableUnknown(f"there is no table {table_id}")


def _entries(reply: Iterable[Any]) -> tuple[tuple[int, bytes], ...]:
    return tuple((int(entry_id.partition(b"-")[0]), fields[1]) for entry_id, fields in reply)


def _text(value: bytes) -> str:
    return value.decode()
