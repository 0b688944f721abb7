"""A first hand that is ready after its first discard, for tests of the Original Call.

Nothing in production fixes a wall. Here the worker of the test is given its server seed, which is found by search: the
player's number is the one that his own page is told to choose, and computers use public ones.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from itertools import count
from typing import Final

import pytest

import libs.mahjong.variants  # noqa: F401 (the rulesets register themselves)
from libs.chassis.identifiers import new_table_id
from libs.mahjong.engine.actions import ActionType
from libs.mahjong.engine.events import DecisionKind
from libs.mahjong.engine.hand import start_hand
from libs.mahjong.engine.legal import legal_actions
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.engine.table import open_table
from libs.mahjong.engine.table_commands import OpenTable, TableTransition
from libs.mahjong.fairness import ALGORITHM, NO_COMMITMENT, SECRET_BYTES, build_wall, commit, seat_nonce
from libs.mahjong.tiles import TILE_COUNT
from services.matchmaking import service
from services.table import live_tables

NONCE: Final = bytes([7]) * SECRET_BYTES
CHOOSE_NONCE: Final = """(() => {
  const random = crypto.getRandomValues.bind(crypto);
  crypto.getRandomValues = (array) => (array.length === 32 ? array.fill(7) : random(array));
})()"""
"""Makes a page choose `NONCE` as its number."""

_MOST_TRIES: Final = 20_000
_FEWEST_WAITS: Final = 2


def give_ready_hands(monkeypatch: pytest.MonkeyPatch, ruleset_id: str) -> None:
    """The table that is made next gives its one person the deal, and in the first hand tiles that are ready after the
    right discard. Its id and the search come first, since a call that searches would be late."""
    table_id = new_table_id()
    seeds = [ready_seed(table_id, ruleset_id, seat) for seat in range(4)]

    def opened(command: OpenTable) -> TableTransition:
        assert (command.table_id, command.settings.ruleset_id) == (table_id, ruleset_id)
        person = next(seat for seat, occupant in enumerate(command.occupants) if occupant and occupant.is_human)
        return open_table(replace(command, first_dealer=person, server_seed=seeds[person]))

    monkeypatch.setattr(service, "new_table_id", lambda: table_id)
    monkeypatch.setattr(live_tables, "open_table", opened)


def ready_seed(table_id: str, ruleset_id: str, dealer: int) -> bytes:
    """Return a server seed with which the dealer, who commits to `NONCE`, may declare an Original Call at once."""
    rules = ruleset(ruleset_id)
    parts = tuple(
        seat_nonce(table_id, 1, seat, commit(NONCE), NONCE)
        if seat == dealer
        else seat_nonce(table_id, 1, seat, NO_COMMITMENT, None)
        for seat in range(4)
    )
    for number in count():
        assert number < _MOST_TRIES
        seed = sha256(f"{table_id}/{number}".encode()).digest()
        wall = build_wall(ALGORITHM, table_id, 1, ruleset_id, seed, parts)
        assert len(wall) == TILE_COUNT
        hand = start_hand(rules, 1, dealer, 0, wall).state
        if hand.decision is None or hand.decision.kind is not DecisionKind.TURN:
            continue
        types = [action.type for action in legal_actions(hand, dealer)]
        if ActionType.ORIGINAL_CALL in types and ActionType.WIN not in types:
            return seed
    raise AssertionError("unreachable")
