"""What each viewer knows (field case C130, promise P5)."""

import random

import pytest

from libs.mahjong.engine.actions import PASS, Action, ActionType, RuleViolation
from libs.mahjong.engine.events import (
    ChoiceHeld,
    DecisionKind,
    DecisionOpened,
    HandEvent,
    HandStarted,
    HandWon,
    MeldClaimed,
    TileDrawn,
    TilesDealt,
)
from libs.mahjong.engine.hand import Act, decide, legal_actions, start_hand
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.engine.state import HandState
from libs.mahjong.engine.views import SPECTATOR, SeatView, view_of, visible
from libs.mahjong.scores import HandScore
from libs.mahjong.tiles import Seat
from tests.unit.mahjong.engine.builders import VIEWERS, dealt, playing
from tests.unit.mahjong.engine.rulesets import BOXED, PLAIN

READY = "34m567m345p678s33s"


def test_a_view_holds_what_a_client_needs() -> None:
    table = playing({"S": "34m66m345p678s99p1z"}, turn="E", drawn="6m", bonus={"W": "1f"}, melds={"N": "pung 5z"})
    table.discard("E", "6m")
    view = table.view("S")
    assert view.seats[1].tiles == table.state.seats[1].tiles
    assert [seat.count for seat in view.seats] == [13, 13, 13, 10]
    assert [seat.tiles for seat in view.seats if seat.hidden] == [(), (), ()]
    assert view.seats[3].melds == table.state.seats[3].melds
    assert view.seats[2].bonus == table.state.seats[2].bonus
    assert (view.live_left, view.kong_box_left) == (table.state.live_left, 0)
    assert view.last_discard == table.state.last_discard
    assert view.turn == 0
    assert view.decision is not None
    assert view.decision.seats == (1,)
    assert {action.type for action in view.actions} == {ActionType.PUNG, ActionType.PASS}


def test_a_view_tells_what_the_win_would_be_worth() -> None:
    table = playing({"S": READY}, turn="E", drawn="5m")
    table.discard("E", "5m")
    assert isinstance(table.view("S").win_score, HandScore)
    assert table.view("W").win_score is None
    assert table.view("W").actions == ()


def test_a_viewer_knows_whose_turn_it_is_but_not_what_the_seat_may_do() -> None:
    table = playing({"S": READY}, turn="S", drawn="5m")
    view = table.view("W")
    assert view.decision is not None
    assert view.decision.seats == (1,)
    assert legal_actions(view, 1) == ()
    assert view.seats[1].drawn is None
    spectator = table.views[4]
    assert spectator.actions == ()
    assert all(seat.hidden for seat in spectator.seats)


def test_a_claim_window_is_seen_by_those_who_are_asked_and_names_nobody_else() -> None:
    table = playing({"S": "46p", "N": "55p"}, turn="E", drawn="5p")
    table.discard("E", "5p")
    opened = table.events[-1]
    assert isinstance(opened, DecisionOpened)
    seen = [visible(opened, viewer) for viewer in VIEWERS]
    assert seen[0] is seen[2] is seen[4] is None
    assert seen[1] == DecisionOpened(opened.decision, opened.kind, (1,))
    assert seen[3] == DecisionOpened(opened.decision, opened.kind, (3,))
    table.take("S", "chow", "46p")
    held = table.events[-1]
    assert isinstance(held, ChoiceHeld)
    assert [visible(held, viewer) is held for viewer in VIEWERS] == [False, True, False, False, False]
    assert table.view("S").held[1] == held.action
    assert table.view("N").held == (None,) * 4


def test_the_numbers_do_not_tell_that_a_window_was_open() -> None:
    moments = []
    for south in ("55p9s", "9s"):
        table = playing({"S": south}, turn="E", drawn="5p", front="1z")
        table.discard("E", "5p")
        if south.startswith("55p"):
            table.passes("S")
        decision = table.view("W").decision
        assert decision is not None
        moments.append((table.view("W").moment, decision.decision))
    assert moments[0] == moments[1]


def test_hidden_tiles_are_left_out_of_the_copies() -> None:
    tiles = tuple(range(144))
    events = start_hand(PLAIN, 1, 0, 0, tiles, b"seal").events
    started, deal = events[0], events[1]
    assert visible(started, 2) == HandStarted(1, 0, 0, b"seal", None)
    assert isinstance(deal, TilesDealt)
    assert visible(deal, 1) == TilesDealt((None, deal.hands[1], None, None))
    assert visible(deal, SPECTATOR) == TilesDealt((None,) * 4)
    drawn = next(event for event in events if isinstance(event, TileDrawn))
    assert visible(drawn, 0) is drawn
    assert visible(drawn, 1) == TileDrawn(0, None, drawn.source)


