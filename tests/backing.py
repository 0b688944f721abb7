"""Fixtures that hand out real backing servers, started once per test process and only when a test asks for one.

Every process of a parallel run has servers of its own, on data of its own, so tests share nothing across processes.
Within a process they are kept apart: Valkey is emptied and the broker begins anew for each test, databases are fresh.

Which servers they are says the environment variable EASTWIND_BACKING: "embedded" (those from wheels, the default) or
"production" (Apache Kafka, Debian's Redis and PostgreSQL). A test that is about a property of one of these sets alone
has the marker `embedded` or `production`, and is left out with the other.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import uuid
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
import pytest_asyncio

from deploy.local.backing import BACKINGS, VARIABLE, Backing
from deploy.local.broker import KafkaProtocolServer
from deploy.local.ports import LOOPBACK
from deploy.local.postgres import PostgresServer
from deploy.local.valkey import ValkeyServer

Result = TypeVar("Result")


def _chosen() -> Backing:
    name = os.environ.get(VARIABLE, "embedded")
    if name not in BACKINGS:
        raise pytest.UsageError(f"{VARIABLE} is {name!r}; it must be one of: {', '.join(BACKINGS)}.")
    return BACKINGS[name]


BACKING: Final = _chosen()
"""The servers that this run of the tests stands on."""
QUICK_BROKER: Final[dict[str, Any]] = {
    **BACKING.broker.client_settings,
    "kafka_session_timeout_s": BACKING.broker.shortest_session_s,
}
"""Fields of `ServiceSettings` under which consumer groups make nobody wait longer than their broker demands."""


class Keeper:
    """A thread with an event loop that starts and stops servers, whatever loop the tests run in.

    The kernel ends a server with the thread that started it, so this one lives until the test process ends.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="backing-servers", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do `work` in the keeper's loop and return what it returns."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def close(self) -> None:
        """End the thread; every server must have been stopped."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class FreshDatabases:
    """Makes databases that are dropped after the test."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._names: list[str] = []

    async def __call__(self, template: str = "template1") -> str:
        """The `postgresql://…` URL of a new database, a copy of `template`."""
        name = f"test_{uuid.uuid4().hex}"
        self._names.append(name)
        return await self._server.create_database(name, template=template)

    async def drop_all(self) -> None:
        """Drop them, and end what is still connected to them."""
        for name in self._names:
            await self._server.drop_database(name)


@pytest.fixture(scope="session")
def keeper() -> Iterator[Keeper]:
    """The thread that keeps the servers of this test process."""
    keeper = Keeper()
    yield keeper
    keeper.close()


@pytest.fixture(scope="session")
def _shared_valkey(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    server = BACKING.store(tmp_path_factory.mktemp("valkey"))
    yield server
    keeper.run(server.stop())


@pytest.fixture(scope="session")
def _shared_broker(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaProtocolServer]:
    server = BACKING.broker(tmp_path_factory.mktemp("broker"))
    yield server
    keeper.run(server.stop())


@pytest.fixture(scope="session")
def postgres_server(keeper: Keeper, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """The PostgreSQL of this test process. Do not kill it: a test that does so starts its own."""
    server = BACKING.database(tmp_path_factory.mktemp("postgres"), fsync=False)
    keeper.run(server.start())
    yield server
    keeper.run(server.stop())


@pytest.fixture
def valkey_server(keeper: Keeper, _shared_valkey: ValkeyServer) -> ValkeyServer:
    """A Valkey without any data. A test may `kill()` it and `start()` it again: same data, same port."""
    keeper.run(_shared_valkey.start())
    with socket.create_connection((LOOPBACK, _shared_valkey.port), timeout=5) as connection:
        connection.sendall(b"FLUSHALL SYNC\r\n")
        answer = connection.recv(64)
    assert answer == b"+OK\r\n"
    return _shared_valkey


@pytest.fixture
def valkey_url(valkey_server: ValkeyServer) -> str:
    """`redis://…` of a Valkey without any data."""
    return valkey_server.url


@pytest.fixture
def strict_valkey_server(keeper: Keeper, tmp_path: Path) -> Iterator[ValkeyServer]:
    """A Valkey of this test's own that answers once it has written down what it was told, to be killed.

    The others may hold that back for up to two seconds while the disk is slow, and lose it when they are killed.
    """
    server = BACKING.store(tmp_path, appendfsync="always")
    keeper.run(server.start())
    yield server
    keeper.run(server.stop())


@pytest.fixture
def broker_server(keeper: Keeper, _shared_broker: KafkaProtocolServer) -> KafkaProtocolServer:
    """A broker that has just begun: no topics, no messages, no commits. A test may `kill()` and `start()` it."""
    keeper.run(_shared_broker.begin_anew())
    return _shared_broker


@pytest.fixture
def kafka_bootstrap(broker_server: KafkaProtocolServer) -> str:
    """The address of a broker that has just begun, for `bootstrap_servers`."""
    return broker_server.bootstrap


@pytest_asyncio.fixture
async def fresh_database(postgres_server: PostgresServer) -> AsyncIterator[FreshDatabases]:
    """`await fresh_database()` makes an empty database and returns its URL; it is dropped after the test."""
    databases = FreshDatabases(postgres_server)
    yield databases
    await databases.drop_all()


@pytest_asyncio.fixture
async def postgres_url(fresh_database: FreshDatabases) -> str:
    """`postgresql://…` of an empty database of this test's own."""
    return await fresh_database()
