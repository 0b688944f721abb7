"""What is made once for several viewers is what each of them would get by itself."""

from __future__ import annotations

from eastwind.table.v1 import view_pb2
from libs.contracts.views import decision_bytes, decision_view
from libs.mahjong.engine.table_views import SPECTATOR, table_visible, table_visible_copies
from libs.mahjong.simulation import SimulatedTable, derived_seed, eager_policy

VIEWERS = (0, 1, 2, 3, SPECTATOR)
SEED = b"shared frames"


def played(hands: int) -> SimulatedTable:
    policies = [eager_policy(derived_seed(SEED, seat)) for seat in range(4)]
    table = SimulatedTable.open("hkos-3-v1", policies, SEED)
    for _ in range(hands):
        table.play_hand()
    return table


def test_the_copies_of_all_viewers_are_those_of_each() -> None:
    for entry in played(4).entries:
        for event in entry.events:
            copies = table_visible_copies(event)
            assert [copies[viewer] for viewer in VIEWERS] == [table_visible(event, viewer) for viewer in VIEWERS]


def test_a_decision_made_of_parts_is_the_whole_one() -> None:
    table = played(0)
    table.get_ready()
    seen = 0
    while table.state.awaited:
        for viewer in VIEWERS:
            raw, whole = decision_bytes(table.state, viewer), decision_view(table.state, viewer)
            assert bool(raw) == (whole is not None)
            assert view_pb2.DecisionView.FromString(raw) == (whole or view_pb2.DecisionView())
            seen += bool(raw)
        table.answer()
    assert seen > 100
