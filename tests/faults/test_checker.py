"""The checker finds every kind of damage: it is shown a sound history, and the same one with one thing wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from openskill.models import PlackettLuce

from eastwind.events.v1 import envelope_pb2
from eastwind.history.v1 import record_pb2
from tests.faults.checker import comparing
from tests.faults.checker.append_only_file import AppendOnlyFile, RewrittenFile, TornFile, commands
from tests.faults.checker.databases import Change, Ratings, Record, Standing, read_record
from tests.faults.checker.notes import Acknowledged, Discard, Refused
from tests.faults.checker.store_history import StoreHistory

TABLE = "4lrwtEFfG0dwGXxUjU5epb"
LOG, OWNER, OUT = f"ew:{{7}}:t:{TABLE}:log".encode(), f"ew:{{7}}:t:{TABLE}:owner".encode(), b"ew:{7}:out"
ACCOUNTS = ("anna", "ben", "cleo", "dan")
RECORD_ID = f"{TABLE}-1"
CLOCK = [20000, 0, 0, 0]
POINTS = (8, 0, 0, -8)


def entry(command_id: str, *events: list[Any]) -> bytes:
    """An entry of a log as a worker writes it."""
    return json.dumps([1, 1_700_000_000_000, command_id, list(events)]).encode()


def sound_entries() -> list[bytes]:
    """One rated hand: two turns, a claim window between them that somebody passes, and a win by self-draw."""
    return [
        entry("", [32, TABLE, ["hkos-3-v1", 3, True, True], 0, 0]),
        entry("anna:r", [39, 0, None, "", True], [1, 1, 0, 0, "", []], [2, [[1, 2], [3], [4], [5]]], [5, 10, 1, [0]]),
        entry("anna:a", [41, 0, 10, 1, CLOCK], [7, 0, 1, False], [5, 11, 2, [1]]),
        entry("ben:b", [41, 1, 11, 2, CLOCK], [6, 1, 11, [8, []]], [3, 1, 6, 1], [5, 12, 1, [1]]),
        entry("", [42, 1, 12, 1, CLOCK], [7, 1, 6, False], [3, 2, 7, 1], [5, 13, 1, [2]]),
        entry("cleo:c", [41, 2, 13, 1, CLOCK], [11, 2, 7, 1, None, [4]]),
        entry("", [13, 2, [None] * 4, [], list(POINTS), [None] * 4], [44, RECORD_ID, list(ACCOUNTS), list(POINTS), []]),
    ]


def hand_message(record_id: str = RECORD_ID) -> list[bytes]:
    """The command that puts a hand's record into the outbox."""
    record = record_pb2.HandRecord(record_id=record_id)
    envelope = envelope_pb2.Envelope(hand_finished=envelope_pb2.HandFinished(record=record))
    return [b"XADD", OUT, b"*", b"t", b"eastwind.hands.v1", b"k", b"k", b"p", envelope.SerializeToString()]


def sound_commands() -> list[list[bytes]]:
    """What the store was told for that hand; the table changes its owner in the middle."""
    appends = [[b"XADD", LOG, b"%d-0" % at, b"e", raw] for at, raw in enumerate(sound_entries(), 1)]
    first = [b"HSET", OWNER, b"worker", b"table-1", b"epoch", b"1", b"seq", b"1"]
    second = [b"HSET", OWNER, b"worker", b"table-2", b"epoch", b"2", b"lease", b"5000"]
    return [first, *appends[:3], second, *appends[3:], hand_message()]


def history_of(told: list[list[bytes]]) -> StoreHistory:
    """The history that these commands make."""
    history = StoreHistory()
    history.follow(told)
    return history


def sound_record() -> Record:
    """The record of that hand."""
    return Record(
        RECORD_ID,
        TABLE,
        1,
        (
            ("discarded", 0, (1,)),
            ("drawn", 1, (6,)),
            ("discarded", 1, (6,)),
            ("drawn", 2, (7,)),
            ("won", 2, (7,)),
        ),
        POINTS,
    )


def sound_ratings() -> Ratings:
    """What that hand makes of four new ratings."""
    model = PlackettLuce(mu=1500.0, sigma=200.0, beta=400.0, tau=1.0)
    rated = model.rate([[model.rating()] for _ in ACCOUNTS], ranks=[1.0, 2.5, 2.5, 4.0])
    after = {account: team[0] for account, team in zip(ACCOUNTS, rated, strict=True)}
    return Ratings(
        tuple(
            Change(RECORD_ID, "hkos-3", account, 1500.0, after[account].mu, after[account].sigma, 1)
            for account in ACCOUNTS
        ),
        tuple(Standing("hkos-3", account, after[account].mu, after[account].sigma, 1) for account in ACCOUNTS),
        frozenset((RECORD_ID,)),
    )


