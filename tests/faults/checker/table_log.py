"""Logs of tables, followed entry by entry with a reading of their own: nothing of the engine or the store is used.

An entry is JSON: ``[1, at_ms, command_id, [[tag, fields…], …]]``. Only what an invariant is about is read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

HAND_STARTED, TILES_DEALT, TILE_DRAWN, BONUS_EXPOSED, DECISION_OPENED = 1, 2, 3, 4, 5
TILE_DISCARDED, MELD_CLAIMED, KONG_DECLARED, KONG_COMPLETED = 7, 8, 9, 10
HAND_WON, HAND_DRAWN, HAND_SETTLED = 11, 12, 13
SEAT_READY, SEAT_ANSWERED, SEAT_TIMED_OUT, OUTAGE_GRANTED, RATED_UNIT_ENDED = 39, 41, 42, 43, 44
TABLE_CLOSED: Final = 46
TURN: Final = 1
_MOVES: Final = {
    TILE_DRAWN: "drawn",
    BONUS_EXPOSED: "bonus",
    TILE_DISCARDED: "discarded",
    MELD_CLAIMED: "claimed",
    KONG_DECLARED: "declared",
    KONG_COMPLETED: "completed",
    HAND_WON: "won",
}

Move = tuple[str, int, tuple[int, ...]]
"""What a seat did, with which tiles."""


@dataclass(slots=True)
class Hand:
    """One hand as the log tells it."""

    number: int
    moves: list[Move] = field(default_factory=list)
    changes: tuple[int, ...] | None = None
    discards: set[tuple[int, int]] = field(default_factory=set)
    """Seat and tile."""
    drawn: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Carried:
    """The effect of a command: where in the log, and which decisions of which seats it answered."""

    sequence: int
    answered: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Open:
    decision: int
    kind: int
    seats: tuple[int, ...]
    resolved: set[int] = field(default_factory=set)


@dataclass(slots=True)
class Unit:
    """A rated unit as the log tells it, by seat."""

    accounts: tuple[str, ...]
    points: tuple[int, ...]


class TableLog:
    """One table's log up to where it was read. ``violations`` are sentences about what must not be."""

    def __init__(self, table_id: str) -> None:
        self.table_id = table_id
        self.sequence = 0
        self.epoch = 0
        self.worker = ""
        self.owners = 0
        self.commands: dict[str, Carried] = {}
        self.hands: dict[int, Hand] = {}
        self.units: dict[str, Unit] = {}
        self.actions: list[int] = []
        """When choices were accepted, of players and computers alike: unix ms, ascending."""
        self.timeouts: list[tuple[int, int, int]] = []
        """When (unix ms), seat, decision."""
        self.grants = 0
        """How often the time of an outage was given back."""
        self.closed = 0
        """How often the table closed."""
        self.violations: list[str] = []
        self._open: _Open | None = None
        self._decisions: set[int] = set()
        self._hand: Hand | None = None

    def owned(self, worker: str, epoch: int) -> None:
        """The table got an owner."""
        if epoch <= self.epoch:
            self._wrong(f"epoch {epoch} of {worker} follows {self.epoch} of {self.worker}")
        self.worker, self.epoch = worker, epoch
        self.owners += 1

    def append(self, sequence: int, raw: bytes) -> None:
        """Follow one more entry."""
        if sequence <= self.sequence:
            self._wrong(f"sequence {sequence} twice")
            return
        if sequence != self.sequence + 1:
            self._wrong(f"sequence {sequence} follows {self.sequence}")
        self.sequence = sequence
        _, at_ms, command_id, events = json.loads(raw)
        answered: list[tuple[int, int]] = []
        for event in events:
            self._event(sequence, at_ms, event, answered)
        if any(event[0] in (SEAT_ANSWERED, SEAT_READY) for event in events):
            self.actions.append(at_ms)
        if command_id:
            if command_id in self.commands:
                before = self.commands[command_id].sequence
                self._wrong(f"command {command_id} was carried out twice, at {before} and {sequence}")
            self.commands[command_id] = Carried(sequence, tuple(answered))

    def _event(self, sequence: int, at_ms: int, event: list[Any], answered: list[tuple[int, int]]) -> None:
        tag = event[0]
        if tag in (SEAT_ANSWERED, SEAT_TIMED_OUT):
            self._resolve(event[1], event[2], sequence)
            if tag == SEAT_ANSWERED:
                answered.append((event[1], event[2]))
            else:
                self.timeouts.append((at_ms, event[1], event[2]))
        elif tag == DECISION_OPENED:
            self._close_decision(sequence)
            if event[1] in self._decisions:
                self._wrong(f"decision {event[1]} opens a second time at {sequence}")
            self._decisions.add(event[1])
            self._open = _Open(event[1], event[2], tuple(event[3]))
        elif tag in (HAND_WON, HAND_DRAWN):
            self._close_decision(sequence)
        elif tag == HAND_STARTED:
            if self._hand is not None and self._hand.changes is None:
                self._wrong(f"hand {self._hand.number} was not settled before hand {event[1]}")
            if event[1] in self.hands:
                self._wrong(f"hand {event[1]} starts a second time at {sequence}")
            self._hand = self.hands[event[1]] = Hand(event[1])
        elif tag == TABLE_CLOSED:
            self.closed += 1
            if self.closed > 1:
                self._wrong(f"the table closes a second time at {sequence}")
        elif tag == OUTAGE_GRANTED:
            self.grants += 1
        elif tag == RATED_UNIT_ENDED:
            if event[1] in self.units:
                self._wrong(f"rated unit {event[1]} ends a second time at {sequence}")
            self.units[event[1]] = Unit(tuple(event[2]), tuple(event[3]))
        if tag == TILES_DEALT and self._hand is not None:
            self._hand.drawn.update(tile for tiles in event[1] for tile in tiles)
        elif tag == HAND_SETTLED:
            self._settle(sequence, event)
        elif tag in _MOVES:
            self._move(sequence, event)

    def _resolve(self, seat: int, decision: int, sequence: int) -> None:
        running = self._open
        if running is None or running.decision != decision:
            self._wrong(f"decision {decision} of seat {seat} is resolved at {sequence}, where it is not open")
        elif seat in running.resolved:
            self._wrong(f"decision {decision} of seat {seat} is resolved a second time at {sequence}")
        elif seat not in running.seats:
            self._wrong(f"decision {decision} is resolved at {sequence} by seat {seat}, which was not asked")
        else:
            running.resolved.add(seat)

    def _close_decision(self, sequence: int) -> None:
        running, self._open = self._open, None
        if running is not None and not running.resolved:
            self._wrong(f"decision {running.decision} is over at {sequence} and nobody resolved it")

    def _settle(self, sequence: int, event: list[Any]) -> None:
        changes = tuple(event[4])
        if self._hand is None:
            self._wrong(f"no hand is settled at {sequence}")
        elif self._hand.changes is not None:
            self._wrong(f"hand {self._hand.number} is settled a second time at {sequence}")
        else:
            self._hand.changes = changes
        if sum(changes):
            self._wrong(f"the settlement at {sequence} does not add to zero: {changes}")

    def _move(self, sequence: int, event: list[Any]) -> None:
        tag, seat = event[0], event[1]
        tiles = tuple(event[2][1]) if tag in (MELD_CLAIMED, KONG_DECLARED, KONG_COMPLETED) else (event[2],)
        hand = self._hand
        if hand is None or hand.changes is not None:
            self._wrong(f"a tile moves at {sequence} outside a hand")
            return
        hand.moves.append((_MOVES[tag], seat, tiles))
        if tag == TILE_DRAWN:
            if tiles[0] in hand.drawn:
                self._wrong(f"tile {tiles[0]} is drawn a second time in hand {hand.number} at {sequence}")
            hand.drawn.add(tiles[0])
        elif tag == TILE_DISCARDED:
            if any(tile == tiles[0] for _, tile in hand.discards):
                self._wrong(f"tile {tiles[0]} is discarded a second time in hand {hand.number} at {sequence}")
            if tiles[0] not in hand.drawn:
                self._wrong(f"tile {tiles[0]} is discarded in hand {hand.number} at {sequence} and was never drawn")
            hand.discards.add((seat, tiles[0]))

    def _wrong(self, what: str) -> None:
        self.violations.append(f"table {self.table_id}: {what}")
