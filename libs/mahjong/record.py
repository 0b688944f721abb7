"""The record of a finished hand: everything that is needed to replay it and to check it, for ever.

A record names its own ruleset and wall algorithm by version; it is replayed and verified under those, whatever has come
since. Its bytes are those of ``libs.mahjong.engine.codec``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from libs.mahjong.engine.applying import apply
from libs.mahjong.engine.codec import (
    VERSION,
    Decoder,
    Encoder,
    MalformedEncoding,
    codec_of,
    dump,
    event_from_plain,
    load_versioned,
    plain_event,
)
from libs.mahjong.engine.events import HandDrawn, HandEvent, HandSettled, HandStarted, HandWon
from libs.mahjong.engine.ruleset import ruleset
from libs.mahjong.engine.state import HandState
from libs.mahjong.engine.table_applying import HAND_EVENTS
from libs.mahjong.engine.table_commands import Entry
from libs.mahjong.engine.table_events import MatchEnded, Occupant, TableSettings
from libs.mahjong.engine.table_state import TableState
from libs.mahjong.fairness import ALGORITHM, SeatNonce
from libs.mahjong.tiles import Seat, Tile, Wind


class IncompleteHand(ValueError):
    """The events do not make a whole hand, from its start to its settlement."""


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event of a hand and how many milliseconds after the start of the hand it happened."""

    offset_ms: int
    event: HandEvent


@dataclass(frozen=True, slots=True)
class HandRecord:
    """One finished hand, drawn or won, by players or by timeouts alone (field case C098).

    By seat: ``players``, ``points_before``, ``nonces``. ``dealer_wins`` is the dealer's run before the hand, ``moment``
    the table's count of public steps before it. ``unit_id`` is the hand's or the match's; ``rated`` tells whether that
    unit counts. ``match_places`` are set in the record of a match's last hand.
    """

    algorithm: str
    table_id: str
    settings: TableSettings
    hand: int
    dealer: Seat
    dealer_changes: int
    dealer_wins: int
    prevailing_wind: Wind
    moment: int
    unit_id: str
    rated: bool
    players: tuple[Occupant, ...]
    points_before: tuple[int, ...]
    started_ms: int
    server_seed: bytes
    nonces: tuple[SeatNonce, ...]
    match_places: tuple[int, ...]
    events: tuple[TimedEvent, ...] = field(repr=False)

    @property
    def ruleset_id(self) -> str:
        """The ruleset and its version."""
        return self.settings.ruleset_id

    @property
    def ended_ms(self) -> int:
        """When the hand was settled."""
        return self.started_ms + self.events[-1].offset_ms

    @property
    def settlement(self) -> HandSettled:
        """The result in points."""
        last = self.events[-1].event
        assert isinstance(last, HandSettled)
        return last

    @property
    def result(self) -> HandWon | HandDrawn:
        """How the hand ended."""
        return next(timed.event for timed in reversed(self.events) if isinstance(timed.event, HandWon | HandDrawn))

    @property
    def wall(self) -> tuple[Tile, ...]:
        """The wall that was played with, as the events have it."""
        started = self.events[0].event
        assert isinstance(started, HandStarted)
        assert started.wall is not None
        return started.wall

    @property
    def points_after(self) -> tuple[int, ...]:
        """The points carried on, by seat."""
        return tuple(
            before + change for before, change in zip(self.points_before, self.settlement.changes, strict=True)
        )


def hand_record(before: TableState, entries: Iterable[Entry]) -> HandRecord:
    """Return the record of the hand that ``before``, the state from which it was settled, has played to its end.

    ``entries`` are those of the table's log from the one that started the hand to the one that settled it; events
    around the hand in them are passed over. Raises ``IncompleteHand`` when they do not hold all of the hand.
    """
    events: list[TimedEvent] = []
    match_places: tuple[int, ...] = ()
    for entry in entries:
        for event in entry.events:
            if type(event) is HandStarted:
                events.clear()
            if type(event) in HAND_EVENTS:
                offset = entry.at_ms - before.hand_started_ms
                events.append(TimedEvent(offset, event))  # type: ignore[arg-type]
            elif isinstance(event, MatchEnded):
                match_places = event.places
    hand = before.hand
    if hand is None or not hand.is_over:
        raise IncompleteHand("the hand goes on")
    check_whole(events, before.hand_number)
    players = tuple(occupant for occupant in before.occupants if occupant is not None)
    return HandRecord(
        algorithm=ALGORITHM,
        table_id=before.table_id,
        settings=before.settings,
        hand=before.hand_number,
        dealer=before.dealer,
        dealer_changes=before.dealer_changes,
        dealer_wins=before.dealer_wins,
        prevailing_wind=before.prevailing_wind,
        moment=before.moment_before,
        unit_id=before.unit_id,
        rated=before.unit_rated,
        players=players,
        points_before=before.points,
        started_ms=before.hand_started_ms,
        server_seed=before.server_seed,
        nonces=before.hand_nonces,
        match_places=match_places,
        events=tuple(events),
    )


