"""Hands for tests, written as one would lay them out on a table.

Seats are named by their wind, E S W N, tiles by their notation. What a test does not name is filled in by tiles that
claim nothing: no two of them equal or close enough for a chow.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from libs.mahjong.engine.actions import PASS, WIN, Action, ActionType, Reason, RuleViolation
from libs.mahjong.engine.events import DecisionKind, DecisionOpened, DrawSource, HandEvent, HandWon
from libs.mahjong.engine.hand import (
    Act,
    Expire,
    Settle,
    apply,
    decide,
    legal_actions,
    settlement_of,
    start_hand,
    win_situation,
)
from libs.mahjong.engine.ruleset import Ruleset
from libs.mahjong.engine.state import Discard, HandState
from libs.mahjong.engine.views import SPECTATOR, SeatView, apply_visible, view_of, visible
from libs.mahjong.melds import Meld, MeldKind
from libs.mahjong.scores import HandScore, WinSituation
from libs.mahjong.shapes import encode
from libs.mahjong.tiles import (
    KIND_OF,
    REGULAR_KINDS,
    REGULAR_TILES,
    SUIT_OF_KIND,
    TILE_COUNT,
    Kind,
    Seat,
    Tile,
    format_tiles,
    parse_kinds,
    tiles_of_kind,
)
from libs.mahjong.wall import Wall
from tests.unit.mahjong.engine.rulesets import PLAIN

WINDS = "ESWN"
VIEWERS = (0, 1, 2, 3, SPECTATOR)
_MELD_KINDS = {
    "chow": MeldKind.CHOW,
    "pung": MeldKind.PUNG,
    "ckong": MeldKind.CONCEALED_KONG,
    "kong": MeldKind.CLAIMED_KONG,
    "akong": MeldKind.ADDED_KONG,
}


class Pool:
    """The 144 tiles, handed out one by one."""

    def __init__(self) -> None:
        self.free = set(range(TILE_COUNT))

    def take(self, kinds: Iterable[Kind]) -> list[Tile]:
        """The lowest free tile of each kind."""
        taken = []
        for kind in kinds:
            tile = min(tile for tile in tiles_of_kind(kind) if tile in self.free)
            self.free.remove(tile)
            taken.append(tile)
        return taken

    def read(self, text: str) -> list[Tile]:
        return self.take(parse_kinds(text))

    def fill(self, tiles: list[Tile], size: int) -> list[Tile]:
        """``tiles`` and harmless ones up to ``size``: honours first, no pair and no part of a chow."""
        tiles = list(tiles)
        assert len(tiles) <= size, f"{format_tiles(tiles)} are more than {size} tiles"
        kinds = [*range(27, REGULAR_KINDS), *range(27)]
        while len(tiles) < size:
            have = {KIND_OF[tile] for tile in tiles}
            kind = next(kind for kind in kinds if self._is_harmless(kind, have))
            tiles += self.take([kind])
        return tiles

    def _is_harmless(self, kind: Kind, have: set[Kind]) -> bool:
        if kind in have or not any(tile in self.free for tile in tiles_of_kind(kind)):
            return False
        near = [other for other in have if SUIT_OF_KIND[other] == SUIT_OF_KIND[kind] and abs(other - kind) <= 2]
        return kind >= 27 or not near

    def rest(self) -> list[Tile]:
        """All free tiles, bonus tiles last."""
        rest = sorted(self.free)
        self.free.clear()
        return rest


def wall(
    hands: dict[str, str] | None = None, front: str = "", back: str = "", box: str = "", kong_box: int = 0
) -> tuple[Tile, ...]:
    """A shuffled wall that deals these hands of up to 13 tiles, and then the tiles of ``front`` in that order (East's
    fourteenth first); ``back`` and ``box`` are what comes first from there. Bonus tiles that are not named lie in the
    middle of the wall."""
    pool = Pool()
    named = {wind: pool.read((hands or {}).get(wind, "")) for wind in WINDS}
    first, last, kongs = pool.read(front), pool.read(back), pool.read(box)
    dealt = [tile for wind in WINDS for tile in pool.fill(named[wind], 13)]
    rest = pool.rest()
    kongs += [rest.pop(0) for _ in range(kong_box - len(kongs))]
    half = len(rest) // 2
    bonus = [tile for tile in rest if tile >= REGULAR_TILES]
    regular = [tile for tile in rest if tile < REGULAR_TILES]
    middle = regular[:half] + bonus + regular[half:]
    return tuple(dealt + first + middle + last[::-1] + kongs)


def dealt(
    hands: dict[str, str] | None = None,
    front: str = "",
    back: str = "",
    box: str = "",
    ruleset: Ruleset = PLAIN,
    dealer: Seat = 0,
    dealer_wins: int = 0,
) -> Table:
    """A hand that was just dealt."""
    tiles = wall(hands, front, back, box, ruleset.wall.kong_box)
    started = start_hand(ruleset, 1, dealer, 0, tiles, dealer_wins=dealer_wins)
    blank = HandState(ruleset, dealer_wins=dealer_wins)
    table = Table(blank, [SeatView(ruleset, viewer, 0, dealer_wins) for viewer in VIEWERS])
    table.follow(started.events, started.state)
    return table


def playing(
    hands: dict[str, str],
    turn: str = "E",
    drawn: str | None = None,
    melds: dict[str, str] | None = None,
    bonus: dict[str, str] | None = None,
    front: str = "",
    back: str = "",
    box: str = "",
    live: int = 40,
    box_left: int = 16,
    ruleset: Ruleset = PLAIN,
    prevailing: str = "E",
    dealer: Seat = 0,
    dealer_wins: int = 0,
    river: dict[str, str] | None = None,
    spare_bonus: str = "N",
) -> Table:
    """A hand in the middle: ``turn`` is to act, after drawing ``drawn`` (any harmless tile if not named; it comes on
    top of the tiles in ``hands``). Melds are written "pung 5m, chow 234p, ckong 9s, kong 8s, akong 1z" and claimed from
    the seat before. ``live`` tiles are left, ``front`` and ``back`` come first from there; ``spare_bonus`` has the
    bonus tiles that are not named, and all other tiles lie in the rivers."""
    pool = Pool()
    state = HandState(ruleset, 100, dealer_wins)
    state.hand, state.dealer, state.prevailing_wind = 1, dealer, WINDS.index(prevailing)
    seats = {wind: (dealer + place) % 4 for place, wind in enumerate(WINDS)}
    named = {wind: pool.read(hands.get(wind, "")) for wind in WINDS}
    last_drawn = pool.read(drawn or "")
    first, last, kongs = pool.read(front), pool.read(back), pool.read(box)
    for wind, seat in seats.items():
        holder = state.seats[seat]
        holder.melds = tuple(
            _meld(pool, text.strip(), (seat - 1) % 4) for text in (melds or {}).get(wind, "").split(",") if text.strip()
        )
        holder.bonus = tuple(pool.read((bonus or {}).get(wind, "")))
        holder.river = tuple(Discard(tile) for tile in pool.read((river or {}).get(wind, "")))
    for wind, seat in seats.items():
        holder = state.seats[seat]
        tiles = pool.fill(named[wind], 13 - 3 * len(holder.melds))
        if wind == turn:
            tile = last_drawn[0] if last_drawn else pool.fill(tiles, len(tiles) + 1)[-1]
            tiles = [*tiles, tile]
            holder.drawn, holder.drawn_source = tile, DrawSource.WALL
        holder.tiles, holder.count = tuple(sorted(tiles)), len(tiles)
        holder.codes = encode(KIND_OF[tile] for tile in tiles)
    rest = pool.rest()
    boxed = ruleset.wall.kong_box
    kongs += [rest.pop(0) for _ in range(min(boxed, box_left) - len(kongs))]
    middle = [rest.pop(0) for _ in range(live - len(first) - len(last))]
    spare = state.seats[seats[spare_bonus]]
    spare.bonus += tuple(tile for tile in rest if tile >= REGULAR_TILES)
    for number, tile in enumerate(tile for tile in rest if tile < REGULAR_TILES):
        holder = state.seats[number % 4]
        holder.river = (*holder.river, Discard(tile))
    tail = first + middle + last[::-1] + kongs
    gone = sorted(set(range(TILE_COUNT)) - set(tail))
    spent_box = boxed - len(kongs)
    state.wall = Wall(tuple(gone[: len(gone) - spent_box] + tail[:live] + gone[len(gone) - spent_box :] + kongs), boxed)
    state.wall.front = len(gone) - spent_box
    state.wall.box = spent_box
    apply(state, DecisionOpened(state.moment, DecisionKind.TURN, (seats[turn],)))
    return Table(state, [view_of(state, viewer) for viewer in VIEWERS])


def _meld(pool: Pool, text: str, source: Seat) -> Meld:
    name, notation = text.split()
    kind = _MELD_KINDS[name]
    kinds = parse_kinds(notation)
    if kind is not MeldKind.CHOW:
        kinds = kinds[:1] * (3 if kind is MeldKind.PUNG else 4)
    tiles = tuple(sorted(pool.take(kinds)))
    if kind is MeldKind.CONCEALED_KONG:
        return Meld(kind, tiles)
    return Meld(kind, tiles, tiles[0], source)


class Table:
    """A hand being played by a test. After every step the laws hold that hold always: no tile is lost, the events fold
    to the state, and each viewer's events to the viewer's picture."""

    def __init__(self, state: HandState, views: list[SeatView]) -> None:
        self.state = state
        self.views = views
        self.events: list[HandEvent] = []
        """The events of the last step."""
        self.history: list[HandEvent] = []

    def seat(self, wind: str) -> Seat:
        return (self.state.dealer + WINDS.index(wind)) % 4

    def view(self, wind: str) -> SeatView:
        return self.views[self.seat(wind)]

    def follow(self, events: tuple[HandEvent, ...], state: HandState) -> None:
        folded = self.state
        for event in events:
            apply(folded, event)
            assert_tiles_conserved(folded)
            for viewer, view in zip(VIEWERS, self.views, strict=True):
                seen = visible(event, viewer)
                if seen is not None:
                    apply_visible(view, seen)
                assert view == view_of(folded, viewer)
        assert folded == state
        self.state = state
        self.events = list(events)
        self.history += events
        for seat in range(4):
            assert self.views[seat].actions == legal_actions(state, seat)

    def act(self, wind: str, action: Action, decision: int | None = None) -> None:
        if decision is None:
            assert self.state.decision is not None
            decision = self.state.decision.decision
        before = self.state.copy()
        transition = decide(self.state, Act(self.seat(wind), decision, action))
        assert self.state == before
        self.follow(transition.events, transition.state)

    def expire(self) -> None:
        assert self.state.decision is not None
        transition = decide(self.state, Expire(self.state.decision.decision))
        self.follow(transition.events, transition.state)

    def settle(self) -> None:
        transition = decide(self.state, Settle(settlement_of(self.state)))
        self.follow(transition.events, transition.state)

    def held(self, wind: str, text: str) -> tuple[Tile, ...]:
        """Own tiles of those kinds."""
        tiles = list(self.state.seats[self.seat(wind)].tiles)
        found = []
        for kind in parse_kinds(text):
            tile = next(tile for tile in tiles if KIND_OF[tile] == kind)
            tiles.remove(tile)
            found.append(tile)
        return tuple(found)

    def discard(self, wind: str, text: str) -> None:
        self.act(wind, Action(ActionType.DISCARD, self.held(wind, text)))

    def discard_drawn(self) -> None:
        assert self.state.decision is not None
        seat = self.state.decision.seats[0]
        tile = self.state.seats[seat].drawn
        assert tile is not None
        self.act(WINDS[self.state.seat_wind(seat)], Action(ActionType.DISCARD, (tile,)))

    def call(self, wind: str, text: str) -> None:
        self.act(wind, Action(ActionType.ORIGINAL_CALL, self.held(wind, text)))

    def take(self, wind: str, name: str, text: str) -> None:
        """An action with own tiles: "chow", "pung", "claimed_kong", "concealed_kong" or "added_kong"."""
        self.act(wind, Action(ActionType[name.upper()], self.held(wind, text)))

    def win(self, wind: str) -> None:
        self.act(wind, WIN)

    def passes(self, *winds: str) -> None:
        for wind in winds:
            self.act(wind, PASS)

    def refused(self, reason: Reason, wind: str, action: Action, decision: int | None = None) -> None:
        """The action is refused for that reason, and nothing has changed."""
        before = self.state.copy()
        with pytest.raises(RuleViolation) as refusal:
            self.act(wind, action, decision)
        assert refusal.value.reason is reason
        assert self.state == before

    def offers(self, wind: str) -> list[str]:
        """What the seat may do, without the discards, as "win", "pung 55p", "chow 46p", "pass"."""
        return [
            f"{action.type.name.lower()} {format_tiles(action.tiles)}".strip()
            for action in legal_actions(self.state, self.seat(wind))
            if action.type is not ActionType.DISCARD
        ]

    def discards(self, wind: str) -> str:
        """What the seat may discard."""
        actions = legal_actions(self.state, self.seat(wind))
        return format_tiles(action.tiles[0] for action in actions if action.type is ActionType.DISCARD)

    @property
    def asked(self) -> str:
        """The winds that are asked, nearest after the source first."""
        decision = self.state.decision
        return "" if decision is None else "".join(WINDS[self.state.seat_wind(seat)] for seat in decision.seats)

    @property
    def asking(self) -> DecisionKind | None:
        return None if self.state.decision is None else self.state.decision.kind

    @property
    def winner(self) -> str | None:
        result = self.state.result
        return WINDS[self.state.seat_wind(result.seat)] if isinstance(result, HandWon) else None

    def hand(self, wind: str) -> str:
        return format_tiles(self.state.seats[self.seat(wind)].tiles)

    def situation(self, wind: str) -> WinSituation:
        return win_situation(self.state, self.seat(wind))

    def score(self, wind: str) -> HandScore | None:
        return self.views[self.seat(wind)].win_score


def assert_tiles_conserved(state: HandState) -> None:
    """Every tile is in exactly one place."""
    if state.wall.tiles is None:
        return
    tiles = list(state.wall.remaining())
    for seat in state.seats:
        assert seat.count == len(seat.tiles)
        assert list(seat.tiles) == sorted(seat.tiles)
        assert seat.codes == encode(KIND_OF[tile] for tile in seat.tiles if tile < REGULAR_TILES)
        tiles += seat.tiles
        tiles += seat.bonus
        tiles += [discard.tile for discard in seat.river if discard.claimed_by is None]
        for meld in seat.melds:
            tiles += meld.tiles
    assert sorted(tiles) == list(range(TILE_COUNT))
