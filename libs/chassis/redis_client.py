"""Commands to a single Redis or Valkey server, or to a cluster of them, over multiplexed connections.

A cluster is found out at the first connection. Every command names the key that decides its slot; redirections (MOVED,
ASK) are followed and the slot map is refreshed behind them.
"""

from __future__ import annotations

import asyncio
import binascii
import dataclasses
import hashlib
import random
from collections.abc import Iterable, Sequence
from typing import Any

import structlog

from libs.chassis.errors import StoreUnavailable
from libs.chassis.multiplexed import Address, Argument, Multiplexed, StoreReplyError, pack
from libs.chassis.telemetry import Metrics
from libs.chassis.telemetry_contract import metrics as contract

_SLOTS = 16384
_log = structlog.get_logger(__name__)


def slot_of(key: bytes) -> int:
    """The cluster slot of a key: CRC-16/XMODEM of its hash tag, or of the whole key when it has none."""
    start = key.find(b"{")
    if start >= 0:
        end = key.find(b"}", start + 1)
        if end > start + 1:
            key = key[start + 1 : end]
    return binascii.crc_hqx(key, 0) % _SLOTS


@dataclasses.dataclass(frozen=True, slots=True)
class Script:
    """A Lua script and its digest."""

    name: str
    source: bytes
    digest: bytes

    @classmethod
    def of(cls, name: str, source: bytes) -> Script:
        digest = hashlib.sha1(source, usedforsecurity=False).hexdigest().encode()
        return cls(name, source, digest)


