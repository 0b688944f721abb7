"""Hands and tables played in process by policies: for conformance runs, benches and tests.

Everything goes through the same ``decide`` as at a live table. Time is simulated and randomness comes from a seed that
the caller gives, so a run can be repeated exactly.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from libs.mahjong.clocks import STANDARD, TimeControl
from libs.mahjong.engine.actions import Action, ActionType
from libs.mahjong.engine.hand import settlement_of, timeout_action
from libs.mahjong.engine.table import decide, open_table
from libs.mahjong.engine.table_commands import (
    Act,
    ConfirmReady,
    Entry,
    OpenTable,
    SettleHand,
    TableCommand,
    TableTransition,
    Tick,
)
from libs.mahjong.engine.table_events import Occupant, TableSettings
from libs.mahjong.engine.table_state import TablePhase, TableState
from libs.mahjong.engine.views import SeatView, view_of
from libs.mahjong.fairness import commit
from libs.mahjong.record import HandRecord, hand_record
from libs.mahjong.tiles import Seat

Policy = Callable[[SeatView], Action | None]
"""What a player does at an open decision, from what it sees; ``None`` lets the time run out."""

THINKING_MS = 700
"""The simulated time that every answer takes; those of one window come together."""


def timeout_policy(view: SeatView) -> Action:
    """Take the action that the rules take for a player who does not answer (common §3.2)."""
    return timeout_action(view, view.viewer)


def derived_seed(seed: bytes, *parts: object) -> bytes:
    """Return 32 bytes that follow from a seed and the parts; different parts give unrelated bytes."""
    return hmac.digest(seed, "/".join(map(str, parts)).encode(), "sha256")


def seeded_policy(seed: bytes) -> Policy:
    """Return a policy that picks among the legal actions as the seed decides, the same ones on every run."""

    def choose(view: SeatView) -> Action:
        actions = view.actions
        value = derived_seed(seed, view.hand, view.moment, view.viewer)
        return actions[int.from_bytes(value[:4], "big") % len(actions)]

    return choose


def eager_policy(seed: bytes) -> Policy:
    """Return a policy that takes every win, kong, pung and chow, in this order, and discards as the seed decides."""
    at_random = seeded_policy(seed)

    def choose(view: SeatView) -> Action | None:
        actions = view.actions
        for kind in _EAGER_FOR:
            for action in actions:
                if action.type is kind:
                    return action
        return at_random(view)

    return choose


_EAGER_FOR = (
    ActionType.WIN,
    ActionType.CONCEALED_KONG,
    ActionType.ADDED_KONG,
    ActionType.CLAIMED_KONG,
    ActionType.PUNG,
    ActionType.CHOW,
)


@dataclass(slots=True)
class SimulatedTable:
    """A table with four policies as its players.

    ``entries`` is the whole log, ``records`` the finished hands. ``play_hand`` and ``play_match`` drive it; ``send``
    takes a command of the caller's own.
    """

    state: TableState
    policies: Sequence[Policy]
    seed: bytes
    entries: list[Entry] = field(default_factory=list)
    records: list[HandRecord] = field(default_factory=list)
    _since_record: list[Entry] = field(default_factory=list)

    @classmethod
    def open(
        cls,
        ruleset_id: str,
        policies: Sequence[Policy],
        seed: bytes,
        *,
        table_id: str = "simulated",
        control: TimeControl = STANDARD,
        rated: bool = False,
        first_dealer: Seat = 0,
        players: Sequence[Occupant | None] | None = None,
        start_ms: int = 1_000_000,
    ) -> Self:
        """Return a table of that ruleset. Without ``players`` four humans hold the seats, each with a commitment.

        Raises ``RuleViolation`` as ``open_table``.
        """
        first, second, third, fourth = players or [
            Occupant(f"account-{seat}", f"Player {seat + 1}") for seat in range(4)
        ]
        seals = [commit(derived_seed(seed, "nonce", seat, 1)) for seat in range(4)]
        opened = open_table(
            OpenTable(
                id="open",
                now_ms=start_ms,
                table_id=table_id,
                settings=TableSettings(ruleset_id, control, rated, uniform_pacing=False),
                first_dealer=first_dealer,
                occupants=(first, second, third, fourth),
                server_seed=derived_seed(seed, "server", 0),
                commitments=(seals[0], seals[1], seals[2], seals[3]),
            )
        )
        table = cls(opened.state, policies, seed)
        table.adopt(None, opened)
        return table

    @property
    def now_ms(self) -> int:
        """The newest moment of the log."""
        return self.state.now_ms

    def send(self, command: TableCommand) -> TableTransition:
        """Decide a command and take over what comes of it. Raises ``RuleViolation``."""
        before = self.state
        transition = decide(before, command)
        self.adopt(before, transition)
        return transition

    def adopt(self, before: TableState | None, transition: TableTransition) -> None:
        """Take over what came of a command; ``before`` is the state that decided it."""
        self.state = transition.state
        if not transition.entry.events:
            return
        self.entries.append(transition.entry)
        self._since_record.append(transition.entry)
        if before is not None and before.needs_settlement and self.state.settled is not None:
            self.records.append(hand_record(before, self._since_record))
            self._since_record.clear()

    def fresh_seed(self) -> bytes:
        """The next server seed of this run."""
        return derived_seed(self.seed, "server", len(self.entries))

    def nonce(self, seat: Seat, hand: int) -> bytes:
        """The nonce of a seat for a hand."""
        return derived_seed(self.seed, "nonce", seat, hand)

    def get_ready(self) -> None:
        """Let every seat that is not ready yet go on, with its nonce."""
        for seat in range(4):
            state = self.state
            if state.phase is TablePhase.READY and not state.ready[seat]:
                hand = state.hand_number
                self.send(
                    ConfirmReady(
                        f"ready/{hand}/{seat}",
                        self.now_ms + THINKING_MS,
                        seat,
                        self.nonce(seat, hand),
                        commit(self.nonce(seat, hand + 1)),
                    )
                )

    def answer(self) -> None:
        """Let the first awaited seat answer that has an answer; when none has, let the time run out.

        Raises ``RuntimeError`` at an untimed table where nobody answers.
        """
        state = self.state
        assert state.hand is not None
        assert state.hand.decision is not None
        for seat in state.awaited:
            action = self.policies[seat](view_of(state.hand, seat))
            if action is not None:
                decision = state.hand.decision.decision
                command_id = f"act/{state.hand_number}/{decision}/{seat}"
                opened_ms = state.decision_opened_ms if state.clock is None else state.clock.wait.opened_ms
                at_ms = max(self.now_ms, opened_ms + THINKING_MS)
                self.send(Act(command_id, at_ms, seat, decision, action))
                return
        if state.clock is None:
            raise RuntimeError("nobody answers and nothing is timed")
        self.send(Tick(state.clock.closes_ms + 1, self.fresh_seed()))

    def play_hand(self) -> HandRecord:
        """Play the next hand to its settlement and return its record."""
        played = len(self.records)
        self.get_ready()
        while self.state.awaited:
            self.answer()
        assert self.state.hand is not None
        settlement = settlement_of(self.state.hand)
        self.send(SettleHand(f"settle/{self.state.hand_number}", self.now_ms, settlement, self.fresh_seed()))
        assert len(self.records) == played + 1
        return self.records[-1]

    def play_match(self) -> Iterator[HandRecord]:
        """Play hands until the table closes, yielding each record; without a last hand it goes on for ever."""
        while self.state.phase is not TablePhase.CLOSED:
            yield self.play_hand()


def play_hand(ruleset_id: str, policies: Sequence[Policy], seed: bytes) -> HandRecord:
    """Return the record of one hand of that ruleset, played by four policies; the same for the same seed."""
    return SimulatedTable.open(ruleset_id, policies, seed).play_hand()
