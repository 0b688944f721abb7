"""What every service object has: its settings, its tasks, its addresses, and a start that leaves nothing half done."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from functools import partial
from typing import ClassVar, Generic, TypeVar

from libs.chassis.drain import Lifecycle, TaskOwner
from libs.chassis.httpside import HttpSide
from libs.chassis.server import GrpcServer
from libs.chassis.settings import ServiceSettings

Settings = TypeVar("Settings", bound=ServiceSettings)


class ServiceObject(ABC, Generic[Settings]):
    """One instance of a service, made inside the event loop. Several may live in one process.

    A subclass makes its parts in `_start` (or before), puts its servers into `_server` and `_http`, and undoes
    everything through `_lifecycle`; one that drains more than its calls has a `stop` of its own. `failed` gets the
    exception when a task of `_tasks`, or a part that was given to `_watch`, has crashed.
    """

    name: ClassVar[str]

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lifecycle = Lifecycle()
        self._tasks = TaskOwner(self.name)
        self._server: GrpcServer | None = None
        self._http: HttpSide | None = None
        self.failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()
        self._watch(self._tasks.failed)

    @property
    def grpc_address(self) -> str:
        """`host:port` of the gRPC server, once started."""
        assert self._server is not None
        return self._server.address

    @property
    def http_address(self) -> str:
        """`host:port` of probes and metrics, once started."""
        assert self._http is not None
        return f"{self._settings.advertise_host or self._settings.host}:{self._http.port}"

    async def start(self) -> None:
        """Return when the service takes work. When that fails, nothing is left running.

        Raises `OSError` when a port is taken, and `Unavailable` when something stays away that it cannot do without.
        """
        try:
            await self._start()
        except BaseException:
            if self._server is not None:
                await self._server.stop(0.0)
            await self._lifecycle.stop()
            raise
        server, http = self._server, self._http
        if server is not None and http is not None:
            # Probes by gRPC and by HTTP give one answer.
            server.health.ready_when(lambda: http.ready)

    async def stop(self, grace_s: float) -> None:
        """Finish the calls and the work in hand, the calls within `grace_s` seconds, and free everything."""
        if self._server is not None:
            self._lifecycle.on_stop("grpc", partial(self._server.stop, grace_s), timeout_s=grace_s + 5.0)
        await self._lifecycle.stop()

    @abstractmethod
    async def _start(self) -> None:
        """Start the parts in order, each with the step that undoes it."""

    def _watch(self, *parts: asyncio.Future[BaseException]) -> None:
        """Take the crash of a part for that of the service."""
        for part in parts:
            part.add_done_callback(self._part_failed)

    def _part_failed(self, part: asyncio.Future[BaseException]) -> None:
        if not part.cancelled() and not self.failed.done():
            self.failed.set_result(part.result())
