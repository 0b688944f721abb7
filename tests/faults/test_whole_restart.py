"""Everything on one machine is killed at once and started again: nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.faults.players import RULESET, Four

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]
_SETTINGS = {
    **dict.fromkeys(("CALL_RATE", "CALL_BURST", "SOCKET_RATE", "SOCKET_BURST"), "1000"),
    # Rated tables pause after discards; the hands are to end soon.
    "PACING_LEAST_MS": "0",
    "PACING_MOST_MS": "5",
}


class WholeRun:
    """`eastwind run` in a process of its own on a data folder."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self._port = "0"
        self._process: asyncio.subprocess.Process | None = None
        self.url = ""

    async def start(self) -> None:
        """Return when players can connect; the port stays the same."""
        program = Path(sys.executable).with_name("eastwind")
        command = [str(program), "run", "--port", self._port, "--data", str(self._data_dir)]
        environment = {**os.environ, **{f"EASTWIND_{name}": value for name, value in _SETTINGS.items()}}
        self._process = await asyncio.create_subprocess_exec(
            *command, stdout=asyncio.subprocess.PIPE, env=environment, start_new_session=True
        )
        assert self._process.stdout is not None
        line = (await self._process.stdout.readline()).decode()
        assert line.startswith("Eastwind runs."), line
        self.url = line.split()[3].rstrip("/")
        self._port = self.url.rpartition(":")[2]

    async def kill(self) -> None:
        """`kill -9` for the services and the three backing servers."""
        assert self._process is not None
        pids = [json.loads(path.read_text())["pid"] for path in (self._data_dir / "run").glob("*.pid")]
        assert len(pids) == 3
        for pid in (self._process.pid, *pids):
            os.kill(pid, signal.SIGKILL)
        await self._process.wait()

    async def stop(self) -> int | None:
        """End it in its orderly way; returns its exit code."""
        if self._process is None or self._process.returncode is not None:
            return None
        self._process.terminate()
        return await self._process.wait()


@pytest_asyncio.fixture
async def whole_run(tmp_path: Path) -> AsyncIterator[WholeRun]:
    """Everything, running on an empty data folder."""
    run = WholeRun(tmp_path / "data")
    try:
        await run.start()
        yield run
    finally:
        await run.stop()


async def test_accounts_tables_records_and_ratings_survive_a_kill_of_everything(whole_run: WholeRun) -> None:
    async with Four([whole_run.url], rated=True) as four:
        await four.play_on(1)
        first = await four.finish_hand()
        await four.check_record(first)
        await four.next_hand()
        await four.play_on(6)
        await whole_run.kill()
        await whole_run.start()
        await four.play_on(6, within_s=60)
        second = await four.finish_hand()
        await four.compare_with_server()
        units = [f"{four.table_id}-{hand}" for hand in (second, first)]
        for hand in (first, second):
            await four.check_record(hand)
        for player in four.players:
            # The session is still known, and the broker that forgot everything was told again without any effect.
            await player.refresh()
            await player.wait_for_ratings(units)
        listed = await four.players[0].call("History/ListRecords", {"tableId": four.table_id})
        assert [row["recordId"] for row in listed["records"]] == units
        rated = await four.players[0].call(
            "Ratings/GetRatings", {"accountIds": [four.players[0].account_id], "ruleset": RULESET}
        )
        assert rated["ratings"][0]["units"] == 2
    assert await whole_run.stop() == 0
