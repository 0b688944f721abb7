"""A player at the public edge: seals nonces, says ready, and answers decisions as a policy says."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from eastwind.table.v1 import event_pb2, view_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import action_pb2, reason_pb2
from libs.contracts.bot_views import hand_view_from_proto
from libs.contracts.tiles import action_to_proto
from libs.contracts.view_folding import any_person_ready, coming_hand, own_seat
from libs.mahjong.bots import choose
from libs.mahjong.fairness import SECRET_BYTES, commit
from services.cli.edge_client import EdgeClient, EdgeClosedError, WatchedTable

Policy = Callable[[view_pb2.TableView], Awaitable[action_pb2.Action | None]]
"""What a player does at a decision with options; ``None`` lets the time run out."""

RETRY_S: Final = 0.2
_TRY_AGAIN: Final = frozenset(
    (reason_pb2.REASON_UNAVAILABLE, reason_pb2.REASON_INTERNAL, reason_pb2.REASON_RATE_LIMITED)
)


def computer(level: int, seed: int) -> Policy:
    """Return the policy of a computer player of that level; it thinks beside the event loop."""

    async def play(view: view_pb2.TableView) -> action_pb2.Action:
        hand = hand_view_from_proto(view)
        return action_to_proto(await asyncio.to_thread(choose, hand, level, seed=seed ^ view.decision.decision))

    return play


@dataclass(frozen=True, slots=True)
class HandResult:
    """A settled hand as the player saw it; ``won`` is ``None`` after a drawn hand."""

    hand: int
    view: view_pb2.TableView
    settled: event_pb2.HandSettled
    won: event_pb2.HandWon | None


class SeatPlayer:
    """Plays the account's seat at one table."""

    def __init__(self, client: EdgeClient, table_id: str, policy: Policy) -> None:
        self._client = client
        self._table_id = table_id
        self._policy = policy
        self._nonces: dict[bytes, bytes] = {}
        self._answered = 0
        self._reported = 0
        self._ready_step = b""
        self.refusals: list[tuple[str, reason_pb2.Reason.ValueType]] = []

    async def play(self, hands: int, on_result: Callable[[HandResult], None] | None = None) -> list[HandResult]:
        """Play until so many hands are settled, or the table closes; returns their results.

        The player stays seated, not ready for the hand after the last. Raises ``EdgeClosedError`` when the server
        shows the table no more.
        """
        table = await self._client.watch(self._table_id)
        results: list[HandResult] = []
        while True:
            version = table.version
            view = table.view
            if view.HasField("settled") and view.hand > self._reported:
                self._reported = view.hand
                result = HandResult(view.hand, view, view.settled, view.won if view.HasField("won") else None)
                results.append(result)
                if on_result is not None:
                    on_result(result)
            if len(results) >= hands or view.phase == view_pb2.TABLE_PHASE_CLOSED:
                return results
            if await self._act(table):
                await table.changed_since(version)
            else:
                await asyncio.sleep(RETRY_S)

    async def leave(self) -> None:
        """Give the seat up: at once between hands, after the hand otherwise."""
        await self._client.command(self._table_id, table_pb2.TableCommand(leave_seat=table_pb2.LeaveSeat()))

    async def _act(self, table: WatchedTable) -> bool:
        """Do what the newest view asks for; ``False`` when it has to be tried again."""
        view = table.view
        own = own_seat(view)
        if own is None:
            raise EdgeClosedError("NOT_SEATED", "the seat is lost")
        if view.phase in (view_pb2.TABLE_PHASE_WAITING, view_pb2.TABLE_PHASE_READY) and not own.ready:
            if not own.nonce_commitment and not any_person_ready(view):
                seal = table_pb2.CommitNonce(hand=coming_hand(view), commitment=self._seal())
                return await self._send("seal", table_pb2.TableCommand(commit_nonce=seal))
            if view.phase == view_pb2.TABLE_PHASE_READY and self._ready_step != view.commitment:
                return await self._get_ready(view, own)
        elif view.HasField("decision") and view.decision.options and view.decision.decision > self._answered:
            return await self._decide(view)
        return True

    async def _get_ready(self, view: view_pb2.TableView, own: view_pb2.SeatView) -> bool:
        nonce = self._nonces.get(own.nonce_commitment, b"")
        ready = table_pb2.Ready(hand=coming_hand(view), nonce=nonce, next_commitment=self._seal())
        done = await self._send("ready", table_pb2.TableCommand(ready=ready))
        if done:
            self._ready_step = view.commitment
        return done

    async def _decide(self, view: view_pb2.TableView) -> bool:
        decision = view.decision.decision
        action = await self._policy(view)
        done = True
        if action is not None:
            choice = table_pb2.Choose(decision=decision, action=action)
            done = await self._send("choose", table_pb2.TableCommand(choose=choice))
        if done:
            self._answered = decision
        return done

    async def _send(self, what: str, command: table_pb2.TableCommand) -> bool:
        """Send a command; ``False`` when it has to be tried again."""
        answer = await self._client.command(self._table_id, command)
        if answer.reason:
            self.refusals.append((what, answer.reason))
        return answer.reason not in _TRY_AGAIN

    def _seal(self) -> bytes:
        nonce = secrets.token_bytes(SECRET_BYTES)
        seal = commit(nonce)
        self._nonces[seal] = nonce
        return seal
