"""A whole view never holds another seat's tiles while the hand is played (promise P5)."""

from __future__ import annotations

import pytest

from libs.contracts.views import view_message
from libs.mahjong.engine.table_applying import fold
from libs.mahjong.engine.table_state import TablePhase
from libs.mahjong.engine.views import SPECTATOR
from tests.unit.contracts.messages import RULESETS, played

CONNECTED = (True, True, True, True)


@pytest.mark.parametrize("viewer", [0, 1, 2, 3, SPECTATOR])
@pytest.mark.parametrize("ruleset_id", RULESETS)
def test_views_at_every_step_of_a_hand(ruleset_id: str, viewer: int) -> None:
    looked = 0
    for table in played(ruleset_id)[:3]:
        state = fold(table.entries[:1])
        for number in range(2, len(table.entries), 4):
            state = fold(table.entries[:number])
            hand = state.hand
            if state.phase is not TablePhase.PLAYING or hand is None or hand.is_over:
                continue
            looked += 1
            view = view_message(state, viewer, CONNECTED)
            assert view.HasField("viewer") == (viewer != SPECTATOR)
            hidden = {tile for seat, own in enumerate(hand.seats) if seat != viewer for tile in own.tiles}
            hidden.update(hand.wall.remaining())
            for seat, shown in enumerate(view.seats):
                own = hand.seats[seat]
                assert shown.tile_count == len(own.tiles)
                if seat != viewer:
                    assert not shown.tiles
                    assert not shown.HasField("drawn")
                else:
                    assert tuple(shown.tiles) == own.tiles
                public = [*shown.bonus, *(tile for meld in shown.melds for tile in meld.tiles)]
                assert hidden.isdisjoint([*public, *(each.tile for each in shown.river)])
            if view.decision.seat != viewer or viewer == SPECTATOR:
                assert not view.decision.options
                assert not view.decision.HasField("held")
            for option in view.decision.options:
                assert hidden.isdisjoint(option.action.tiles)
            assert state.server_seed not in view.SerializeToString()
    assert looked > 20
