"""The bots service on a real server: decisions, their repetition, what it refuses and what it tells."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import grpc
import pytest
import pytest_asyncio

from eastwind.bots.v1 import bots_service_pb2, bots_service_pb2_grpc
from eastwind.table.v1 import view_pb2
from libs.chassis.channels import Channels
from libs.chassis.errors import EastwindError, PermissionDenied
from libs.chassis.settings import read
from libs.chassis.telemetry import Telemetry
from libs.contracts.tiles import action_from_proto
from libs.contracts.views import view_message
from libs.mahjong.bots import Level, choose, decision_seed
from libs.mahjong.engine.views import view_of
from libs.mahjong.simulation import SimulatedTable, derived_seed, seeded_policy
from services.bots.app import BotsService
from services.bots.settings import BotsSettings

KEY = "a key that all services share"
SEED = b"bots service"


def table_at(decisions: int) -> SimulatedTable:
    """A table after so many answers of its first hand."""
    table = SimulatedTable.open("hkos-3-v1", [seeded_policy(derived_seed(SEED, seat)) for seat in range(4)], SEED)
    table.get_ready()
    for _ in range(decisions):
        table.answer()
    return table


def request(table: SimulatedTable, level: int) -> bots_service_pb2.DecideRequest:
    """What a table worker asks for the first seat that is awaited."""
    view = view_message(table.state, table.state.awaited[0], (True,) * 4)
    return bots_service_pb2.DecideRequest(view=view, level=level)  # type: ignore[arg-type]


class Running:
    """A service, and stubs to it in the name of any other."""

    def __init__(self, **settings: Any) -> None:
        self.settings = read(BotsSettings, service_key=KEY, **settings)
        self.service = BotsService(self.settings)
        self._channels: list[Channels] = []

    def stub(self, caller: str = "table") -> Any:
        channels = Channels(caller, self.settings, Telemetry(caller))
        self._channels.append(channels)
        return bots_service_pb2_grpc.BotsServiceStub(channels.at(self.service.grpc_address, timeout_s=20))

    async def stop(self) -> None:
        for channels in self._channels:
            await channels.close()
        await self.service.stop(1.0)


@pytest_asyncio.fixture
async def running() -> AsyncIterator[Running]:
    running = Running()
    await running.service.start()
    try:
        yield running
    finally:
        await running.stop()


@pytest.mark.parametrize("level", list(Level))
async def test_the_answer_is_what_the_player_chooses_and_stays_the_same(running: Running, level: Level) -> None:
    stub = running.stub()
    for decisions in (0, 7, 15):
        table = table_at(decisions)
        seat, hand = table.state.awaited[0], table.state.hand
        assert hand is not None
        assert hand.decision is not None
        seed = decision_seed(table.state.table_id, table.state.hand_number, hand.decision.decision, seat)
        expected = choose(view_of(hand, seat), level, seed=seed)
        for _ in range(2):
            answer = await stub.Decide(request(table, level))
            assert action_from_proto(answer.action) == expected


async def test_many_tables_are_answered_at_once(running: Running) -> None:
    stub = running.stub()
    wanted = [request(table_at(decisions), Level.HARD) for decisions in range(12)]
    answers = await asyncio.gather(*(stub.Decide(one) for one in wanted))
    for one, answer in zip(wanted, answers, strict=True):
        assert answer.action in [option.action for option in one.view.decision.options]


def test_every_decision_has_its_own_seed() -> None:
    named = [
        (table, hand, decision, seat) for table in "ab" for hand in (1, 11) for decision in (1, 11) for seat in (0, 1)
    ]
    assert len({decision_seed(*one) for one in named}) == len(named)
    assert decision_seed("a", 1, 2, 3) == decision_seed("a", 1, 2, 3)


@pytest.mark.parametrize(
    ("change", "code", "reason"),
    [
        ("level", grpc.StatusCode.INVALID_ARGUMENT, "INVALID_ARGUMENT"),
        ("viewer", grpc.StatusCode.INVALID_ARGUMENT, "INVALID_ARGUMENT"),
        ("options", grpc.StatusCode.INVALID_ARGUMENT, "INVALID_ARGUMENT"),
        ("ruleset", grpc.StatusCode.NOT_FOUND, "RULESET_UNKNOWN"),
        ("empty", grpc.StatusCode.INVALID_ARGUMENT, "INVALID_ARGUMENT"),
    ],
)
async def test_what_cannot_be_decided_is_refused(
    running: Running, change: str, code: grpc.StatusCode, reason: str
) -> None:
    wanted = request(table_at(3), Level.EASY)
    if change == "level":
        wanted.ClearField("level")
    elif change == "viewer":
        wanted.view.ClearField("viewer")
    elif change == "options":
        del wanted.view.decision.options[:]
    elif change == "ruleset":
        wanted.view.settings.ruleset = "hkos-4-v9"
    else:
        wanted.view.CopyFrom(view_pb2.TableView())
    with pytest.raises(EastwindError) as refused:
        await running.stub().Decide(wanted)
    assert (refused.value.code, refused.value.reason) == (code, reason)


@pytest.mark.parametrize("caller", ["gateway", "operator", "matchmaking"])
async def test_only_tables_may_ask(running: Running, caller: str) -> None:
    with pytest.raises(PermissionDenied):
        await running.stub(caller).Decide(request(table_at(3), Level.EASY))


async def test_more_than_the_bound_is_refused_at_once_and_the_rest_is_answered() -> None:
    running = Running(decide_queue=1)
    await running.service.start()
    try:
        stub = running.stub()
        wanted = request(table_at(15), Level.HARD)
        answers = await asyncio.gather(*(stub.Decide(wanted) for _ in range(40)), return_exceptions=True)
        refused = [one for one in answers if isinstance(one, EastwindError)]
        assert {(one.code, one.reason, one.retriable) for one in refused} <= {
            (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED", True)
        }
        assert len(refused) < len(answers)
        assert (await stub.Decide(wanted)).action in [option.action for option in wanted.view.decision.options]
    finally:
        await running.stop()


async def test_a_decision_that_takes_too_long_is_given_up() -> None:
    running = Running(decide_timeout_s=0.000001)
    await running.service.start()
    try:
        with pytest.raises(EastwindError) as given_up:
            await running.stub().Decide(request(table_at(15), Level.HARD))
        assert given_up.value.code is grpc.StatusCode.UNAVAILABLE
        assert given_up.value.retriable
    finally:
        await running.stop()


async def test_decisions_are_measured_by_level(running: Running) -> None:
    await running.stub().Decide(request(table_at(3), Level.HARD))
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"http://{running.service.http_address}/metrics") as answer,
    ):
        text = await answer.text()
    assert 'eastwind_bots_decision_seconds_count{kind="hard"} 1.0' in text
    assert "eastwind_bots_decisions_waiting 0.0" in text


async def test_two_services_run_side_by_side(running: Running) -> None:
    other = Running()
    await other.service.start()
    try:
        wanted = request(table_at(9), Level.HARD)
        assert await running.stub().Decide(wanted) == await other.stub().Decide(wanted)
    finally:
        await other.stop()
