"""`eastwind.scoring.v1.ScoringService`: stateless, every method may be repeated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import libs.mahjong.variants  # noqa: F401  registers the rulesets
from eastwind.scoring.v1 import score_pb2, scoring_service_pb2, scoring_service_pb2_grpc
from libs.chassis.errors import EastwindError, InvalidRequest, NotFound, Unavailable
from libs.chassis.interceptors import Context
from libs.contracts.scores import (
    hand_score_to_proto,
    holding_from_proto,
    score_item_to_proto,
    settlement_to_proto,
    situation_from_proto,
)
from libs.contracts.tiles import InvalidMessage
from libs.mahjong.engine.ruleset import Ruleset, UnknownRuleset, ruleset, rulesets
from libs.mahjong.scores import HandScore, WinSituation
from libs.mahjong.tiles import COPIES, REGULAR_KINDS
from libs.mahjong.variants import rules_page
from services.scoring.checking import check_situation, check_tiles
from services.scoring.explaining import explain


def adapt_error(error: BaseException) -> EastwindError | None:
    """The errors of messages and of the registry of rulesets as statuses; `None` for others."""
    if isinstance(error, InvalidMessage):
        return InvalidRequest(str(error), metadata={"field": error.field})
    if isinstance(error, UnknownRuleset):
        return NotFound(str(error), reason="RULESET_UNKNOWN", metadata={"ruleset": error.ruleset_id})
    return None


class ScoringServicer(scoring_service_pb2_grpc.ScoringServiceServicer):
    """Answers with the rulesets of `libs.mahjong.variants`; streams end when `draining` is set."""

    def __init__(self, draining: asyncio.Event) -> None:
        self._draining = draining

    async def ScoreHand(  # noqa: N802
        self, request: scoring_service_pb2.ScoreHandRequest, context: Context
    ) -> scoring_service_pb2.ScoreHandResponse:
        preset, situation = _win(request.ruleset, request.situation)
        score = preset.score(situation)
        return scoring_service_pb2.ScoreHandResponse(
            score=hand_score_to_proto(score), settlement=_settlement(preset, situation, score)
        )

    async def ExplainHand(  # noqa: N802
        self, request: scoring_service_pb2.ExplainHandRequest, context: Context
    ) -> scoring_service_pb2.ExplainHandResponse:
        preset = ruleset(request.ruleset)
        for field in ("seat_wind", "prevailing_wind"):
            if getattr(request, field) > 3:
                raise InvalidMessage(field, "winds are 0 to 3")
        holding = holding_from_proto(request.holding)
        check_tiles(holding, "holding")
        tiles = len(holding.concealed) + 3 * len(holding.melds)
        if tiles not in (13, 14):
            raise InvalidMessage("holding", f"{tiles} tiles, a meld counted as 3, instead of 13 or 14")
        unseen = tuple(request.unseen)
        if unseen and (len(unseen) != REGULAR_KINDS or max(unseen) > COPIES):
            raise InvalidMessage("unseen", f"{REGULAR_KINDS} numbers from 0 to {COPIES} are wanted, or none")
        explanation = explain(preset, request.seat_wind, request.prevailing_wind, holding, unseen)
        return scoring_service_pb2.ExplainHandResponse(
            distance=explanation.distance,
            certain=[score_item_to_proto(item) for item in explanation.certain],
            minimum=preset.minimum,
            waits=[
                scoring_service_pb2.Wait(
                    kind=wait.kind,
                    unseen=wait.unseen,
                    on_discard=hand_score_to_proto(wait.on_discard),
                    on_self_draw=hand_score_to_proto(wait.on_self_draw),
                )
                for wait in explanation.waits
            ],
        )

    async def SettleHand(  # noqa: N802
        self, request: scoring_service_pb2.SettleHandRequest, context: Context
    ) -> scoring_service_pb2.SettleHandResponse:
        preset, situation = _win(request.ruleset, request.situation)
        score = preset.score(situation)
        if not score.legal:
            raise InvalidRequest(
                f"the win is not legal: {score.total}, the minimum is {preset.minimum}"
                if score.complete
                else "the tiles are no winning hand",
                reason="BELOW_MINIMUM" if score.complete else "NOT_A_WINNING_HAND",
            )
        return scoring_service_pb2.SettleHandResponse(settlement=_settlement(preset, situation, score))

    async def ScoreMany(  # noqa: N802
        self, request_iterator: AsyncIterator[scoring_service_pb2.ScoreManyRequest], context: Context
    ) -> AsyncIterator[scoring_service_pb2.ScoreManyResponse]:
        draining = asyncio.ensure_future(self._draining.wait())
        try:
            while True:
                coming = asyncio.ensure_future(anext(request_iterator, None))
                try:
                    await asyncio.wait({coming, draining}, return_when=asyncio.FIRST_COMPLETED)
                    if not coming.done():
                        raise Unavailable("this server drains", reason="DRAINING")
                    request = coming.result()
                finally:
                    coming.cancel()
                if request is None:
                    return
                yield _answer(request)
        finally:
            draining.cancel()

    async def ListVariants(  # noqa: N802
        self, request: scoring_service_pb2.ListVariantsRequest, context: Context
    ) -> scoring_service_pb2.ListVariantsResponse:
        return scoring_service_pb2.ListVariantsResponse(
            variants=[
                scoring_service_pb2.Variant(
                    id=preset.id,
                    name=preset.name,
                    rules_page=rules_page(preset.id),
                    rated_unit=preset.rated_unit.name.lower(),
                    starting_points=preset.starting_points,
                )
                for preset in rulesets()
            ]
        )


def _win(ruleset_id: str, message: score_pb2.WinSituation) -> tuple[Ruleset, WinSituation]:
    preset = ruleset(ruleset_id)
    situation = situation_from_proto(message)
    check_situation(situation)
    return preset, situation


def _settlement(preset: Ruleset, situation: WinSituation, score: HandScore) -> score_pb2.Settlement | None:
    return settlement_to_proto(preset.settle(situation)) if score.legal else None


def _answer(request: scoring_service_pb2.ScoreManyRequest) -> scoring_service_pb2.ScoreManyResponse:
    """A wrong request is answered in its place; the stream goes on."""
    try:
        preset, situation = _win(request.ruleset, request.situation)
    except (InvalidMessage, UnknownRuleset) as error:
        return scoring_service_pb2.ScoreManyResponse(id=request.id, error=str(error))
    score = preset.score(situation)
    return scoring_service_pb2.ScoreManyResponse(
        id=request.id, score=hand_score_to_proto(score), settlement=_settlement(preset, situation, score)
    )
