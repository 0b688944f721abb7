"""The rated unit: what a finished hand or match says about its four players (common §3.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eastwind.events.v1 import envelope_pb2
from eastwind.history.v1 import record_pb2
from eastwind.type.v1 import settings_pb2
from libs.chassis.events import HANDS, MATCHES, PoisonMessage
from services.ratings.model import placement_tenths

_SEATS: Final = 4
_VERSION: Final = re.compile(r"-v[0-9]+\Z")
_EXPECTED: Final = {HANDS: "hand_finished", MATCHES: "match_finished"}


@dataclass(frozen=True, slots=True)
class RatedUnit:
    """A unit that was played to its end; `accounts` and `placements` (in tenths) by seat."""

    unit_id: str
    ruleset: str
    table_id: str
    accounts: tuple[str, ...]
    placements: tuple[int, ...]
    ended_ms: int


def ladder_of(ruleset: str) -> str:
    """The ladder of a ruleset: its versions share one, so that new rules do not take ratings away."""
    return _VERSION.sub("", ruleset)


def unit_of(topic: str, envelope: envelope_pb2.Envelope) -> RatedUnit | None:
    """The unit that an event of the topic tells of, `None` when it is not rated.

    A hand of a match is no unit: it names the match as its unit. Raises `PoisonMessage` for what no table says.
    """
    kind = envelope.WhichOneof("payload")
    if kind != _EXPECTED[topic]:
        raise PoisonMessage(f"{topic} carries {_EXPECTED[topic]}, not {kind}")
    if kind == "match_finished":
        return _unit_of_match(envelope.match_finished.match)
    return _unit_of_hand(envelope.hand_finished.record)


def _unit_of_hand(record: record_pb2.HandRecord) -> RatedUnit | None:
    if not record.rated or record.unit_id != record.record_id:
        return None
    changes: Sequence[int] = ()
    for recorded in reversed(record.events):
        if recorded.event.WhichOneof("event") == "hand_settled":
            changes = recorded.event.hand_settled.changes
            break
    # The change in this hand decides, never the points carried (common C12, hkos A33).
    return _unit(record.unit_id, record.ruleset, record.table_id, record.players, changes, record.ended_ms)


def _unit_of_match(match: record_pb2.MatchRecord) -> RatedUnit | None:
    if not match.rated:
        return None
    return _unit(match.match_id, match.ruleset, match.table_id, match.players, match.points, match.ended_ms)


def _unit(
    unit_id: str,
    ruleset: str,
    table_id: str,
    players: Sequence[settings_pb2.Player],
    points: Sequence[int],
    ended_ms: int,
) -> RatedUnit:
    accounts = tuple(player.account_id for player in players)
    if not unit_id or not ruleset or not table_id:
        raise PoisonMessage("a rated unit has an id, a ruleset and a table")
    if len(accounts) != _SEATS or len(set(accounts)) != _SEATS or "" in accounts:
        raise PoisonMessage(f"rated unit {unit_id} has not four different players")
    if any(player.bot_level for player in players):
        raise PoisonMessage(f"rated unit {unit_id} has a computer player")
    if len(points) != _SEATS:
        raise PoisonMessage(f"rated unit {unit_id} has no result for four seats")
    return RatedUnit(unit_id, ruleset, table_id, accounts, placement_tenths(points), ended_ms)
