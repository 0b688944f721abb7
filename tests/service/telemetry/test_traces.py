"""Traces leave over OTLP; one of them goes from the socket through gateway, table, scoring and Kafka to the rating."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from libs.chassis.telemetry_contract import metrics
from libs.chassis.telemetry_contract.labels import TOPICS
from libs.chassis.telemetry_contract.spans import SPANS
from tests.service.fleet import HKOS, QUICK, House, StartFleet, easy, merged, open_house
from tests.service.telemetry.exported import families
from tests.service.telemetry.receiver import Receiver, Span

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(300)]

PATIENCE_S = 120.0

SETTLE = "eastwind.scoring.v1.ScoringService/SettleHand"
WAY = [
    ("gateway", "edge command"),
    ("table", "table command"),
    ("table", "table settle"),
    ("table", SETTLE),
    ("scoring", SETTLE),
    ("table", "eastwind.hands.v1 publish"),
    ("ratings", "eastwind.hands.v1 handle"),
    ("ratings", "eastwind.ratings.v1 publish"),
    ("gateway", "eastwind.ratings.v1 handle"),
]
"""The spans from a winning action on the socket to the changed ratings on the socket."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def receiver() -> AsyncIterator[Receiver]:
    receiver = Receiver()
    yield receiver
    await receiver.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def traced(receiver: Receiver, start_fleet: StartFleet) -> AsyncIterator[House]:
    """Players at a fleet that records every trace."""
    every = {**QUICK[""], "otlp_endpoint": await receiver.start(), "trace_ratio": 1.0}
    async with open_house(await start_fleet(merged({"": every}))) as house:
        yield house


async def win_a_hand(house: House) -> None:
    """Four guests play rated hands until one is won."""
    players = await asyncio.gather(*(house.guest() for _ in range(4)))
    table_id = (await asyncio.gather(*(player.enter_queue(HKOS, rated=True) for player in players)))[0]
    hands = 1
    while True:
        results = await house.play(table_id, players, [easy] * 4, hands=hands)
        if results[0][-1].settled.HasField("winner"):
            return
        hands = 2  # the settled hand that a player finds at the table is its first


def goes_all_the_way(spans: list[Span]) -> bool:
    return set(WAY) <= {(span.service, span.name) for span in spans}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def spans(receiver: Receiver, traced: House) -> list[Span]:
    """The spans of the trace of a winning action."""
    await win_a_hand(traced)
    found = await receiver.find(goes_all_the_way, within_s=PATIENCE_S)
    assert found is not None, sorted({(s.service, s.name) for spans in receiver.traces.values() for s in spans})
    return found[1]


async def test_one_trace_goes_from_the_socket_to_the_rating(spans: list[Span]) -> None:
    by_id = {span.span_id: span for span in spans}
    (root,) = [span for span in spans if not span.parent_id]
    assert (root.service, root.name) == WAY[0]
    for span in spans:
        while span.parent_id:
            span = by_id[span.parent_id]
        assert span is root
    assert root.attributes["eastwind.answer"] == "accepted"


async def test_a_bots_turn_or_a_tick_does_not_carry_on_the_trace_of_an_action(
    receiver: Receiver, traced: House
) -> None:
    await win_a_hand(traced)
    assert await receiver.find(goes_all_the_way, within_s=60) is not None
    for spans in receiver.traces.values():
        assert sum(span.name == "edge command" for span in spans) <= 1
        assert sum(span.name == "table command" for span in spans) <= 1


async def test_spans_and_their_attributes_are_those_of_the_contract(receiver: Receiver, spans: list[Span]) -> None:
    assert spans
    patterns = {
        re.compile(
            re.escape(kind.name)
            .replace(re.escape("{package.Service}/{Method}"), r"[a-z0-9.]+\.[A-Za-z]+/[A-Za-z]+")
            .replace(re.escape("{topic}"), "|".join(map(re.escape, TOPICS)).join(("(", ")")))
        ): kind
        for kind in SPANS
    }
    for span in {span for each in receiver.traces.values() for span in map(_frozen, each)}:
        kinds = [kind for pattern, kind in patterns.items() if pattern.fullmatch(span[1])]
        assert kinds, span
        assert span[0] in kinds[0].services, span
        assert set(span[2]) <= set(kinds[0].attributes), span


def _frozen(span: Span) -> tuple[str, str, tuple[str, ...]]:
    return span.service, span.name, tuple(span.attributes)


async def test_latency_histograms_point_to_recorded_traces(
    receiver: Receiver, traced: House, spans: list[Span]
) -> None:
    assert spans
    places = [
        ("gateway", metrics.EDGE_ACTION),
        ("table", metrics.TABLE_ACTION),
        ("scoring", metrics.RPC_SERVER),
        ("table", metrics.RPC_CLIENT),
    ]
    for service, metric in places:
        found = await families(traced.http, traced.fleet.services[service][0].http_address)
        ids = {sample.exemplar.labels["trace_id"] for sample in found[metric.name].samples if sample.exemplar}
        assert ids, metric.name
        known = await receiver.find(lambda _, ids=ids: bool(ids & receiver.traces.keys()), within_s=PATIENCE_S)  # type: ignore[misc]
        assert known is not None, metric.name
