"""Commands of the pages for operators, run as they stand there.

A block of a page is known by the comment before it: ``<!-- block: dump databases -->``.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

PAGES: Final = Path(__file__).parents[1] / "deploy" / "docs"
_BLOCK: Final = re.compile(r"<!-- block: (?P<name>[^>]+?) -->\n```sh\n(?P<commands>.+?)```", re.DOTALL)
_DEADLINE_S: Final = 120.0


def blocks(page: str) -> dict[str, str]:
    """The named blocks of commands of a page in ``deploy/docs``."""
    found = [(match["name"], match["commands"]) for match in _BLOCK.finditer((PAGES / page).read_text())]
    assert len(dict(found)) == len(found), f"two blocks of {page} have one name"
    return dict(found)


class Operator:
    """Somebody at a shell who follows a page. ``programs`` are folders that come first on the PATH."""

    def __init__(self, page: str, environment: Mapping[str, str], programs: list[Path]) -> None:
        self._blocks = blocks(page)
        path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
        self._environment = {**os.environ, **environment, "PATH": path}
        self.done: list[str] = []
        """The names of the blocks that were run, in order."""

    def know(self, **variables: str) -> None:
        """Set variables for the blocks to come."""
        self._environment |= variables

    async def do(self, name: str) -> str:
        """Run a block; returns what it printed. A command that fails ends it, and fails the test."""
        process = await asyncio.create_subprocess_exec(
            "bash",
            "-euo",
            "pipefail",
            "-c",
            self._blocks[name],
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        try:
            async with asyncio.timeout(_DEADLINE_S):
                output, _ = await process.communicate()
        except BaseException:
            if process.returncode is None:
                process.kill()
                await process.wait()
            raise
        text = output.decode()
        assert process.returncode == 0, f"{name}: exit code {process.returncode}\n{text}"
        self.done.append(name)
        return text


def libpq(url: str) -> dict[str, str]:
    """How the programs of PostgreSQL are told where the server of ``url`` is."""
    parts = urlsplit(url)
    return {
        "PGHOST": str(parts.hostname),
        "PGPORT": str(parts.port),
        "PGUSER": str(parts.username),
        "PGPASSWORD": unquote(str(parts.password)),
    }
