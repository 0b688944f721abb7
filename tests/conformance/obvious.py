"""What a seat may do, found the slow and obvious way: every set of own tiles is tried.

It shares nothing with ``libs.mahjong.engine.legal`` but the situation of a win and the ruleset's own score.
"""

from __future__ import annotations

from itertools import combinations

from libs.mahjong.engine.actions import ActionType
from libs.mahjong.engine.events import DecisionKind
from libs.mahjong.engine.ruleset import WallEnd
from libs.mahjong.engine.situations import WinningTile, discarded_tile, robbed_tile, situation_of
from libs.mahjong.engine.state import HandState, SeatState
from libs.mahjong.melds import MeldKind
from libs.mahjong.scores import WinMethod
from libs.mahjong.tiles import KIND_OF, MAJOR_KINDS, Kind, Seat
from tests.unit.mahjong.shapes.reference import counts_of, is_complete, waiting_kinds

Choice = tuple[ActionType, tuple[Kind, ...]]
"""An action by its own tiles' kinds, ascending: of equal tiles it does not matter which."""


def choices(state: HandState, seat: Seat) -> set[Choice]:
    """Everything that a seat may do at the open decision, the decision's seats aside."""
    assert state.decision is not None
    kind = state.decision.kind
    if kind is DecisionKind.TURN:
        return _turn(state, state.seats[seat], seat)
    if kind is DecisionKind.OPENING_KONG:
        return _with_pass(_win_by_draw(state, seat) | _concealed_kongs(state, state.seats[seat]))
    if kind is DecisionKind.ROB:
        return _with_pass(_rob(state, seat))
    return claims(state, seat)


def claims(state: HandState, seat: Seat) -> set[Choice]:
    """What a seat may do with the newest discard; nothing when it cannot use it."""
    discard = state.last_discard
    assert discard is not None
    if seat == discard.seat:
        return set()
    own = state.seats[seat]
    found: set[Choice] = set()
    if _may_win(state, seat, discarded_tile(state)):
        found.add((ActionType.WIN, ()))
    if not own.original_call:
        kind = KIND_OF[discard.tile]
        kinds = sorted(KIND_OF[tile] for tile in own.tiles)
        for pair in combinations(kinds, 2):
            if pair == (kind, kind):
                found.add((ActionType.PUNG, pair))
            if seat == (discard.seat + 1) % 4 and _is_run(sorted((*pair, kind))):
                found.add((ActionType.CHOW, pair))
        if kinds.count(kind) == 3 and _replacements(state):
            found.add((ActionType.CLAIMED_KONG, (kind,) * 3))
    return _with_pass(found)


def _turn(state: HandState, own: SeatState, seat: Seat) -> set[Choice]:
    kinds = [KIND_OF[tile] for tile in own.tiles]
    found = _win_by_draw(state, seat)
    if own.original_call:
        assert own.drawn is not None
        return found | {(ActionType.DISCARD, (KIND_OF[own.drawn],))}
    discarded = any(other.river for other in state.seats)
    if own.drawn is not None and (discarded or not state.ruleset.opening_kongs):
        found |= _concealed_kongs(state, own)
        for meld in own.melds:
            if meld.kind is MeldKind.PUNG and meld.base_kind in kinds and _replacements(state):
                found.add((ActionType.ADDED_KONG, (meld.base_kind,)))
    for kind in kinds:
        found.add((ActionType.DISCARD, (kind,)))
        if state.ruleset.original_call and not own.river:
            rest = list(kinds)
            rest.remove(kind)
            if waiting_kinds(counts_of(rest), most_copies=5):
                found.add((ActionType.ORIGINAL_CALL, (kind,)))
    return found


def _win_by_draw(state: HandState, seat: Seat) -> set[Choice]:
    drawn = state.seats[seat].drawn
    if drawn is not None and _may_win(state, seat, WinningTile(drawn, WinMethod.SELF_DRAW)):
        return {(ActionType.WIN, ())}
    return set()


def _rob(state: HandState, seat: Seat) -> set[Choice]:
    kong = state.kong
    assert kong is not None
    own = state.seats[seat]
    if seat == kong.seat or len(own.tiles) % 3 != 1 or not _may_win(state, seat, robbed_tile(state)):
        return set()
    if kong.meld.kind is MeldKind.CONCEALED_KONG:
        kinds = [KIND_OF[tile] for tile in own.tiles] + [kong.meld.base_kind]
        if set(kinds) != set(MAJOR_KINDS) or len(kinds) != 14:
            return set()
    return {(ActionType.WIN, ())}


def _may_win(state: HandState, seat: Seat, winning: WinningTile) -> bool:
    tiles = set(state.seats[seat].tiles) | {winning.tile}
    if not is_complete(counts_of([KIND_OF[tile] for tile in tiles])):
        return False
    return state.ruleset.score(situation_of(state, seat, winning)).legal


def _concealed_kongs(state: HandState, own: SeatState) -> set[Choice]:
    kinds = [KIND_OF[tile] for tile in own.tiles]
    if not _replacements(state):
        return set()
    return {(ActionType.CONCEALED_KONG, (kind,) * 4) for kind in kinds if kinds.count(kind) == 4}


def _replacements(state: HandState) -> int:
    """How many tiles could still replace a kong."""
    boxed = state.ruleset.wall.kong_from is WallEnd.KONG_BOX
    return state.wall.box_left if boxed else state.wall.live_left


def _is_run(kinds: list[Kind]) -> bool:
    first = kinds[0]
    return kinds == [first, first + 1, first + 2] and first < 27 and first % 9 <= 6


def _with_pass(found: set[Choice]) -> set[Choice]:
    return found | {(ActionType.PASS, ())} if found else found