class RedisClient:
    """One multiplexed connection to a single server, or one to each node of a cluster. `metrics` measures them."""

    def __init__(
        self,
        url: str,
        *,
        deadline_s: float = 2.0,
        max_in_flight: int = 4096,
        client_name: str = "eastwind",
        metrics: Metrics | None = None,
    ) -> None:
        self._seed = Address.parse(url)
        self.deadline_s = deadline_s
        self._max_in_flight = max_in_flight
        self._client_name = client_name
        self._nodes: dict[str, Multiplexed] = {}
        self._slots: list[Multiplexed] = []
        self._first: Multiplexed | None = None
        self._refreshing: asyncio.Task[None] | None = None
        self._closed = False
        self._on_round_trip = metrics.histogram(contract.REDIS_ROUND_TRIP).observe if metrics is not None else None
        self.is_cluster = False
        if metrics is not None:
            self._export(metrics)

    async def open(self, *, wait_s: float = 10.0) -> None:
        """Connect and find out whether this is a cluster.

        Raises `StoreUnavailable` when no server answers within `wait_s`.
        """
        self._first = await self._node(self._seed)
        try:
            await self._load_slots(self._first, wait_s)
        except StoreReplyError as error:
            if "cluster support disabled" not in error.text and error.kind != "NOPERM":
                raise

    async def close(self) -> None:
        """Close every connection; calls that still wait fail with `StoreUnavailable`."""
        self._closed = True
        if self._refreshing is not None:
            self._refreshing.cancel()
            await asyncio.gather(self._refreshing, return_exceptions=True)
        for node in list(self._nodes.values()):
            await node.close()
        self._nodes.clear()

    async def __aenter__(self) -> RedisClient:
        await self.open()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    @property
    def connected(self) -> bool:
        """Whether at least one node answers and, of a single server, that one."""
        return any(node.connected for node in self._nodes.values())

    def nodes(self) -> list[Multiplexed]:
        """The connections to the server, or to every known node of the cluster."""
        return list(dict.fromkeys(self._slots)) if self.is_cluster else list(self._nodes.values())

    def groups(self, keys: Iterable[bytes]) -> list[list[bytes]]:
        """Keys that one script may touch together: all of them on a single server, those of one slot in a cluster."""
        if not self.is_cluster:
            everything = list(keys)
            return [everything] if everything else []
        by_slot: dict[int, list[bytes]] = {}
        for key in keys:
            by_slot.setdefault(slot_of(key), []).append(key)
        return list(by_slot.values())

    async def call(self, *command: Argument, key: bytes, deadline_s: float | None = None) -> Any:
        """Send one command to the node that holds `key` and return the reply.

        Raises `StoreReplyError` for an error reply, `StoreUnavailable` when no reply came within the deadline.
        """
        if self._first is None:
            raise StoreUnavailable("the store client is not open", outcome_unknown=False)
        if not self.is_cluster:
            try:
                return await self._first.call_packed(pack(command), deadline_s=deadline_s)
            except StoreReplyError as error:
                if error.kind not in _AGAIN:
                    raise
        return await self._call_routed(command, slot_of(key), deadline_s)

    async def run(
        self, script: Script, keys: Sequence[bytes], arguments: Sequence[Argument], *, deadline_s: float | None = None
    ) -> Any:
        """Run a script whose keys share one slot. The server learns it at the first use and after it forgot it."""
        try:
            return await self.call(
                b"EVALSHA", script.digest, len(keys), *keys, *arguments, key=keys[0], deadline_s=deadline_s
            )
        except StoreReplyError as error:
            if error.kind != "NOSCRIPT":
                raise
        return await self.call(b"EVAL", script.source, len(keys), *keys, *arguments, key=keys[0], deadline_s=deadline_s)

    async def _call_routed(self, command: Sequence[Argument], slot: int, deadline_s: float | None) -> Any:
        """Follow redirections and wait out a fail-over, until the deadline."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + (self.deadline_s if deadline_s is None else deadline_s)
        packed = pack(command)
        target: Multiplexed | None = None
        asking = False
        tries = 0
        while (left := deadline - loop.time()) > 0:
            node = target or self._owner_of(slot)
            target = None
            try:
                if asking:
                    asking = False
                    return await node.call_pair((b"ASKING",), command, deadline_s=left)
                return await node.call_packed(packed, deadline_s=left)
            except StoreReplyError as error:
                if error.kind in ("MOVED", "ASK"):
                    target = await self._node(self._redirected(error.text, node))
                    asking = error.kind == "ASK"
                    if error.kind == "MOVED":
                        if self._slots:
                            self._slots[slot] = target
                        self._refresh_soon()
                elif error.kind in _AGAIN:
                    self._refresh_soon()
                    await asyncio.sleep(random.uniform(0.01, 0.05) * min(2**tries, 8))
                else:
                    raise
            except StoreUnavailable:
                self._refresh_soon()
                raise
            tries += 1
        raise StoreUnavailable("no node of the store took the command in time", outcome_unknown=False)

    def _export(self, metrics: Metrics) -> None:
        nodes = self._nodes
        metrics.counted(contract.REDIS_COMMANDS, lambda: sum(node.commands for node in nodes.values()))
        metrics.counted(contract.REDIS_SENDS, lambda: sum(node.sends for node in nodes.values()))
        metrics.counted(contract.REDIS_UNANSWERED, lambda: sum(node.unanswered for node in nodes.values()))
        metrics.counted(contract.REDIS_CONNECTIONS_LOST, lambda: sum(node.connections_lost for node in nodes.values()))
        metrics.gauge(contract.REDIS_IN_FLIGHT).set_function(lambda: sum(node.in_flight for node in nodes.values()))
        metrics.gauge(contract.REDIS_CONNECTED).set_function(lambda: float(self.connected))

    def _owner_of(self, slot: int) -> Multiplexed:
        if self._slots:
            return self._slots[slot]
        assert self._first is not None
        return self._first

    def _redirected(self, text: str, node: Multiplexed) -> Address:
        host, _, port = text.split(" ")[2].rpartition(":")
        return dataclasses.replace(self._seed, host=host or node.address.host, port=int(port), unix_path="", database=0)

    async def _node(self, address: Address) -> Multiplexed:
        node = self._nodes.get(address.name)
        if node is None:
            node = Multiplexed(
                address,
                deadline_s=self.deadline_s,
                max_in_flight=self._max_in_flight,
                client_name=self._client_name,
                on_round_trip=self._on_round_trip,
            )
            self._nodes[address.name] = node
            await node.open()
        return node

    def _refresh_soon(self) -> None:
        if not self.is_cluster or self._closed:
            return
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.get_running_loop().create_task(self._refresh(), name="redis-slots")

    async def _refresh(self) -> None:
        for node in sorted(self.nodes(), key=lambda each: not each.connected):
            try:
                await self._load_slots(node, self.deadline_s)
                return
            except (StoreReplyError, StoreUnavailable) as error:
                _log.warning("slot map not read", address=node.address.name, error=str(error))

    async def _load_slots(self, node: Multiplexed, wait_s: float) -> None:
        ranges = await node.call(b"CLUSTER", b"SLOTS", deadline_s=wait_s)
        slots: list[Multiplexed | None] = [None] * _SLOTS
        for start, end, primary, *_ in ranges:
            host = bytes(primary[0] or b"").decode() or node.address.host
            address = dataclasses.replace(self._seed, host=host, port=int(primary[1]), unix_path="", database=0)
            connection = await self._node(address)
            slots[start : end + 1] = [connection] * (end + 1 - start)
        self.is_cluster = True
        fallback = node
        self._slots = [each if each is not None else fallback for each in slots]


_AGAIN = frozenset({"CLUSTERDOWN", "TRYAGAIN", "LOADING", "READONLY", "MASTERDOWN", "MOVED", "ASK"})
