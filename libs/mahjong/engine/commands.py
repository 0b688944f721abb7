"""What may be asked of a hand, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass

from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.events import HandEvent, HandSettled
from libs.mahjong.engine.state import HandState
from libs.mahjong.tiles import Seat


@dataclass(frozen=True, slots=True)
class Act:
    """A seat answers the decision of that id."""

    seat: Seat
    decision: int
    action: Action


@dataclass(frozen=True, slots=True)
class Expire:
    """The time of the decision of that id is up: every answer still missing is the timeout's (common §3.2)."""

    decision: int


@dataclass(frozen=True, slots=True)
class Settle:
    """The result in points of a hand that is over."""

    settlement: HandSettled


Command = Act | Expire | Settle


@dataclass(frozen=True, slots=True)
class Transition:
    """What happened, in order, and the state after it."""

    events: tuple[HandEvent, ...]
    state: HandState
