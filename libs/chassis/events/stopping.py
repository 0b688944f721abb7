"""How a consuming client of the broker is stopped."""

from __future__ import annotations

import asyncio
from typing import Any, Final

import structlog

_MOMENT_S: Final = 1.0
_log = structlog.get_logger(__name__)


async def stop_consumer(consumer: Any, *, timeout_s: float = 10.0) -> None:
    """Stop a consumer within about `timeout_s`; raises nothing but a cancellation of the caller.

    A consumer whose broker is away may come out of its own `stop` as if the caller had been cancelled, with connections
    open, and may swallow a cancellation that is the caller's. So it stops in a task of its own, and what is then still
    on its way ends with its connection.
    """
    stopping = asyncio.ensure_future(consumer.stop())
    stopping.add_done_callback(_note)
    try:
        await asyncio.wait([stopping], timeout=timeout_s)
    finally:
        if not _went_well(stopping):
            stopping.cancel()
            await consumer._client.close()
    if not stopping.done():
        await asyncio.wait([stopping], timeout=_MOMENT_S)


def _went_well(stopping: asyncio.Future[None]) -> bool:
    return stopping.done() and not stopping.cancelled() and stopping.exception() is None


def _note(stopping: asyncio.Future[None]) -> None:
    error = None if stopping.cancelled() else stopping.exception()
    if error is not None:
        _log.warning("consumer did not close by itself", error=repr(error))
