"""Clocks of a table: a base per decision, a reserve per hand, and what lag and outages give back (common §3.1).

All values are integers in milliseconds. Moments are milliseconds of one clock that never runs backwards; whose clock
that is, the caller decides. An answer that is received at or before its deadline counts, a later one does not: the
decision is over from the millisecond after the deadline.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Final

OPENING_BASE_MS: Final = 15_000
"""Opening choices have at least this long (common C4)."""
TIMEOUTS_UNTIL_SHORT_WAIT: Final = 3
"""So many own-turn decisions missed in a row shorten the wait (common C8)."""
SHORT_WAIT_MS: Final = 1_000
"""How long a seat is waited for that has missed so many (common C8)."""
LAG_GAIN_MS: Final = 150
"""What every answer adds to the lag quota."""
LAG_START_MS: Final = 3 * LAG_GAIN_MS
"""The lag quota of a seat that sits down."""
LAG_CAP_MS: Final = 7 * LAG_GAIN_MS
"""The lag quota never exceeds this."""


@dataclass(frozen=True, slots=True)
class TimeControl:
    """Base per decision and reserve per hand in milliseconds; a base of 0 means that nothing is timed.

    Raises ``ValueError`` for negative times and for a reserve without a base.
    """

    base_ms: int
    reserve_ms: int

    def __post_init__(self) -> None:
        if self.base_ms < 0 or self.reserve_ms < 0:
            raise ValueError(f"a time control has no negative times, got {self.base_ms} + {self.reserve_ms} ms")
        if self.base_ms == 0 and self.reserve_ms > 0:
            raise ValueError("an untimed table has no reserve")

    @property
    def timed(self) -> bool:
        """True unless the table is untimed."""
        return self.base_ms > 0


BULLET: Final = TimeControl(2_000, 5_000)
BLITZ: Final = TimeControl(3_000, 10_000)
STANDARD: Final = TimeControl(5_000, 20_000)
RELAXED: Final = TimeControl(15_000, 60_000)
UNTIMED: Final = TimeControl(0, 0)

TIME_CONTROLS: Final = {
    "bullet": BULLET,
    "blitz": BLITZ,
    "standard": STANDARD,
    "relaxed": RELAXED,
    "untimed": UNTIMED,
}
"""The presets by their names; Quick Play always uses Standard."""


class WaitKind(enum.IntEnum):
    """How a decision is timed."""

    OWN_TURN = 1
    """Base, then reserve."""
    CLAIM_WINDOW = 2
    """Base only, one deadline for all who are asked."""
    OPENING_CHOICE = 3
    """``max(base, 15 s)``, no reserve."""


@dataclass(frozen=True, slots=True)
class SeatClock:
    """What one seat brings to its next decision.

    ``reserve_ms`` is left of this hand's reserve. ``quota_ms`` is the lag that may still be credited and
    ``round_trip_ms`` the round trip that the server last measured on the seat's connection. ``timeouts`` counts the
    own turns that were missed in a row; hidden claim windows do not count, because the shortened wait is public.
    """

    reserve_ms: int
    quota_ms: int = LAG_START_MS
    round_trip_ms: int = 0
    timeouts: int = 0

    @property
    def waits_short(self) -> bool:
        """True when the seat missed so many own turns that it is waited for only briefly (common C8)."""
        return self.timeouts >= TIMEOUTS_UNTIL_SHORT_WAIT

    @property
    def allowance_ms(self) -> int:
        """The lag credited at the seat's next decision: the measured round trip as far as the quota covers it."""
        return min(self.quota_ms, self.round_trip_ms)

    def measured(self, round_trip_ms: int) -> SeatClock:
        """The clock after the server measured a round trip; below zero counts as zero."""
        return replace(self, round_trip_ms=max(0, round_trip_ms))

    def answered(self, charge: Charge, *, own_turn: bool) -> SeatClock:
        """The clock after an answer in time. An own turn ends the run of missed turns."""
        return SeatClock(
            reserve_ms=max(0, self.reserve_ms - charge.reserve_ms),
            quota_ms=min(LAG_CAP_MS, max(0, self.quota_ms - charge.lag_ms) + LAG_GAIN_MS),
            round_trip_ms=self.round_trip_ms,
            timeouts=0 if own_turn else self.timeouts,
        )

    def timed_out(self, charge: Charge, *, own_turn: bool) -> SeatClock:
        """The clock after a missed decision. Only an own turn counts towards the shortened wait."""
        return SeatClock(
            reserve_ms=max(0, self.reserve_ms - charge.reserve_ms),
            quota_ms=max(0, self.quota_ms - charge.lag_ms),
            round_trip_ms=self.round_trip_ms,
            timeouts=self.timeouts + own_turn,
        )

    def returned(self) -> SeatClock:
        """The clock after the player showed that he is there: he is waited for in full again."""
        return replace(self, timeouts=0)

    def refilled(self, control: TimeControl) -> SeatClock:
        """The clock at the start of a hand: the reserve is full again."""
        return replace(self, reserve_ms=control.reserve_ms)


