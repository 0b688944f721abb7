"""What goes through protobuf comes back as it was, and what makes no sense is refused by name (field case C097)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

import pytest
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from eastwind.history.v1 import record_pb2
from eastwind.scoring.v1 import score_pb2
from eastwind.table.v1 import event_pb2, view_pb2
from eastwind.type.v1 import action_pb2, reason_pb2, settings_pb2, tile_pb2
from libs.contracts.bot_views import hand_view_from_proto
from libs.contracts.events import HAND_EVENT_TYPES, hand_event_from_proto, hand_event_to_proto
from libs.contracts.reasons import reason_name, reason_value
from libs.contracts.records import record_from_proto, record_id, record_to_proto
from libs.contracts.scores import (
    hand_score_from_proto,
    hand_score_to_proto,
    settlement_from_proto,
    settlement_to_proto,
    situation_from_proto,
    situation_to_proto,
)
from libs.contracts.settings import player_from_proto, player_to_proto, settings_from_proto, settings_to_proto
from libs.contracts.tiles import (
    InvalidMessage,
    action_from_proto,
    action_to_proto,
    meld_from_proto,
    meld_to_proto,
    tiles_from_proto,
)
from libs.contracts.views import view_message
from libs.mahjong.clocks import BLITZ, BULLET, RELAXED, STANDARD, UNTIMED
from libs.mahjong.engine.actions import Action, ActionType, Reason
from libs.mahjong.engine.events import HandWon
from libs.mahjong.engine.hand import win_situation
from libs.mahjong.engine.ruleset import UnknownRuleset, ruleset
from libs.mahjong.engine.table_events import Occupant, OccupantKind, TableSettings
from libs.mahjong.fairness import UnknownAlgorithm
from libs.mahjong.melds import added_kong, chow, claimed_kong, concealed_kong, pung
from libs.mahjong.record import HandRecord, replay
from libs.mahjong.scores import Circumstance, Holding, WinMethod, WinSituation
from libs.mahjong.tiles import TILE_COUNT
from libs.mahjong.verification import verify
from tests.unit.contracts.messages import RULESETS, played, spoil

M = TypeVar("M", bound=Message)


def through(message: M) -> M:
    """The message as it comes out at the other end."""
    return type(message).FromString(message.SerializeToString())


def records() -> list[HandRecord]:
    return [record for ruleset_id in RULESETS for table in played(ruleset_id) for record in table.records]


tiles = st.integers(0, TILE_COUNT - 1)
seats = st.integers(0, 3)
kinds = st.integers(0, 33)


@st.composite
def melds(draw: st.DrawFn) -> Any:
    kind, source = draw(kinds), draw(seats)
    four = list(range(4 * kind, 4 * kind + 4))
    match draw(st.integers(0, 4)):
        case 0:
            start = draw(st.sampled_from([kind for kind in range(27) if kind % 9 <= 6]))
            run = [4 * (start + step) + draw(st.integers(0, 3)) for step in range(3)]
            taken = run.pop(draw(st.integers(0, 2)))
            return chow(run, taken, source)
        case 1:
            four.pop(draw(st.integers(0, 3)))
            return pung(four[1:], four[0], source)
        case 2:
            return concealed_kong(four)
        case 3:
            return claimed_kong(four[1:], four[0], source)
    return added_kong(pung(four[1:3], four[0], source), four[3])


holdings = st.builds(
    Holding,
    st.lists(kinds, max_size=14).map(lambda found: tuple(sorted(found))),
    st.lists(melds(), max_size=4).map(tuple),
    st.lists(st.integers(34, 41), max_size=8).map(tuple),
)
situations = st.builds(
    WinSituation,
    seat_wind=seats,
    prevailing_wind=seats,
    holding=holdings,
    winning=st.none() | kinds,
    method=st.sampled_from(WinMethod),
    source=st.none() | seats,
    circumstances=st.integers(0, 511).map(Circumstance),
    exhausted=st.frozensets(kinds, max_size=5),
    others=st.lists(st.tuples(seats, holdings), max_size=3).map(tuple),
)


@given(st.builds(Action, st.sampled_from(ActionType), st.lists(tiles, max_size=4).map(tuple)))
def test_actions(action: Action) -> None:
    assert action_from_proto(through(action_to_proto(action))) == action


@given(melds())
def test_melds(meld: Any) -> None:
    assert meld_from_proto(through(meld_to_proto(meld))) == meld


@given(situations)
def test_situations(situation: WinSituation) -> None:
    assert situation_from_proto(through(situation_to_proto(situation))) == situation


@pytest.mark.parametrize("control", [BULLET, BLITZ, STANDARD, RELAXED, UNTIMED])
@pytest.mark.parametrize("flags", range(8))
def test_settings(control: Any, flags: int) -> None:
    rated, pacing, private = bool(flags & 1) and control.timed, bool(flags & 2), bool(flags & 4)
    settings = TableSettings("hkos-3-v1", control, rated, pacing, private, "Ein Tisch")
    assert settings_from_proto(through(settings_to_proto(settings))) == settings


@given(
    st.builds(
        lambda account, name, level, guest: Occupant(
            account, name, OccupantKind.BOT if level else OccupantKind.HUMAN, level, guest
        ),
        st.text(st.characters(codec="utf-8"), min_size=1, max_size=64),
        st.text(st.characters(codec="utf-8"), max_size=20),
        st.integers(0, 3),
        st.booleans(),
    )
)
def test_players(player: Occupant) -> None:
    assert player_from_proto(through(player_to_proto(player))) == player
    assert player_from_proto(through(player_to_proto(None))) is None


def test_events_records_scores_and_settlements_of_played_hands() -> None:
    found = set()
    for record in records():
        assert record_from_proto(through(record_to_proto(record))) == record
        assert record_to_proto(record).record_id == record_id(record.table_id, record.hand)
        for timed in record.events:
            found.add(type(timed.event))
            assert hand_event_from_proto(through(hand_event_to_proto(timed.event))) == timed.event
        for score in record.settlement.scores:
            if score is not None:
                assert hand_score_from_proto(through(hand_score_to_proto(score))) == score
        *_, unsettled, _ = replay(record)
        if isinstance(unsettled.result, HandWon):
            situation = win_situation(unsettled, unsettled.result.seat)
            assert situation_from_proto(through(situation_to_proto(situation))) == situation
            settlement = ruleset(record.ruleset_id).settle(situation)
            assert settlement_from_proto(through(settlement_to_proto(settlement))) == settlement
    assert found == HAND_EVENT_TYPES


def test_every_reason_has_one_value() -> None:
    names = [name.removeprefix("REASON_") for name in reason_pb2.Reason.keys()[1:]]
    assert [reason_name(reason_value(name)) for name in names] == names
    assert {reason.value for reason in Reason} <= set(names)
    assert reason_value("NEWER_THAN_THIS") == reason_pb2.REASON_INTERNAL
    assert reason_name(12345) == "INTERNAL"


@pytest.mark.parametrize(
    ("convert", "message", "field"),
    [
        (action_from_proto, action_pb2.Action(type=99), "type"),  # type: ignore[arg-type]
        (action_from_proto, action_pb2.Action(), "type"),
        (action_from_proto, action_pb2.Action(type=1, tiles=[144]), "tiles"),  # type: ignore[arg-type]
        (meld_from_proto, tile_pb2.Meld(kind=99), "meld"),  # type: ignore[arg-type]
        (meld_from_proto, tile_pb2.Meld(kind=2, tiles=[0, 1, 200]), "tiles"),  # type: ignore[arg-type]
        (meld_from_proto, tile_pb2.Meld(kind=2, tiles=[0, 1, 9], claimed=0, source=1), "meld"),  # type: ignore[arg-type]
        (situation_from_proto, score_pb2.WinSituation(method=99), "method"),  # type: ignore[arg-type]
        (
            situation_from_proto,
            score_pb2.WinSituation(method=1, circumstances=[99]),  # type: ignore[arg-type, list-item]
            "circumstances",
        ),
        (hand_score_from_proto, score_pb2.HandScore(items=[score_pb2.ScoreItem(unit=99)]), "unit"),  # type: ignore[arg-type]
        (settlement_from_proto, score_pb2.Settlement(changes=[1, 0, 0, 0]), "changes"),
        (settings_from_proto, settings_pb2.TableSettings(speed=99), "speed"),  # type: ignore[arg-type]
        (player_from_proto, settings_pb2.Player(account_id="a", bot_level=99), "bot_level"),  # type: ignore[arg-type]
        (hand_event_from_proto, event_pb2.TableEvent(), "event"),
        (record_from_proto, record_pb2.HandRecord(format=2), "format"),
        (record_from_proto, record_pb2.HandRecord(format=1), "players"),
        (hand_view_from_proto, view_pb2.TableView(), "viewer"),
    ],
)
def test_c097_what_is_unknown_is_refused_by_its_field(
    convert: Callable[[Any], Any], message: Message, field: str
) -> None:
    with pytest.raises(InvalidMessage) as refused:
        convert(through(message))
    assert field in refused.value.field


def test_c097_an_unknown_kind_of_event_is_told_from_the_end_of_a_record() -> None:
    """A field of a newer release is unknown here; a record cut off says what is missing."""
    message = record_to_proto(records()[0])
    newer = through(message)
    newer.events[5].event.ParseFromString(b"\xfa\x3f\x02\x08\x01")
    with pytest.raises(InvalidMessage, match=r"events\[5\]"):
        record_from_proto(newer)
    cut = through(message)
    del cut.events[1:]
    report = verify(record_from_proto(cut)) if _whole(cut) else None
    assert report is None or not report.passed


def _whole(message: record_pb2.HandRecord) -> bool:
    try:
        record_from_proto(message)
    except InvalidMessage:
        return False
    return True


@pytest.mark.parametrize("seed", range(12))
def test_c097_spoilt_records_never_crash_who_reads_or_verifies_them(seed: int) -> None:
    rng = Random(seed)
    found = records()
    refused = failed = 0
    for _ in range(60):
        message = record_to_proto(rng.choice(found))
        what = spoil(message, rng)
        try:
            record = record_from_proto(through(message))
            failed += not verify(record).passed
        except InvalidMessage:
            refused += 1
        except (UnknownRuleset, UnknownAlgorithm):
            pass
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error
    assert refused > 5
    assert failed > 5


@pytest.mark.parametrize("seed", range(6))
def test_c097_spoilt_messages_are_read_or_refused(seed: int) -> None:
    rng = Random(100 + seed)
    readers: list[tuple[Callable[[Any], Any], list[Message]]] = []
    events, situations_, scores = [], [], []
    for record in records()[::3]:
        events += [hand_event_to_proto(timed.event) for timed in record.events[::5]]
        scores += [hand_score_to_proto(score) for score in record.settlement.scores if score is not None]
        *_, unsettled, _ = replay(record)
        if isinstance(unsettled.result, HandWon):
            situations_.append(situation_to_proto(win_situation(unsettled, unsettled.result.seat)))
    table = played(RULESETS[0])[0]
    settings = settings_to_proto(table.state.settings)
    views = [view_message(table.state, seat, (True,) * 4) for seat in range(4)]
    readers = [
        (hand_event_from_proto, list(events)),
        (situation_from_proto, list(situations_)),
        (hand_score_from_proto, list(scores)),
        (settings_from_proto, [settings]),
        (hand_view_from_proto, list(views)),
    ]
    for read, messages in readers:
        for _ in range(60):
            message = through(rng.choice(messages))
            what = spoil(message, rng)
            try:
                read(message)
            except (InvalidMessage, UnknownRuleset):
                continue
            except Exception as error:
                raise AssertionError(f"{what}: {error!r}") from error


def test_tiles_outside_the_set_are_no_tiles() -> None:
    assert tiles_from_proto([0, 143]) == (0, 143)
    for wrong in (-1, 144, 2**32 - 1):
        with pytest.raises(InvalidMessage):
            tiles_from_proto([wrong])
