"""Is the server set up so that it keeps tables? Asked once at start."""

from __future__ import annotations

import structlog

from libs.chassis.errors import StoreUnavailable
from libs.chassis.multiplexed import StoreReplyError
from libs.chassis.redis_client import RedisClient

_log = structlog.get_logger(__name__)


async def check_server(client: RedisClient) -> list[str]:
    """One sentence for each dangerous setting of each server; they are logged as warnings, too.

    Dangerous are an eviction policy that may drop a live table, and a server without any persistence.
    """
    warnings: list[str] = []
    for node in client.nodes():
        try:
            reply = await node.call(b"INFO", b"everything")
            saves = await node.call(b"CONFIG", b"GET", b"save")
        except StoreReplyError as error:
            _log.info("store settings cannot be read", address=node.address.name, error=error.text)
            continue
        except StoreUnavailable as error:
            _log.warning("store settings not read", address=node.address.name, error=str(error))
            continue
        facts = dict(line.split(":", 1) for line in reply.decode().splitlines() if ":" in line)
        policy = facts.get("maxmemory_policy", "noeviction")
        if policy != "noeviction":
            warnings.append(
                f"{node.address.name} evicts keys when memory is short (maxmemory-policy {policy}): set noeviction."
            )
        if facts.get("aof_enabled") == "0" and not (len(saves) > 1 and saves[1]):
            warnings.append(f"{node.address.name} persists nothing: a restart loses all tables. Set appendonly yes.")
    for warning in warnings:
        _log.warning("dangerous store settings", problem=warning)
    return warnings
