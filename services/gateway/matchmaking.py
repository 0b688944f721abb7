"""Matchmaking as a socket needs it: the own seat, and a ticket that lives as long as the socket."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Final

import structlog

from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from eastwind.matchmaking.v1 import matchmaking_service_pb2_grpc
from libs.chassis.auth import USER_METADATA
from libs.chassis.channels import Channels
from libs.chassis.errors import EastwindError

_SERVICE: Final = "eastwind.matchmaking.v1.MatchmakingService"
_log = structlog.get_logger(__name__)


class Matchmaking:
    """Calls on behalf of a player, with the player's own access token."""

    def __init__(self, channels: Channels) -> None:
        idempotent = [f"{_SERVICE}/{method}" for method in ("EnterQueue", "LeaveQueue", "GetSeat")]
        channel = channels.to("matchmaking", idempotent=idempotent)
        self._stub = matchmaking_service_pb2_grpc.MatchmakingServiceStub(channel)

    async def seat_of(self, access_token: str) -> str:
        """Return the table where the account sits, or "". When matchmaking is away nobody is kept from playing: ""."""
        try:
            response = await self._stub.GetSeat(matchmaking_pb2.GetSeatRequest(), metadata=_bearer(access_token))
        except EastwindError as error:
            _log.warning("the own seat could not be found", error=str(error))
            return ""
        return response.table_id

    async def queue(
        self, access_token: str, request: matchmaking_pb2.EnterQueueRequest
    ) -> AsyncIterator[matchmaking_pb2.WatchQueueResponse]:
        """Enter the queue and yield the state of the ticket until it is matched or gone.

        A broken stream is taken up again; the ticket stays the same. Raises ``EastwindError`` when entering is refused.
        """
        failures = 0
        while True:
            entered = await self._stub.EnterQueue(request, metadata=_bearer(access_token))
            if entered.table_id:
                yield matchmaking_pb2.WatchQueueResponse(
                    state=matchmaking_pb2.QUEUE_STATE_MATCHED, table_id=entered.table_id
                )
                return
            try:
                watch = self._stub.WatchQueue(matchmaking_pb2.WatchQueueRequest(), metadata=_bearer(access_token))
                async for status in watch:
                    failures = 0
                    yield status
                    if status.state != matchmaking_pb2.QUEUE_STATE_WAITING:
                        return
            except EastwindError as error:
                if not error.retriable or failures > 10:
                    raise
                _log.info("the queue is watched again", error=str(error))
            failures += 1
            await asyncio.sleep(random.uniform(0.5, 1.0) * min(2.0, 0.1 * 2**failures))

    async def leave_queue(self, access_token: str) -> None:
        """Leave the queue. Raises ``EastwindError``."""
        await self._stub.LeaveQueue(matchmaking_pb2.LeaveQueueRequest(), metadata=_bearer(access_token))


def _bearer(access_token: str) -> list[tuple[str, str]]:
    return [(USER_METADATA, f"Bearer {access_token}")]
