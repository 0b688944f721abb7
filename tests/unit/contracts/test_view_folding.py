"""A client that folds what it is sent has what the server would send it whole (field case C077)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from eastwind.table.v1 import view_pb2
from libs.contracts.table_events import table_event_to_proto
from libs.contracts.view_folding import FollowedTable, SequenceGap, coming_hand, follow, own_seat
from libs.contracts.views import decision_view, view_message
from libs.mahjong.bots import Level, choose
from libs.mahjong.clocks import UNTIMED
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.events import HandWon, KongCompleted, MeldClaimed
from libs.mahjong.engine.table_commands import CommitNonce, GrantOutage, LeaveSeat, TableTransition, TakeSeat, Tick
from libs.mahjong.engine.table_events import Occupant, TableEvent
from libs.mahjong.engine.table_state import TablePhase, TableState
from libs.mahjong.engine.table_views import SPECTATOR, table_visible
from libs.mahjong.engine.views import SeatView
from libs.mahjong.fairness import commit
from libs.mahjong.simulation import SimulatedTable, eager_policy, seeded_policy
from libs.mahjong.tiles import Seat
from tests.unit.mahjong.engine.tables import HKOS, bot, human, seed

VIEWERS = (0, 1, 2, 3, SPECTATOR)
CONNECTED = (True, True, True, True)


def update_of(state: TableState, viewer: Seat, events: Sequence[TableEvent]) -> view_pb2.TableUpdate:
    seen = [copy for event in events if (copy := table_visible(event, viewer)) is not None]
    return view_pb2.TableUpdate(
        table_id=state.table_id,
        sequence=state.stream_sequence[viewer],
        events=[table_event_to_proto(event) for event in seen],
        decision=decision_view(state, viewer),
    )


@dataclass(slots=True)
class FollowedGame(SimulatedTable):
    """A table whose every step is followed by five viewers and held against their whole views."""

    clients: list[FollowedTable] = field(default_factory=list)
    kinds: set[type] = field(default_factory=set)

    def adopt(self, before: TableState | None, transition: TableTransition) -> None:
        SimulatedTable.adopt(self, before, transition)
        events = transition.entry.events
        self.kinds |= {type(event) for event in events}
        if not self.clients:
            self.clients = [FollowedTable(self.whole(viewer), self.sequence(viewer)) for viewer in VIEWERS]
        elif events:
            for place, viewer in enumerate(VIEWERS):
                self.clients[place] = follow(self.clients[place], update_of(self.state, viewer, events))
        for place, viewer in enumerate(VIEWERS):
            assert self.clients[place].view == self.whole(viewer), (viewer, events)
            assert self.clients[place].sequence == self.sequence(viewer)

    def whole(self, viewer: Seat) -> view_pb2.TableView:
        return view_message(self.state, viewer, CONNECTED)

    def sequence(self, viewer: Seat) -> int:
        return self.state.stream_sequence[viewer]


@pytest.mark.parametrize("game", range(6))
def test_c077_every_viewer_folds_random_play_to_its_whole_view(game: int) -> None:
    policies = [(eager_policy if game % 2 else seeded_policy)(seed(10 * game + seat)) for seat in range(4)]
    table = FollowedGame.open(HKOS, policies, seed(game), rated=game % 3 == 0, first_dealer=game % 4)
    for _ in range(2):
        table.play_hand()
    assert MeldClaimed in table.kinds


def test_wins_and_kongs_are_folded_too() -> None:
    kinds: set[type] = set()
    for game in range(20):
        eager = eager_policy(seed(100 + game))
        table = FollowedGame.open(HKOS, [eager, computer, computer, computer], seed(game))
        table.play_hand()
        kinds |= table.kinds
        if {HandWon, KongCompleted} <= kinds:
            return
    raise AssertionError(f"twenty hands showed only {kinds}")


def computer(view: SeatView) -> Action:
    return choose(view, Level.EASY, seed=view.moment)


def test_seats_that_come_and_go_and_time_given_back_are_folded() -> None:
    players: list[Occupant | None] = [human(0), None, bot(2), bot(3)]
    table = FollowedGame.open(HKOS, [seeded_policy(seed(seat)) for seat in range(4)], seed(1), players=players)
    table.send(TakeSeat("sit", table.now_ms, 1, human(1), table.fresh_seed()))
    table.send(GrantOutage(table.now_ms, 700))
    table.send(LeaveSeat("go", table.now_ms, 1))
    assert table.state.phase is TablePhase.WAITING
    seal = commit(table.nonce(1, 1))
    table.send(TakeSeat("again", table.now_ms, 1, human(1), table.fresh_seed()))
    table.send(CommitNonce("seal", table.now_ms, 1, seal))
    table.play_hand()
    table.get_ready()
    table.send(LeaveSeat("later", table.now_ms, 1))
    table.play_hand()
    assert table.state.ready_deadline_ms is None or table.state.phase is TablePhase.READY


def test_a_seat_that_is_not_ready_in_time_and_the_end_of_a_table_are_folded() -> None:
    table = FollowedGame.open(HKOS, [seeded_policy(seed(seat)) for seat in range(4)], seed(2), rated=True)
    assert table.state.ready_deadline_ms is not None
    table.send(Tick(table.state.ready_deadline_ms + 1, table.fresh_seed()))
    assert table.state.phase is TablePhase.CLOSED
    assert table.clients[0].view.close_reason


def test_an_untimed_table_is_folded() -> None:
    table = FollowedGame.open(HKOS, [seeded_policy(seed(seat)) for seat in range(4)], seed(3), control=UNTIMED)
    table.play_hand()
    assert coming_hand(table.clients[0].view) == 2


def test_repeats_change_nothing_and_gaps_are_found() -> None:
    table = FollowedGame.open(HKOS, [seeded_policy(seed(seat)) for seat in range(4)], seed(4))
    start = table.clients[0]
    before = len(table.entries)
    table.get_ready()
    first, second = (update_of_entry(table, place) for place in (before, before + 1))
    once = follow(start, first)
    assert follow(once, first) is once
    assert once.sequence == start.sequence + 1
    with pytest.raises(SequenceGap):
        follow(start, second)
    with pytest.raises(SequenceGap):
        follow(None, first)
    whole = view_pb2.TableUpdate(sequence=table.sequence(0), view=table.whole(0))
    assert follow(start, whole).view == table.whole(0)
    assert follow(once, second).sequence == once.sequence + 1


def update_of_entry(table: FollowedGame, place: int) -> view_pb2.TableUpdate:
    """The update of one of the ready seats' entries, each of which is one public event."""
    (event,) = table.entries[place].events
    first = table.sequence(0) - sum(
        table_visible(later, 0) is not None for entry in table.entries[place + 1 :] for later in entry.events
    )
    return view_pb2.TableUpdate(sequence=first, events=[table_event_to_proto(event)])


def test_who_is_connected_changes_without_an_event() -> None:
    table = FollowedGame.open(HKOS, [seeded_policy(seed(seat)) for seat in range(4)], seed(5))
    known = table.clients[2]
    after = follow(known, view_pb2.TableUpdate(sequence=known.sequence, connected=[True, False, True, True]))
    assert [seat.connected for seat in after.view.seats] == [True, False, True, True]
    assert after.view.decision == known.view.decision
    assert after.sequence == known.sequence


def test_a_spectator_has_no_seat_of_its_own() -> None:
    table = FollowedGame.open(HKOS, [seeded_policy(seed(seat)) for seat in range(4)], seed(6))
    assert own_seat(table.clients[-1].view) is None
    own = own_seat(table.clients[1].view)
    assert own is not None
    assert own.seat == 1
