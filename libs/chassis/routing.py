"""From a table to the worker that serves it."""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from collections.abc import Callable, Collection

from libs.chassis.errors import Unavailable
from libs.chassis.table_store.registry import WorkerRegistry
from libs.chassis.table_store.store import TableStore
from libs.chassis.table_store.values import WorkerInfo


class TableRouter:
    """Finds the worker of a table. Remembers what it found until it is told that it was wrong.

    Call `route`, call the worker, and on NOT_OWNER or UNAVAILABLE call `forget` and then `route` again with the worker
    that failed in `avoid`.
    """

    def __init__(
        self,
        store: TableStore,
        registry: WorkerRegistry,
        *,
        remember: int = 100_000,
        workers_for_s: float = 0.5,
        choose: Callable[[list[WorkerInfo], int], list[WorkerInfo]] = random.sample,
    ) -> None:
        self._store = store
        self._registry = registry
        self._remember = remember
        self._workers_for_s = workers_for_s
        self._choose = choose
        self._routes: OrderedDict[str, str] = OrderedDict()
        self._workers: dict[str, WorkerInfo] = {}
        self._workers_at = float("-inf")
        self._reading = asyncio.Lock()

    async def route(self, table_id: str, *, avoid: Collection[str] = ()) -> WorkerInfo:
        """The live worker that owns the table, or, when none does, the one that should take it over.

        Workers in `avoid` are never returned. Raises `TableUnknown`, and `Unavailable` when no worker can be found.
        """
        workers = await self._live()
        remembered = self._routes.get(table_id)
        if remembered is not None and remembered in workers and remembered not in avoid:
            self._routes.move_to_end(table_id)
            return workers[remembered]
        owner = await self._store.owner(table_id)
        if owner.worker and owner.worker not in avoid:
            info = workers.get(owner.worker) or (await self._live(fresh=True)).get(owner.worker)
            if info is not None:
                self._keep(table_id, info.worker)
                return info
        info = await self.place(avoid=avoid)
        self._keep(table_id, info.worker)
        return info

    async def place(self, *, avoid: Collection[str] = ()) -> WorkerInfo:
        """The less loaded of two random live workers that do not drain. Raises `Unavailable` when there is none.

        While a rolling update replaces the workers, one that it brought is taken: a table that comes to another would
        soon have to leave it again. A full worker is taken when all are.
        """
        for fresh in (False, True):
            workers = await self._live(fresh=fresh)
            candidates = [each for each in workers.values() if not each.draining and each.worker not in avoid]
            if candidates:
                candidates = _that_stay(candidates)
                two = self._choose(candidates, min(2, len(candidates)))
                return min(two, key=lambda each: each.load / max(1, each.capacity))
        raise Unavailable("no table worker is there")

    async def live_workers(self) -> frozenset[str]:
        """The ids of all workers in the registry now. Raises `StoreUnavailable`."""
        return frozenset(await self._live(fresh=True))

    def forget(self, table_id: str) -> None:
        """What is remembered of this table was wrong."""
        self._routes.pop(table_id, None)
        self._workers_at = float("-inf")

    def learn(self, table_id: str, worker: str) -> None:
        """A worker said who the owner is: NOT_OWNER names it."""
        if worker:
            self._keep(table_id, worker)

    def _keep(self, table_id: str, worker: str) -> None:
        self._routes[table_id] = worker
        self._routes.move_to_end(table_id)
        while len(self._routes) > self._remember:
            self._routes.popitem(last=False)

    async def _live(self, *, fresh: bool = False) -> dict[str, WorkerInfo]:
        loop = asyncio.get_running_loop()
        if not fresh and loop.time() - self._workers_at < self._workers_for_s:
            return self._workers
        async with self._reading:
            if fresh or loop.time() - self._workers_at >= self._workers_for_s:
                self._workers = {each.worker: each for each in await self._registry.live()}
                self._workers_at = loop.time()
        return self._workers


def _that_stay(workers: list[WorkerInfo]) -> list[WorkerInfo]:
    """Those of the rollout that began last and have room, or all of them when there are none."""
    newest = max(workers, key=lambda each: each.started_ms).rollout
    return [each for each in workers if each.rollout == newest and each.load < each.capacity] or workers