@dataclass(slots=True)
class Evidence:
    """Everything that the checker looks at."""

    told: list[list[bytes]] = field(default_factory=sound_commands)
    acknowledged: list[Acknowledged] = field(
        default_factory=lambda: [
            Acknowledged(TABLE, "anna", "r", 0, 0.0),
            Acknowledged(TABLE, "anna", "a", 10, 0.0),
            Acknowledged(TABLE, "ben", "b", 11, 0.0),
            Acknowledged(TABLE, "cleo", "c", 13, 0.0),
        ]
    )
    refused: list[Refused] = field(default_factory=lambda: [Refused(TABLE, "ben", "late", "STALE_DECISION", 0.0)])
    discards: dict[str, set[Discard]] = field(default_factory=lambda: {TABLE: {Discard(1, 0, 1), Discard(1, 1, 6)}})
    records: list[Record] = field(default_factory=lambda: [sound_record()])
    ratings: Ratings = field(default_factory=sound_ratings)

    def append(self, *events: list[Any], command_id: str = "", sequence: int = 8) -> None:
        """Add an entry to the log."""
        self.told.append([b"XADD", LOG, b"%d-0" % sequence, b"e", entry(command_id, *events)])

    def rewrite(self, sequence: int, raw: bytes) -> None:
        """Put another entry in place of one."""
        for command in self.told:
            if command[1] == LOG and command[2] == b"%d-0" % sequence:
                command[4] = raw

    def violations(self) -> list[str]:
        """What the checker finds."""
        history = history_of(self.told)
        return [
            *history.all_violations(),
            *comparing.acknowledged_actions(history, self.acknowledged),
            *comparing.refused_actions(history, self.refused),
            *comparing.seen_discards(history, self.discards),
            *comparing.unannounced_hands(history),
            *comparing.records_against_log(comparing.settled_hands(history), self.records),
            *comparing.ratings_against_log(comparing.logged_units(history.tables.values()), self.ratings),
        ]


def test_a_sound_history_has_no_violation() -> None:
    assert Evidence().violations() == []


def without_an_acknowledged_entry(evidence: Evidence) -> None:
    evidence.rewrite(4, entry("", [41, 1, 11, 2, CLOCK], [3, 1, 6, 1], [5, 12, 1, [1]]))


def acknowledged_for_another_decision(evidence: Evidence) -> None:
    evidence.acknowledged[1] = replace(evidence.acknowledged[1], decision=11)


def refused_and_carried_out(evidence: Evidence) -> None:
    evidence.refused.append(Refused(TABLE, "ben", "b", "STALE_DECISION", 0.0))


def carried_out_twice(evidence: Evidence) -> None:
    evidence.append([35, 0], command_id="cleo:c")


def one_sequence_twice(evidence: Evidence) -> None:
    evidence.append([35, 0], sequence=7)


def a_sequence_left_out(evidence: Evidence) -> None:
    evidence.append([35, 0], sequence=9)


def an_older_epoch(evidence: Evidence) -> None:
    evidence.told.append([b"HSET", OWNER, b"worker", b"table-1", b"epoch", b"2"])


def resolved_by_the_player_and_the_clock(evidence: Evidence) -> None:
    evidence.rewrite(
        3, entry("anna:a", [41, 0, 10, 1, CLOCK], [42, 0, 10, 1, CLOCK], [7, 0, 1, False], [5, 11, 2, [1]])
    )


def resolved_after_it_was_over(evidence: Evidence) -> None:
    evidence.rewrite(
        5, entry("", [42, 1, 12, 1, CLOCK], [7, 1, 6, False], [3, 2, 7, 1], [5, 13, 1, [2]], [41, 1, 12, 1])
    )


def never_resolved(evidence: Evidence) -> None:
    evidence.rewrite(5, entry("", [7, 1, 6, False], [3, 2, 7, 1], [5, 13, 1, [2]]))


def resolved_by_a_seat_that_was_not_asked(evidence: Evidence) -> None:
    evidence.rewrite(5, entry("", [42, 3, 12, 1, CLOCK], [7, 1, 6, False], [3, 2, 7, 1], [5, 13, 1, [2]]))


