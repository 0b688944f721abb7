"""The invariants between logs, notes of clients, records and ratings. Functions return sentences of what is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from openskill.models import PlackettLuce

from tests.faults.checker.databases import Change, Ratings, Record
from tests.faults.checker.notes import RETRIABLE, Acknowledged, Discard, Refused
from tests.faults.checker.store_history import StoreHistory
from tests.faults.checker.table_log import Hand, TableLog, Unit

_SEATS: Final = 4
# As published for players (deploy/docs/adr/0002-rating-parameters.md); written down here once more on purpose.
_MU, _SIGMA, _BETA, _TAU = 1500.0, 200.0, 400.0, 1.0


def acknowledged_actions(history: StoreHistory, notes: Iterable[Acknowledged]) -> list[str]:
    """Every acknowledged command is in its table's log, and answered the decision that it was for."""
    found = []
    for note in notes:
        table = history.tables.get(note.table_id)
        carried = None if table is None else table.commands.get(f"{note.account_id}:{note.command_id}")
        if carried is None:
            found.append(f"table {note.table_id}: acknowledged command {note.command_id} is missing")
        elif note.decision and note.decision not in [decision for _, decision in carried.answered]:
            found.append(
                f"table {note.table_id}: command {note.command_id} was acknowledged for decision {note.decision}, but"
                f" {list(carried.answered)} is what it answered"
            )
    return found


def refused_actions(history: StoreHistory, notes: Iterable[Refused]) -> list[str]:
    """No command that was refused for good is in the log."""
    found = []
    for note in notes:
        table = history.tables.get(note.table_id)
        if note.reason not in RETRIABLE and table is not None:
            carried = table.commands.get(f"{note.account_id}:{note.command_id}")
            if carried is not None:
                found.append(
                    f"table {note.table_id}: command {note.command_id} was refused with {note.reason} and carried out"
                    f" at {carried.sequence}"
                )
    return found


def seen_discards(history: StoreHistory, notes: Mapping[str, set[Discard]]) -> list[str]:
    """Whatever clients saw happen is in the log: nothing was shown before it was durable."""
    found = []
    for table_id, discards in notes.items():
        table = history.tables.get(table_id)
        for seen in discards:
            hand = None if table is None else table.hands.get(seen.hand)
            if hand is None or (seen.seat, seen.tile) not in hand.discards:
                found.append(f"table {table_id}: {seen} was seen and is not in the log")
    return found


def settled_hands(history: StoreHistory) -> dict[str, Hand]:
    """The hands that are over, by the id of their record."""
    return {
        f"{table.table_id}-{hand.number}": hand
        for table in history.tables.values()
        for hand in table.hands.values()
        if hand.changes is not None
    }


def unannounced_hands(history: StoreHistory) -> list[str]:
    """Every settled hand left the table in the same append, and no other did."""
    settled = settled_hands(history).keys()
    return [f"hand {each} was settled and never announced" for each in settled - history.announced.keys()] + [
        f"hand {each} was announced and never settled" for each in history.announced.keys() - settled
    ]


def records_against_log(hands: Mapping[str, Hand], records: Iterable[Record]) -> list[str]:
    """A record tells the same hand as the log."""
    found = []
    for record in records:
        hand = hands.get(record.record_id)
        if hand is None:
            found.append(f"record {record.record_id} is of a hand that the log does not have")
        elif list(record.moves) != hand.moves:
            place = next(
                (at for at, (one, other) in enumerate(zip(record.moves, hand.moves, strict=False)) if one != other),
                min(len(record.moves), len(hand.moves)),
            )
            found.append(
                f"record {record.record_id} differs from the log at move {place}:"
                f" {record.moves[place : place + 1]} and {hand.moves[place : place + 1]}"
            )
        elif record.changes != hand.changes:
            found.append(f"record {record.record_id} settles {record.changes}, the log {hand.changes}")
    return found


def logged_units(tables: Iterable[TableLog]) -> dict[str, Unit]:
    """The rated units that ended, by id."""
    return {unit_id: unit for table in tables for unit_id, unit in table.units.items()}


@dataclass(slots=True)
class _Own:
    mu: float = _MU
    sigma: float = _SIGMA
    units: int = 0


def ratings_against_log(units: Mapping[str, Unit], ratings: Ratings) -> list[str]:
    """Every rated unit changed each of its four ratings once, by what the published model says, and nothing else did.

    ``units`` may be ahead of ratings by such as are still on their way; those are not looked at here.
    """
    found = []
    by_unit: dict[str, list[Change]] = {}
    for change in ratings.changes:
        by_unit.setdefault(change.unit_id, []).append(change)
    found += [f"unit {unit_id} counts as rated and changed nothing" for unit_id in ratings.units - by_unit.keys()]
    model = PlackettLuce(mu=_MU, sigma=_SIGMA, beta=_BETA, tau=_TAU, limit_sigma=False)
    own: dict[tuple[str, str], _Own] = {}
    for unit_id, changes in by_unit.items():
        unit = units.get(unit_id)
        accounts = [change.account_id for change in changes]
        if unit is None:
            found.append(f"unit {unit_id} changed ratings and is in no log")
            continue
        if sorted(accounts) != sorted(unit.accounts):
            found.append(f"unit {unit_id} of {sorted(unit.accounts)} changed the ratings of {sorted(accounts)}")
            continue
        found += _recompute(model, own, unit_id, unit, {change.account_id: change for change in changes})
    for standing in ratings.standings:
        expected = own.pop((standing.ladder, standing.account_id), _Own())
        if not _same(standing.mu, expected.mu) or not _same(standing.sigma, expected.sigma):
            found.append(f"the rating of {standing.account_id} is {standing.mu}, its units make {expected.mu}")
        elif standing.units != expected.units:
            found.append(f"{standing.account_id} has {standing.units} units, {expected.units} changed the rating")
    found += [f"{account} was rated and has no rating" for _, account in own]
    return found


def _recompute(
    model: PlackettLuce, own: dict[tuple[str, str], _Own], unit_id: str, unit: Unit, changes: Mapping[str, Change]
) -> list[str]:
    """Rate a unit from the points in the log and the own books; returns how the stored change differs."""
    ladder = changes[unit.accounts[0]].ladder
    before = [own.setdefault((ladder, account), _Own()) for account in unit.accounts]
    ranks = [_rank(unit.points, points) for points in unit.points]
    rated = model.rate([[model.rating(mu=each.mu, sigma=each.sigma)] for each in before], ranks=ranks)
    found = []
    for account, mine, (after,) in zip(unit.accounts, before, rated, strict=True):
        change = changes[account]
        if not _same(change.mu_before, mine.mu):
            found.append(f"unit {unit_id} took {account} from {change.mu_before}, the units before make {mine.mu}")
        mine.mu, mine.sigma, mine.units = after.mu, after.sigma, mine.units + 1
        if not _same(change.mu_after, mine.mu) or not _same(change.sigma_after, mine.sigma):
            found.append(f"unit {unit_id} took {account} to {change.mu_after}, the points make {mine.mu}")
        if change.units_after != mine.units:
            found.append(f"unit {unit_id} is number {change.units_after} of {account}, {mine.units} changed the rating")
    return found


def _rank(all_points: Sequence[int], points: int) -> float:
    """The average place of those with these points, from 1."""
    better = sum(other > points for other in all_points)
    return better + (all_points.count(points) + 1) / 2


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-6)
