"""What a table knows at one moment: who sits where, who is ready, whose clock runs, and the hand being played.

A state is changed by ``table_applying`` alone; ``table.decide`` works on a copy. Everything inside but the hand is
immutable, so a copy is cheap.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Final

from libs.mahjong.clocks import SeatClock, fresh_clock
from libs.mahjong.engine.ruleset import RatedUnit, Ruleset, ruleset
from libs.mahjong.fairness import NO_COMMITMENT, SeatNonce, seat_nonce

if TYPE_CHECKING:
    from libs.mahjong.engine.events import HandSettled
    from libs.mahjong.engine.state import HandPicture, HandState
    from libs.mahjong.engine.table_events import (
        CloseCause,
        DecisionClock,
        Occupant,
        TableOpened,
        TableSettings,
    )
    from libs.mahjong.tiles import Seat, Wind

SEATS: Final = 4
EXPIRY_MS: Final = 24 * 60 * 60 * 1000
"""A table expires so long after the last accepted decision of a human (common C9)."""
SETTLEMENT_GRACE_MS: Final = 5_000
"""A hand that nobody settled by then is settled by the next tick with the table's own library."""
BOT_GRACE_MS: Final = 10_000
"""At an untimed table a bot that has not answered by then takes the action of a timeout, so that nobody waits for
it."""
REMEMBERED_COMMANDS: Final = 16
"""So many of the latest commands are recognised when they come again."""
VIEWERS: Final = 5
"""Seats 0..3 and, last (as index -1), the spectators."""

NOBODY: Final = (None,) * SEATS


class TablePhase(enum.IntEnum):
    """Where a table stands."""

    WAITING = 1
    """A seat is open."""
    READY = 2
    """All seats are taken; the hand starts when all are ready."""
    PLAYING = 3
    """A hand is being played, or over and not settled yet."""
    CLOSED = 4


class TablePicture:
    """What is known about a table: by itself (``TableState``), or by one viewer (``table_views.TableView``).

    By seat: ``occupants``, ``points``, ``leaving`` (asked to leave during a hand), ``clocks``, ``ready``,
    ``commitments`` (the pending seal of each nonce, ``b""`` for none), ``nonces`` (revealed in this ready step),
    ``next_commitments`` (given with it).

    ``hand_number`` counts from 1 and is that of the hand being prepared or played; ``hand`` is the running or the last
    hand. ``commitment`` seals the server's seed of the open ready step or the running hand. ``unit_rated`` tells
    whether the running unit counts, decided when it started (common C10). ``clock`` is that of the open decision,
    ``ready_deadline_ms`` ends the ready step, ``settled`` is the result of the last hand.
    """

    __slots__ = (
        "clock",
        "clocks",
        "close_cause",
        "commitment",
        "commitments",
        "dealer",
        "dealer_changes",
        "dealer_wins",
        "hand",
        "hand_number",
        "leaving",
        "next_commitments",
        "nonces",
        "occupants",
        "phase",
        "points",
        "ready",
        "ready_deadline_ms",
        "settings",
        "settled",
        "table_id",
        "unit_rated",
    )

    hand: HandPicture | None

    def __init__(self, opened: TableOpened) -> None:
        """A table before anybody sat down. Raises ``UnknownRuleset`` when its ruleset is not registered."""
        rules = ruleset(opened.settings.ruleset_id)
        self.table_id = opened.table_id
        self.settings: TableSettings = opened.settings
        self.phase = TablePhase.WAITING
        self.close_cause: CloseCause | None = None
        self.occupants: tuple[Occupant | None, ...] = NOBODY
        self.points: tuple[int, ...] = (rules.starting_points,) * SEATS
        self.leaving: tuple[bool, ...] = (False,) * SEATS
        self.dealer: Seat = opened.first_dealer
        self.dealer_changes = 0
        self.dealer_wins = 0
        self.hand_number = 1
        self.hand = None
        self.clocks: tuple[SeatClock, ...] = (fresh_clock(opened.settings.time_control),) * SEATS
        self.clock: DecisionClock | None = None
        self.ready: tuple[bool, ...] = (False,) * SEATS
        self.ready_deadline_ms: int | None = None
        self.commitment = b""
        self.commitments: tuple[bytes, ...] = (NO_COMMITMENT,) * SEATS
        self.nonces: tuple[bytes | None, ...] = NOBODY
        self.next_commitments: tuple[bytes, ...] = (NO_COMMITMENT,) * SEATS
        self.unit_rated = False
        self.settled: HandSettled | None = None

    @property
    def rules(self) -> Ruleset:
        """The ruleset of the table."""
        return ruleset(self.settings.ruleset_id)

    @property
    def prevailing_wind(self) -> Wind:
        """The wind of the round."""
        return self.rules.prevailing_wind(self.dealer_changes)

    @property
    def moment(self) -> int:
        """How many public steps the hands of this table have had."""
        return 0 if self.hand is None else self.hand.moment

    @property
    def unit_id(self) -> str:
        """The id of the unit that may be rated: the hand, or the whole match."""
        if self.rules.rated_unit is RatedUnit.MATCH:
            return self.table_id
        return f"{self.table_id}-{self.hand_number}"

    @property
    def in_match(self) -> bool:
        """True while a match with a last hand is under way: its seats stay whose they are until it is over."""
        return self.rules.rated_unit is RatedUnit.MATCH and (self.hand_number > 1 or self.phase is TablePhase.PLAYING)

    @property
    def is_full(self) -> bool:
        """True when all seats are taken."""
        return None not in self.occupants

    @property
    def all_human(self) -> bool:
        """True when humans hold all four seats."""
        return all(occupant is not None and occupant.is_human for occupant in self.occupants)

    @property
    def any_human(self) -> bool:
        """True when a human holds a seat."""
        return any(occupant is not None and occupant.is_human for occupant in self.occupants)

    @property
    def open_seats(self) -> tuple[Seat, ...]:
        """The seats that somebody may take."""
        return tuple(seat for seat, occupant in enumerate(self.occupants) if occupant is None)

    def seat_of(self, account_id: str) -> Seat | None:
        """The seat that the account holds; ``None`` when it holds none."""
        for seat, occupant in enumerate(self.occupants):
            if occupant is not None and occupant.account_id == account_id:
                return seat
        return None

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.fields())

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def fields(cls) -> tuple[str, ...]:
        """The names of everything that makes up the picture."""
        return TablePicture.__slots__

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.table_id!r}, {self.phase.name}, hand {self.hand_number}, "
            f"dealer {self.dealer}, points {self.points})"
        )


