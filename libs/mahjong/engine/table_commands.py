"""What may be asked of a table, and what comes of it.

``id`` names a command among all of the table, so that a repeat is answered like the first (empty: never repeated);
where players choose ids, the caller puts the account in front. ``now_ms`` is the moment at
which it was received. ``server_seed`` are 32 fresh random bytes; they are used when the command opens a ready step.
"""

from __future__ import annotations

from dataclasses import dataclass

from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.events import HandSettled
from libs.mahjong.engine.table_events import CloseCause, Occupant, TableEvent, TableSettings
from libs.mahjong.engine.table_state import TableState
from libs.mahjong.fairness import NO_COMMITMENT
from libs.mahjong.tiles import Seat


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A new table. ``occupants`` and ``commitments`` are by seat; ``first_dealer`` was drawn at random (hkos A31)."""

    id: str
    now_ms: int
    table_id: str
    settings: TableSettings
    first_dealer: Seat
    occupants: tuple[Occupant | None, Occupant | None, Occupant | None, Occupant | None]
    server_seed: bytes
    commitments: tuple[bytes, bytes, bytes, bytes] = (NO_COMMITMENT, NO_COMMITMENT, NO_COMMITMENT, NO_COMMITMENT)


@dataclass(frozen=True, slots=True)
class TakeSeat:
    """Somebody sits down on an open seat; ``commitment`` seals the nonce of the next hand."""

    id: str
    now_ms: int
    seat: Seat
    occupant: Occupant
    server_seed: bytes
    commitment: bytes = NO_COMMITMENT


@dataclass(frozen=True, slots=True)
class LeaveSeat:
    """The player wants to leave: at once between hands, otherwise as common C15 says."""

    id: str
    now_ms: int
    seat: Seat


@dataclass(frozen=True, slots=True)
class ReturnToSeat:
    """The player shows that he is there: he is waited for in full again, and stays."""

    id: str
    now_ms: int
    seat: Seat


@dataclass(frozen=True, slots=True)
class CommitNonce:
    """A seat that has not committed for the next hand does so now."""

    id: str
    now_ms: int
    seat: Seat
    commitment: bytes


@dataclass(frozen=True, slots=True)
class ConfirmReady:
    """The seat goes on. ``nonce`` opens its commitment (``None``: not revealed), ``next_commitment`` seals the nonce of
    the hand after."""

    id: str
    now_ms: int
    seat: Seat
    nonce: bytes | None = None
    next_commitment: bytes = NO_COMMITMENT


@dataclass(frozen=True, slots=True)
class Act:
    """The seat answers a decision.

    ``round_trip_ms`` is the round trip that the server last measured on the seat's connection, 0 when it has none.
    ``hold_ms`` says how long the worker holds back what follows: the clock of an own turn that opens starts only
    then.
    """

    id: str
    now_ms: int
    seat: Seat
    decision: int
    action: Action
    round_trip_ms: int = 0
    hold_ms: int = 0


@dataclass(frozen=True, slots=True)
class SettleHand:
    """The result in points of the hand that is over."""

    id: str
    now_ms: int
    settlement: HandSettled
    server_seed: bytes


@dataclass(frozen=True, slots=True)
class Tick:
    """Resolve whatever is due at that moment; nothing when nothing is. ``hold_ms`` as for ``Act``."""

    now_ms: int
    server_seed: bytes
    hold_ms: int = 0


@dataclass(frozen=True, slots=True)
class GrantOutage:
    """The platform was down for that long: the time is given back to everything that runs (P4)."""

    now_ms: int
    outage_ms: int


@dataclass(frozen=True, slots=True)
class CloseTable:
    """An operator, or a fault that cannot be recovered from, ends the table."""

    id: str
    now_ms: int
    cause: CloseCause


TableCommand = (
    OpenTable
    | TakeSeat
    | LeaveSeat
    | ReturnToSeat
    | CommitNonce
    | ConfirmReady
    | Act
    | SettleHand
    | Tick
    | GrantOutage
    | CloseTable
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a table's log: what a command brought about at that moment. ``command_id`` may be empty."""

    at_ms: int
    command_id: str
    events: tuple[TableEvent, ...]


@dataclass(frozen=True, slots=True)
class TableTransition:
    """The entry to append and the state after it. ``entry.events`` is empty when nothing happened: a tick with nothing
    due, or the repeat of a command (``repeated``) that was accepted before."""

    entry: Entry
    state: TableState
    repeated: bool = False
