"""`eastwind.bots.v1.BotsService`: stateless, the same request always gets the same answer."""

from __future__ import annotations

import time

from eastwind.bots.v1 import bots_service_pb2, bots_service_pb2_grpc
from libs.chassis.errors import EastwindError, InvalidRequest, NotFound
from libs.chassis.interceptors import Context
from libs.chassis.telemetry import Metrics
from libs.chassis.telemetry_contract import metrics as contract
from libs.contracts.bot_views import hand_view_from_proto
from libs.contracts.tiles import InvalidMessage, action_to_proto
from libs.mahjong.bots import Level, decision_seed
from libs.mahjong.engine.ruleset import UnknownRuleset
from services.bots.thinking import Thinker


def adapt_error(error: BaseException) -> EastwindError | None:
    """The errors of messages and of the registry of rulesets as statuses; `None` for others."""
    if isinstance(error, InvalidMessage):
        return InvalidRequest(str(error), metadata={"field": error.field})
    if isinstance(error, UnknownRuleset):
        return NotFound(str(error), reason="RULESET_UNKNOWN", metadata={"ruleset": error.ruleset_id})
    return None


class BotsServicer(bots_service_pb2_grpc.BotsServiceServicer):
    """Answers with the players of `libs.mahjong.bots`."""

    def __init__(self, thinker: Thinker, metrics: Metrics) -> None:
        self._thinker = thinker
        self._seconds = metrics.histogram(contract.BOT_DECISION)
        waiting = metrics.gauge(contract.BOTS_WAITING)
        waiting.set_function(lambda: thinker.waiting)

    async def Decide(  # noqa: N802
        self, request: bots_service_pb2.DecideRequest, context: Context
    ) -> bots_service_pb2.DecideResponse:
        try:
            level = Level(request.level)
        except ValueError as error:
            raise InvalidMessage("level", f"{request.level} is no level of a computer player") from error
        started = time.perf_counter()
        view = request.view
        hand = hand_view_from_proto(view)
        seed = decision_seed(view.table_id, view.hand, view.decision.decision, view.viewer)
        action = await self._thinker.choose(hand, level, seed)
        self._seconds.labels(level.name.lower()).observe(time.perf_counter() - started)
        return bots_service_pb2.DecideResponse(action=action_to_proto(action))
