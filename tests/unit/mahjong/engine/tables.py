"""Tables for tests: every step is checked against the laws that hold always."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

import pytest

import libs.mahjong.variants
from libs.mahjong.clocks import STANDARD, TimeControl
from libs.mahjong.engine.actions import PASS, Reason, RuleViolation
from libs.mahjong.engine.codec import decode_entry, encode_entry
from libs.mahjong.engine.events import DrawnHandCause, HandDrawn, HandSettled, HandWon, SeatPayment
from libs.mahjong.engine.ruleset import RatedUnit, ReadyStep, Ruleset
from libs.mahjong.engine.state import HandState
from libs.mahjong.engine.table_applying import apply, apply_entry
from libs.mahjong.engine.table_commands import Entry, SettleHand, TableTransition
from libs.mahjong.engine.table_events import Occupant, OccupantKind, TableEvent, TableOpened
from libs.mahjong.engine.table_snapshot import decode_state, encode_state
from libs.mahjong.engine.table_state import TableState
from libs.mahjong.engine.table_views import SPECTATOR, TableView, apply_table_visible, table_view, table_visible
from libs.mahjong.scores import WinMethod
from libs.mahjong.simulation import Policy, SimulatedTable, derived_seed, timeout_policy
from libs.mahjong.tiles import Seat
from tests.unit.mahjong.engine.rulesets import Plain

SEED = bytes(range(32))
VIEWERS = (0, 1, 2, 3, SPECTATOR)
HKOS = "hkos-3-v1"
MATCH = "toy-match-v1"


class ToyMatch(Plain):
    """A match that ends with the fourth change of the dealer, with a ready step that ends by itself."""

    id = MATCH
    name = "Toy match"
    rated_unit = RatedUnit.MATCH
    starting_points = 100
    ready_step = ReadyStep(seconds=15, automatic=True)
    last_change: ClassVar[int] = 4

    def match_over(self, dealer_changes: int) -> bool:
        return dealer_changes >= self.last_change


@pytest.fixture
def toy_match(monkeypatch: pytest.MonkeyPatch) -> Ruleset:
    """The toy match, registered for one test."""
    monkeypatch.setitem(libs.mahjong.engine.ruleset._registered, MATCH, ToyMatch())
    return ToyMatch()


@dataclass(slots=True)
class CheckedTable(SimulatedTable):
    """A table of which every step holds the laws: the log folds to the state, through bytes too; each viewer's events
    fold to the viewer's picture with the viewer's sequence; a refusal changes nothing."""

    folded: TableState | None = None
    views: list[TableView] = field(default_factory=list)
    last: tuple[TableEvent, ...] = ()
    """The events of the last step."""

    def adopt(self, before: TableState | None, transition: TableTransition) -> None:
        SimulatedTable.adopt(self, before, transition)
        self.last = transition.entry.events
        if self.last:
            self.check(transition.entry)
        else:
            assert transition.repeated or transition.state == before

    def check(self, entry: Entry) -> None:
        assert decode_entry(encode_entry(entry)) == entry
        if self.folded is None:
            opened = entry.events[0]
            assert isinstance(opened, TableOpened)
            self.folded = TableState(opened)
            self.views = [TableView(opened, viewer) for viewer in VIEWERS]
        folded = decode_state(encode_state(self.folded))
        assert folded == self.folded
        apply_entry(folded, entry)
        assert folded == self.state
        self.folded = folded
        for viewer, view in zip(VIEWERS, self.views, strict=True):
            for event in entry.events:
                seen = table_visible(event, viewer)
                if seen is not None:
                    apply_table_visible(view, seen)
            assert view == table_view(self.state, viewer)

    def happened(self, kind: type) -> list[TableEvent]:
        """The events of that type in the last step."""
        return [event for event in self.last if isinstance(event, kind)]

    @contextmanager
    def refused(self, reason: Reason) -> Iterator[None]:
        before = self.state.copy()
        with pytest.raises(RuleViolation) as refusal:
            yield
        assert refusal.value.reason is reason
        assert self.state == before

    def put_hand(self, hand: HandState) -> None:
        """Put a hand that a test laid out in place of the running one; nothing is timed until its next decision."""
        self.state = self.state.copy()
        self.state.hand = hand
        self.state.clock = None
        self.folded = self.state.copy()
        self.views = [table_view(self.state, viewer) for viewer in VIEWERS]

    def end_hand(self, winner: Seat | None) -> None:
        """Let the running hand end at once, as if its last event had come."""
        self.get_ready()
        state = self.state.copy()
        assert state.hand is not None
        event: HandWon | HandDrawn
        if winner is None:
            event = HandDrawn(DrawnHandCause.WALL_EXHAUSTED)
        else:
            tiles = state.hand.seats[winner].tiles
            event = HandWon(winner, tiles[-1], WinMethod.SELF_DRAW, None, tiles[:-1])
        entry = Entry(self.now_ms, "", (event,))
        apply(state, event, self.now_ms)
        self.adopt(self.state, TableTransition(entry, state))

    def settle(self, winner: Seat | None, *payments: tuple[Seat, Seat, int]) -> None:
        """Settle the hand that is over with these payments (payer, payee, amount)."""
        changes = [0, 0, 0, 0]
        for payer, payee, amount in payments:
            changes[payer] -= amount
            changes[payee] += amount
        settlement = HandSettled(
            winner,
            (None,) * 4,
            tuple(SeatPayment(*payment) for payment in payments),
            tuple(changes),
            (None,) * 4,
        )
        self.send(SettleHand(f"settle/{self.state.hand_number}", self.now_ms, settlement, self.fresh_seed()))

    def hand(self, winner: Seat | None, *payments: tuple[Seat, Seat, int]) -> None:
        """A whole hand with that winner and these payments."""
        self.end_hand(winner)
        self.settle(winner, *payments)


def human(seat: int) -> Occupant:
    return Occupant(f"account-{seat}", f"Player {seat + 1}")


def bot(seat: int) -> Occupant:
    return Occupant(f"bot-{seat}", f"Bot {seat + 1}", OccupantKind.BOT, 2)


def silent(view: object) -> None:
    """The policy of a player who is not there."""


def open_table(
    ruleset_id: str = HKOS,
    policies: Sequence[Policy] = (timeout_policy,) * 4,
    control: TimeControl = STANDARD,
    rated: bool = False,
    players: Sequence[Occupant | None] | None = None,
    first_dealer: Seat = 0,
) -> CheckedTable:
    return CheckedTable.open(
        ruleset_id,
        policies,
        SEED,
        table_id="table",
        control=control,
        rated=rated,
        players=players,
        first_dealer=first_dealer,
    )


def seed(number: int) -> bytes:
    return derived_seed(SEED, number)


__all__ = ["PASS", "CheckedTable", "ToyMatch", "bot", "human", "open_table", "seed", "silent", "toy_match"]
