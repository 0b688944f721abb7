"""The laws that every finished hand keeps, looked at after every single event of its record."""

from __future__ import annotations

from typing import Final

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from eastwind.history.v1 import record_pb2
from libs.contracts.records import record_from_proto, record_to_proto
from libs.mahjong.bots import Level, choose
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.events import DecisionOpened, HandSettled
from libs.mahjong.engine.hand import legal_actions, timeout_action
from libs.mahjong.engine.ruleset import rulesets
from libs.mahjong.engine.state import HandState
from libs.mahjong.engine.table_state import TablePhase
from libs.mahjong.engine.views import SeatView
from libs.mahjong.record import HandRecord, replay
from libs.mahjong.simulation import Policy, SimulatedTable, derived_seed
from libs.mahjong.tiles import KIND_OF, TILE_COUNT
from libs.mahjong.verification import verify

ALL_HANDS: Final = 10_000
"""So many hands of computer players are played by the law run."""
CHUNKS: Final = 20
SEED: Final = b"ten thousand hands"
HANDS_AT_A_TABLE: Final = 5
HARDER_TABLE: Final = 25
"""At every so many-th table a medium and a hard player sit among the easy ones."""

_ALL: Final = list(range(TILE_COUNT))


def computer(level: int, seed: bytes) -> Policy:
    """A computer player whose choices follow from the seed and the moment."""

    def pick(view: SeatView) -> Action:
        value = derived_seed(seed, view.hand, view.moment, view.viewer)
        return choose(view, level, seed=int.from_bytes(value[:4], "big"))

    return pick


def tiles_are_conserved(state: HandState) -> bool:
    """Whether every tile is in exactly one place."""
    tiles = list(state.wall.remaining())
    for seat in state.seats:
        tiles += seat.tiles
        tiles += seat.bonus
        tiles += [discard.tile for discard in seat.river if discard.claimed_by is None]
        for meld in seat.melds:
            tiles += meld.tiles
    return sorted(tiles) == _ALL


def check_hand(record: HandRecord, final: HandState) -> None:
    """Hold a finished hand against the laws; ``final`` is the state in which the table has it.

    After every event the tiles are conserved, and payments add to zero; at every decision the action of a timeout is
    legal for every seat that is asked. The record folds to the table's state, verifies, and comes back from protobuf.
    """
    state = None
    for timed, state in zip(record.events, replay(record), strict=True):
        assert tiles_are_conserved(state), timed
        if isinstance(timed.event, DecisionOpened):
            for seat in timed.event.seats:
                assert is_legal(timeout_action(state, seat), legal_actions(state, seat)), (timed, seat)
        elif isinstance(timed.event, HandSettled):
            check_payments(timed.event)
    assert state == final
    report = verify(record)
    assert report.passed, report
    message = record_pb2.HandRecord.FromString(record_to_proto(record).SerializeToString())
    assert record_from_proto(message) == record


def is_legal(action: Action, options: tuple[Action, ...]) -> bool:
    """Whether an action is among the options; of equal tiles an option names the first, and any may stand for it."""
    if action in options:
        return True
    kinds = [KIND_OF[tile] for tile in action.tiles]
    return any(option.type is action.type and [KIND_OF[tile] for tile in option.tiles] == kinds for option in options)


def check_payments(settled: HandSettled) -> None:
    """Payments go from one seat to another, and every change is the sum of a seat's payments."""
    changes = [0, 0, 0, 0]
    for payment in settled.payments:
        assert payment.amount > 0
        assert payment.payer != payment.payee
        changes[payment.payer] -= payment.amount
        changes[payment.payee] += payment.amount
    assert tuple(changes) == settled.changes
    assert sum(settled.changes) == 0


def play_chunk(chunk: int, hands: int) -> tuple[set[bytes], int]:
    """Play so many hands of computer players and hold each against the laws.

    Returns the walls, which are as many as there are hands, and how many hands were won.
    """
    rules = rulesets()[chunk % len(rulesets())]
    walls: set[bytes] = set()
    won = table_number = 0
    while len(walls) < hands:
        seed = derived_seed(SEED, rules.id, chunk, table_number)
        levels = [Level.EASY] * 4
        if table_number % HARDER_TABLE == HARDER_TABLE - 1:
            levels[chunk % 4], levels[(chunk + 1) % 4] = Level.HARD, Level.MEDIUM
        policies = [computer(level, derived_seed(seed, seat)) for seat, level in enumerate(levels)]
        table = SimulatedTable.open(rules.id, policies, seed, table_id=f"{chunk}-{table_number}", rated=True)
        table_number += 1
        for _ in range(min(HANDS_AT_A_TABLE, hands - len(walls))):
            record = table.play_hand()
            assert table.state.hand is not None
            check_hand(record, table.state.hand)
            assert sum(table.state.points) == 4 * rules.starting_points
            assert record.points_after == table.state.points
            known = len(walls)
            walls.add(bytes(record.wall))
            assert len(walls) == known + 1
            won += record.settlement.winner is not None
            if table.state.phase is TablePhase.CLOSED:
                break
    return walls, won
