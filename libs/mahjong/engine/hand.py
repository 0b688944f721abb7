"""One hand, from the deal to its settlement: the way in for everybody who plays, keeps or replays hands.

``start_hand`` and ``decide`` answer with a ``Transition``: the events, in order, and the state after them. They take
everything they need as arguments and leave the state that they are given untouched. Whatever follows by itself (draws,
replacements of bonus tiles, the next decision) happens in the same transition, so a state either waits for a decision,
or for its settlement, or is finished.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from libs.mahjong.engine.actions import Action, ActionType, Reason, RuleViolation
from libs.mahjong.engine.applying import APPLIERS, DEALT, apply, draw_end, fold, fourth_tile
from libs.mahjong.engine.checking import check
from libs.mahjong.engine.claims import Outcome, outcome
from libs.mahjong.engine.commands import Act, Command, Expire, Settle, Transition
from libs.mahjong.engine.events import (
    BonusExposed,
    ChoiceHeld,
    DecisionKind,
    DecisionOpened,
    DrawnHandCause,
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
from libs.mahjong.engine.legal import (
    claim_offers,
    legal_actions,
    offer_of,
    opening_offer,
    rob_offers,
    win_score,
)
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.engine.situations import settled, settlement_of, win_situation, winning_tile
from libs.mahjong.engine.state import SEATS, HandState, Offer
from libs.mahjong.engine.timeouts import timeout_action
from libs.mahjong.melds import Meld, MeldKind, chow, claimed_kong, concealed_kong, pung
from libs.mahjong.tiles import REGULAR_TILES, TILE_COUNT, Seat, Tile, Wind
from libs.mahjong.wall import check_sequence

__all__ = [
    "Act",
    "Command",
    "Expire",
    "Settle",
    "Transition",
    "apply",
    "decide",
    "fold",
    "legal_actions",
    "offer_of",
    "settled",
    "settlement_of",
    "start_hand",
    "timeout_action",
    "win_score",
    "win_situation",
]

# Looking up a member of an enumeration costs more than comparing with it, so the common ones are looked up once.
_TURN: Final = DecisionKind.TURN
_OPENING_KONG: Final = DecisionKind.OPENING_KONG
_DISCARD: Final = ActionType.DISCARD
_FROM_WALL: Final = DrawSource.WALL

# The events of almost every turn are few different values, and making one anew costs more than finding it.
_DRAWS: Final = tuple(tuple(TileDrawn(seat, tile, _FROM_WALL) for tile in range(TILE_COUNT)) for seat in range(SEATS))
_DISCARDS: Final = tuple(tuple(TileDiscarded(seat, tile) for tile in range(REGULAR_TILES)) for seat in range(SEATS))


def start_hand(
    ruleset: Ruleset,
    hand: int,
    dealer: Seat,
    prevailing_wind: Wind,
    wall: tuple[Tile, ...],
    commitment: bytes = b"",
    moment: int = 0,
    dealer_wins: int = 0,
) -> Transition:
    """Deal a hand and go on to its first decision (hkos-3-v1 §1.2; classical §2.3).

    ``hand`` is its number at the table; ``wall`` the shuffled sequence, its first tile the front; ``moment`` the count
    of public steps so far; ``dealer_wins`` how many hands in a row the dealer won, as dealer, before. Raises
    ``ValueError`` when ``wall`` is not made of the 144 tiles.
    """
    check_sequence(wall)
    play = _Play(HandState(ruleset, moment, dealer_wins))
    play.emit(HandStarted(hand, dealer, prevailing_wind, commitment, wall))
    dealt: list[tuple[Tile, ...]] = [()] * SEATS
    for place in range(SEATS):
        dealt[(dealer + place) % SEATS] = tuple(sorted(wall[place * DEALT : (place + 1) * DEALT]))
    play.emit(TilesDealt(tuple(dealt)))
    for place in range(SEATS):
        if not play.replace_dealt_bonus((dealer + place) % SEATS):
            return play.transition()
    if play.draw(dealer, _FROM_WALL):
        if ruleset.opening_kongs:
            play.open_opening(0)
        else:
            play.open_turn(dealer)
    return play.transition()


def decide(state: HandState, command: Command) -> Transition:
    """Return what comes of a command. ``state`` is left as it is. Raises ``RuleViolation``."""
    if isinstance(command, Act):
        return _act(state, command.seat, command.decision, command.action)
    if isinstance(command, Expire):
        return _expire(state, command.decision)
    return _settle(state, command.settlement)


def _act(state: HandState, seat: Seat, decision_id: int, action: Action) -> Transition:
    decision = _open_decision(state, decision_id)
    if seat not in decision.seats:
        if decision.kind is _TURN:
            raise RuleViolation(Reason.NOT_YOUR_DECISION, f"the decision is that of seat {decision.seats[0]}")
        # Nobody learns from a refusal that others are being asked.
        raise _stale(decision_id)
    if state.held[seat] is not None:
        raise RuleViolation(Reason.ALREADY_ANSWERED, "this decision has its answer")
    check(state, decision, seat, action)
    play = _Play(state.copy())
    if decision.kind is _TURN:
        play.take_turn(seat, action)
    elif decision.kind is _OPENING_KONG:
        play.take_opening(seat, action)
    else:
        answers = (*state.held[:seat], action, *state.held[seat + 1 :])
        # Even the answer that decides is noted first: without that its seat would learn that nobody else was asked.
        play.emit(ChoiceHeld(seat, decision_id, action))
        result = outcome(state, _source(state), answers)
        if result is not None:
            play.close_window(decision.kind, result)
    return play.transition()


def _expire(state: HandState, decision_id: int) -> Transition:
    decision = _open_decision(state, decision_id)
    play = _Play(state.copy())
    if decision.kind is _TURN:
        play.take_turn(decision.seats[0], timeout_action(state, decision.seats[0]))
    elif decision.kind is _OPENING_KONG:
        play.take_opening(decision.seats[0], timeout_action(state, decision.seats[0]))
    else:
        answers = list(state.held)
        for seat in decision.seats:
            if answers[seat] is None:
                answers[seat] = timeout_action(state, seat)
        result = outcome(state, _source(state), tuple(answers))
        assert result is not None
        play.close_window(decision.kind, result)
    return play.transition()


def _settle(state: HandState, settlement: HandSettled) -> Transition:
    if state.result is None:
        raise RuleViolation(Reason.HAND_NOT_OVER, "the hand goes on")
    if state.settlement is not None:
        raise RuleViolation(Reason.HAND_IS_OVER, "the hand is settled")
    winner = state.result.seat if isinstance(state.result, HandWon) else None
    if settlement.winner != winner or len(settlement.changes) != SEATS or sum(settlement.changes) != 0:
        raise RuleViolation(Reason.INVALID_ARGUMENT, "the settlement is not that of this hand")
    play = _Play(state.copy())
    play.emit(settlement)
    return play.transition()


def _open_decision(state: HandState, decision_id: int) -> DecisionOpened:
    if state.result is not None:
        raise RuleViolation(Reason.HAND_IS_OVER, "the hand is over")
    decision = state.decision
    if decision is None or decision.decision != decision_id:
        raise _stale(decision_id)
    return decision


def _stale(decision_id: int) -> RuleViolation:
    return RuleViolation(Reason.STALE_DECISION, f"decision {decision_id} is not open for this seat")


def _source(state: HandState) -> Seat:
    """The seat whose tile an open claim or robbing window is about."""
    if state.kong is not None:
        return state.kong.seat
    assert state.last_discard is not None
    return state.last_discard.seat


class _Play:
    """A transition in the making: every event is applied at once, and what follows is read from the state."""

    __slots__ = ("events", "state")

    def __init__(self, state: HandState) -> None:
        self.state = state
        self.events: list[HandEvent] = []

    def emit(self, event: HandEvent) -> None:
        self.events.append(event)
        APPLIERS[type(event)](self.state, event)

    def transition(self) -> Transition:
        return Transition(tuple(self.events), self.state)

    def replace_dealt_bonus(self, seat: Seat) -> bool:
        """Expose and replace the seat's dealt bonus tiles until it has none; ``False`` when the hand ended over it."""
        state = self.state
        while state.seats[seat].tiles[-1] >= REGULAR_TILES:
            self.emit(BonusExposed(seat, next(tile for tile in state.seats[seat].tiles if tile >= REGULAR_TILES)))
            if not self.draw(seat, DrawSource.BONUS):
                return False
        return True

    def draw(self, seat: Seat, source: DrawSource) -> bool:
        """Draw a tile, and replacements as long as it is a bonus tile; ``False`` when the wall ended the hand."""
        state = self.state
        while True:
            tile = state.wall.peek(draw_end(state, source))
            if tile is None:
                regular = source is _FROM_WALL
                cause = DrawnHandCause.WALL_EXHAUSTED if regular else DrawnHandCause.REPLACEMENT_EXHAUSTED
                self.emit(HandDrawn(cause))
                return False
            self.emit(_DRAWS[seat][tile] if source is _FROM_WALL else TileDrawn(seat, tile, source))
            if tile < REGULAR_TILES:
                return True
            self.emit(BonusExposed(seat, tile))
            source = DrawSource.BONUS

    def open_turn(self, seat: Seat) -> None:
        self._open(self.state.moment, _TURN, (seat,))

    def open_opening(self, place: int) -> None:
        """Ask the next seat, from the dealer's ``place``-th neighbour on, that has a choice before the first discard.

        Every place has its own decision id, asked or not, so that the ids tell nobody who had a kong.
        """
        state = self.state
        for later in range(place, SEATS):
            seat = (state.dealer + later) % SEATS
            offer = opening_offer(state, seat)
            if offer.actions:
                self._open(state.moment + later, _OPENING_KONG, (seat,), {seat: offer})
                return
        self._open(state.moment + SEATS, _TURN, (state.dealer,))

    def _open(
        self, decision: int, kind: DecisionKind, seats: tuple[Seat, ...], offers: dict[Seat, Offer] | None = None
    ) -> None:
        self.emit(DecisionOpened(decision, kind, seats))
        if offers:
            self.state.offers = offers

    def take_turn(self, seat: Seat, action: Action) -> None:
        if action.type is _DISCARD:
            self._discard(seat, action.tiles[0], original_call=False)
        elif action.type is ActionType.ORIGINAL_CALL:
            self._discard(seat, action.tiles[0], original_call=True)
        elif action.type is ActionType.WIN:
            self._win(seat)
        else:
            self._declare_kong(seat, action)

    def take_opening(self, seat: Seat, action: Action) -> None:
        if action.type is ActionType.WIN:
            self._win(seat)
        elif action.type is ActionType.PASS:
            decision = self.state.decision
            assert decision is not None
            self.emit(ChoiceHeld(seat, decision.decision, action))
            self.open_opening(self.state.seat_wind(seat) + 1)
        else:
            self._declare_kong(seat, action)

    def _win(self, seat: Seat) -> None:
        state = self.state
        winning = winning_tile(state, seat)
        concealed = tuple(other for other in state.seats[seat].tiles if other != winning.tile)
        self.emit(HandWon(seat, winning.tile, winning.method, winning.source, concealed))

    def _discard(self, seat: Seat, tile: Tile, original_call: bool) -> None:
        self.emit(TileDiscarded(seat, tile, True) if original_call else _DISCARDS[seat][tile])
        offers = claim_offers(self.state)
        if offers:
            self._open(self.state.moment, DecisionKind.CLAIM, tuple(offers), offers)
        else:
            self._next_draw(seat)

    def _next_draw(self, discarder: Seat) -> None:
        seat = (discarder + 1) % SEATS
        if self.draw(seat, _FROM_WALL):
            self.open_turn(seat)

    def _declare_kong(self, seat: Seat, action: Action) -> None:
        state = self.state
        holder = state.seats[seat]
        if action.type is ActionType.ADDED_KONG:
            tile = action.tiles[0]
            pungs = [meld for meld in holder.melds if meld.kind is MeldKind.PUNG]
            meld = next(pung for pung in pungs if fourth_tile(pung) == tile).promoted(tile)
        else:
            meld = concealed_kong(action.tiles)
        self.emit(KongDeclared(seat, meld))
        offers = rob_offers(state)
        if offers:
            place = 0 if state.turn is not None else state.seat_wind(seat)
            self._open(state.moment + place, DecisionKind.ROB, tuple(offers), offers)
        else:
            self._complete_kong()

    def _complete_kong(self) -> None:
        state = self.state
        kong = state.kong
        assert kong is not None
        self.emit(KongCompleted(kong.seat, kong.meld))
        if self.draw(kong.seat, DrawSource.KONG):
            if state.turn is None:
                self.open_opening(state.seat_wind(kong.seat))
            else:
                self.open_turn(kong.seat)

    def close_window(self, kind: DecisionKind, result: Outcome) -> None:
        seat, action = result.seat, result.action
        if seat is None or action is None:
            if kind is DecisionKind.ROB:
                self._complete_kong()
            else:
                self._next_draw(_source(self.state))
        elif action.type is ActionType.WIN:
            self._win(seat)
        else:
            self._claim(seat, action)

    def _claim(self, seat: Seat, action: Action) -> None:
        discard = self.state.last_discard
        assert discard is not None
        meld = _CLAIMED_MELDS[action.type](action.tiles, discard.tile, discard.seat)
        self.emit(MeldClaimed(seat, meld))
        if not meld.is_kong or self.draw(seat, DrawSource.KONG):
            self.open_turn(seat)


_CLAIMED_MELDS: Final[dict[ActionType, Callable[[Iterable[Tile], Tile, Seat], Meld]]] = {
    ActionType.CHOW: chow,
    ActionType.PUNG: pung,
    ActionType.CLAIMED_KONG: claimed_kong,
}
