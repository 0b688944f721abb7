"""The way between a player and a gateway: what stands in for the socket, around the gateway's own table links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from eastwind.edge.v1 import frames_pb2
from eastwind.table.v1 import table_service_pb2 as table_pb2
from eastwind.type.v1 import reason_pb2
from services.gateway.table_links import Watch
from tests.simulation.network import Network
from tests.simulation.processes import Gateway
from tests.simulation.virtual_time import TICK_S, Process, VirtualLoop


class Ears(Protocol):
    """What a player hears from a connection."""

    def heard(self, connection: Connection, frame: bytes) -> None: ...

    def answered(self, connection: Connection, answer: table_pb2.Answer) -> None: ...

    def cut_off(self, connection: Connection, reason: str) -> None: ...


class Connection:
    """One connection of a player to a gateway, watching one table. In order both ways until it breaks."""

    def __init__(
        self,
        loop: VirtualLoop,
        network: Network,
        player: Process,
        gateway: Gateway,
        ears: Ears,
        delay_s: Callable[[], float],
    ) -> None:
        self.gateway = gateway
        self.open = True
        self._loop = loop
        self._network = network
        self._player = player
        self._ears = ears
        self._delay_s = delay_s
        self._up_at = self._down_at = 0.0
        self._watch: Watch | None = None

    def watch(self, table_id: str, token: str, last_sequence: int | None) -> None:
        """Ask to watch the table; what was seen so far goes along."""
        self._up(self._watch_table, table_id, token, last_sequence)

    def send(self, command: table_pb2.TableCommand) -> None:
        self._up(self._command, command.SerializeToString())

    def resync(self) -> None:
        """Ask for the whole view."""
        self._up(self._resync)

    def broke(self, reason: str = "broken") -> None:
        """Break; both sides are told."""
        if self.open:
            self.open = False
            self._loop.call_soon(self._left, context=self.gateway.process.context)
            self._loop.call_soon(self._ears.cut_off, self, reason, context=self._player.context)

    # In the gateway's process:

    def on_frame(self, frame: bytes) -> None:
        self._down(self._ears.heard, frame)

    def on_answer(self, answer: table_pb2.Answer) -> None:
        self._down(self._ears.answered, answer)

    def on_ended(self, reason: reason_pb2.Reason.ValueType) -> None:
        name = reason_pb2.Reason.Name(reason)
        self._down(lambda connection, _: self.broke(name), None)

    def _watch_table(self, table_id: str, token: str, last_sequence: int | None) -> None:
        links = self.gateway.links
        if links is None:
            self.broke("the gateway starts")
        elif self.open:
            self._watch = links.watch(table_id, token, last_sequence, self)
            self._watch.measured(round(2000 * self._delay_s()))

    def _command(self, raw: bytes) -> None:
        command = table_pb2.TableCommand.FromString(raw)
        if self._watch is None or not self._watch.send(command):
            self.on_answer(table_pb2.Answer(command_id=command.command_id, reason=reason_pb2.REASON_RATE_LIMITED))

    def _resync(self) -> None:
        if self._watch is not None:
            self._watch.resync()

    def _left(self) -> None:
        if self._watch is not None:
            self._watch.close()

    def _up(self, act: Callable[..., None], *args: object) -> None:
        if self.open:
            self._up_at = max(self._up_at + TICK_S, self._loop.time() + self._delay_s())
            self._loop.call_at(self._up_at, self._arrive, act, args, context=self.gateway.process.context)

    def _down(self, act: Callable[..., None], what: object) -> None:
        if self.open:
            self._down_at = max(self._down_at + TICK_S, self._loop.time() + self._delay_s())
            self._loop.call_at(self._down_at, self._arrive, act, (self, what), context=self._player.context)

    def _arrive(self, act: Callable[..., None], args: tuple[object, ...]) -> None:
        if self.open:
            act(*args)


def table_update(frame: bytes) -> frames_pb2.ServerFrame:
    """The frame as a client reads it."""
    return frames_pb2.ServerFrame.FromString(frame)
