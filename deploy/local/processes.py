"""All services of Eastwind, each as a process of its own, on real backing servers."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import aiohttp

from deploy.local.ports import LOOPBACK, free_port, port_is_free
from deploy.local.process import ServerProcess
from deploy.local.roster import DATABASES, ORDER, common_settings
from deploy.local.stack import BackingStack
from libs.chassis.events import ensure_topics
from libs.chassis.settings import PREFIX

COPIES: Final[Mapping[str, int]] = {"table": 2, "gateway": 2}
"""How often services run that do not run once."""
_STOP_WAVES: Final = (
    ("gateway",),
    ("matchmaking", "clock"),
    ("table",),
    tuple(service for service in ORDER if service not in ("gateway", "matchmaking", "clock", "table")),
)
START_TIMEOUT_S: Final = 180.0
_TOPICS_TIMEOUT_S: Final = 15.0
_POLL_S: Final = 0.05
_KILL_AFTER_S: Final = 10.0
_PORT_ATTEMPTS: Final = 3


class ServiceEndedError(Exception):
    """A service's process has ended and nobody asked it to. `log_tail` are its last words."""

    def __init__(self, service: str, exit_code: int, log: Path, log_tail: str) -> None:
        self.service = service
        self.exit_code = exit_code
        self.log = log
        self.log_tail = log_tail
        how = f"was killed by signal {-exit_code}" if exit_code < 0 else f"ended with exit code {exit_code}"
        super().__init__(f"{service} {how}. The last lines of {log}:\n{log_tail}")


