"""One hand at a table, played through the audience of its viewer: every frame with the moment at which it leaves.

The table is paced as rated ones are, so what happens in public after a discard comes at a time that tells nothing of
claims (promise P5). Time is simulated, and nothing here waits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from libs.mahjong.bots import Level, choose
from libs.mahjong.clocks import STANDARD
from libs.mahjong.engine.actions import PASS, Action, ActionType
from libs.mahjong.engine.events import DecisionKind, HandSettled, HandWon, MeldClaimed, TileDiscarded, TilesDealt
from libs.mahjong.engine.hand import settlement_of
from libs.mahjong.engine.table import decide, open_table
from libs.mahjong.engine.table_commands import Act, ConfirmReady, OpenTable, SettleHand, TableCommand, TableTransition
from libs.mahjong.engine.table_events import Occupant, TableEvent, TableSettings
from libs.mahjong.engine.table_views import SPECTATOR, table_visible
from libs.mahjong.engine.views import SeatView, view_of
from libs.mahjong.tiles import Seat, Tile
from services.table.announcing import settled_message
from services.table.audience import Audience, Subscriber
from services.table.pacing import BEGINS_A_PAUSE

SEED = bytes(range(32))
PAUSE_MS = 900
"""The pause after a discard."""
THINKING_MS = 700
"""How long every seat thinks on its turn."""
CLAIMING_MS = 300
"""How long after a discard or a declared kong those who are asked answer."""
_EAGER = (
    ActionType.WIN,
    ActionType.ADDED_KONG,
    ActionType.CONCEALED_KONG,
    ActionType.CLAIMED_KONG,
    ActionType.PUNG,
    ActionType.CHOW,
)

Picker = Callable[[SeatView], Action]
Script = dict[tuple[int, Seat], Action]
"""What a seat does at a moment, as far as it matters in public; whatever is not listed is passed."""


@dataclass(slots=True)
class Recorder:
    """The sink of the viewer: every frame, and when it left."""

    world: World
    frames: list[tuple[int, bytes]] = field(default_factory=list)

    def deliver(self, subscriptions: list[int], frame: bytes) -> None:
        self.frames.append((self.world.now_ms, frame))

    def end(self, subscription: int, reason: str) -> None:
        raise AssertionError(f"the subscription ended: {reason}")


class World:
    """A table whose wall the test knows; ``walls`` must be what the engine builds its walls with."""

    def __init__(self, ruleset_id: str, viewer: Seat) -> None:
        self.viewer = viewer
        self.now_ms = 1_000_000
        self.events: list[TableEvent] = []
        self.sink = Recorder(self)
        settings = TableSettings(ruleset_id, STANDARD, rated=True, uniform_pacing=True)
        first, second, third, fourth = (Occupant(f"account-{seat}", f"Player {seat}") for seat in range(4))
        opened = open_table(OpenTable("", self.now_ms, "t" * 22, settings, 0, (first, second, third, fourth), SEED))
        self.state = opened.state
        self.events += opened.entry.events
        self._release_ms = 0
        self._audience = Audience("t" * 22, lambda: self.now_ms)
        self._audience.remember([opened.entry], None)
        account = "a stranger" if viewer == SPECTATOR else f"account-{viewer}"
        self._subscriber = Subscriber(self.sink, 1, account, viewer)
        self._audience.add(self._subscriber, lambda: self.state, None)

    @property
    def frames(self) -> list[tuple[int, bytes]]:
        """What the viewer got, and when."""
        return self.sink.frames

    def play(self, script: Script, pick: Picker | None) -> None:
        """Play a hand to its settlement: as ``pick`` says, noting it in ``script``, else as that says.

        Raises ``RuleViolation`` or ``KeyError`` when the script cannot be followed.
        """
        for seat in range(4):
            self.now_ms += THINKING_MS
            self._send(ConfirmReady("", self.now_ms, seat, None, b""))
        while self.state.awaited:
            self._answer(script, pick)
        assert self.state.hand is not None
        settlement = settlement_of(self.state.hand)
        self.now_ms += 50
        self._send(SettleHand("", self.now_ms, settlement, SEED))
        self._look()

    def _answer(self, script: Script, pick: Picker | None) -> None:
        hand = self.state.hand
        assert hand is not None
        assert hand.decision is not None
        decision = hand.decision
        waiting = [seat for seat in decision.seats if hand.held[seat] is None]
        seat = self.viewer if self.viewer in waiting else waiting[0]
        key = (hand.moment, seat)
        turn = decision.kind is DecisionKind.TURN
        if pick is not None:
            action = pick(view_of(hand, seat))
        else:
            action = script[key] if turn else script.get(key, PASS)
        if turn:
            self.now_ms += THINKING_MS
        elif decision.kind in (DecisionKind.CLAIM, DecisionKind.ROB) and self._release_ms > self.now_ms:
            self.now_ms = self._release_ms - PAUSE_MS + CLAIMING_MS
        happened = self._send(Act("", self.now_ms, seat, decision.decision, action)).entry.events
        if pick is not None:
            taken = [event.seat for event in happened if isinstance(event, MeldClaimed | HandWon)]
            if taken and not turn:
                held = hand.held[taken[0]]
                script[hand.moment, taken[0]] = action if held is None else held
            if decision.kind in (DecisionKind.TURN, DecisionKind.OPENING_KONG) or seat == self.viewer:
                script[key] = action
        if turn and any(isinstance(event, TileDiscarded) for event in happened):
            # Now and then the viewer asks for the whole view, when that would tell the most.
            if hand.moment % 3 == 0:
                self._look()
        if not self._others_are_asked():
            self.now_ms = max(self.now_ms, self._release_ms)
            self._audience.release_all()

    def _others_are_asked(self) -> bool:
        hand = self.state.hand
        return (
            hand is not None
            and hand.decision is not None
            and hand.decision.kind
            in (
                DecisionKind.CLAIM,
                DecisionKind.ROB,
            )
        )

    def _send(self, command: TableCommand) -> TableTransition:
        """Carry a command out as the table's actor does."""
        before = self.state
        hand = before.hand
        on_turn = hand is not None and hand.decision is not None and hand.decision.kind is DecisionKind.TURN
        pause = PAUSE_MS if on_turn else max(0, self._release_ms - self.now_ms)
        transition = decide(before, _held(command, pause))
        pauses = any(type(event) in BEGINS_A_PAUSE for event in transition.entry.events)
        if on_turn and not pauses:
            transition = decide(before, _held(command, 0))
        if pauses:
            self._release_ms = self.now_ms + pause
        settlement = next((event for event in transition.entry.events if isinstance(event, HandSettled)), None)
        settled = None if settlement is None else settled_message(before, settlement)
        self.state = transition.state
        self.events += transition.entry.events
        self._audience.publish(before, transition.entry, transition.state, settled, self._release_ms)
        return transition

    def _look(self) -> None:
        self._audience.resync(self._subscriber, lambda: self.state)

    def shown(self) -> set[Tile]:
        """Every tile that the viewer's stream names anywhere."""
        found: set[Tile] = set()
        for event in self.events:
            seen = table_visible(event, self.viewer)
            if isinstance(seen, TilesDealt):
                found.update(tile for tiles in seen.hands if tiles is not None for tile in tiles)
            if isinstance(seen, HandSettled):
                found.update(tile for tiles in seen.revealed if tiles is not None for tile in tiles)
            tile = getattr(seen, "tile", None)
            if tile is not None:
                found.add(tile)
            meld = getattr(seen, "meld", None)
            if meld is not None:
                found.update(meld.tiles)
            found.update(getattr(seen, "concealed", ()))
            action = getattr(seen, "action", None)
            if action is not None:
                found.update(action.tiles)
        return found


def _held(command: TableCommand, hold_ms: int) -> TableCommand:
    if isinstance(command, Act):
        return Act(command.id, command.now_ms, command.seat, command.decision, command.action, 0, hold_ms)
    return command


def at_random(rng: Random) -> Picker:
    """Takes a win, kong, pung or chow when there is one, most of the time; anything else at random."""

    def pick(view: SeatView) -> Action:
        if rng.random() < 0.6:
            for kind in _EAGER:
                for action in view.actions:
                    if action.type is kind:
                        return action
        return rng.choice(view.actions)

    return pick


def by_computers(rng: Random) -> Picker:
    """Plays as the computer players do, which win now and then."""
    return lambda view: choose(view, Level.MEDIUM, seed=rng.getrandbits(32))
