"""Who watches a table, and what each of them is sent.

A viewer is a seat or the spectators; subscribers of one viewer get the same bytes. While public events are held back
for the pace of the table, whatever follows waits behind them, for everybody in the same order. Whole views wait until
the pause is over, whether or not anything is held in it: else they would tell that somebody is being asked. For that
reason, too, a frame bears the time at which it leaves.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Protocol

from eastwind.table.v1 import event_pb2, view_pb2
from libs.contracts.frames import (
    connected_part,
    decision_bytes_part,
    decision_part,
    event_part,
    id_part,
    update_frame,
    view_part,
)
from libs.contracts.table_events import decision_kind, table_event_to_proto
from libs.contracts.tiles import action_to_proto
from libs.contracts.views import decision_bytes, decision_view, view_message
from libs.mahjong.engine.events import ChoiceHeld, DecisionKind, HandSettled, HandStarted, TileDiscarded, TileDrawn
from libs.mahjong.engine.table_audience import audience
from libs.mahjong.engine.table_commands import Entry
from libs.mahjong.engine.table_events import SeatReleased, SeatTaken, TableEvent
from libs.mahjong.engine.table_state import SEATS, TableState
from libs.mahjong.engine.table_views import SPECTATOR, table_visible, table_visible_copies
from libs.mahjong.tiles import Seat
from services.table.pacing import BEGINS_A_PAUSE

REMEMBERED_ENTRIES: Final = 48
"""So many of the latest entries are kept for clients that resume; who missed more gets the whole view."""


_Frames = dict[Seat, tuple[int, list[bytes]]]
"""By viewer: the viewer's sequence after the frame, and the parts of the frame."""


class Sink(Protocol):
    """The stream to one gateway."""

    def deliver(self, subscriptions: list[int], frame: bytes) -> None:
        """Queue a socket frame for subscriptions of this stream."""

    def end(self, subscription: int, reason: str) -> None:
        """Tell that a subscription ended."""


@dataclass(slots=True, eq=False)
class Subscriber:
    """One connection of an account to a table. ``round_trip_ms`` was measured last by its gateway; ``welcomed`` tells
    that its first view is out and what follows may be sent; ``waiting_commands`` are those not answered yet."""

    sink: Sink
    subscription: int
    account_id: str
    viewer: Seat
    round_trip_ms: int = 0
    welcomed: bool = False
    waiting_commands: int = 0


