"""How a client of the broker is started."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any, Final

from aiokafka.errors import KafkaError

_LONGEST_S: Final = 1.0


async def start_client(client: Any) -> None:
    """Start a consumer, producer or admin client; raises what its `start` does.

    One that is cut off within its start leaves a connection open that nothing closes. So a cancellation waits for a
    moment until the start has ended, and the caller can close the client as ever.
    """
    starting = asyncio.ensure_future(client.start())
    try:
        await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(KafkaError, OSError, TimeoutError):
            await asyncio.wait_for(starting, _LONGEST_S)
        raise
