"""What a table worker measures: commands and their answers, windows, hands, and tables that come and go."""

from __future__ import annotations

import time
from typing import Final

from opentelemetry import trace
from prometheus_client import Counter

from libs.chassis.errors import EastwindError
from libs.chassis.table_store import Claimed
from libs.chassis.telemetry import Telemetry, exemplar_of
from libs.chassis.telemetry_contract import metrics as contract
from libs.chassis.telemetry_contract import spans
from libs.contracts.reasons import is_platforms
from libs.mahjong.engine.events import DecisionKind, DecisionOpened, HandDrawn, HandSettled, HandWon, MeldClaimed
from libs.mahjong.engine.table_commands import Entry
from libs.mahjong.engine.table_events import SeatTimedOut

_KINDS: Final = {
    DecisionKind.TURN: "turn",
    DecisionKind.CLAIM: "claim",
    DecisionKind.ROB: "robbing",
    DecisionKind.OPENING_KONG: "opening",
}
_ENDS_A_WINDOW: Final = {MeldClaimed: "claimed", HandWon: "won", HandDrawn: "passed"}


class Measures:
    """The metrics of one worker; whatever an action touches is looked up once."""

    def __init__(self, telemetry: Telemetry) -> None:
        self.telemetry = telemetry
        metrics = telemetry.metrics
        self.live_tables = metrics.gauge(contract.LIVE_TABLES)
        self.capacity = metrics.gauge(contract.TABLE_CAPACITY)
        self.running_clocks = metrics.gauge(contract.RUNNING_CLOCKS)
        self.moves = metrics.counter(contract.TABLE_MOVES)
        self._takeovers = metrics.counter(contract.TAKEOVERS)
        self._outages = metrics.histogram(contract.OUTAGE_CREDITED)
        actions = metrics.counter(contract.TABLE_ACTIONS)
        self._accepted = actions.labels("accepted")
        self._refused = actions.labels("refused")
        self._failed = actions.labels("failed")
        self._refusals = metrics.counter(contract.TABLE_REFUSALS)
        self._by_reason: dict[str, tuple[Counter, Counter]] = {}
        self._seconds = metrics.histogram(contract.TABLE_ACTION)
        decisions = metrics.counter(contract.DECISIONS)
        timeouts = metrics.counter(contract.TIMEOUTS)
        self._decisions = {kind: decisions.labels(name) for kind, name in _KINDS.items()}
        self._timeouts = {kind: timeouts.labels(name) for kind, name in _KINDS.items()}
        windows = metrics.histogram(contract.CLAIM_WINDOW)
        self._windows = {kind: windows.labels(name) for kind, name in _ENDS_A_WINDOW.items()}
        self._passed = windows.labels("passed")
        self._hands = metrics.counter(contract.HANDS)
        resyncs = metrics.counter(contract.RESYNCS)
        self.asked_to_resync = resyncs.labels("asked")
        self.stale_decision = resyncs.labels("stale_decision")
        self.resumed = resyncs.labels("resumed")

    def begin(self, table_id: str, command: str, trace_parent: str) -> trace.Span | None:
        """The span of a command whose trace is recorded."""
        if not trace_parent:
            return None
        attributes = {spans.TABLE_ID: table_id, spans.COMMAND: command}
        return self.telemetry.child(spans.TABLE_COMMAND, trace_parent, attributes)

    def answered(self, error: EastwindError | None, came_s: float, span: trace.Span | None) -> None:
        """A player's command that came at that moment (`time.perf_counter`) is answered."""
        if error is None:
            self._accepted.inc()
            self._seconds.observe(time.perf_counter() - came_s, exemplar_of(span))
        else:
            self.refused(error.reason)
        if span is not None:
            span.set_attribute(spans.ANSWER, "accepted" if error is None else error.reason)
            span.end()

    def refused(self, reason: str) -> None:
        """A player's command is refused, or fails."""
        children = self._by_reason.get(reason)
        if children is None:
            whose = self._failed if is_platforms(reason) else self._refused
            children = self._by_reason[reason] = (whose, self._refusals.labels(reason.lower()))
        for child in children:
            child.inc()

    def claimed(self, claimed: Claimed, worker: str, *, unreachable: bool) -> None:
        """A table came to this worker; from another one, unless that had released it."""
        if claimed.previous_owner not in ("", worker):
            self._takeovers.labels("unreachable" if unreachable else "lease_ran_out").inc()

    def credited(self, outage_ms: int, cause: str) -> None:
        """Players got that time back."""
        self._outages.labels(cause).observe(outage_ms / 1000)

    def happened(self, entry: Entry, variant: str, window_ms: int) -> int:
        """Count what is in an entry. ``window_ms`` is when the claim window that stands open was opened, 0 for none;
        returns the same for after the entry."""
        for event in entry.events:
            kind = type(event)
            if kind is DecisionOpened:
                if window_ms:
                    self._passed.observe((entry.at_ms - window_ms) / 1000)
                opened: DecisionKind = event.kind  # type: ignore[union-attr]
                self._decisions[opened].inc()
                window_ms = entry.at_ms if opened is DecisionKind.CLAIM else 0
            elif kind in _ENDS_A_WINDOW:
                if window_ms:
                    self._windows[kind].observe((entry.at_ms - window_ms) / 1000)
                    window_ms = 0
            elif kind is SeatTimedOut:
                self._timeouts[event.kind].inc()  # type: ignore[union-attr]
            elif kind is HandSettled:
                outcome = "drawn" if event.winner is None else "won"  # type: ignore[union-attr]
                self._hands.labels(variant, outcome).inc()
        return window_ms
