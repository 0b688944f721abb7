"""The computer players of one table: when each of them chooses, and that each chooses once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import structlog

from libs.chassis.clocks import Clock
from libs.chassis.drain import TaskOwner
from libs.chassis.errors import EastwindError
from libs.chassis.telemetry import in_span
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.table_commands import Act
from libs.mahjong.engine.table_state import TableState
from libs.mahjong.tiles import Seat
from services.table.commands import Make
from services.table.pacing import Pacing, on_turn

Think = Callable[[TableState, Seat], Awaitable[Action]]
"""Returns what a computer player that is asked does."""
_log: Final = structlog.get_logger(__name__)


class Table(Protocol):
    """The table at which they sit."""

    table_id: str
    state: TableState
    closed: bool

    async def ask(self, make: Make) -> None:
        """Put a command in line and wait for its answer. Raises the refusal."""

    def wake(self) -> None:
        """Go on with whatever the state waits for."""


class Computers:
    """One timer for each computer player that is asked. A choice that comes too late is forgotten."""

    __slots__ = ("_clock", "_table", "_tasks", "_think", "_thinking", "_timers")

    def __init__(self, table: Table, think: Think, thinking: Pacing, clock: Clock, tasks: TaskOwner) -> None:
        self._table = table
        self._think = think
        self._thinking = thinking
        self._clock = clock
        self._tasks = tasks
        self._timers: dict[Seat, asyncio.TimerHandle] = {}

    def resume(self) -> None:
        """Have those who are asked choose now: they were asked before the table moved here."""
        self.cancel()
        for seat in self._table.state.awaited_bots:
            self._call(seat, 0)

    def follow(self, release_ms: int) -> None:
        """Begin to think for whoever is asked now, and stop for whoever is not any more. Public events are held back
        until ``release_ms`` (unix ms)."""
        awaited = self._table.state.awaited_bots
        for seat in [seat for seat in self._timers if seat not in awaited]:
            self._timers.pop(seat).cancel()
        for seat in awaited:
            if seat not in self._timers:
                self._call(seat, self._wait_ms(release_ms))

    def cancel(self) -> None:
        """Stop thinking."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _wait_ms(self, release_ms: int) -> int:
        """Return how long a computer player waits before it chooses. A discard is answered while its pause lasts: an
        answer after it would tell everybody that somebody was asked (field case C059)."""
        state = self._table.state
        held_ms = max(0, release_ms - self._clock.now_ms())
        thinking_ms = self._thinking.draw_ms()
        if on_turn(state):
            return held_ms + thinking_ms
        return min(held_ms // 2, thinking_ms) if state.settings.uniform_pacing else thinking_ms

    def _call(self, seat: Seat, wait_ms: int) -> None:
        self._timers[seat] = asyncio.get_running_loop().call_later(wait_ms / 1000, self._due, seat)

    def _due(self, seat: Seat) -> None:
        if not self._table.closed:
            # Its turn belongs to no trace: else the trace of one action would go on for the whole table.
            with in_span(None):
                self._tasks.start(self._play(seat), name="bot")

    async def _play(self, seat: Seat) -> None:
        """Have a computer player choose; should that fail, the decision's deadline chooses for it."""
        state = self._table.state
        decision = state.hand.decision if state.hand is not None else None
        if decision is None or seat not in state.awaited_bots:
            self._timers.pop(seat, None)
            return
        number = decision.decision
        action = await self._think(state, seat)
        try:
            await self._table.ask(lambda _, given: [Act("", given.now_ms, seat, number, action, 0, given.hold_ms)])
        except EastwindError as error:
            _log.debug("a computer player came too late", table_id=self._table.table_id, reason=error.reason)
        finally:
            if self._timers.pop(seat, None) is not None:
                self._table.wake()
