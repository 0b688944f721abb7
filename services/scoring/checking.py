"""What the messages' own shape cannot rule out: holdings that no set of tiles can give."""

from __future__ import annotations

from collections import Counter

from libs.contracts.tiles import InvalidMessage
from libs.mahjong.scores import Holding, WinMethod, WinSituation
from libs.mahjong.tiles import COPIES, Kind, kind_name

HAND_TILES = 14


def check_situation(situation: WinSituation, field: str = "situation") -> None:
    """Raise `InvalidMessage` unless the winner's tiles are a whole hand out of one set and their source fits."""
    holding = situation.holding
    more = () if situation.winning is None else (situation.winning,)
    check_tiles(holding, f"{field}.holding", more)
    tiles = len(holding.concealed) + len(more) + 3 * len(holding.melds)
    if tiles != HAND_TILES:
        raise InvalidMessage(
            f"{field}.holding", f"{tiles} tiles with the winning one, a meld counted as 3, instead of {HAND_TILES}"
        )
    if (situation.source is None) is not (situation.method is WinMethod.SELF_DRAW):
        raise InvalidMessage(f"{field}.source", "wanted for every method but a self-draw")
    if situation.source == situation.seat_wind:
        raise InvalidMessage(f"{field}.source", "the winner cannot win on an own tile")
    if situation.winning is None and situation.method is not WinMethod.SELF_DRAW:
        raise InvalidMessage(f"{field}.winning", "only a hand won as dealt has none")


def check_tiles(holding: Holding, field: str, more: tuple[Kind, ...] = ()) -> None:
    """Raise `InvalidMessage` for more copies of a kind than the set has, and for a tile in two melds."""
    copies = Counter((*holding.concealed, *more))
    for meld in holding.melds:
        copies.update(meld.kinds)
    for kind, number in copies.items():
        if number > COPIES:
            raise InvalidMessage(field, f"{number} of {kind_name(kind)}, the set has {COPIES}")
    declared = [tile for meld in holding.melds for tile in meld.tiles]
    if len(declared) != len(set(declared)):
        raise InvalidMessage(f"{field}.melds", "one tile is in two melds")
    if len(holding.bonus) != len(set(holding.bonus)):
        raise InvalidMessage(f"{field}.bonus", "the set has one copy of every bonus tile")
