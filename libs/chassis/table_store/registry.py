"""Which table workers live: each tells so again and again, and is forgotten when it stops."""

from __future__ import annotations

import json
from dataclasses import asdict, fields

from libs.chassis.redis_client import RedisClient
from libs.chassis.table_store.lua import script
from libs.chassis.table_store.values import WorkerInfo

_HEARTBEAT = script("heartbeat")
_LIVE = script("live_workers")
_NAMES = tuple(each.name for each in fields(WorkerInfo))
_KEYS = (b"ew:{workers}:live", b"ew:{workers}:about")


class WorkerRegistry:
    """Heartbeats of table workers. A heartbeat counts for `ttl_ms`; send one every third of that."""

    def __init__(self, client: RedisClient, *, ttl_ms: int = 3000, deadline_s: float = 2.0) -> None:
        self._client = client
        self.ttl_ms = ttl_ms
        self._deadline_s = deadline_s

    async def heartbeat(self, about: WorkerInfo) -> None:
        """Say that this worker lives, where it is, and how much it has to do."""
        await self._client.run(
            _HEARTBEAT, _KEYS, (about.worker, json.dumps(asdict(about)), self.ttl_ms), deadline_s=self._deadline_s
        )

    async def leave(self, worker: str) -> None:
        """Be forgotten at once: the first step of a drain."""
        for command, key in ((b"ZREM", _KEYS[0]), (b"HDEL", _KEYS[1])):
            await self._client.call(command, key, worker, key=key, deadline_s=self._deadline_s)

    async def live(self) -> list[WorkerInfo]:
        """All live workers, ordered by id; those that drain are among them."""
        reply = await self._client.run(_LIVE, _KEYS, (), deadline_s=self._deadline_s)
        return sorted((_read(row) for row in reply if row), key=lambda each: each.worker)


def _read(row: bytes) -> WorkerInfo:
    """A worker's words about itself; what only later versions say is left out, so that both can run side by side."""
    told = json.loads(row)
    return WorkerInfo(**{name: told[name] for name in _NAMES if name in told})
