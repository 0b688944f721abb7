"""What one viewer may know of a hand (field case C130; promise P5).

A viewer is a seat, or ``SPECTATOR``. ``visible`` makes the viewer's copy of an event, from an allow-list by type: an
event that is not listed reaches nobody. A ``SeatView`` is the picture that results. The law of this module: applying
the visible copies of the events of a hand gives the same ``SeatView`` as ``view_of`` makes from the table's state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.applying import apply
from libs.mahjong.engine.events import (
    BonusExposed,
    ChoiceHeld,
    DecisionKind,
    DecisionOpened,
    DrawSource,
    HandDrawn,
    HandEvent,
    HandSettled,
    HandStarted,
    HandWon,
    KongCompleted,
    KongDeclared,
    MeldClaimed,
    TileDiscarded,
    TileDrawn,
    TilesDealt,
)
from libs.mahjong.engine.legal import legal_actions, win_score
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.engine.state import NO_ANSWERS, SEATS, HandPicture, HandState, SeatState
from libs.mahjong.scores import HandScore
from libs.mahjong.tiles import Seat

# Looking up a member of an enumeration costs more than comparing with it, so the common ones are looked up once.
_TURN: Final = DecisionKind.TURN

if TYPE_CHECKING:
    from typing import Self

SPECTATOR: Final = -1

Copies: TypeAlias = tuple[HandEvent | None, ...]


class SeatView(HandPicture):
    """A hand as ``viewer`` sees it: hidden seats have a ``count`` and no tiles, the wall no sequence.

    ``decision`` is the public turn, or what the viewer itself is asked; ``held`` has the viewer's own answer alone.
    """

    __slots__ = ("viewer",)

    def __init__(self, ruleset: Ruleset, viewer: Seat, moment: int = 0, dealer_wins: int = 0) -> None:
        """The view before the first event of a hand; the arguments are those of ``hand.start_hand``."""
        super().__init__(ruleset, moment, dealer_wins)
        self.viewer = viewer
        self.seats = [SeatState(hidden=seat != viewer) for seat in range(SEATS)]

    def copy(self) -> Self:
        """An equal view of its own."""
        other = super().copy()
        other.viewer = self.viewer
        return other

    def _facts(self) -> tuple[object, ...]:
        return (self.viewer, *super()._facts())

    @property
    def actions(self) -> tuple[Action, ...]:
        """The viewer's own legal actions at the open decision; none when it is not asked or has answered."""
        return legal_actions(self, self.viewer)

    @property
    def win_score(self) -> HandScore | None:
        """What the win among ``actions`` is worth, if there is one."""
        return win_score(self, self.viewer)


def visible(event: HandEvent, viewer: Seat) -> HandEvent | None:
    """Return the viewer's copy of an event: the event itself when all of it is public, ``None`` when none of it is."""
    see = _VISIBLE.get(type(event))
    return None if see is None else see(event, viewer)


def visible_copies(event: HandEvent) -> Copies:
    """Return every viewer's copy at once: those of the seats 0..3, then the spectator's."""
    if isinstance(event, TileDrawn):
        hidden = _HIDDEN_DRAWS[event.seat][event.source]
        copies: list[HandEvent | None] = [hidden, hidden, hidden, hidden, hidden]
        copies[event.seat] = event
        return tuple(copies)
    if type(event) in _PUBLIC or (isinstance(event, DecisionOpened) and event.kind is _TURN):
        return (event, event, event, event, event)
    return tuple([visible(event, viewer) for viewer in _VIEWERS])


def apply_visible(view: SeatView, event: HandEvent) -> None:
    """Change ``view`` by the viewer's copy of an event."""
    apply(view, event)


def view_of(state: HandState, viewer: Seat) -> SeatView:
    """Return what the viewer knows about the hand."""
    view = SeatView.__new__(SeatView)
    view.viewer = viewer
    view.ruleset = state.ruleset
    view.hand = state.hand
    view.dealer = state.dealer
    view.prevailing_wind = state.prevailing_wind
    view.dealer_wins = state.dealer_wins
    view.commitment = state.commitment
    view.moment = state.moment
    view.wall = state.wall.concealed()
    view.seats = [
        seat.copy() if number == viewer or _is_open(state, number) else seat.concealed()
        for number, seat in enumerate(state.seats)
    ]
    view.turn = state.turn
    decision = state.decision
    view.decision = None if decision is None else _decision_opened(decision, viewer)
    answer = state.held[viewer] if viewer >= 0 else None
    view.held = NO_ANSWERS if answer is None else (*NO_ANSWERS[:viewer], answer, *NO_ANSWERS[viewer + 1 :])
    view.last_discard = state.last_discard
    view.kong = state.kong
    view.result = state.result
    view.settlement = state.settlement
    view.shared = 0
    view.offers = None
    return view


def _is_open(state: HandState, seat: Seat) -> bool:
    """Whether the seat's tiles lie open: the winner's, and what the settlement reveals."""
    if isinstance(state.result, HandWon) and state.result.seat == seat:
        return True
    return state.settlement is not None and state.settlement.revealed[seat] is not None


def _public(event: HandEvent, viewer: Seat) -> HandEvent:
    return event


def _hand_started(event: HandStarted, viewer: Seat) -> HandStarted:
    return HandStarted(event.hand, event.dealer, event.prevailing_wind, event.commitment, None)


def _tiles_dealt(event: TilesDealt, viewer: Seat) -> TilesDealt:
    return TilesDealt(tuple(tiles if seat == viewer else None for seat, tiles in enumerate(event.hands)))


def _tile_drawn(event: TileDrawn, viewer: Seat) -> TileDrawn | None:
    return event if event.seat == viewer else _HIDDEN_DRAWS[event.seat][event.source]


def _decision_opened(event: DecisionOpened, viewer: Seat) -> DecisionOpened | None:
    if event.kind is _TURN:
        return event
    if viewer not in event.seats:
        return None
    return event if len(event.seats) == 1 else DecisionOpened(event.decision, event.kind, (viewer,))


def _choice_held(event: ChoiceHeld, viewer: Seat) -> ChoiceHeld | None:
    return event if event.seat == viewer else None


_HIDDEN_DRAWS: Final = tuple((None, *(TileDrawn(seat, None, source) for source in DrawSource)) for seat in range(SEATS))
"""A draw as the others see it, by seat and by the number of its source."""
_VIEWERS: Final = (0, 1, 2, 3, SPECTATOR)

_VISIBLE: Final[dict[type, Callable[[Any, Seat], HandEvent | None]]] = {
    HandStarted: _hand_started,
    TilesDealt: _tiles_dealt,
    TileDrawn: _tile_drawn,
    DecisionOpened: _decision_opened,
    ChoiceHeld: _choice_held,
    BonusExposed: _public,
    TileDiscarded: _public,
    MeldClaimed: _public,
    KongDeclared: _public,
    KongCompleted: _public,
    HandWon: _public,
    HandDrawn: _public,
    HandSettled: _public,
}

_PUBLIC: Final = frozenset(kind for kind, see in _VISIBLE.items() if see is _public)
