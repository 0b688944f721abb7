"""Service processes run on uvloop, the tests on asyncio's own loop: what differs between them is tried here."""

from __future__ import annotations

import uvloop

from libs.chassis.redis_client import RedisClient
from tests.service.chassis.test_http_port import connect_while_it_closes


async def ping(url: str) -> object:
    async with RedisClient(url) as client:
        return await client.call(b"PING", key=b"")


def test_the_store_is_reached_on_uvloop(valkey_url: str) -> None:
    assert uvloop.run(ping(valkey_url)) in (b"PONG", "PONG")


async def close_while_connections_come() -> None:
    for turns in range(12):
        await connect_while_it_closes(turns)


def test_a_port_closes_while_connections_come() -> None:
    uvloop.run(close_while_connections_come())
