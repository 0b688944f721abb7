"""What was acknowledged survives `kill -9` of a server, and of the process that runs them all."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

import asyncpg
import redis.asyncio as redis

from deploy.local.ports import LOOPBACK, free_port
from deploy.local.process import ServerProcess
from deploy.local.stack import BackingStack
from deploy.local.valkey import ValkeyServer
from libs.chassis.events import ensure_topics
from tests.backing import BACKING

ROOT = Path(__file__).parents[3]

RUN_A_STACK = """
import asyncio, json, sys
from pathlib import Path

import asyncpg
import redis.asyncio as redis

from deploy.local.backing import BACKINGS
from deploy.local.stack import BackingStack
from libs.chassis.events import ensure_topics

async def main():
    async with BackingStack(Path(sys.argv[1]), backing=BACKINGS[sys.argv[2]]) as stack:
        async with redis.from_url(stack.valkey_url) as client:
            await client.set("acknowledged", "yes")
        connection = await asyncpg.connect(await stack.create_database("history"))
        await connection.execute("CREATE TABLE hands (n integer)")
        await connection.execute("INSERT INTO hands VALUES (42)")
        await ensure_topics([stack.kafka_bootstrap], {"kept": 1}, timeout_s=15)
        print(json.dumps([server.pid for server in stack.servers]), flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def _read(url: str, key: str) -> bytes | None:
    async with redis.from_url(url) as client:
        value: bytes | None = await client.get(key)
        return value


async def _listening(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection(LOOPBACK, port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            await writer.wait_closed()
            return


def _runs(pid: int) -> bool:
    """Whether the process runs; one that ended but that nobody has waited for has no command line."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes() != b""
    except (FileNotFoundError, ProcessLookupError):
        return False


async def test_valkey_comes_back_with_its_data_on_the_same_port(strict_valkey_server: ValkeyServer) -> None:
    async with redis.from_url(strict_valkey_server.url) as client:
        await client.set("acknowledged", "yes")
    url, pid = strict_valkey_server.url, strict_valkey_server.pid
    await strict_valkey_server.kill()
    assert strict_valkey_server.pid is None
    await strict_valkey_server.start()
    assert strict_valkey_server.url == url
    assert strict_valkey_server.pid != pid
    assert await _read(url, "acknowledged") == b"yes"


async def test_valkey_never_evicts_and_writes_every_change_down(valkey_url: str) -> None:
    async with redis.from_url(valkey_url, decode_responses=True) as client:
        assert await client.config_get("maxmemory-policy", "appendonly", "appendfsync", "save") == {
            "maxmemory-policy": "noeviction",
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
        }


async def test_postgres_comes_back_with_what_was_committed(tmp_path: Path) -> None:
    async with BACKING.database(tmp_path) as server:
        url = await server.create_database("ratings")
        connection = await asyncpg.connect(url)
        await connection.execute("CREATE TABLE kept (n integer)")
        await connection.execute("INSERT INTO kept VALUES (7)")
        transaction = connection.transaction()
        await transaction.start()
        await connection.execute("INSERT INTO kept VALUES (8)")
        await server.kill()
        connection.terminate()
        await server.start()
        assert await server.create_database("ratings") == url
        connection = await asyncpg.connect(url)
        assert [row["n"] for row in await connection.fetch("SELECT n FROM kept")] == [7]
        await connection.close()


async def test_a_stack_comes_back_after_kill_9_of_the_process_that_ran_it(tmp_path: Path) -> None:
    runner = await asyncio.create_subprocess_exec(
        sys.executable, "-c", RUN_A_STACK, str(tmp_path), BACKING.name, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    assert runner.stdout is not None
    async with asyncio.timeout(60):
        first_pids = json.loads(await runner.stdout.readline())
    runner.send_signal(signal.SIGKILL)
    await runner.wait()
    # At once: leftovers, locks and pid files of the dead run are this start's business.
    async with BackingStack(tmp_path, backing=BACKING) as stack:
        assert not {server.pid for server in stack.servers} & set(first_pids)
        assert await _read(stack.valkey_url, "acknowledged") == b"yes"
        connection = await asyncpg.connect(await stack.create_database("history"))
        assert await connection.fetchval("SELECT n FROM hands") == 42
        await connection.close()
        # The embedded broker alone forgets.
        made = await ensure_topics([stack.kafka_bootstrap], {"kept": 1}, timeout_s=15)
        assert made == ({"kept"} if BACKING.name == "embedded" else set())
    assert not any(_runs(pid) for pid in first_pids)


async def test_a_server_that_outlived_its_parent_is_ended_before_a_new_one_starts(tmp_path: Path) -> None:
    coming = BACKING.store(tmp_path)
    coming.folder.mkdir()
    leftover = ServerProcess(
        tmp_path / "run" / f"{coming.name}.pid", tmp_path / "logs" / "leftover.log", signal.SIGTERM
    )
    port = free_port()
    leftover.launch([str(coming._program()), "--port", str(port), "--set-proc-title", "no"], cwd=coming.folder)
    async with asyncio.timeout(10):
        await _listening(port)
    async with coming as server:
        assert leftover.pid is None
        assert leftover.exit_code == 0
        assert await _read(server.url, "nothing") is None


async def test_a_pid_on_record_that_now_belongs_to_another_program_is_left_alone(tmp_path: Path) -> None:
    stranger = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    (tmp_path / "run").mkdir()
    server = BACKING.store(tmp_path)
    record = {"pid": stranger.pid, "command": [str(server._program()), "--port", "1"]}
    (tmp_path / "run" / f"{server.name}.pid").write_text(json.dumps(record))
    async with server:
        assert stranger.returncode is None
    assert stranger.stdin is not None
    stranger.stdin.write(b"\n")
    assert await stranger.wait() == 0


async def test_stopping_twice_and_starting_twice_do_no_harm(tmp_path: Path) -> None:
    server = BACKING.store(tmp_path)
    await server.stop()
    await server.start()
    pid = server.pid
    await server.start()
    assert server.pid == pid
    await server.stop()
    await server.stop()
    assert server.pid is None
    assert await server.wait() == 0


async def test_whoever_waits_learns_which_server_ended(tmp_path: Path) -> None:
    async with BackingStack(tmp_path, backing=BACKING, fsync=False) as stack:
        waiting = asyncio.create_task(stack.wait_for_a_stop())
        await stack.broker.kill()
        async with asyncio.timeout(10):
            assert await waiting is stack.broker
