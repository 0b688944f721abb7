"""Waiting for what another process does, where it gives no event to wait for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


async def until(check: Callable[[], Awaitable[bool]], *, seconds: float = 30.0) -> None:
    """Return as soon as `check` says so. Raises TimeoutError."""
    async with asyncio.timeout(seconds):
        while True:
            if await check():
                return
            await asyncio.sleep(0.02)
