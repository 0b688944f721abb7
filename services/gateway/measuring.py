"""What a gateway measures: sockets, and how the commands of its players fare."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from opentelemetry import trace
from prometheus_client import Counter

from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import reason_pb2
from libs.chassis.telemetry import Telemetry, exemplar_of
from libs.chassis.telemetry_contract import metrics as contract
from libs.chassis.telemetry_contract import spans
from libs.contracts.reasons import is_platforms, reason_name

_ACCEPTED: Final = reason_pb2.REASON_UNSPECIFIED


@dataclass(slots=True)
class Unanswered:
    """A command on its way: when its frame came (`time.perf_counter`), and its span when its trace is recorded."""

    command: table_pb2.TableCommand
    came_s: float
    span: trace.Span | None


class Measures:
    """The metrics of one gateway; whatever a frame touches is looked up once."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry
        metrics = telemetry.metrics
        self.sockets = metrics.gauge(contract.SOCKETS)
        self.sockets_opened = metrics.counter(contract.SOCKETS_OPENED)
        self._sockets_closed = metrics.counter(contract.SOCKETS_CLOSED)
        self._sockets_refused = metrics.counter(contract.SOCKETS_REFUSED)
        self.round_trip = metrics.histogram(contract.PLAYER_ROUND_TRIP)
        self.watches = metrics.gauge(contract.WATCHES)
        moves = metrics.counter(contract.WATCH_MOVES)
        self.told_to_move = moves.labels("told")
        self.stream_ended = moves.labels("stream_ended")
        self.worker_unreachable = moves.labels("worker_unreachable")
        actions = metrics.counter(contract.EDGE_ACTIONS)
        self._accepted = actions.labels("accepted")
        self._refused = actions.labels("refused")
        self._failed = actions.labels("failed")
        self._refusals = metrics.counter(contract.EDGE_REFUSALS)
        self._by_reason: dict[int, tuple[Counter, Counter]] = {}
        self._seconds = metrics.histogram(contract.EDGE_ACTION)

    def socket_closed(self, reason: reason_pb2.Reason.ValueType) -> None:
        """This side closes a socket."""
        self._sockets_closed.labels(reason_name(reason).lower()).inc()

    def socket_refused(self, cause: str) -> None:
        """An upgrade was refused."""
        self._sockets_refused.labels(cause).inc()

    def sent(self, table_id: str, command: table_pb2.TableCommand) -> Unanswered:
        """A player's command goes to its table."""
        attributes = {spans.TABLE_ID: table_id, spans.COMMAND: command.WhichOneof("command") or ""}
        span = self._telemetry.chosen_root(spans.EDGE_COMMAND, attributes)
        return Unanswered(command, time.perf_counter(), span)

    def answered(self, sent: Unanswered, reason: reason_pb2.Reason.ValueType) -> None:
        """Its answer goes to the player."""
        span = sent.span
        if reason == _ACCEPTED:
            self._accepted.inc()
            self._seconds.observe(time.perf_counter() - sent.came_s, exemplar_of(span))
        else:
            self.refused(reason)
        if span is not None:
            span.set_attribute(spans.ANSWER, "accepted" if reason == _ACCEPTED else reason_name(reason))
            span.end()

    def refused(self, reason: reason_pb2.Reason.ValueType) -> None:
        """A command is refused, or fails."""
        children = self._by_reason.get(reason)
        if children is None:
            name = reason_name(reason)
            whose = self._failed if is_platforms(name) else self._refused
            children = self._by_reason[reason] = (whose, self._refusals.labels(name.lower()))
        for child in children:
            child.inc()
