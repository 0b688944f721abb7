"""Any commands in any order: a table refuses or follows, and the laws of ``CheckedTable`` hold after every step."""

from __future__ import annotations

import random

import pytest

from libs.mahjong.clocks import BULLET, STANDARD, UNTIMED
from libs.mahjong.engine.actions import PASS, RuleViolation
from libs.mahjong.engine.hand import legal_actions, settlement_of
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.engine.table_commands import (
    Act,
    CommitNonce,
    ConfirmReady,
    GrantOutage,
    LeaveSeat,
    ReturnToSeat,
    SettleHand,
    TableCommand,
    TakeSeat,
    Tick,
)
from libs.mahjong.engine.table_events import Occupant
from libs.mahjong.engine.table_state import TablePhase
from libs.mahjong.fairness import commit
from tests.unit.mahjong.engine.tables import HKOS, MATCH, CheckedTable, bot, human, open_table, seed, toy_match

__all__ = ["toy_match"]


def any_command(table: CheckedTable, pick: random.Random, step: int) -> TableCommand:
    """A command that may make sense or not; those that carry a hand on come most often."""
    state = table.state
    seat = pick.randrange(4)
    now = state.now_ms + pick.choice((-1_000, 0, 1, 400, 3_000, 30_001))
    name = f"{step}/{pick.randrange(3)}"
    choice = pick.randrange(40)
    if choice == 0:
        return LeaveSeat(name, now, seat)
    if choice == 1:
        return ReturnToSeat(name, now, seat)
    if choice == 2:
        return CommitNonce(name, now, seat, commit(seed(seat)))
    if choice == 3:
        return GrantOutage(now, pick.randrange(-5, 5_000))
    if choice == 4:
        return Tick(state.next_due_ms or now, seed(step), hold_ms=pick.randrange(500))
    if state.phase is TablePhase.PLAYING and state.hand is not None:
        if state.needs_settlement:
            return SettleHand(name, now, settlement_of(state.hand), seed(step))
        awaited = state.awaited or (seat,)
        asked = pick.choice(awaited) if choice < 38 else seat
        actions = legal_actions(state.hand, asked) or (PASS,)
        decision = state.hand.decision.decision if state.hand.decision and choice < 39 else 0
        return Act(name, state.now_ms + pick.randrange(900), asked, decision, pick.choice(actions), pick.randrange(300))
    if state.phase is TablePhase.READY:
        nonce = pick.choice((None, table.nonce(seat, 1), seed(seat)))
        return ConfirmReady(name, now, seat, nonce, pick.choice((b"", commit(seed(seat)))))
    newcomer: Occupant = pick.choice((human(seat), human(9), bot(seat)))
    return TakeSeat(name, now, seat, newcomer, seed(step), pick.choice((b"", commit(seed(seat)))))


@pytest.mark.parametrize(
    ("ruleset_id", "control", "rated", "number"),
    [
        (HKOS, STANDARD, False, 1),
        (HKOS, BULLET, True, 2),
        (HKOS, UNTIMED, False, 3),
        (MATCH, STANDARD, True, 4),
        (MATCH, UNTIMED, False, 5),
    ],
)
def test_any_commands_are_refused_or_followed(
    ruleset_id: str, control: object, rated: bool, number: int, toy_match: Ruleset
) -> None:
    followed = refused = 0
    for run in range(4):
        pick = random.Random(100 * number + run)
        players = [human(0), *pick.choice(([human(1), human(2), human(3)], [bot(1), None, human(3)]))]
        table = open_table(ruleset_id, control=control, rated=rated, players=players)  # type: ignore[arg-type]
        for step in range(120):
            command = any_command(table, pick, step)
            before = table.state.copy()
            try:
                table.send(command)
            except RuleViolation:
                refused += 1
                assert table.state == before
            else:
                followed += 1
                assert table.state.now_ms >= before.now_ms
    assert followed > 100
    assert refused > 10