class ServiceProcess:
    """One process of a service: its ports, its settings, its log. `name` is the service's with its number."""

    def __init__(self, service: str, number: int, data_dir: Path) -> None:
        self.service = service
        self.name = f"{service}-{number}"
        self.grpc_port = self.http_port = self.edge_port = 0
        self.log = data_dir / "logs" / f"{self.name}.log"
        self._process = ServerProcess(data_dir / "run" / f"{self.name}.pid", self.log, signal.SIGTERM)
        self._data_dir = data_dir
        self.expected = False
        """Whether it is meant to run."""

    @property
    def pid(self) -> int | None:
        """The process id while it runs, else None."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended (negative: by that signal), None while it runs or before it ran."""
        return self._process.exit_code

    async def launch(self, environment: Mapping[str, str]) -> None:
        """Start the process; returns before it takes work."""
        await self._process.end_leftover(_KILL_AFTER_S)
        self.expected = True
        self._process.launch(
            [sys.executable, "-m", f"services.{self.service}"], cwd=self._data_dir, environment=environment
        )

    async def wait_ready(self) -> None:
        """Return when it takes work. Raises `ServiceEndedError` when it ends instead."""
        url = f"http://{LOOPBACK}:{self.http_port}/readyz"
        timeout = aiohttp.ClientTimeout(total=2.0)
        async with aiohttp.ClientSession(timeout=timeout) as session:
            while True:
                self.raise_if_ended()
                try:
                    async with session.get(url) as response:
                        if response.status == 200:
                            return
                except (aiohttp.ClientError, TimeoutError):
                    pass
                await asyncio.sleep(_POLL_S)

    def raise_if_ended(self) -> None:
        """Raise `ServiceEndedError` when it should run and does not."""
        code = self.exit_code
        if self.expected and code is not None:
            raise ServiceEndedError(self.name, code, self.log, self._process.log_tail())

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process, which must run."""
        pid = self.pid
        if pid is None:
            raise RuntimeError(f"{self.name} does not run")
        os.kill(pid, number)

    async def stop(self, grace_s: float) -> int | None:
        """Have it drain, and kill it when that takes longer than `grace_s`; returns its exit code."""
        self.expected = False
        if self.pid is not None:
            # A paused process would never hear the other signal.
            self.signal(signal.SIGCONT)
        await self._process.stop(grace_s)
        return self.exit_code

    async def kill(self) -> None:
        """`kill -9`."""
        self.expected = False
        await self._process.kill()


class ProcessFleet:
    """Every service once, two table workers and two gateways, or as often as ``copies`` says, each as a process.

    ``settings`` are fields of the services' settings, by service, by process ("table-2"), or under "" for all of them.
    A service of which there are no copies has an address all the same, at which nobody listens. Processes are known by
    the service's name and a number from 1. ``edge_port`` is the first gateway's, 0 for any; the others take the next
    free ones.
    """

    def __init__(
        self,
        stack: BackingStack,
        *,
        settings: Mapping[str, Mapping[str, Any]] | None = None,
        copies: Mapping[str, int] | None = None,
        edge_host: str = LOOPBACK,
        edge_port: int = 0,
    ) -> None:
        self._stack = stack
        self._settings = settings or {}
        self._edge_host = edge_host
        self._edge_port = edge_port
        self._databases: dict[str, str] = {}
        counts = {**COPIES, **(copies or {})}
        self._processes = {
            (service, number): ServiceProcess(service, number, stack.data_dir)
            for service in ORDER
            for number in range(1, counts.get(service, 1) + 1)
        }
        self._addresses: dict[str, tuple[str, ...]] = {}

    def __getitem__(self, place: tuple[str, int]) -> ServiceProcess:
        return self._processes[place]

    @property
    def processes(self) -> tuple[ServiceProcess, ...]:
        """All of them, every service after those that it calls."""
        return tuple(self._processes.values())

    @property
    def edge_urls(self) -> tuple[str, ...]:
        """Where players find the page, one a gateway, once started."""
        return tuple(
            f"http://{self._edge_host}:{each.edge_port}" for each in self.processes if each.service == "gateway"
        )

    async def start(self) -> None:
        """Return when all are ready. When one cannot start, none is left running.

        Raises ``ServiceEndedError``, ``OSError`` for a port that is taken, and ``TimeoutError``.
        """
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                await ensure_topics((self._stack.kafka_bootstrap,), timeout_s=_TOPICS_TIMEOUT_S)
                self._databases = {name: await self._stack.create_database(name) for name in DATABASES}
                for attempt in range(_PORT_ATTEMPTS):
                    try:
                        await self._launch_all()
                    except ServiceEndedError as error:
                        # Nothing reserves the ports that were free a moment ago.
                        if attempt + 1 == _PORT_ATTEMPTS or "address already in use" not in error.log_tail.lower():
                            raise
                        await self.stop(0.0)
                    else:
                        return
        except BaseException:
            await self.stop(0.0)
            raise

    async def _launch_all(self) -> None:
        self._choose_ports()
        for process in self.processes:
            await process.launch(self._environment(process))
        waits = [asyncio.ensure_future(process.wait_ready()) for process in self.processes]
        try:
            await asyncio.gather(*waits)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def stop(self, grace_s: float) -> None:
        """Drain the processes, callers before those that they call; what has not ended after ``grace_s`` is killed."""
        for wave in _STOP_WAVES:
            await asyncio.gather(*(each.stop(grace_s) for each in self.processes if each.service in wave))

    async def kill(self, service: str, number: int = 1) -> None:
        """`kill -9` one process."""
        await self[service, number].kill()

    async def terminate(self, service: str, number: int = 1, *, grace_s: float = 30.0) -> int | None:
        """Have one process drain; returns its exit code."""
        return await self[service, number].stop(grace_s)

    async def restart(self, service: str, number: int = 1) -> None:
        """Start a process again that ended, on its old ports; returns when it is ready."""
        process = self[service, number]
        await process.launch(self._environment(process))
        async with asyncio.timeout(START_TIMEOUT_S):
            await process.wait_ready()

    def pause(self, service: str, number: int = 1) -> None:
        """SIGSTOP one process."""
        self[service, number].signal(signal.SIGSTOP)

    def resume(self, service: str, number: int = 1) -> None:
        """SIGCONT one process."""
        self[service, number].signal(signal.SIGCONT)

    async def wait_for_a_failure(self) -> ServiceEndedError:
        """Wait until a process has ended that nobody ended; returns which. While all is well this waits for ever."""
        while True:
            for process in self.processes:
                try:
                    process.raise_if_ended()
                except ServiceEndedError as error:
                    return error
            await asyncio.sleep(4 * _POLL_S)

    def _choose_ports(self) -> None:
        taken: set[int] = set()

        def choose(port: int = 0) -> int:
            while not port or port in taken:
                port = free_port()
            taken.add(port)
            return port

        edge_port = self._edge_port
        if edge_port and not port_is_free(edge_port):
            raise OSError(f"port {edge_port}: address already in use")
        for process in self.processes:
            if process.service == "gateway":
                while edge_port and not port_is_free(edge_port):
                    edge_port += 1
                process.edge_port = choose(edge_port)
                edge_port = edge_port and edge_port + 1
            process.grpc_port, process.http_port = choose(), choose()
        for service in ORDER:
            ports = [each.grpc_port for each in self.processes if each.service == service] or [choose()]
            self._addresses[f"{service}_address"] = tuple(f"{LOOPBACK}:{port}" for port in ports)

    def _environment(self, process: ServiceProcess) -> dict[str, str]:
        """Return the environment of a process: ours, and over it what this fleet says."""
        fields: dict[str, Any] = {
            **common_settings(self._stack),
            **self._addresses,
            "host": LOOPBACK,
            "grpc_port": process.grpc_port,
            "http_port": process.http_port,
            "drain_grace_s": _KILL_AFTER_S,
        }
        if process.service in self._databases:
            fields["database_url"] = self._databases[process.service]
        if process.service == "gateway":
            fields |= {"edge_host": self._edge_host, "edge_port": process.edge_port}
        for place in ("", process.service, process.name):
            fields |= self._settings.get(place, {})
        ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        # Compiled once, beside the installed packages, and not by every process again.
        ours.setdefault("PYTHONPYCACHEPREFIX", str(Path(sys.prefix) / ".pycache"))
        return {**ours, **{f"{PREFIX}{name.upper()}": _as_variable(value) for name, value in fields.items()}}


def _as_variable(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value)
