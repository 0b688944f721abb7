"""The scoring service on a real server: all vectors, explanations, and what it refuses."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from importlib import resources
from typing import Any

import aiohttp
import grpc
import pytest
import pytest_asyncio

from eastwind.scoring.v1 import score_pb2, scoring_service_pb2, scoring_service_pb2_grpc
from libs.chassis.channels import Channels
from libs.chassis.errors import EastwindError, PermissionDenied
from libs.chassis.settings import read
from libs.chassis.telemetry import Telemetry
from libs.contracts.scores import hand_score_from_proto, settlement_from_proto, situation_to_proto
from libs.mahjong.engine.ruleset import Ruleset, rulesets
from libs.mahjong.notation import parse_line, read_situation
from libs.mahjong.tiles import parse_kinds
from services.scoring.app import ScoringService
from services.scoring.settings import ScoringSettings
from tests.unit.mahjong.variants.hands import vector

GOLDEN = resources.files("libs.mahjong.variants.hkos").joinpath("golden")
KEY = "a key that all services share"


class Running:
    """A service, and stubs to it in the name of any other."""

    def __init__(self) -> None:
        self.settings = read(ScoringSettings, service_key=KEY)
        self.service = ScoringService(self.settings)
        self._channels: list[Channels] = []

    def stub(self, caller: str = "gateway") -> Any:
        channels = Channels(caller, self.settings, Telemetry(caller))
        self._channels.append(channels)
        channel = channels.at(self.service.grpc_address, timeout_s=20)
        return scoring_service_pb2_grpc.ScoringServiceStub(channel)

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


def win(**changes: Any) -> score_pb2.WinSituation:
    """The message of a self-drawn win worth 3 faan."""
    return situation_to_proto(read_situation(vector("234m567m345p67s99p", by="8s") | changes)[1])


def wrong(score: score_pb2.HandScore, settlement: score_pb2.Settlement | None, expected: dict[str, Any]) -> bool:
    """Whether an answer differs from a vector's `expected`."""
    found: dict[str, Any] = {"legal": score.legal}
    if score.complete:
        found |= {"items": Counter((item.name, item.amount) for item in score.items), "total": score.total}
    if settlement is not None:
        found |= {"faan": score.value, "payments": dict(zip("ESWN", settlement.changes, strict=True))}
        found["sums"] = settlement.scores[settlement.winner].score == score
    wanted: dict[str, Any] = dict(expected)
    if "items" in wanted:
        wanted["items"] = Counter(map(tuple, wanted["items"]))
    if settlement is not None:
        wanted["sums"] = True
    elif "items" not in wanted:
        found.pop("items", None)
    return found != wanted


def hong_kong_lines() -> list[str]:
    """Every vector and golden hand of Hong Kong Old Style."""
    return [
        line
        for name in ("vectors/worked.jsonl", "vectors/random.jsonl", "hands.jsonl")
        for line in GOLDEN.joinpath(name).read_text(encoding="utf-8").splitlines()
    ]


async def test_every_vector_comes_out_as_expected_on_one_stream(running: Running) -> None:
    lines = hong_kong_lines()

    async def requests() -> AsyncIterator[scoring_service_pb2.ScoreManyRequest]:
        for number, line in enumerate(lines):
            preset, situation = parse_line(line)
            yield scoring_service_pb2.ScoreManyRequest(
                id=number, ruleset=preset.id, situation=situation_to_proto(situation)
            )

    answers = [answer async for answer in running.stub().ScoreMany(requests())]
    assert [answer.id for answer in answers] == list(range(len(lines)))
    assert [answer.error for answer in answers if answer.error] == []
    assert not_as_expected(lines, answers) == []


async def test_every_vector_comes_out_as_expected_one_call_each(running: Running) -> None:
    lines = hong_kong_lines()
    stub = running.stub()
    answers = []
    for line in lines:
        preset, situation = parse_line(line)
        request = scoring_service_pb2.ScoreHandRequest(ruleset=preset.id, situation=situation_to_proto(situation))
        answers.append(await stub.ScoreHand(request, timeout=5))
    assert not_as_expected(lines, answers) == []


def not_as_expected(
    lines: Sequence[str],
    answers: Sequence[scoring_service_pb2.ScoreManyResponse] | Sequence[scoring_service_pb2.ScoreHandResponse],
) -> list[str]:
    """The ids of the vectors whose answer is another than the one they expect."""
    return [
        one["id"]
        for one, answer in zip(map(json.loads, lines), answers, strict=True)
        if wrong(answer.score, answer.settlement if answer.HasField("settlement") else None, one["expected"])
    ]


