"""Who gets the tile that several seats may take (hkos-3-v1 §1.4, §1.5; classical §2.4).

The outcome depends on what the seats answer and never on the order in which the answers come in: a window is closed as
soon as no outstanding answer can change it, and not before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from libs.mahjong.engine.actions import Action, ActionType
from libs.mahjong.engine.legal import legal_actions
from libs.mahjong.engine.state import SEATS, HandPicture
from libs.mahjong.tiles import Seat

_STRENGTHS: Final = {ActionType.CHOW: 1, ActionType.PUNG: 2, ActionType.CLAIMED_KONG: 2, ActionType.WIN: 3}
_STRENGTH: Final = tuple(
    next((strength for kind, strength in _STRENGTHS.items() if kind == number), 0)
    for number in range(len(ActionType) + 1)
)
"""How strong an answer is by the number of its type; 0 for what is no claim."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a closed window comes to: the ``action`` of ``seat``, or nothing when everybody passed."""

    seat: Seat | None
    action: Action | None


def priority(action: Action, seat: Seat, source: Seat) -> int:
    """How strong an answer is against the others: a win before pung and kong before chow, the nearer seat after
    ``source`` first among equals; 0 for a pass. No two claims of one window are equal."""
    strength = _STRENGTH[action.type]
    return strength * SEATS + SEATS - (seat - source) % SEATS if strength else 0


def outcome(picture: HandPicture, source: Seat, answers: tuple[Action | None, ...]) -> Outcome | None:
    """Return what the open window comes to, or ``None`` while an outstanding answer can still change that.

    ``source`` discarded the tile or declared the kong; ``answers[s]`` is the answer of seat ``s`` if there is one.
    """
    decision = picture.decision
    assert decision is not None
    best = 0
    taker: Seat | None = None
    for seat in decision.seats:
        answer = answers[seat]
        if answer is not None:
            strength = priority(answer, seat, source)
            if strength > best:
                best, taker = strength, seat
    for seat in decision.seats:
        if answers[seat] is None and any(
            priority(action, seat, source) > best for action in legal_actions(picture, seat)
        ):
            return None
    return Outcome(taker, None if taker is None else answers[taker])
