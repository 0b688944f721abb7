"""What clients of the edge noted down while they played: all that a player could hold against the platform."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

RETRIABLE = frozenset(("UNAVAILABLE", "NOT_OWNER", "GOING_AWAY", "DRAINING", "DEADLINE_EXCEEDED", "RATE_LIMITED"))
"""Refusals that say nothing about whether the command was carried out: the client sends it again under its id."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The platform said that it carried out a command. ``decision`` is 0 for a ready; ``at_s`` is Unix time."""

    table_id: str
    account_id: str
    command_id: str
    decision: int
    at_s: float


@dataclass(frozen=True, slots=True)
class Refused:
    """The platform said that it did not carry out a command."""

    table_id: str
    account_id: str
    command_id: str
    reason: str
    at_s: float


@dataclass(frozen=True, slots=True)
class Discard:
    """A tile that a client saw being discarded."""

    hand: int
    seat: int
    tile: int


@dataclass(slots=True)
class Notes:
    """The notes of all clients together."""

    acknowledged: list[Acknowledged] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    discards: defaultdict[str, set[Discard]] = field(default_factory=lambda: defaultdict(set))
    """By table."""
    wrongs: list[str] = field(default_factory=list)
    """What a client saw that no client may see, such as a sequence that went back."""
