"""What a seat may do at the open decision.

Options are found from the tile in question outwards (who could use it?), not by trying every action, and need nothing
but what the seat itself knows: a viewer's picture gives the viewer the same options as the table's state does.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import Final

from libs.mahjong.engine.actions import PASS, WIN, Action, ActionType
from libs.mahjong.engine.applying import fourth_tile
from libs.mahjong.engine.events import DecisionKind
from libs.mahjong.engine.situations import (
    WinningTile,
    discarded_tile,
    discards_made,
    robbed_tile,
    situation_of,
)
from libs.mahjong.engine.state import SEATS, HandPicture, Offer, SeatState
from libs.mahjong.melds import MeldKind
from libs.mahjong.scores import HandScore, WinMethod
from libs.mahjong.shapes import count, is_win, orphans_waits, shape_waits, waits, without_tile
from libs.mahjong.shapes.encoding import BASE, SUIT_RANKS
from libs.mahjong.tiles import (
    COPIES,
    EAST,
    HONOURS,
    KIND_OF,
    RANK_OF_KIND,
    REGULAR_KINDS,
    REGULAR_TILES,
    SUIT_OF_KIND,
    Kind,
    Seat,
    Tile,
    tiles_of_kind,
)

# Looking up a member of an enumeration costs more than comparing with it, so the common ones are looked up once.
_TURN: Final = DecisionKind.TURN
_CLAIM: Final = DecisionKind.CLAIM
_PUNG: Final = MeldKind.PUNG

DISCARDS: Final = tuple(Action(ActionType.DISCARD, (tile,)) for tile in range(REGULAR_TILES))
"""The action that discards each tile."""

NOTHING: Final = Offer(())

_RUN_STEPS: Final = tuple(
    tuple(
        steps
        for steps in ((-2, -1), (-1, 1), (1, 2))
        if kind < EAST and RANK_OF_KIND[kind] + steps[0] >= 1 and RANK_OF_KIND[kind] + steps[1] <= SUIT_RANKS
    )
    for kind in range(REGULAR_KINDS)
)
"""For every kind the distances to the two others of each chow that it completes, the lowest chow first."""

_FIVE_RANKS: Final = BASE**5
_NEIGHBOURS: Final = tuple((BASE ** max(0, 3 - rank), BASE ** max(0, rank - 3)) for rank in RANK_OF_KIND)
"""For every kind the factor and divisor that bring it to the middle of five ranks of a suit's code."""
_PUNG_USE: Final = 1
_CHOW_USE: Final = 2
_ANY_USE: Final = _PUNG_USE | _CHOW_USE
_USES: Final = bytes(
    (_PUNG_USE if near // BASE**2 % BASE >= 2 else 0)
    | (
        _CHOW_USE
        if any(near // BASE**low % BASE and near // BASE**high % BASE for low, high in ((0, 1), (1, 3), (3, 4)))
        else 0
    )
    for near in range(_FIVE_RANKS)
)
"""What a tile in the middle of five ranks is good for, by the copies held of each."""

_ADDED_KONGS: Final = tuple(Action(ActionType.ADDED_KONG, (tile,)) for tile in range(REGULAR_TILES))
_CONCEALED_KONGS: Final = tuple(Action(ActionType.CONCEALED_KONG, tiles_of_kind(kind)) for kind in range(REGULAR_KINDS))


def legal_actions(picture: HandPicture, seat: Seat) -> tuple[Action, ...]:
    """Return the actions of ``seat`` at the open decision; none when it is not asked, has answered or is hidden.

    The order is: the win, kongs, pung, chows from the lowest, discards from the lowest, Original Calls, the pass. Equal
    tiles are named once, by the lowest id held.
    """
    return offer_of(picture, seat).actions


def win_score(picture: HandPicture, seat: Seat) -> HandScore | None:
    """Return what the win that ``seat`` may declare at the open decision is worth; ``None`` when it may not win."""
    return offer_of(picture, seat).score


def offer_of(picture: HandPicture, seat: Seat) -> Offer:
    """Return what ``seat`` may do at the open decision and what a win is worth; nothing when it is not asked, has
    answered or is hidden. Kept until the next event."""
    decision = picture.decision
    if decision is None or seat not in decision.seats or picture.held[seat] is not None or picture.seats[seat].hidden:
        return NOTHING
    offers = picture.offers
    if offers is None:
        offers = picture.offers = {}
    offer = offers.get(seat)
    if offer is None:
        kind = decision.kind
        if kind is _TURN:
            offer = _turn_offer(picture, seat)
        elif kind is _CLAIM:
            offer = claim_offer(picture, seat)
        elif kind is DecisionKind.ROB:
            offer = rob_offer(picture, seat)
        else:
            offer = opening_offer(picture, seat)
        offers[seat] = offer
    return offer


def may_declare_kong(picture: HandPicture) -> bool:
    """Whether a tile is left to replace a kong (hkos-3-v1 A22; classical B20)."""
    return picture.wall.left(picture.ruleset.wall.kong_from) > 0


def _turn_offer(picture: HandPicture, seat: Seat) -> Offer:
    holder = picture.seats[seat]
    actions: list[Action] = []
    discards = _discards(holder)
    score = None
    if holder.drawn is not None:
        score = _self_draw_score(picture, seat)
        if score is not None:
            actions.append(WIN)
        # Four equal tiles make three discards fewer.
        kongs = _concealed_kongs(holder) if len(holder.tiles) - len(discards) >= COPIES - 1 else []
        if holder.melds:
            kongs += [_ADDED_KONGS[tile] for tile in addable(holder)]
        if kongs and may_declare_own_kong(picture, holder):
            actions += kongs
    actions += discards
    if picture.ruleset.original_call and not holder.river:
        # Only the first discard may carry the call (classical B16).
        called = [action.tiles for action in discards if leaves_ready(holder, action.tiles[0])]
        actions += [Action(ActionType.ORIGINAL_CALL, tiles) for tiles in called]
    return Offer(tuple(actions), score)


def opening_offer(picture: HandPicture, seat: Seat) -> Offer:
    """What ``seat`` may do in the opening round (classical §2.3); nothing when it has no choice there."""
    holder = picture.seats[seat]
    actions: list[Action] = []
    score = _self_draw_score(picture, seat)
    if score is not None:
        actions.append(WIN)
    if may_declare_kong(picture):
        actions += _concealed_kongs(holder)
    if not actions:
        return NOTHING
    return Offer((*actions, PASS), score)


def claim_offers(picture: HandPicture) -> dict[Seat, Offer]:
    """What each seat may do with the newest discard, the nearest first; seats that cannot use it are left out."""
    discard = picture.last_discard
    assert discard is not None
    kind = KIND_OF[discard.tile]
    suit = SUIT_OF_KIND[kind]
    factor, unit = _NEIGHBOURS[kind]
    use = _ANY_USE if suit < HONOURS else _PUNG_USE
    found: dict[Seat, Offer] = {}
    for distance in range(1, SEATS):
        seat = (discard.seat + distance) % SEATS
        holder = picture.seats[seat]
        # Most seats cannot use most tiles: see that before anything is built.
        near = holder.codes[suit] * factor // unit % _FIVE_RANKS
        waiting = holder.waits
        if waiting is None:
            waiting = waits_of(holder)
        if waiting >> kind & 1 or _USES[near] & use:
            offer = claim_offer(picture, seat)
            if offer.actions:
                found[seat] = offer
        use = _PUNG_USE
    return found


def claim_offer(picture: HandPicture, seat: Seat) -> Offer:
    """What ``seat`` may do with the newest discard; nothing when it cannot use it (hkos-3-v1 §1.4)."""
    discard = picture.last_discard
    assert discard is not None
    kind = KIND_OF[discard.tile]
    holder = picture.seats[seat]
    actions: list[Action] = []
    score = None
    if waits_of(holder) >> kind & 1:
        score = _legal_score(picture, seat, discarded_tile(picture))
        if score is not None:
            actions.append(WIN)
    if not holder.original_call:
        copies = count(holder.codes, kind)
        if copies >= 2:
            at = _lowest(holder, kind)
            held = holder.tiles[at : at + copies]
            if copies == 3 and may_declare_kong(picture):
                actions.append(Action(ActionType.CLAIMED_KONG, held))
            actions.append(Action(ActionType.PUNG, held[:2]))
        if seat == (discard.seat + 1) % SEATS:
            actions += _chows(holder, kind)
    if not actions:
        return NOTHING
    actions.append(PASS)
    return Offer(tuple(actions), score)


def rob_offers(picture: HandPicture) -> dict[Seat, Offer]:
    """What each seat may do against the declared kong, the nearest first; seats that cannot rob it are left out."""
    kong = picture.kong
    assert kong is not None
    found: dict[Seat, Offer] = {}
    for distance in range(1, SEATS):
        seat = (kong.seat + distance) % SEATS
        offer = rob_offer(picture, seat)
        if offer.actions:
            found[seat] = offer
    return found


def rob_offer(picture: HandPicture, seat: Seat) -> Offer:
    """What ``seat`` may do against the declared kong; nothing when it cannot rob it (hkos-3-v1 §1.5).

    The dealer holds fourteen tiles in the opening round and cannot (classical B22).
    """
    kong = picture.kong
    assert kong is not None
    holder = picture.seats[seat]
    if holder.count % 3 != 1:
        return NOTHING
    kind = kong.meld.base_kind
    waiting = waits_of(holder) if kong.meld.kind is MeldKind.ADDED_KONG else orphans_waits(*holder.codes)
    if waiting >> kind & 1:
        score = _legal_score(picture, seat, robbed_tile(picture))
        if score is not None:
            return Offer((WIN, PASS), score)
    return NOTHING


def waits_of(holder: SeatState) -> int:
    """The kinds that complete the tiles in hand, as a mask; kept while they stay the same."""
    found = holder.waits
    if found is None:
        found = holder.waits = waits(*holder.codes)
    return found


def _self_draw_score(picture: HandPicture, seat: Seat) -> HandScore | None:
    holder = picture.seats[seat]
    if holder.drawn is None or not is_win(*holder.codes):
        return None
    return _legal_score(picture, seat, WinningTile(holder.drawn, WinMethod.SELF_DRAW))


def _legal_score(picture: HandPicture, seat: Seat, winning: WinningTile) -> HandScore | None:
    score = picture.ruleset.score(situation_of(picture, seat, winning))
    return score if score.legal else None


def may_declare_own_kong(picture: HandPicture, holder: SeatState) -> bool:
    """Whether a concealed or added kong may be declared on the own turn, which starts with a draw (hkos-3-v1 A24): with
    a tile to replace it, never after an Original Call, and not instead of the dealer's first discard once the opening
    round gave the occasion (classical §2.3)."""
    if holder.original_call or not may_declare_kong(picture):
        return False
    return not picture.ruleset.opening_kongs or discards_made(picture) > 0


def _discards(holder: SeatState) -> list[Action]:
    """Equal tiles once, ascending; after an Original Call the drawn one alone."""
    if holder.original_call:
        return [] if holder.drawn is None else [DISCARDS[holder.drawn]]
    tiles = holder.tiles
    return [DISCARDS[tiles[0]], *[DISCARDS[tile] for lower, tile in pairwise(tiles) if lower >> 2 != tile >> 2]]


def leaves_ready(holder: SeatState, tile: Tile) -> bool:
    """Whether the tiles in hand without ``tile`` are one tile short of a win by their shape (classical B16)."""
    return shape_waits(*without_tile(holder.codes, KIND_OF[tile])) != 0


def _concealed_kongs(holder: SeatState) -> list[Action]:
    tiles = holder.tiles
    return [
        _CONCEALED_KONGS[KIND_OF[tile]]
        for tile, fourth in zip(tiles, tiles[COPIES - 1 :], strict=False)
        if fourth == tile + COPIES - 1 and tile % COPIES == 0
    ]


def addable(holder: SeatState) -> list[Tile]:
    """The tiles in hand that could be added to an exposed pung, ascending."""
    return sorted(
        tile for tile in [fourth_tile(meld) for meld in holder.melds if meld.kind is _PUNG] if tile in holder.tiles
    )


def _chows(holder: SeatState, kind: Kind) -> list[Action]:
    return [
        Action(ActionType.CHOW, (holder.tiles[_lowest(holder, kind + low)], holder.tiles[_lowest(holder, kind + high)]))
        for low, high in _RUN_STEPS[kind]
        if count(holder.codes, kind + low) and count(holder.codes, kind + high)
    ]


def _lowest(holder: SeatState, kind: Kind) -> int:
    """Where the seat's tiles of that kind begin."""
    return bisect_left(holder.tiles, COPIES * kind)
