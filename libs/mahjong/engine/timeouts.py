"""What a seat does when its time is up (common §3.2)."""

from __future__ import annotations

from libs.mahjong.engine.actions import PASS, WIN, Action
from libs.mahjong.engine.events import DecisionKind
from libs.mahjong.engine.legal import DISCARDS, win_score
from libs.mahjong.engine.state import HandPicture
from libs.mahjong.tiles import Seat


def timeout_action(picture: HandPicture, seat: Seat) -> Action:
    """Return the action that stands for ``seat`` when it lets the open decision expire.

    A win that is available is taken, robbing included (C5). Otherwise the own turn discards the drawn tile, or without
    one the right-most tile of the sorted hand (C6); every other decision is passed. After an Original Call the drawn
    tile is the only one that may go. Raises ``ValueError`` when the seat is not asked.
    """
    decision = picture.decision
    if decision is None or seat not in decision.seats:
        raise ValueError(f"seat {seat} is not asked")
    if win_score(picture, seat) is not None:
        return WIN
    if decision.kind is DecisionKind.TURN:
        holder = picture.seats[seat]
        return DISCARDS[holder.tiles[-1] if holder.drawn is None else holder.drawn]
    return PASS
