"""The laws of play, over hands of every registered ruleset and of styles of play that computers do not have.

``EASTWIND_CONFORMANCE_HANDS`` says how many hands each ruleset and style of play gets (40 by default, so that the run
stays short). ``test_ten_thousand_hands.py`` plays the many hands of computer players.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.codec import decode_entry, encode_entry
from libs.mahjong.engine.ruleset import rulesets
from libs.mahjong.engine.table_applying import fold
from libs.mahjong.engine.table_events import TableOpened
from libs.mahjong.engine.table_state import TablePhase
from libs.mahjong.engine.table_views import TableView, apply_table_visible, table_view, table_visible
from libs.mahjong.engine.views import SPECTATOR, SeatView
from libs.mahjong.record import decode_record, encode_record, replay
from libs.mahjong.simulation import Policy, SimulatedTable, derived_seed, eager_policy, seeded_policy, timeout_policy
from libs.mahjong.tiles import TILE_COUNT
from libs.mahjong.verification import verify

HANDS = int(os.environ.get("EASTWIND_CONFORMANCE_HANDS", "40"))
SEED = bytes(32)
VIEWERS = (0, 1, 2, 3, SPECTATOR)


def absent_policy(seed: bytes) -> Policy:
    """Answer now and then, and let the time run out otherwise."""
    at_random = seeded_policy(seed)

    def choose(view: SeatView) -> Action | None:
        return at_random(view) if derived_seed(seed, view.moment)[0] % 3 == 0 else None

    return choose


STYLES: dict[str, Callable[[bytes], Policy]] = {
    "random": seeded_policy,
    "eager": eager_policy,
    "absent": absent_policy,
    "timeouts": lambda seed: timeout_policy,
}


def check_tiles(table: SimulatedTable) -> None:
    """Every tile is in exactly one place."""
    hand = table.state.hand
    assert hand is not None
    tiles = list(hand.wall.remaining())
    for seat in hand.seats:
        tiles += [*seat.tiles, *seat.bonus]
        tiles += [discard.tile for discard in seat.river if discard.claimed_by is None]
        for meld in seat.melds:
            tiles += meld.tiles
    assert sorted(tiles) == list(range(TILE_COUNT))


def check_hand(table: SimulatedTable, points: tuple[int, ...]) -> None:
    """The laws of one finished hand; ``points`` are those before it."""
    record = table.records[-1]
    assert sum(record.settlement.changes) == 0
    assert record.points_before == points
    assert record.points_after == table.state.points
    assert decode_record(encode_record(record)) == record
    report = verify(record)
    assert report.passed, report
    *_, last = replay(record)
    assert last == table.state.hand
    check_tiles(table)


def check_log(table: SimulatedTable) -> None:
    """The log folds to the state, through its bytes, and the visible events to what each viewer sees."""
    entries = [decode_entry(encode_entry(entry)) for entry in table.entries]
    assert entries == table.entries
    assert fold(entries) == table.state
    opened = entries[0].events[0]
    assert isinstance(opened, TableOpened)
    for viewer in VIEWERS:
        view = TableView(opened, viewer)
        for entry in entries:
            for event in entry.events:
                seen = table_visible(event, viewer)
                if seen is not None:
                    apply_table_visible(view, seen)
        assert view == table_view(table.state, viewer)


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("ruleset_id", [rules.id for rules in rulesets()])
def test_hands_keep_the_laws(ruleset_id: str, style: str) -> None:
    walls = set()
    played = 0
    while played < HANDS:
        seed = derived_seed(SEED, ruleset_id, style, played)
        policies = [STYLES[style](derived_seed(seed, seat)) for seat in range(4)]
        table = SimulatedTable.open(ruleset_id, policies, seed, table_id=f"table-{played}", rated=played % 2 == 0)
        for _ in range(3):
            points = table.state.points
            record = table.play_hand()
            walls.add(record.wall)
            played += 1
            check_hand(table, points)
            if table.state.phase is TablePhase.CLOSED:
                break
        check_log(table)
    assert len(walls) == played