class Audience:
    """The subscribers of one table and the frames on their way to them."""

    __slots__ = (
        "_connected",
        "_held",
        "_id",
        "_now",
        "_pause_ends_ms",
        "_recent",
        "_settled",
        "_subscribers",
        "_timer",
        "_waiting",
    )

    def __init__(self, table_id: str, now_ms: Callable[[], int]) -> None:
        self._id = id_part(table_id)
        self._now = now_ms
        self._subscribers: list[Subscriber] = []
        self._recent: deque[Entry] = deque(maxlen=REMEMBERED_ENTRIES)
        self._held: deque[tuple[int, _Frames]] = deque()
        self._waiting: deque[Callable[[], None]] = deque()
        self._pause_ends_ms = 0
        self._timer: asyncio.TimerHandle | None = None
        self._settled: event_pb2.HandSettled | None = None
        self._connected: tuple[bool, ...] = (False,) * SEATS

    def __len__(self) -> int:
        return len(self._subscribers)

    @property
    def holds(self) -> bool:
        """True while something is held back."""
        return bool(self._held or self._waiting)

    def remember(self, entries: Iterable[Entry], settled: event_pb2.HandSettled | None) -> None:
        """Take over what happened before this worker had the table."""
        self._recent.extend(entries)
        self._settled = settled

    def connected(self, state: TableState) -> tuple[bool, ...]:
        """Return for every seat whether its player is connected; computers always are."""
        present = {subscriber.account_id for subscriber in self._subscribers}
        return tuple(
            occupant is not None and (not occupant.is_human or occupant.account_id in present)
            for occupant in state.occupants
        )

    def add(self, subscriber: Subscriber, state: Callable[[], TableState], last_sequence: int | None) -> None:
        """Let somebody watch. An older connection of the same account is ended. What it missed since
        ``last_sequence``, or the whole view, is its first frame."""
        for other in [each for each in self._subscribers if each.account_id == subscriber.account_id]:
            self._subscribers.remove(other)
            other.sink.end(other.subscription, "SUPERSEDED_CONNECTION")
        self._subscribers.append(subscriber)
        self._when_quiet(lambda: self._welcome(subscriber, state(), last_sequence))

    def has(self, subscriber: Subscriber) -> bool:
        """True while that connection watches."""
        return subscriber in self._subscribers

    def remove(self, subscriber: Subscriber, state: Callable[[], TableState]) -> None:
        """Somebody stops watching."""
        if subscriber in self._subscribers:
            self._subscribers.remove(subscriber)
            self._when_quiet(lambda: self._tell_presence(state()))

    def resync(self, subscriber: Subscriber, state: Callable[[], TableState]) -> None:
        """Send the whole view again."""
        self._when_quiet(lambda: self._send_view(subscriber, state()))

    def end_all(self, reason: str) -> None:
        """End every subscription: the table lives elsewhere now. What is held goes out first."""
        self.release_all()
        for subscriber in self._subscribers:
            subscriber.sink.end(subscriber.subscription, reason)
        self._subscribers.clear()

    def publish(
        self,
        before: TableState,
        entry: Entry,
        state: TableState,
        settled: event_pb2.HandSettled | None,
        release_ms: int,
    ) -> None:
        """Send what an entry means to everybody. Its public events are held until ``release_ms`` (the first discard in
        it goes out at once when the pause begins with it). ``settled`` is the message of a settlement in the entry."""
        self._recent.append(entry)
        self._pause_ends_ms = release_ms
        for event in entry.events:
            kind = type(event)
            if kind is HandSettled:
                self._settled = settled
            elif kind is HandStarted:
                self._settled = None
        split = _first_held(entry.events) if release_ms > self._now() else len(entry.events)
        head, tail = entry.events[:split], entry.events[split:]
        seats_changed = any(type(event) is SeatTaken or type(event) is SeatReleased for event in entry.events)
        if head:
            frames = self._frames(head, before, state, settled, behind=tail)
            if self._held:
                self._held.append((0, frames))
            else:
                self._send(frames)
        if tail:
            self._held.append((release_ms, self._frames(tail, before, state, settled, behind=())))
            self._arm()
        if seats_changed:
            self._when_quiet(lambda: self._reseat(state))

    def release_all(self) -> None:
        """Send everything that is held back, now."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._held:
            self._send(self._held.popleft()[1])
        while self._waiting:
            self._waiting.popleft()()

    def _when_quiet(self, send: Callable[[], None]) -> None:
        """Do it now, or when the pause is over and nothing is held any more."""
        if self._held or self._waiting or self._pause_ends_ms > self._now():
            self._waiting.append(send)
            self._arm()
        else:
            send()

    def _arm(self) -> None:
        if self._timer is None and (self._held or self._waiting):
            due_ms = self._held[0][0] if self._held else self._pause_ends_ms
            delay = max(0, due_ms - self._now()) / 1000
            self._timer = asyncio.get_running_loop().call_later(delay, self._release)

    def _release(self) -> None:
        self._timer = None
        while self._held and self._held[0][0] <= self._now():
            self._send(self._held.popleft()[1])
        while self._waiting and not self._held and self._pause_ends_ms <= self._now():
            self._waiting.popleft()()
        self._arm()

    def _frames(
        self,
        events: tuple[TableEvent, ...],
        before: TableState,
        state: TableState,
        settled: event_pb2.HandSettled | None,
        behind: tuple[TableEvent, ...],
    ) -> _Frames:
        """Return the frame of every viewer who is here and sees one of the events; ``behind`` are those of the entry
        that come later."""
        parts: dict[Seat, list[bytes]] = {subscriber.viewer: [] for subscriber in self._subscribers}
        if not parts:
            return {}
        for event in events:
            copies = table_visible_copies(event)
            made: dict[int, bytes] = {}
            for viewer, seen_parts in parts.items():
                seen = copies[viewer]
                if seen is None:
                    continue
                part = made.get(id(seen))
                if part is None:
                    part = made[id(seen)] = _part(seen, settled)
                seen_parts.append(part)
        frames: _Frames = {}
        onlooker: bytes | None = None
        for viewer, seen_parts in parts.items():
            if not seen_parts:
                continue
            sequence = state.stream_sequence[viewer] - sum(audience(event)[viewer] for event in behind)
            if behind:
                seen_parts.append(decision_part(_answered(events, before, viewer)))
            elif _only_looks_on(state, viewer):
                if onlooker is None:
                    onlooker = decision_part(decision_view(state, viewer))
                seen_parts.append(onlooker)
            else:
                raw = decision_bytes(state, viewer)
                seen_parts.append(decision_bytes_part(raw) if raw else b"")
            frames[viewer] = (sequence, seen_parts)
        return frames

    def _send(self, frames: _Frames) -> None:
        now = self._now()
        made: dict[Seat, bytes] = {}
        groups: dict[tuple[Seat, int], tuple[Sink, list[int]]] = {}
        for subscriber in self._subscribers:
            viewer = subscriber.viewer
            if not subscriber.welcomed or viewer not in frames:
                continue
            group = groups.get((viewer, id(subscriber.sink)))
            if group is None:
                groups[viewer, id(subscriber.sink)] = (subscriber.sink, [subscriber.subscription])
            else:
                group[1].append(subscriber.subscription)
        for (viewer, _), (sink, subscriptions) in groups.items():
            frame = made.get(viewer)
            if frame is None:
                sequence, parts = frames[viewer]
                frame = made[viewer] = update_frame(self._id, sequence, now, parts)
            sink.deliver(subscriptions, frame)

    def _welcome(self, subscriber: Subscriber, state: TableState, last_sequence: int | None) -> None:
        if subscriber not in self._subscribers:
            return
        subscriber.welcomed = True
        missed = None if last_sequence is None else self._missed(subscriber, state, last_sequence)
        if missed is None:
            self._send_view(subscriber, state)
        else:
            parts = [event_part(_message(event, self._settled)) for event in missed]
            parts.append(decision_part(decision_view(state, subscriber.viewer)))
            parts.append(connected_part(self.connected(state)))
            sequence = state.stream_sequence[subscriber.viewer]
            frame = update_frame(self._id, sequence, self._now(), parts)
            subscriber.sink.deliver([subscriber.subscription], frame)
        self._tell_presence(state)

    def _missed(self, subscriber: Subscriber, state: TableState, last_sequence: int) -> list[TableEvent] | None:
        """Return the viewer's copies of what it has not seen; ``None`` when the whole view is needed."""
        viewer = subscriber.viewer
        wanted = state.stream_sequence[viewer] - last_sequence
        if viewer == SPECTATOR or wanted < 0:
            return None
        missed: list[TableEvent] = []
        for entry in reversed(self._recent):
            if len(missed) >= wanted:
                break
            for event in reversed(entry.events):
                if type(event) is SeatTaken and event.seat == viewer and len(missed) < wanted:
                    return None
                seen = table_visible(event, viewer)
                if seen is not None:
                    missed.append(seen)
        if len(missed) < wanted:
            return None
        del missed[wanted:]
        missed.reverse()
        return missed

    def _send_view(self, subscriber: Subscriber, state: TableState) -> None:
        view = view_message(state, subscriber.viewer, self.connected(state), self._settled)
        frame = update_frame(self._id, state.stream_sequence[subscriber.viewer], self._now(), (view_part(view),))
        subscriber.sink.deliver([subscriber.subscription], frame)

    def _tell_presence(self, state: TableState) -> None:
        connected = self.connected(state)
        if connected == self._connected:
            return
        self._connected = connected
        parts = [connected_part(connected)]
        viewers = {subscriber.viewer for subscriber in self._subscribers}
        self._send({viewer: (state.stream_sequence[viewer], parts) for viewer in viewers})

    def _reseat(self, state: TableState) -> None:
        """Whoever took or lost a seat sees the table from there from now on; a private table only from a seat."""
        for subscriber in tuple(self._subscribers):
            seat = state.seat_of(subscriber.account_id)
            viewer = SPECTATOR if seat is None else seat
            if viewer == subscriber.viewer:
                continue
            subscriber.viewer = viewer
            if viewer == SPECTATOR and state.settings.private:
                self._subscribers.remove(subscriber)
                subscriber.sink.end(subscriber.subscription, "PERMISSION_DENIED")
            else:
                self._send_view(subscriber, state)
        self._tell_presence(state)


