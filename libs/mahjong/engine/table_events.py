"""The events of a table around its hands: seats, readiness, clocks, matches.

They stand in one ordered log with the events of the hands (``libs.mahjong.engine.events``). Fields that a viewer may
not know are emptied in the copy that ``libs.mahjong.engine.table_views`` makes for it.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from libs.mahjong.clocks import SeatClock, TimeControl, Wait
from libs.mahjong.engine.events import DecisionKind, HandEvent
from libs.mahjong.tiles import Seat


class OccupantKind(enum.IntEnum):
    """Who holds a seat."""

    HUMAN = 1
    BOT = 2


@dataclass(frozen=True, slots=True)
class Occupant:
    """The holder of a seat. ``account_id`` is unique at the table, for a bot too; ``level`` is a bot's strength, 0 for
    a human; ``guest`` tells that the account is a guest's."""

    account_id: str
    name: str
    kind: OccupantKind = OccupantKind.HUMAN
    level: int = 0
    guest: bool = False

    @property
    def is_human(self) -> bool:
        """True for a person or a third-party client with an account."""
        return self.kind is OccupantKind.HUMAN


@dataclass(frozen=True, slots=True)
class TableSettings:
    """What a table plays, and how. Untimed tables are never rated (common §3.1); ``ValueError`` for one that is.

    ``private`` tables are seen by those who sit there alone; ``name`` is what the lobby shows.
    """

    ruleset_id: str
    time_control: TimeControl
    rated: bool
    uniform_pacing: bool
    private: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        if self.rated and not self.time_control.timed:
            raise ValueError("an untimed table cannot be rated")


class CloseCause(enum.IntEnum):
    """Why a table closed. Only after ``MATCH_OVER`` the last unit counts; any other cause voids an unfinished one."""

    MATCH_OVER = 1
    EXPIRED = 2
    """24 hours without an accepted decision of a human (common C9)."""
    NOT_READY = 3
    """A seat of a rated table was not ready in time (common C14)."""
    PLAYER_LEFT = 4
    """A player left a rated table between two hands."""
    NO_PLAYERS = 5
    """The last human left."""
    OPERATOR = 6
    UNRECOVERABLE = 7


class ReleaseCause(enum.IntEnum):
    """Why a seat opened."""

    LEFT = 1
    NOT_READY = 2


@dataclass(frozen=True, slots=True)
class TableOpened:
    """The first event. ``first_dealer`` was drawn at random by whoever opened the table (hkos A31)."""

    table_id: str
    settings: TableSettings
    first_dealer: Seat
    at_ms: int


@dataclass(frozen=True, slots=True)
class SeatTaken:
    """``occupant`` sits down with the ruleset's starting points."""

    seat: Seat
    occupant: Occupant


@dataclass(frozen=True, slots=True)
class SeatReleased:
    """The seat is open again; its wind and the deal stay where they are."""

    seat: Seat
    cause: ReleaseCause


@dataclass(frozen=True, slots=True)
class SeatLeaving:
    """The player asked to leave. The seat stays his for as long as the rules say (common C15); an action of his takes
    it back."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class SeatReturned:
    """The player showed that he is there: he is waited for in full again."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class NonceCommitted:
    """The seal of the nonce that the seat will reveal with its next ready."""

    seat: Seat
    commitment: bytes


@dataclass(frozen=True, slots=True)
class ReadyStepOpened:
    """All four seats are taken; the hand of that number starts when all are ready.

    ``server_seed`` is hidden, ``commitment`` its seal. ``deadline_ms`` is ``None`` at an untimed table.
    """

    hand: int
    commitment: bytes
    server_seed: bytes | None
    deadline_ms: int | None


@dataclass(frozen=True, slots=True)
class SeatReady:
    """The seat goes on. ``nonce`` is ``None`` when it revealed none; ``next_commitment`` (may be empty) seals the
    nonce of the hand after. ``by_player`` is false where the rules made the seat ready."""

    seat: Seat
    nonce: bytes | None
    next_commitment: bytes
    by_player: bool


@dataclass(frozen=True, slots=True)
class DecisionClock:
    """The clock of an open decision.

    ``seats`` are those still awaited, ``allowances`` the lag credited to each of them, in the same order (empty in a
    view). The announced deadline is ``wait.deadline_ms``.
    """

    decision: int
    kind: DecisionKind
    seats: tuple[Seat, ...]
    wait: Wait
    allowances: tuple[int, ...]

    @property
    def closes_ms(self) -> int:
        """The last moment at which an answer of any awaited seat can count."""
        return self.wait.closes_ms(max(self.allowances, default=0))

    def allowance_of(self, seat: Seat) -> int:
        """The lag credited to an awaited seat; 0 for another or unknown."""
        for awaited, allowance in zip(self.seats, self.allowances, strict=False):
            if awaited == seat:
                return allowance
        return 0

    def without(self, seat: Seat) -> DecisionClock | None:
        """The clock for those still awaited after a seat answered; ``None`` when nobody is left."""
        if seat not in self.seats:
            return self
        place = self.seats.index(seat)
        seats = self.seats[:place] + self.seats[place + 1 :]
        if not seats:
            return None
        return replace(self, seats=seats, allowances=self.allowances[:place] + self.allowances[place + 1 :])

    def granted(self, outage_ms: int) -> DecisionClock:
        """The clock with the time of an outage given back."""
        return replace(self, wait=self.wait.grant(outage_ms))


@dataclass(frozen=True, slots=True)
class SeatAnswered:
    """The seat answered in time; ``clock`` is what it has left. Hidden from others where the decision is."""

    seat: Seat
    decision: int
    kind: DecisionKind
    clock: SeatClock


@dataclass(frozen=True, slots=True)
class SeatTimedOut:
    """The seat did not answer in time; ``clock`` is what it has left. Hidden from others where the decision is."""

    seat: Seat
    decision: int
    kind: DecisionKind
    clock: SeatClock


@dataclass(frozen=True, slots=True)
class OutageGranted:
    """Whatever was running (decision, ready step, expiry) got the time back for which the platform was down (P4)."""

    outage_ms: int


@dataclass(frozen=True, slots=True)
class RatedUnitEnded:
    """A rated hand or match is complete. ``points[s]`` decide: a hand's own changes, a match's final points (common
    §3.4, hkos A33). ``places[s]`` is 1..4; tied seats share the best place of the tie (common C12)."""

    unit_id: str
    accounts: tuple[str, ...]
    points: tuple[int, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MatchEnded:
    """The match is over with these points and places, by seat."""

    points: tuple[int, ...]
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TableClosed:
    """Nothing happens here any more."""

    cause: CloseCause


OwnTableEvent = (
    TableOpened
    | SeatTaken
    | SeatReleased
    | SeatLeaving
    | SeatReturned
    | NonceCommitted
    | ReadyStepOpened
    | SeatReady
    | DecisionClock
    | SeatAnswered
    | SeatTimedOut
    | OutageGranted
    | RatedUnitEnded
    | MatchEnded
    | TableClosed
)
TableEvent = HandEvent | OwnTableEvent


def places(points: tuple[int, ...]) -> tuple[int, ...]:
    """Return everybody's place, 1 for the most points; equal points share the best place of the tie (common C12).

    ``(8, 0, 0, -8)`` gives ``(1, 2, 2, 4)``; a drawn hand gives four first places.
    """
    return tuple(1 + sum(other > own for other in points) for own in points)
