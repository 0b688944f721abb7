"""A real Prometheus, from Debian's package, that scrapes a fleet and evaluates the rules."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from deploy.local.ports import LOOPBACK, free_port
from tests.telemetry.files import RULES

START_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A running server."""

    url: str
    http: aiohttp.ClientSession

    async def get(self, path: str, **parameters: str) -> Any:
        """The data that the API answers with."""
        async with self.http.get(f"{self.url}/api/v1/{path}", params=parameters) as answer:
            found = await answer.json()
        assert found["status"] == "success", found
        return found["data"]

    async def values(self, query: str) -> list[float]:
        """What a query returns now, numbers alone."""
        result = (await self.get("query", query=query))["result"]
        return [float(each["value"][1]) for each in result]

    async def has_data(self, query: str) -> bool:
        """Whether a query returns at least one number."""
        return any(not math.isnan(value) for value in await self.values(query))

    async def until(self, query: str, wanted: float, within_s: float) -> None:
        """Wait until a query returns that number alone. Raises `TimeoutError`."""
        async with asyncio.timeout(within_s):
            while await self.values(query) != [wanted]:  # noqa: ASYNC110  another process is asked
                await asyncio.sleep(0.5)


def configuration(targets: Mapping[str, list[str]]) -> str:
    """Scrape every service under its own job, each second."""
    return json.dumps(
        {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "2s"},
            "rule_files": [str(path) for path in sorted(RULES.glob("*.yaml"))],
            "scrape_configs": [
                {"job_name": f"eastwind-{service}", "static_configs": [{"targets": addresses}]}
                for service, addresses in targets.items()
            ],
        }
    )


@asynccontextmanager
async def scraping(targets: Mapping[str, list[str]], folder: Path) -> AsyncIterator[Prometheus]:
    """Run Prometheus in a folder of its own until the block ends."""
    program = shutil.which("prometheus")
    assert program is not None, "prometheus is missing: apt-get install prometheus"
    config, log = folder / "prometheus.json", folder / "prometheus.log"
    config.write_text(configuration(targets))
    address = f"{LOOPBACK}:{free_port()}"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            program,
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={address}",
            "--enable-feature=exemplar-storage",
            stdout=output,
            stderr=output,
        )
    try:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as http:
            await _answers(http, address, process, log)
            yield Prometheus(f"http://{address}", http)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _answers(http: aiohttp.ClientSession, address: str, process: asyncio.subprocess.Process, log: Path) -> None:
    async with asyncio.timeout(START_TIMEOUT_S):
        while True:
            assert process.returncode is None, f"prometheus ended, see {log}"
            try:
                async with http.get(f"http://{address}/-/ready") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.1)