def _answered(events: tuple[TableEvent, ...], before: TableState, viewer: Seat) -> view_pb2.DecisionView | None:
    """Return the decision that the viewer has just answered as it stands while others may still be asked, though what
    follows is on its way already; ``None`` when it answered none."""
    held = next((event for event in events if type(event) is ChoiceHeld and event.seat == viewer), None)
    if held is None:
        return None
    assert before.hand is not None
    assert before.hand.decision is not None
    kind = decision_kind(before.hand.decision.kind)
    action = action_to_proto(held.action)
    return view_pb2.DecisionView(decision=held.decision, kind=kind, seat=viewer, held=action)


def _only_looks_on(state: TableState, viewer: Seat) -> bool:
    """True when the viewer sees the public turn of another seat: what it sees is what everybody else sees."""
    hand = state.hand
    decision = None if hand is None else hand.decision
    return decision is not None and decision.kind is DecisionKind.TURN and viewer not in decision.seats


def _first_held(events: tuple[TableEvent, ...]) -> int:
    """Return the place of the first event that must wait: the first public one after the discard or declared kong that
    begins the pause, or the first public one of an entry that answers such a thing."""
    begins = [place for place, event in enumerate(events) if type(event) in BEGINS_A_PAUSE]
    start = begins[-1] + 1 if begins else 0
    for place in range(start, len(events)):
        if audience(events[place])[SPECTATOR]:
            return place
    return len(events)


def _part(event: TableEvent, settled: event_pb2.HandSettled | None) -> bytes:
    """Return an event as the part of an update; the same few ordinary ones come again and again."""
    if type(event) is TileDrawn or type(event) is TileDiscarded:
        return _ordinary_part(event)
    return event_part(_message(event, settled))


@lru_cache(maxsize=4096)
def _ordinary_part(event: TileDrawn | TileDiscarded) -> bytes:
    return event_part(table_event_to_proto(event))


def _message(event: TableEvent, settled: event_pb2.HandSettled | None) -> event_pb2.TableEvent:
    if settled is not None and type(event) is HandSettled:
        return event_pb2.TableEvent(hand_settled=settled)
    return table_event_to_proto(event)