def opened_twice(evidence: Evidence) -> None:
    evidence.rewrite(5, entry("", [42, 1, 12, 1, CLOCK], [7, 1, 6, False], [3, 2, 7, 1], [5, 12, 1, [2]]))


def discarded_twice(evidence: Evidence) -> None:
    evidence.rewrite(5, entry("", [42, 1, 12, 1, CLOCK], [7, 1, 1, False], [3, 2, 7, 1], [5, 13, 1, [2]]))


def drawn_twice(evidence: Evidence) -> None:
    evidence.rewrite(5, entry("", [42, 1, 12, 1, CLOCK], [7, 1, 6, False], [3, 2, 6, 1], [5, 13, 1, [2]]))


def settled_twice(evidence: Evidence) -> None:
    evidence.append([13, 2, [None] * 4, [], list(POINTS), [None] * 4])


def settled_unevenly(evidence: Evidence) -> None:
    evidence.rewrite(7, entry("", [13, 2, [None] * 4, [], [8, 0, 0, 0], [None] * 4]))


def ended_unit_twice(evidence: Evidence) -> None:
    evidence.append([44, RECORD_ID, list(ACCOUNTS), list(POINTS), []])


def announced_twice(evidence: Evidence) -> None:
    evidence.told.append(hand_message())


def never_announced(evidence: Evidence) -> None:
    evidence.told.pop()


def seen_and_not_durable(evidence: Evidence) -> None:
    evidence.discards[TABLE].add(Discard(1, 3, 99))


def record_of_nothing(evidence: Evidence) -> None:
    evidence.records.append(replace(sound_record(), record_id=f"{TABLE}-2"))


def record_without_a_move(evidence: Evidence) -> None:
    evidence.records[0] = replace(sound_record(), moves=sound_record().moves[:-1])


def record_with_another_tile(evidence: Evidence) -> None:
    evidence.records[0] = replace(sound_record(), moves=(("discarded", 0, (2,)), *sound_record().moves[1:]))


def record_with_other_points(evidence: Evidence) -> None:
    evidence.records[0] = replace(sound_record(), changes=(0, 8, 0, -8))


def rated_twice(evidence: Evidence) -> None:
    evidence.ratings = replace(evidence.ratings, changes=evidence.ratings.changes * 2)


def rated_for_three(evidence: Evidence) -> None:
    evidence.ratings = replace(evidence.ratings, changes=evidence.ratings.changes[:3])


def counted_and_never_applied(evidence: Evidence) -> None:
    evidence.ratings = replace(evidence.ratings, units=evidence.ratings.units | {"another"})


def rated_without_a_hand(evidence: Evidence) -> None:
    changes = tuple(replace(change, unit_id="another") for change in evidence.ratings.changes)
    evidence.ratings = replace(evidence.ratings, changes=changes, units=frozenset(("another",)))


def rated_from_somewhere_else(evidence: Evidence) -> None:
    first, *others = evidence.ratings.changes
    evidence.ratings = replace(evidence.ratings, changes=(replace(first, mu_before=1510.0), *others))


def rated_to_somewhere_else(evidence: Evidence) -> None:
    first, *others = evidence.ratings.changes
    evidence.ratings = replace(evidence.ratings, changes=(replace(first, mu_after=first.mu_after + 0.01), *others))


def standing_moved_alone(evidence: Evidence) -> None:
    first, *others = evidence.ratings.standings
    evidence.ratings = replace(evidence.ratings, standings=(replace(first, mu=first.mu + 0.01), *others))


def standing_counts_one_more(evidence: Evidence) -> None:
    first, *others = evidence.ratings.standings
    evidence.ratings = replace(evidence.ratings, standings=(replace(first, units=2), *others))


