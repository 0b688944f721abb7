"""Service processes that are killed with SIGKILL, again and again.

One process imports everything and forks a child for each life of the service, since importing takes longer than living.
Run as `python -m tests.service.ratings.killing SERVICE DATABASE BOOTSTRAP`; each line on its input is one life.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from libs.chassis.drain import Service

ROOT = Path(__file__).parents[3]
Factory = Callable[[], Service]


class Mortal:
    """A service in a process of its own: `born` starts it, `kill` ends it without warning."""

    def __init__(self, service: str, database_url: str, bootstrap: str) -> None:
        self._arguments = (service, database_url, bootstrap)
        self._forker: asyncio.subprocess.Process | None = None
        self._child = 0

    async def __aenter__(self) -> Mortal:
        self._forker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.service.ratings.killing", *self._arguments),
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._forker is not None
        if self._child:
            await self.kill()
        self._forker.kill()
        await self._forker.communicate()

    async def born(self) -> None:
        """Begin another life."""
        self._child = int(await self._told("born"))

    async def kill(self) -> None:
        """End it now; returns when it is gone."""
        os.kill(self._child, signal.SIGKILL)
        self._child = 0
        assert self._forker is not None
        assert self._forker.stdout is not None
        assert await self._forker.stdout.readline() == b"dead\n"

    async def _told(self, word: str) -> bytes:
        assert self._forker is not None
        assert self._forker.stdin is not None
        assert self._forker.stdout is not None
        self._forker.stdin.write(f"{word}\n".encode())
        return await self._forker.stdout.readline()


async def live(factory: Factory) -> None:
    service = factory()
    await service.start()
    await service.failed


def factory_of(service: str, database_url: str, bootstrap: str) -> Factory:
    if service == "ratings":
        from services.ratings.app import RatingsService
        from tests.service.ratings.running import settings_for as ratings_settings

        return lambda: RatingsService(ratings_settings(database_url, bootstrap))
    from services.history.app import HistoryService
    from tests.service.history.running import settings_for as history_settings

    return lambda: HistoryService(history_settings(database_url, bootstrap))


def main() -> None:
    factory = factory_of(*sys.argv[1:])
    for _line in sys.stdin:
        child = os.fork()
        if child == 0:
            # What services log must not be taken for what this process answers.
            os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
            asyncio.run(live(factory))
        print(child, flush=True)
        os.waitpid(child, 0)
        print("dead", flush=True)


if __name__ == "__main__":
    main()
