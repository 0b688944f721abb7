"""What every ruleset keeps. It asks the registry, so a new ruleset folder is held to it with no edit here."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from libs.mahjong.bots import Level
from libs.mahjong.engine.actions import Action, ActionType
from libs.mahjong.engine.events import DecisionKind, DecisionOpened, TileDiscarded, TilesDealt
from libs.mahjong.engine.hand import legal_actions, settlement_of, timeout_action
from libs.mahjong.engine.ruleset import Ruleset, rulesets
from libs.mahjong.engine.state import HandState
from libs.mahjong.engine.table_state import TablePhase
from libs.mahjong.engine.table_views import table_visible
from libs.mahjong.engine.views import SPECTATOR, SeatView, apply_visible, view_of, visible
from libs.mahjong.record import HandRecord, decode_record, encode_record, replay
from libs.mahjong.simulation import Policy, SimulatedTable, derived_seed, eager_policy, seeded_policy
from libs.mahjong.tiles import KIND_OF, REGULAR_TILES, TILE_COUNT, Seat
from libs.mahjong.variants import rules_page
from tests.conformance.laws import check_hand, computer, is_legal, tiles_are_conserved
from tests.conformance.obvious import Choice, choices, claims

HANDS = 24
RULESETS = pytest.mark.parametrize("rules", rulesets(), ids=lambda rules: rules.id)


@cache
def some_hands(rules: Ruleset) -> tuple[HandRecord, ...]:
    """Hands of all sorts of play: at random, eager for melds, and by computers of every level."""
    records: list[HandRecord] = []
    number = 0
    while len(records) < HANDS:
        seed = derived_seed(b"every ruleset", rules.id, number)
        table = SimulatedTable.open(rules.id, policies(number, seed), seed, table_id=f"table-{number}", rated=True)
        number += 1
        for _ in range(2):
            records.append(table.play_hand())
            if table.state.phase is TablePhase.CLOSED:
                break
    return tuple(records)


def policies(number: int, seed: bytes) -> list[Policy]:
    if number % 3 == 0:
        return [computer(level, seed) for level in (Level.EASY, Level.MEDIUM, Level.HARD, Level.EASY)]
    make = (eager_policy, seeded_policy)[number % 2]
    return [make(derived_seed(seed, seat)) for seat in range(4)]


def by_kinds(actions: tuple[Action, ...]) -> set[Choice]:
    return {(action.type, tuple(sorted(KIND_OF[tile] for tile in action.tiles))) for action in actions}


def states(record: HandRecord) -> list[HandState]:
    return list(replay(record))


@RULESETS
def test_it_says_what_it_is(rules: Ruleset) -> None:
    assert rules.id
    assert rules.id.isascii()
    assert rules.id.replace("-", "").isalnum()
    assert rules.name
    assert rules_page(rules.id).startswith("#")
    assert rules.ready_step.seconds > 0


@RULESETS
def test_the_tile_set_is_whole_and_the_deal_is_even(rules: Ruleset) -> None:
    for record in some_hands(rules):
        assert sorted(record.wall) == list(range(TILE_COUNT))
        dealt = next(timed.event for timed in record.events if isinstance(timed.event, TilesDealt))
        assert [len(hand or ()) for hand in dealt.hands] == [13] * 4
        for state in states(record):
            assert tiles_are_conserved(state)
            assert all(tile < REGULAR_TILES for seat in state.seats for tile in seat.tiles) or state.decision is None


@RULESETS
def test_a_seat_may_do_what_the_rules_say_and_nothing_else(rules: Ruleset) -> None:
    """Against a generator that tries everything. Who is asked is compared as well: after every discard all seats that
    could use it, and nobody else."""
    looked_at: Counter[DecisionKind] = Counter()
    seen: Counter[ActionType] = Counter()
    for record in some_hands(rules):
        before: HandState | None = None
        for timed, state in zip(record.events, replay(record), strict=True):
            event = timed.event
            if isinstance(event, DecisionOpened):
                looked_at[event.kind] += 1
                for seat in event.seats:
                    offered = legal_actions(state, seat)
                    assert by_kinds(offered) == choices(state, seat), (record.table_id, record.hand, timed, seat)
                    assert len(by_kinds(offered)) == len(offered)
                    own = set(state.seats[seat].tiles)
                    assert all(own.issuperset(action.tiles) for action in offered)
                    seen.update(action.type for action in offered)
                    assert is_legal(timeout_action(state, seat), offered)
            if before is not None:
                assert _asked(event) == _would_be_asked(before), (record.table_id, record.hand, timed)
            before = state if isinstance(event, TileDiscarded) else None
    assert looked_at[DecisionKind.TURN] > 500
    assert looked_at[DecisionKind.CLAIM] > 100
    for kind in (ActionType.DISCARD, ActionType.WIN, ActionType.PUNG, ActionType.CHOW, ActionType.PASS):
        assert seen[kind]
    assert rules.original_call or not seen[ActionType.ORIGINAL_CALL]


def _asked(event: object) -> set[Seat]:
    return set(event.seats) if isinstance(event, DecisionOpened) and event.kind is DecisionKind.CLAIM else set()


def _would_be_asked(state: HandState) -> set[Seat]:
    return {seat for seat in range(4) if claims(state, seat)}


@RULESETS
def test_every_hand_keeps_the_laws(rules: Ruleset) -> None:
    """Zero sums, timeouts, folding, verification, and the way through protobuf; and through bytes."""
    won = 0
    for record in some_hands(rules):
        check_hand(record, states(record)[-1])
        assert decode_record(encode_record(record)) == record
        *_, unsettled, _ = states(record)
        assert settlement_of(unsettled) == record.settlement
        won += record.settlement.winner is not None
        if record.settlement.winner is None:
            assert record.settlement.payments == ()
    assert won


@RULESETS
def test_the_same_seeds_give_the_same_record(rules: Ruleset) -> None:
    for number in (0, 1, 2):
        seed = derived_seed(b"again", rules.id, number)
        first, second = (
            encode_record(SimulatedTable.open(rules.id, policies(number, seed), seed).play_hand()) for _ in range(2)
        )
        assert first == second
        other = derived_seed(b"another", rules.id, number)
        assert encode_record(SimulatedTable.open(rules.id, policies(number, other), other).play_hand()) != first


@RULESETS
@pytest.mark.parametrize("viewer", [0, 1, 2, 3, SPECTATOR])
def test_a_viewer_sees_its_own_tiles_and_what_is_public(rules: Ruleset, viewer: Seat) -> None:
    """Folding what is visible gives the view of the state; and until the hand is over no hidden tile is in it."""
    for record in some_hands(rules)[:8]:
        view = SeatView(rules, viewer, record.moment, record.dealer_wins)
        for timed, state in zip(record.events, replay(record), strict=True):
            seen = visible(timed.event, viewer)
            assert table_visible(timed.event, viewer) == seen
            if seen is not None:
                apply_visible(view, seen)
            assert view == view_of(state, viewer)
            assert view.wall.tiles is None
            if state.result is None:
                for seat in range(4):
                    if seat != viewer:
                        assert view.seats[seat].tiles == ()
                        assert view.seats[seat].drawn is None
                        assert legal_actions(view, seat) == ()
                if viewer != SPECTATOR:
                    assert view.seats[viewer].tiles == state.seats[viewer].tiles
                    assert view.actions == legal_actions(state, viewer)


@RULESETS
@pytest.mark.parametrize("level", Level)
def test_computers_finish_hands(rules: Ruleset, level: Level) -> None:
    seed = derived_seed(b"finish", rules.id, level)
    table = SimulatedTable.open(rules.id, [computer(level, derived_seed(seed, seat)) for seat in range(4)], seed)
    won = 0
    for _ in range(3):
        record = table.play_hand()
        won += record.settlement.winner is not None
        if table.state.phase is TablePhase.CLOSED:
            break
    assert won or level is Level.EASY