def standing_lost(evidence: Evidence) -> None:
    evidence.ratings = replace(evidence.ratings, standings=evidence.ratings.standings[1:])


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (without_an_acknowledged_entry, "acknowledged command b is missing"),
        (acknowledged_for_another_decision, "acknowledged for decision 11"),
        (refused_and_carried_out, "refused with STALE_DECISION and carried out"),
        (carried_out_twice, "carried out twice"),
        (one_sequence_twice, "sequence 7 twice"),
        (a_sequence_left_out, "sequence 9 follows 7"),
        (an_older_epoch, "epoch 2 of table-1 follows 2"),
        (resolved_by_the_player_and_the_clock, "decision 10 of seat 0 is resolved a second time"),
        (resolved_after_it_was_over, "where it is not open"),
        (never_resolved, "nobody resolved it"),
        (resolved_by_a_seat_that_was_not_asked, "seat 3, which was not asked"),
        (opened_twice, "decision 12 opens a second time"),
        (discarded_twice, "tile 1 is discarded a second time"),
        (drawn_twice, "tile 6 is drawn a second time"),
        (settled_twice, "settled a second time"),
        (settled_unevenly, "does not add to zero"),
        (ended_unit_twice, "ends a second time"),
        (announced_twice, "announced twice"),
        (never_announced, "never announced"),
        (seen_and_not_durable, "was seen and is not in the log"),
        (record_of_nothing, "a hand that the log does not have"),
        (record_without_a_move, "differs from the log at move 4"),
        (record_with_another_tile, "differs from the log at move 0"),
        (record_with_other_points, "settles (0, 8, 0, -8)"),
        (rated_twice, "changed the ratings of"),
        (rated_for_three, "changed the ratings of"),
        (counted_and_never_applied, "counts as rated and changed nothing"),
        (rated_without_a_hand, "is in no log"),
        (rated_from_somewhere_else, "the units before make"),
        (rated_to_somewhere_else, "the points make"),
        (standing_moved_alone, "the rating of anna is"),
        (standing_counts_one_more, "anna has 2 units"),
        (standing_lost, "anna was rated and has no rating"),
    ],
)
def test_damage_is_found(damage: Callable[[Evidence], None], said: str) -> None:
    evidence = Evidence()
    damage(evidence)
    found = evidence.violations()
    assert any(said in each for each in found), found


def resp(*parts: bytes) -> bytes:
    """A command as it stands in the file."""
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(part), part) for part in parts)


def keep(folder: Path, data: bytes, name: str = "appendonly.aof.1.incr.aof") -> AppendOnlyFile:
    """A folder with this append-only file."""
    (folder / "appendonly.aof.manifest").write_text(
        f"file appendonly.aof.1.base.rdb seq 1 type b\nfile {name} seq 1 type i\n"
    )
    (folder / name).write_bytes(data)
    return AppendOnlyFile(folder)


def test_the_file_is_read_on_from_where_it_ended(tmp_path: Path) -> None:
    first, second = resp(b"SET", b"a", b"1\r\n2"), resp(b"SET", b"b", b"")
    data = b"#TS:1\r\n" + first + second
    file = keep(tmp_path, data[:-3])
    assert list(file.read_new()) == [[b"SET", b"a", b"1\r\n2"]]
    assert list(file.read_new()) == []
    keep(tmp_path, data)
    assert list(file.read_new()) == [[b"SET", b"b", b""]]


def test_half_a_transaction_is_left_for_later(tmp_path: Path) -> None:
    transaction = resp(b"MULTI") + resp(b"SET", b"a", b"1") + resp(b"SET", b"b", b"2") + resp(b"EXEC")
    file = keep(tmp_path, transaction[:-5])
    assert list(file.read_new()) == []
    keep(tmp_path, transaction + transaction)
    assert list(file.read_new()) == [[b"SET", b"a", b"1"], [b"SET", b"b", b"2"]] * 2


def test_a_file_that_was_rewritten_or_torn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RewrittenFile):
        list(keep(tmp_path, b"", "appendonly.aof.2.incr.aof").read_new())
    with pytest.raises(TornFile):
        list(commands(b"SET a 1\r\n"))
    with pytest.raises(TornFile):
        list(commands(b"*1\r\n:1\r\n"))


def test_a_stored_record_is_read_with_all_its_moves() -> None:
    record = record_pb2.HandRecord(record_id="r", table_id="t", hand=3)
    record.events.add().event.tile_drawn.tile = 5
    record.events.add().event.bonus_exposed.tile = 140
    record.events.add().event.tile_discarded.seat = 1
    record.events.add().event.meld_claimed.meld.tiles.extend((4, 5, 6))
    record.events.add().event.kong_declared.meld.tiles.extend((8, 9, 10, 11))
    record.events.add().event.kong_completed.meld.tiles.extend((8, 9, 10, 11))
    record.events.add().event.hand_won.tile = 7
    record.events.add().event.hand_settled.changes.extend((1, -1, 0, 0))
    assert read_record(record.SerializeToString()) == Record(
        "r",
        "t",
        3,
        (
            ("drawn", 0, (5,)),
            ("bonus", 0, (140,)),
            ("discarded", 1, (0,)),
            ("claimed", 0, (4, 5, 6)),
            ("declared", 0, (8, 9, 10, 11)),
            ("completed", 0, (8, 9, 10, 11)),
            ("won", 0, (7,)),
        ),
        (1, -1, 0, 0),
    )