def replay(record: HandRecord) -> Iterator[HandState]:
    """Yield the state after every event of the hand, each a state of its own.

    Raises ``UnknownRuleset`` when the record's ruleset is not registered.
    """
    state = HandState(ruleset(record.ruleset_id), record.moment, record.dealer_wins)
    for timed in record.events:
        apply(state, timed.event)
        yield state.copy()


def encode_record(record: HandRecord) -> bytes:
    """Return the record as bytes."""
    header = [getattr(record, name) if encode is None else encode(getattr(record, name)) for name, encode, _ in _HEADER]
    return dump((VERSION, header, [(timed.offset_ms, *plain_event(timed.event)) for timed in record.events]))


def decode_record(raw: bytes) -> HandRecord:
    """Return the record that the bytes hold (field case C097).

    Raises ``MalformedEncoding`` for bytes that are cut off or damaged, ``UnknownVersion`` and ``UnknownEvent`` for
    bytes of another release, ``IncompleteHand`` for a hand without its start or its settlement.
    """
    header, plain_events = load_versioned(raw, 2)
    if type(header) is not list or len(header) != len(_HEADER):
        raise MalformedEncoding(f"the head of a record has {len(_HEADER)} fields")
    values = {name: decode(part) for (name, _, decode), part in zip(_HEADER, header, strict=True)}
    if type(plain_events) is not list:
        raise MalformedEncoding("the events of a record are an array")
    events: list[TimedEvent] = []
    for plain in plain_events:
        if type(plain) is not list or not plain or type(plain[0]) is not int:
            raise MalformedEncoding("an event of a record starts with its offset")
        event = event_from_plain(plain[1:])
        if type(event) not in HAND_EVENTS:
            raise MalformedEncoding(f"{type(event).__name__} is no event of a hand")
        events.append(TimedEvent(plain[0], event))  # type: ignore[arg-type]
    check_whole(events, values["hand"])
    if any(len(values[name]) != 4 for name in ("players", "points_before", "nonces")):
        raise MalformedEncoding("a record has four seats")
    return HandRecord(**values, events=tuple(events))


def check_whole(events: Sequence[TimedEvent], hand: int) -> None:
    """Raise ``IncompleteHand`` unless these are the events of that hand, from its start to its settlement."""
    if not events or not isinstance(events[0].event, HandStarted) or events[0].event.hand != hand:
        raise IncompleteHand(f"the events do not begin with the start of hand {hand}")
    if events[0].event.wall is None:
        raise IncompleteHand("the wall is hidden: these are a viewer's events")
    if not isinstance(events[-1].event, HandSettled):
        raise IncompleteHand("the events do not end with the settlement")
    if not any(isinstance(timed.event, HandWon | HandDrawn) for timed in events):
        raise IncompleteHand("the hand has no result")


_HEADER: tuple[tuple[str, Encoder | None, Decoder], ...] = tuple(
    (name, *codec_of(kind))
    for name, kind in (
        ("algorithm", str),
        ("table_id", str),
        ("settings", TableSettings),
        ("hand", int),
        ("dealer", int),
        ("dealer_changes", int),
        ("dealer_wins", int),
        ("prevailing_wind", int),
        ("moment", int),
        ("unit_id", str),
        ("rated", bool),
        ("players", tuple[Occupant, ...]),
        ("points_before", tuple[int, ...]),
        ("started_ms", int),
        ("server_seed", bytes),
        ("nonces", tuple[SeatNonce, ...]),
        ("match_places", tuple[int, ...]),
    )
)