def test_an_event_that_is_not_listed_reaches_nobody() -> None:
    class Unlisted:
        pass

    assert visible(Unlisted(), 0) is None  # type: ignore[arg-type]


def test_a_copied_view_goes_its_own_way() -> None:
    table = dealt(front="5m")
    view = table.view("E")
    copy = view.copy()
    assert isinstance(copy, SeatView)
    assert copy == view
    table.discard_drawn()
    assert copy != view


@pytest.mark.parametrize("ruleset", [PLAIN, BOXED])
@pytest.mark.parametrize("viewer", VIEWERS)
def test_p5_worlds_that_differ_in_hidden_tiles_look_the_same(ruleset: Ruleset, viewer: Seat) -> None:
    """Two tiles that the viewer never sees change places, in other hands or the wall. When the same can happen in
    public in both worlds, the viewer sees the same stream and picture, whoever else was asked what on the way."""
    rng = random.Random(17 + viewer)
    compared = 0
    for _ in range(6):
        wall = list(range(144))
        rng.shuffle(wall)
        script: Script = {}
        events, state = _played(ruleset, wall, viewer, script, rng)
        hidden = sorted(set(range(136)) - _shown(events, viewer))
        for _ in range(12):
            one, other = rng.sample(hidden, 2)
            names = {one: other, other: one}
            try:
                twin_events, twin = _played(ruleset, [names.get(tile, tile) for tile in wall], viewer, script)
            except (RuleViolation, KeyError):
                continue
            assert twin_events != events
            assert _stream(twin_events, viewer) == _stream(events, viewer)
            assert view_of(twin, viewer) == view_of(state, viewer)
            compared += 1
    assert compared > 20


Script = dict[tuple[int, Seat], Action]
"""What a seat does at a moment, as far as it matters in public; whatever is not listed is passed."""


def _played(
    ruleset: Ruleset, wall: list[int], viewer: Seat, script: Script, rng: random.Random | None = None
) -> tuple[list[HandEvent], HandState]:
    """Play a hand: with ``rng`` at random, noting it in ``script``, else as that says. The viewer answers first."""
    transition = start_hand(ruleset, 1, 0, 0, tuple(wall))
    events, state = list(transition.events), transition.state
    while state.decision is not None:
        decision = state.decision
        waiting = [seat for seat in decision.seats if state.held[seat] is None]
        seat = viewer if viewer in waiting else waiting[0]
        key = (state.moment, seat)
        if rng is not None:
            action = rng.choice(legal_actions(state, seat))
        elif decision.kind is DecisionKind.TURN:
            action = script[key]
        else:
            action = script.get(key, PASS)
        transition = decide(state, Act(seat, decision.decision, action))
        if rng is not None:
            taken = [event.seat for event in transition.events if isinstance(event, MeldClaimed | HandWon)]
            if taken and decision.kind is not DecisionKind.TURN:
                held = state.held[taken[0]]
                script[state.moment, taken[0]] = action if held is None else held
            if decision.kind in (DecisionKind.TURN, DecisionKind.OPENING_KONG) or seat == viewer:
                script[key] = action
        events += transition.events
        state = transition.state
    return events, state


def _stream(events: list[HandEvent], viewer: Seat) -> list[HandEvent]:
    return [seen for seen in (visible(event, viewer) for event in events) if seen is not None]


def _shown(events: list[HandEvent], viewer: Seat) -> set[int]:
    """Every tile id that the viewer's stream mentions anywhere."""
    found: set[int] = set()
    for event in _stream(events, viewer):
        if isinstance(event, TilesDealt):
            found.update(tile for tiles in event.hands if tiles is not None for tile in tiles)
        tile = getattr(event, "tile", None)
        if tile is not None:
            found.add(tile)
        meld = getattr(event, "meld", None)
        if meld is not None:
            found.update(meld.tiles)
        found.update(getattr(event, "concealed", ()))
        action = getattr(event, "action", None)
        if action is not None:
            found.update(action.tiles)
    return found


def test_p5_other_hands_may_change_while_they_do_the_same() -> None:
    """Hidden tiles of different kinds change places between a hand and the wall; the seats then do the same things."""
    streams = []
    north = "3m6m9m3p6p9p3s6s9s4z5z6z7z"
    for east in ("1m4m7m", "2m5m8m"):
        hands = {"E": east + "1p4p7p1s4s7s1z2z3z4z", "S": "1z2z", "W": "5z6z7z", "N": north}
        table = dealt(hands, front="7z1z2z3z")
        for _ in range(3):
            table.discard_drawn()
        streams.append((_stream(table.history, 3), view_of(table.state, 3)))
    assert streams[0] == streams[1]