class TableState(TablePicture):
    """The whole truth about a table.

    ``server_seed`` is the hidden seed under ``commitment``. ``hand_nonces`` are the four parts in the wall of the
    running or last hand, ``moment_before`` the public steps before it, ``hand_started_ms`` and ``hand_over_ms`` its
    times, ``decision_opened_ms`` when the open decision opened. ``last_action_ms`` is the last accepted decision of a
    human, moved on by outages; ``now_ms`` the newest moment of the log. ``recent_commands`` are the ids of the latest
    accepted commands. ``stream_sequence`` counts, for every viewer, the events that it has seen (index -1: spectators).
    """

    __slots__ = (
        "decision_opened_ms",
        "hand_nonces",
        "hand_over_ms",
        "hand_started_ms",
        "last_action_ms",
        "moment_before",
        "now_ms",
        "recent_commands",
        "server_seed",
        "stream_sequence",
    )

    hand: HandState | None

    def __init__(self, opened: TableOpened) -> None:
        super().__init__(opened)
        self.server_seed = b""
        self.hand_nonces: tuple[SeatNonce, ...] = ()
        self.moment_before = 0
        self.hand_started_ms = 0
        self.hand_over_ms = 0
        self.decision_opened_ms = 0
        self.last_action_ms = opened.at_ms
        self.now_ms = opened.at_ms
        self.recent_commands: tuple[str, ...] = ()
        self.stream_sequence: tuple[int, ...] = (0,) * VIEWERS

    @classmethod
    def fields(cls) -> tuple[str, ...]:
        return TablePicture.__slots__ + TableState.__slots__

    def shallow_copy(self) -> TableState:
        """A copy that shares the hand: for a caller that replaces the hand and never changes it in place."""
        other = TableState.__new__(TableState)
        for name in _STATE_FIELDS:
            setattr(other, name, getattr(self, name))
        return other

    def copy(self) -> TableState:
        """An equal table of its own."""
        other = self.shallow_copy()
        if self.hand is not None:
            other.hand = self.hand.copy()
        return other

    @property
    def awaited(self) -> tuple[Seat, ...]:
        """The seats whose answer to the open decision is missing; none when nothing is asked."""
        if self.phase is not TablePhase.PLAYING or self.hand is None or self.hand.decision is None:
            return ()
        held = self.hand.held
        return tuple(seat for seat in self.hand.decision.seats if held[seat] is None)

    @property
    def awaited_bots(self) -> tuple[Seat, ...]:
        """Those of the awaited seats that a bot holds."""
        return tuple(seat for seat in self.awaited if not _is_human(self.occupants[seat]))

    @property
    def needs_settlement(self) -> bool:
        """True when the hand is over and its result in points is missing."""
        return (
            self.phase is TablePhase.PLAYING
            and self.hand is not None
            and self.hand.is_over
            and self.hand.settlement is None
        )

    @property
    def expires_ms(self) -> int:
        """When the table expires unless a human acts before."""
        return self.last_action_ms + EXPIRY_MS

    @property
    def next_due_ms(self) -> int | None:
        """The earliest moment at which a tick has something to do; ``None`` for a closed table.

        An answer at its deadline still counts, so a decision is due from the millisecond after (field case C060).
        """
        if self.phase is TablePhase.CLOSED:
            return None
        due = self.expires_ms
        if self.phase is TablePhase.READY and self.ready_deadline_ms is not None:
            due = min(due, self.ready_deadline_ms + 1)
        elif self.clock is not None:
            due = min(due, self.clock.closes_ms + 1)
        elif self.needs_settlement:
            due = min(due, self.hand_over_ms + SETTLEMENT_GRACE_MS)
        elif self.awaited_bots:
            due = min(due, self.decision_opened_ms + BOT_GRACE_MS)
        return due

    def wall_parts(self) -> tuple[SeatNonce, ...]:
        """The four parts in the wall of the hand that the open ready step prepares, as they stand now."""
        return tuple(
            seat_nonce(self.table_id, self.hand_number, seat, self.commitments[seat], self.nonces[seat])
            for seat in range(SEATS)
        )


_STATE_FIELDS: Final = TableState.fields()


def _is_human(occupant: Occupant | None) -> bool:
    return occupant is not None and occupant.is_human
