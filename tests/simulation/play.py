"""How simulated people play: quickly thought, from the frames alone, and now and then to a win."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Final

from eastwind.table.v1 import view_pb2
from eastwind.type.v1 import action_pb2

_DISCARDS: Final = (action_pb2.ACTION_TYPE_DISCARD, action_pb2.ACTION_TYPE_ORIGINAL_CALL)
_LIKED: Final = {
    action_pb2.ACTION_TYPE_WIN: 1.0,
    action_pb2.ACTION_TYPE_CONCEALED_KONG: 0.5,
    action_pb2.ACTION_TYPE_ADDED_KONG: 0.7,
    action_pb2.ACTION_TYPE_CLAIMED_KONG: 0.5,
    action_pb2.ACTION_TYPE_PUNG: 0.9,
    action_pb2.ACTION_TYPE_CHOW: 0.85,
}
"""How often each kind of action is taken when it is there."""
_FIRST_HONOUR: Final = 27


def choose(view: view_pb2.TableView, seat: int, chance: Random) -> action_pb2.Action:
    """Return one of the view's options. Where a win needs faan, the player goes for one suit."""
    options = view.decision.options
    own = view.seats[seat]
    kinds = Counter(tile // 4 for tile in own.tiles)
    flush = _best_suit(kinds, own) if view.settings.ruleset.startswith("hkos") else None
    others = []
    discards = []
    for option in options:
        action = option.action
        if action.type in _DISCARDS:
            discards.append(action)
        elif action.type == action_pb2.ACTION_TYPE_PASS:
            others.append(action)
        elif _fits(action, flush) and chance.random() < _LIKED[action.type]:
            return action
    if not discards:
        return others[0] if others else options[0].action
    return min(discards, key=lambda action: _use(action.tiles[0] // 4, kinds, flush))


def _best_suit(kinds: Counter[int], own: view_pb2.SeatView) -> int:
    suits = Counter(kind // 9 for kind in kinds.elements() if kind < _FIRST_HONOUR)
    for meld in own.melds:
        if meld.tiles[0] // 4 < _FIRST_HONOUR:
            suits[meld.tiles[0] // 4 // 9] += 9
    return suits.most_common(1)[0][0] if suits else 0


def _fits(action: action_pb2.Action, flush: int | None) -> bool:
    if flush is None or not action.tiles:
        return True
    kind = action.tiles[0] // 4
    return kind >= _FIRST_HONOUR or kind // 9 == flush


def _use(kind: int, kinds: Counter[int], flush: int | None) -> float:
    """How much a tile of that kind is worth keeping."""
    use = 4.0 * (kinds[kind] - 1)
    if kind >= _FIRST_HONOUR:
        return use + 1.5
    rank = kind % 9
    for step, worth in ((1, 2.0), (2, 1.0)):
        if rank >= step:
            use += worth * (kinds[kind - step] > 0)
        if rank + step < 9:
            use += worth * (kinds[kind + step] > 0)
    return use + 6.0 * (kind // 9 == flush)
