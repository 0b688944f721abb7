"""Records of hands: whole, replayable, and checked under their own rules (field cases C094 to C098)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from libs.mahjong.clocks import STANDARD
from libs.mahjong.engine.codec import (
    CodecError,
    MalformedEncoding,
    UnknownEvent,
    UnknownVersion,
    decode_entry,
    encode_entry,
)
from libs.mahjong.engine.events import (
    DrawnHandCause,
    HandDrawn,
    HandSettled,
    HandStarted,
    HandWon,
    KongCompleted,
    KongDeclared,
    SeatPayment,
    TileDiscarded,
)
from libs.mahjong.engine.ruleset import UnknownRuleset, _registered
from libs.mahjong.engine.table_applying import fold
from libs.mahjong.engine.table_events import Occupant, TableSettings
from libs.mahjong.fairness import ALGORITHM, SeatNonce, UnknownAlgorithm, commit
from libs.mahjong.melds import MeldKind
from libs.mahjong.record import (
    HandRecord,
    IncompleteHand,
    TimedEvent,
    decode_record,
    encode_record,
    hand_record,
    replay,
)
from libs.mahjong.scores import WinMethod
from libs.mahjong.simulation import SimulatedTable, play_hand, seeded_policy, timeout_policy
from libs.mahjong.verification import Check, verify
from tests.unit.mahjong.engine import builders
from tests.unit.mahjong.engine.rulesets import PLAIN
from tests.unit.mahjong.engine.tables import MATCH, bot, human, open_table, seed, silent, toy_match

__all__ = ["toy_match"]

HKOS = "hkos-3-v1"
POLICIES = [seeded_policy(seed(seat)) for seat in range(4)]


def record_of(table: builders.Table) -> HandRecord:
    """The record of a hand that a test laid out: no seed gives its wall."""
    started = table.history[0]
    assert isinstance(started, HandStarted)
    nonce = SeatNonce(commit(seed(1)), seed(1))
    events = [TimedEvent(100 * number, event) for number, event in enumerate(table.history)]
    return HandRecord(
        ALGORITHM,
        "table",
        TableSettings(PLAIN.id, STANDARD, rated=False, uniform_pacing=False),
        1,
        0,
        0,
        0,
        0,
        0,
        "table/1",
        False,
        tuple(human(seat) for seat in range(4)),
        (0, 0, 0, 0),
        1_000,
        seed(9),
        (nonce,) * 4,
        (),
        (TimedEvent(0, replace(started, commitment=commit(seed(9)))), *events[1:]),
    )


@pytest.fixture
def _plain_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(_registered, PLAIN.id, PLAIN)


@pytest.mark.parametrize("number", range(5))
def test_a_record_survives_bytes_replays_as_live_play_and_verifies(number: int) -> None:
    table = SimulatedTable.open(HKOS, POLICIES, seed(100 + number))
    table.play_hand()
    record = table.play_hand()
    assert decode_record(encode_record(record)) == record
    states = list(replay(record))
    assert len(states) == len(record.events)
    assert states[-1] == table.state.hand
    assert states[0].seats[0].tiles == ()
    report = verify(record)
    assert report.passed, report
    assert [finding.check for finding in report.findings] == list(Check)


@pytest.mark.usefixtures("_plain_rules")
def test_c094_a_robbed_kong_in_the_replay() -> None:
    table = builders.dealt({"E": "234m67m345p678s22s", "N": "55m"}, front="9s 5m 1z 2z 3z 5m", ruleset=PLAIN)
    table.discard_drawn()
    table.discard_drawn()
    table.passes("E")
    table.take("N", "pung", "55m")
    table.discard("N", "1z")
    for _ in range(3):
        table.discard_drawn()
    table.take("N", "added_kong", "5m")
    table.win("E")
    table.settle()
    record = record_of(table)
    result = record.result
    assert isinstance(result, HandWon)
    assert result.method is WinMethod.ROBBED_KONG
    states = {type(timed.event): state for timed, state in zip(record.events, replay(record), strict=True)}
    assert KongDeclared in states
    assert KongCompleted not in states
    assert [meld.kind for meld in states[HandSettled].seats[3].melds] == [MeldKind.PUNG]
    settled = table.state.copy()
    settled.commitment = commit(seed(9))
    assert states[HandSettled] == settled
    assert decode_record(encode_record(record)) == record
    assert verify(record).failed == (Check.WALL,)


@pytest.mark.usefixtures("_plain_rules")
@pytest.mark.parametrize(("hand", "winning"), [("234m678m345p678s9s", "9s"), ("234m678m345p99s55z", "5z")])
def test_c096_a_winning_tile_of_the_kind_of_the_last_tile_in_hand(hand: str, winning: str) -> None:
    table = builders.dealt({"E": hand}, front=winning, ruleset=PLAIN)
    table.win("E")
    table.settle()
    record = decode_record(encode_record(record_of(table)))
    result = record.result
    assert isinstance(result, HandWon)
    tiles = [*result.concealed, result.tile]
    assert len(tiles) == len(set(tiles)) == 14
    final = list(replay(record))[-1]
    assert final.seats[0].tiles == tuple(sorted(tiles))


def test_c097_records_of_other_releases_and_cut_off_ones_give_a_clear_error() -> None:
    record = play_hand(HKOS, POLICIES, seed(3))
    raw = encode_record(record)
    for length in range(0, len(raw), 61):
        with pytest.raises(CodecError):
            decode_record(raw[:length])
    plain = json.loads(raw)
    with pytest.raises(UnknownVersion):
        decode_record(json.dumps([2, *plain[1:]]).encode())
    with pytest.raises(UnknownEvent) as unknown:
        decode_record(json.dumps([*plain[:2], [*plain[2][:5], [5, 99, 1], *plain[2][5:]]]).encode())
    assert unknown.value.tag == 99
    for events in (plain[2][:-1], plain[2][1:], []):
        with pytest.raises(IncompleteHand):
            decode_record(json.dumps([*plain[:2], events]).encode())
    for events in ([[5, 46, 1], *plain[2]], [7, *plain[2]], 7):
        with pytest.raises(MalformedEncoding):
            decode_record(json.dumps([*plain[:2], events]).encode())
    with pytest.raises(UnknownRuleset):
        verify(replace(record, settings=replace(record.settings, ruleset_id="hkos-9-v1")))
    with pytest.raises(UnknownRuleset):
        next(replay(replace(record, settings=replace(record.settings, ruleset_id="hkos-9-v1"))))
    with pytest.raises(UnknownAlgorithm):
        verify(replace(record, algorithm="eastwind-wall-9"))


def test_c098_a_drawn_hand_and_one_of_timeouts_alone_have_whole_records() -> None:
    table = SimulatedTable.open(HKOS, [silent] * 4, seed(4), rated=True)
    record = table.play_hand()
    assert not any(player is None for player in record.players)
    assert (record.ruleset_id, record.rated, record.unit_id) == (HKOS, True, "simulated-1")
    assert record.started_ms < record.ended_ms
    assert record.ended_ms == table.now_ms
    assert verify(record).passed
    drawn = [play_hand(HKOS, [timeout_policy] * 4, seed(number)) for number in range(5)]
    assert any(isinstance(other.result, HandDrawn) for other in drawn)


def test_c098_a_hand_that_changed_its_keeper_has_a_whole_record() -> None:
    table = open_table(policies=POLICIES)
    # Every step of a checked table goes through a snapshot and the log, as for a worker that takes over.
    record = table.play_hand()
    assert verify(record).passed
    assert hand_record_of_folded(table) == record


def hand_record_of_folded(table: SimulatedTable) -> HandRecord:
    entries = [decode_entry(encode_entry(entry)) for entry in table.entries]
    settled = next(at for at, entry in enumerate(entries) if isinstance(entry.events[0], HandSettled))
    return hand_record(fold(entries[:settled]), entries[: settled + 1])


def test_c098_the_last_hand_of_a_match_carries_its_places(toy_match: object) -> None:
    table = open_table(MATCH, rated=True)
    for hand in range(4):
        table.hand((hand + 1) % 4, (hand, (hand + 1) % 4, 5))
    assert table.records[-1].match_places == (1, 1, 1, 1)
    assert table.records[-1].points_after == (100, 100, 100, 100)
    assert table.records[0].match_places == ()
    assert table.records[-1].unit_id == "table"
    assert table.records[-1].rated


def test_an_unfinished_hand_makes_no_record() -> None:
    table = open_table(policies=POLICIES)
    table.get_ready()
    with pytest.raises(IncompleteHand, match="goes on"):
        hand_record(table.state, table.entries)
    table.end_hand(None)
    with pytest.raises(IncompleteHand, match="settlement"):
        hand_record(table.state, table.entries)
    with pytest.raises(IncompleteHand, match="start of hand"):
        hand_record(table.state, table.entries[-1:])


def with_event(record: HandRecord, at: int, **changes: object) -> HandRecord:
    timed = record.events[at]
    event = replace(timed.event, **changes)  # type: ignore[arg-type]
    return replace(record, events=(*record.events[:at], replace(timed, event=event), *record.events[at + 1 :]))


def test_a_record_that_was_tampered_with_does_not_verify() -> None:
    record = play_hand(HKOS, POLICIES, seed(6))
    first_discard = next(at for at, timed in enumerate(record.events) if isinstance(timed.event, TileDiscarded))
    discarded = record.events[first_discard].event
    assert isinstance(discarded, TileDiscarded)
    swapped = (record.wall[1], record.wall[0], *record.wall[2:])
    last = len(record.events) - 1

    def failed(changed: HandRecord) -> tuple[Check, ...]:
        return verify(changed).failed

    assert failed(record) == ()
    assert Check.COMMITMENT in failed(replace(record, server_seed=seed(8)))
    assert Check.WALL in failed(replace(record, server_seed=seed(8)))
    assert failed(with_event(record, 0, commitment=seed(8))) == (Check.COMMITMENT,)
    lying = SeatNonce(record.nonces[1].commitment, seed(8))
    assert Check.NONCES in failed(replace(record, nonces=(record.nonces[0], lying, *record.nonces[2:])))
    assert Check.NONCES in failed(replace(record, players=(bot(0), *record.players[1:])))
    assert Check.WALL in failed(with_event(record, 0, wall=swapped))
    assert Check.EVENTS in failed(with_event(record, 0, wall=(record.wall[1], *record.wall[1:])))
    assert failed(with_event(record, first_discard, tile=(discarded.tile + 4) % 136))[0] is Check.EVENTS
    assert Check.EVENTS in failed(replace(record, events=record.events[:5] + record.events[7:]))
    assert Check.EVENTS in failed(replace(record, dealer=1))
    early = replace(record.events[9], offset_ms=-1)
    assert Check.EVENTS in failed(replace(record, events=(*record.events[:9], early, *record.events[10:])))
    gift = (SeatPayment(0, 1, 5),)
    assert Check.SETTLEMENT in failed(with_event(record, last, payments=gift, changes=(-5, 5, 0, 0)))
    assert Check.ZERO_SUM in failed(with_event(record, last, changes=(5, 0, 0, 0)))
    assert Check.ZERO_SUM in failed(with_event(record, last, payments=(SeatPayment(0, 1, -5),)))


def test_players_and_points_are_those_of_the_hand() -> None:
    table = open_table(policies=POLICIES, players=(human(0), bot(1), human(2), human(3)))
    table.hand(0, (1, 0, 8))
    table.hand(None)
    first, second = table.records
    assert first.players == (human(0), bot(1), human(2), human(3))
    assert isinstance(first.players[1], Occupant)
    assert (first.points_before, first.points_after) == ((0, 0, 0, 0), (8, -8, 0, 0))
    assert (second.points_before, second.points_after) == ((8, -8, 0, 0), (8, -8, 0, 0))
    assert (first.dealer_wins, second.dealer_wins) == (0, 1)
    assert (first.hand, second.hand) == (1, 2)
    assert second.result == HandDrawn(DrawnHandCause.WALL_EXHAUSTED)