def golden_lines(preset: Ruleset) -> list[str]:
    """Every line of the ruleset's golden files."""
    golden = resources.files(type(preset).__module__).joinpath("golden")
    files = [*golden.iterdir(), *golden.joinpath("vectors").iterdir()]
    return [line for file in files if file.is_file() for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("preset", rulesets(), ids=lambda preset: preset.id)
async def test_the_service_scores_and_settles_like_the_ruleset_itself(running: Running, preset: Ruleset) -> None:
    lines = golden_lines(preset)

    async def requests() -> AsyncIterator[scoring_service_pb2.ScoreManyRequest]:
        for number, line in enumerate(lines):
            situation = situation_to_proto(parse_line(line)[1])
            yield scoring_service_pb2.ScoreManyRequest(id=number, ruleset=preset.id, situation=situation)

    answers = [answer async for answer in running.stub().ScoreMany(requests())]
    assert len(answers) == len(lines) > 0
    for line, answer in zip(lines, answers, strict=True):
        situation = parse_line(line)[1]
        score = preset.score(situation)
        assert hand_score_from_proto(answer.score) == score
        assert answer.HasField("settlement") is score.legal
        if score.legal:
            assert settlement_from_proto(answer.settlement) == preset.settle(situation)


async def test_one_hand_is_scored_and_settled(running: Running) -> None:
    scored = await running.stub().ScoreHand(
        scoring_service_pb2.ScoreHandRequest(ruleset="hkos-3-v1", situation=win()), timeout=5
    )
    settled = await running.stub("table").SettleHand(
        scoring_service_pb2.SettleHandRequest(ruleset="hkos-3-v1", situation=win()), timeout=5
    )
    assert scored.score.legal
    assert scored.settlement == settled.settlement
    assert [(payment.payer, payment.payee, payment.amount) for payment in settled.settlement.payments] == [
        (0, 1, 4),
        (2, 1, 4),
        (3, 1, 4),
    ]


async def test_a_score_below_the_minimum_has_no_settlement(running: Running) -> None:
    below = win(method="discard", **{"from": "E"})
    scored = await running.stub().ScoreHand(
        scoring_service_pb2.ScoreHandRequest(ruleset="hkos-3-v1", situation=below), timeout=5
    )
    assert (scored.score.legal, scored.score.complete, scored.score.total) == (False, True, 2)
    assert not scored.HasField("settlement")


@pytest.mark.parametrize(
    ("situation", "reason"),
    [(win(method="discard", **{"from": "E"}), "BELOW_MINIMUM"), (win(win="7s"), "NOT_A_WINNING_HAND")],
)
async def test_only_legal_wins_are_settled(running: Running, situation: score_pb2.WinSituation, reason: str) -> None:
    with pytest.raises(EastwindError) as refused:
        await running.stub("table").SettleHand(
            scoring_service_pb2.SettleHandRequest(ruleset="hkos-3-v1", situation=situation), timeout=5
        )
    assert (refused.value.reason, refused.value.code) == (reason, grpc.StatusCode.INVALID_ARGUMENT)


def broken(**fields: Any) -> score_pb2.WinSituation:
    """A win with some fields of the message replaced; `None` clears."""
    message = win()
    for name, value in fields.items():
        message.ClearField(name)  # type: ignore[arg-type]
        if value is not None:
            message.MergeFrom(score_pb2.WinSituation(**{name: value}))
    return message


FIFTH = score_pb2.Holding(concealed=parse_kinds("888s88s99p345p567m"))
BROKEN = [
    (broken(winning=34), "situation.winning"),
    (broken(winning=None), "situation.holding"),
    (broken(method=0), "situation.method"),
    (broken(source=2), "situation.source"),
    (broken(seat_wind=4), "situation.seat_wind"),
    (broken(circumstances=[77]), "situation.circumstances"),
    (broken(holding=FIFTH), "situation.holding"),
    (broken(holding=score_pb2.Holding(concealed=[0] * 13)), "situation.holding"),
    (broken(holding=score_pb2.Holding(concealed=parse_kinds("234m"))), "situation.holding"),
]


@pytest.mark.parametrize(("situation", "field"), BROKEN)
async def test_a_situation_that_cannot_be_is_refused_by_its_field(
    running: Running, situation: score_pb2.WinSituation, field: str
) -> None:
    with pytest.raises(EastwindError) as refused:
        await running.stub().ScoreHand(
            scoring_service_pb2.ScoreHandRequest(ruleset="hkos-3-v1", situation=situation), timeout=5
        )
    assert (refused.value.reason, refused.value.metadata) == ("INVALID_ARGUMENT", {"field": field})


async def test_a_wrong_request_on_a_stream_is_answered_in_its_place(running: Running) -> None:
    requests = [
        scoring_service_pb2.ScoreManyRequest(id=7, ruleset="hkos-3-v1", situation=broken(winning=34)),
        scoring_service_pb2.ScoreManyRequest(id=8, ruleset="tea", situation=win()),
        scoring_service_pb2.ScoreManyRequest(id=9, ruleset="hkos-3-v1", situation=win()),
    ]
    answers = [answer async for answer in running.stub().ScoreMany(iter(requests))]
    assert [answer.id for answer in answers] == [7, 8, 9]
    assert ["situation.winning" in answers[0].error, "'tea'" in answers[1].error, answers[2].error] == [True, True, ""]
    assert answers[2].score.legal


async def test_an_unknown_ruleset_is_not_found(running: Running) -> None:
    with pytest.raises(EastwindError) as refused:
        await running.stub().ScoreHand(scoring_service_pb2.ScoreHandRequest(ruleset="tea", situation=win()), timeout=5)
    assert (refused.value.reason, refused.value.code) == ("RULESET_UNKNOWN", grpc.StatusCode.NOT_FOUND)


async def test_a_holding_is_explained_with_its_waits(running: Running) -> None:
    pung = situation_to_proto(read_situation(vector("234p678m45s99p", "pung(2z)", by="3s", bonus="2f"))[1])
    unseen = [4] * 34
    unseen[parse_kinds("6s")[0]] = 1
    explained = await running.stub().ExplainHand(
        scoring_service_pb2.ExplainHandRequest(
            ruleset="hkos-3-v1", seat_wind=1, prevailing_wind=1, holding=pung.holding, unseen=unseen
        ),
        timeout=5,
    )
    assert (explained.distance, explained.minimum) == (0, 3)
    assert [item.name for item in explained.certain] == ["Seat wind", "Prevailing wind", "Own flower"]
    assert [(wait.kind, wait.unseen) for wait in explained.waits] == [
        (parse_kinds("3s")[0], 4),
        (parse_kinds("6s")[0], 1),
    ]
    assert [(wait.on_discard.total, wait.on_self_draw.total) for wait in explained.waits] == [(3, 4)] * 2


async def test_a_complete_holding_is_explained_without_waits(running: Running) -> None:
    complete = score_pb2.Holding(concealed=parse_kinds("234m567m345p678s99p"))
    explained = await running.stub().ExplainHand(
        scoring_service_pb2.ExplainHandRequest(ruleset="hkos-3-v1", holding=complete), timeout=5
    )
    assert (explained.distance, list(explained.waits), list(explained.certain)) == (-1, [], [])


async def test_a_fifth_copy_is_never_waited_for(running: Running) -> None:
    kong = situation_to_proto(read_situation(vector("234p678m45s99p", "kong(3s)", by="6s"))[1])
    explained = await running.stub().ExplainHand(
        scoring_service_pb2.ExplainHandRequest(ruleset="hkos-3-v1", holding=kong.holding), timeout=5
    )
    assert [(wait.kind, wait.unseen) for wait in explained.waits] == [(parse_kinds("6s")[0], 4)]


async def test_the_rulesets_are_listed_with_their_pages(running: Running) -> None:
    listed = await running.stub().ListVariants(scoring_service_pb2.ListVariantsRequest(), timeout=5)
    by_id = {variant.id: variant for variant in listed.variants}
    assert list(by_id) == sorted(by_id)
    hkos = by_id["hkos-3-v1"]
    assert (hkos.name, hkos.rated_unit, hkos.starting_points) == ("Hong Kong Old Style", "hand", 0)
    assert hkos.rules_page.startswith("# Hong Kong Old Style")


async def test_only_the_table_may_ask_for_a_settlement(running: Running) -> None:
    with pytest.raises(EastwindError) as refused:
        await running.stub("gateway").SettleHand(scoring_service_pb2.SettleHandRequest(), timeout=5)
    assert refused.value.reason == PermissionDenied.reason


async def test_a_quiet_stream_ends_when_the_service_drains(running: Running) -> None:
    stream: Any = running.stub().ScoreMany()
    await stream.write(scoring_service_pb2.ScoreManyRequest(id=1, ruleset="hkos-3-v1", situation=win()))
    assert (await stream.read()).id == 1
    stopping = asyncio.create_task(running.service.stop(30.0))
    with pytest.raises(EastwindError) as ended:
        await stream.read()
    assert (ended.value.reason, ended.value.retriable) == ("DRAINING", True)
    async with asyncio.timeout(10):
        await stopping


async def test_the_probes_answer(running: Running) -> None:
    async with aiohttp.ClientSession() as session:
        for path in ("healthz", "readyz", "metrics"):
            async with session.get(f"http://{running.service.http_address}/{path}") as response:
                assert response.status == 200