def fresh_clock(control: TimeControl) -> SeatClock:
    """Return the clock of a player who sits down."""
    return SeatClock(reserve_ms=control.reserve_ms)


@dataclass(frozen=True, slots=True)
class Charge:
    """What an answer cost: of the reserve, and of the lag quota (only where lag would have cost time)."""

    reserve_ms: int
    lag_ms: int


@dataclass(frozen=True, slots=True)
class Wait:
    """A running clock of one decision.

    The prompt left at ``opened_ms``; ``base_ms`` and ``reserve_ms`` are what the decision may take, ``granted_ms`` is
    time of an outage that was given back.
    """

    opened_ms: int
    base_ms: int
    reserve_ms: int
    granted_ms: int = 0

    @property
    def deadline_ms(self) -> int:
        """The announced deadline: the last moment that counts for a seat without lag."""
        return self.opened_ms + self.base_ms + self.reserve_ms + self.granted_ms

    def closes_ms(self, allowance_ms: int) -> int:
        """The last moment at which an answer counts that was under way for ``allowance_ms``."""
        return self.deadline_ms + allowance_ms

    def accepts(self, received_ms: int, allowance_ms: int) -> bool:
        """True for an answer received at or before the deadline and its allowance."""
        return received_ms <= self.closes_ms(allowance_ms)

    def is_over(self, now_ms: int, allowance_ms: int) -> bool:
        """True once no answer can count any more; the opposite of ``accepts`` at every moment."""
        return not self.accepts(now_ms, allowance_ms)

    def charge(self, received_ms: int, allowance_ms: int) -> Charge:
        """Return what an answer received at that moment costs.

        Lag is credited first where the base is exceeded, then the reserve pays, never more than there is. A moment
        before the prompt costs nothing (field case C070).
        """
        over = max(0, received_ms - self.opened_ms - self.granted_ms - self.base_ms)
        lag = min(allowance_ms, over)
        return Charge(reserve_ms=min(self.reserve_ms, over - lag), lag_ms=lag)

    def remaining_ms(self, now_ms: int) -> int:
        """How long until the announced deadline; never negative."""
        return max(0, self.deadline_ms - now_ms)

    def grant(self, outage_ms: int) -> Wait:
        """The clock with the time of an outage given back (P4); an outage of negative length gives nothing."""
        return replace(self, granted_ms=self.granted_ms + max(0, outage_ms))


def wait_for(control: TimeControl, kind: WaitKind, clock: SeatClock, opened_ms: int) -> Wait | None:
    """Return the running clock of one seat's decision, or ``None`` at an untimed table."""
    if not control.timed:
        return None
    if clock.waits_short:
        return Wait(opened_ms, SHORT_WAIT_MS, 0)
    if kind is WaitKind.OWN_TURN:
        return Wait(opened_ms, control.base_ms, clock.reserve_ms)
    if kind is WaitKind.CLAIM_WINDOW:
        return Wait(opened_ms, control.base_ms, 0)
    return Wait(opened_ms, max(control.base_ms, OPENING_BASE_MS), 0)


def common_wait(waits: tuple[Wait, ...]) -> Wait:
    """Return the one clock of all who are asked: the latest deadline of theirs. Raises ``ValueError`` for none."""
    if not waits:
        raise ValueError("nobody is asked")
    return max(waits, key=lambda wait: wait.deadline_ms)
