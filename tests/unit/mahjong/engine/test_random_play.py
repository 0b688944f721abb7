"""Laws over whole hands of random legal play."""

import random
from dataclasses import replace

import pytest

from libs.mahjong.engine.actions import Action, ActionType, RuleViolation
from libs.mahjong.engine.events import HandEvent, HandSettled, HandWon
from libs.mahjong.engine.hand import (
    Act,
    Expire,
    Settle,
    decide,
    fold,
    legal_actions,
    settlement_of,
    start_hand,
    win_situation,
)
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.engine.state import HandState
from libs.mahjong.engine.views import SeatView
from tests.unit.mahjong.engine.builders import VIEWERS, Table
from tests.unit.mahjong.engine.rulesets import BOXED, PLAIN, STRICT

HANDS = 25


def start(ruleset: Ruleset, rng: random.Random) -> Table:
    wall = list(range(144))
    rng.shuffle(wall)
    dealer = rng.randrange(4)
    transition = start_hand(ruleset, 3, dealer, rng.randrange(4), tuple(wall), b"seal", 40, 12)
    table = Table(HandState(ruleset, 40, 12), [SeatView(ruleset, viewer, 40, 12) for viewer in VIEWERS])
    table.follow(transition.events, transition.state)
    return table


def step(table: Table, rng: random.Random) -> None:
    """One answer of a seat that is asked, or now and then an expiry. Claims are preferred, so that hands get melds."""
    state = table.state
    assert state.decision is not None
    if rng.random() < 0.03:
        transition = decide(state, Expire(state.decision.decision))
    else:
        waiting = [seat for seat in state.decision.seats if state.held[seat] is None]
        seat = rng.choice(waiting)
        options = legal_actions(state, seat)
        special = [action for action in options if action.type not in (ActionType.DISCARD, ActionType.PASS)]
        choice = rng.choice(special if special and rng.random() < 0.7 else options)
        transition = decide(state, Act(seat, state.decision.decision, choice))
    result = transition.state.result
    if isinstance(result, HandWon):
        # What was offered is what was won; only the others' tiles may have moved, when a kong was robbed.
        offered, won = win_situation(state, result.seat), win_situation(transition.state, result.seat)
        assert replace(offered, others=()) == replace(won, others=())
    table.follow(transition.events, transition.state)


@pytest.mark.parametrize("ruleset", [PLAIN, BOXED, STRICT], ids=lambda ruleset: str(ruleset.id))
def test_no_tile_is_lost_and_every_event_folds(ruleset: Ruleset) -> None:
    """``Table.follow`` checks the laws after every event: tiles, state and the five pictures."""
    rng = random.Random(7)
    won = 0
    for _ in range(HANDS):
        table = start(ruleset, rng)
        while not table.state.is_over:
            decision = table.state.decision
            assert decision is not None
            for seat in decision.seats:
                assert table.state.held[seat] is not None or legal_actions(table.state, seat)
            step(table, rng)
        table.settle()
        won += isinstance(table.state.result, HandWon)
        assert fold(ruleset, table.history, 40, 12) == table.state
        assert table.state.settlement == settlement_of(table.state)
    assert (won > 0) == (ruleset is not STRICT)


@pytest.mark.parametrize("ruleset", [PLAIN, BOXED], ids=lambda ruleset: str(ruleset.id))
def test_decision_ids_and_moments_only_grow(ruleset: Ruleset) -> None:
    rng = random.Random(11)
    for _ in range(10):
        table = start(ruleset, rng)
        last_decision, last_moment = 0, 40
        while not table.state.is_over:
            decision = table.state.decision
            assert decision is not None
            assert decision.decision >= last_decision
            assert table.state.moment >= last_moment
            opened = decision.decision
            if opened != last_decision:
                assert opened > last_decision
            last_decision, last_moment = opened, table.state.moment
            step(table, rng)


def test_a_hand_played_by_timeouts_alone_comes_to_its_end() -> None:
    rng = random.Random(5)
    for ruleset in (PLAIN, BOXED, STRICT):
        table = start(ruleset, rng)
        while not table.state.is_over:
            table.expire()


def test_the_same_commands_give_the_same_events() -> None:
    def play() -> list[HandEvent]:
        rng = random.Random(3)
        wall = list(range(144))
        rng.shuffle(wall)
        transition = start_hand(BOXED, 1, 0, 0, tuple(wall))
        events = list(transition.events)
        state = transition.state
        while state.decision is not None:
            seat = next(seat for seat in state.decision.seats if state.held[seat] is None)
            transition = decide(state, Act(seat, state.decision.decision, rng.choice(legal_actions(state, seat))))
            events += transition.events
            state = transition.state
        return events

    assert play() == play()


def test_whatever_is_not_offered_is_refused_and_whatever_is_offered_is_accepted() -> None:
    """Every action that three tiles of the set can name, at every decision of a few hands."""
    rng = random.Random(13)
    for ruleset in (PLAIN, BOXED):
        table = start(ruleset, rng)
        for _ in range(25):
            state = table.state
            if state.decision is None:
                break
            decision = state.decision.decision
            for seat in range(4):
                offered = legal_actions(state, seat)
                for action in offered:
                    assert decide(state, Act(seat, decision, action)).events
                for action in _candidates(state, rng):
                    if not _stands_for(action, offered, state, seat):
                        with pytest.raises(RuleViolation):
                            decide(state, Act(seat, decision, action))
            step(table, rng)
        if not table.state.is_over:
            with pytest.raises(RuleViolation):
                decide(table.state, Settle(settlement_of_nothing()))


def settlement_of_nothing() -> HandSettled:
    return HandSettled(None, (None,) * 4, (), (0,) * 4, (None,) * 4)


def _candidates(state: HandState, rng: random.Random) -> list[Action]:
    found = []
    for kind in ActionType:
        for size in range(5):
            found.append(Action(kind, tuple(rng.sample(range(144), size))))
            holder = state.seats[rng.randrange(4)]
            if len(holder.tiles) >= size:
                found.append(Action(kind, tuple(rng.sample(holder.tiles, size))))
    return found


def _stands_for(action: Action, offered: tuple[Action, ...], state: HandState, seat: int) -> bool:
    """Whether the action is offered, perhaps with other own tiles of the same kinds."""
    tiles = state.seats[seat].tiles
    if any(tile not in tiles for tile in action.tiles):
        return False
    kinds = sorted(tile // 4 for tile in action.tiles)
    return any(other.type is action.type and sorted(tile // 4 for tile in other.tiles) == kinds for other in offered)
