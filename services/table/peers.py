"""What a table asks of other services: the settlement of a hand, and what a computer player does."""

from __future__ import annotations

from typing import Final

import structlog

from eastwind.bots.v1 import bots_service_pb2, bots_service_pb2_grpc
from eastwind.scoring.v1 import scoring_service_pb2, scoring_service_pb2_grpc
from eastwind.type.v1 import settings_pb2
from libs.chassis.channels import Channels
from libs.chassis.errors import EastwindError
from libs.chassis.telemetry import Metrics
from libs.chassis.telemetry_contract import metrics as contract
from libs.contracts.scores import settlement_from_proto, situation_to_proto
from libs.contracts.tiles import InvalidMessage, action_from_proto
from libs.contracts.views import view_message
from libs.mahjong.bots import Level, choose, decision_seed
from libs.mahjong.engine.actions import Action
from libs.mahjong.engine.events import HandSettled, HandWon
from libs.mahjong.engine.situations import settled, settlement_of, win_situation
from libs.mahjong.engine.table_state import SEATS, TableState
from libs.mahjong.engine.views import view_of
from libs.mahjong.tiles import Seat

SETTLE_TRIES: Final = 2
SETTLE_TIMEOUT_S: Final = 1.0
DECIDE_TIMEOUT_S: Final = 3.0
_DECIDE: Final = "eastwind.bots.v1.BotsService/Decide"
_log = structlog.get_logger(__name__)


class Peers:
    """The scoring and the bots service as a table sees them."""

    def __init__(self, channels: Channels, metrics: Metrics) -> None:
        self._scoring = scoring_service_pb2_grpc.ScoringServiceStub(channels.to("scoring"))
        self._bots = bots_service_pb2_grpc.BotsServiceStub(channels.to("bots", idempotent=[_DECIDE]))
        self._settled = metrics.counter(contract.SETTLEMENTS)
        self._missing = metrics.counter(contract.BOT_MISSES)

    async def settle(self, state: TableState) -> HandSettled:
        """Return the settlement of the finished hand: the scoring service's, or after two tries within two seconds the
        same library's."""
        hand = state.hand
        assert hand is not None
        if not isinstance(hand.result, HandWon):
            return settlement_of(hand)
        request = scoring_service_pb2.SettleHandRequest(
            ruleset=state.settings.ruleset_id, situation=situation_to_proto(win_situation(hand, hand.result.seat))
        )
        for _ in range(SETTLE_TRIES):
            try:
                response = await self._scoring.SettleHand(request, timeout=SETTLE_TIMEOUT_S)
                settlement = settled(hand, settlement_from_proto(response.settlement))
            except (EastwindError, InvalidMessage, ValueError) as error:
                _log.warning("scoring did not settle", table_id=state.table_id, error=str(error))
            else:
                self._settled.labels("scoring").inc()
                return settlement
        self._settled.labels("library").inc()
        return settlement_of(hand)

    async def think(self, state: TableState, seat: Seat) -> Action:
        """Return what the computer player of a seat, which is asked, does: the bots service's choice, or, when that
        does not say in time, what the easiest of the same players would do. Nobody waits for a computer's clock to run
        out because a service is away, and the easy player takes too little time to be felt at other tables."""
        occupant = state.occupants[seat]
        assert occupant is not None
        request = bots_service_pb2.DecideRequest(
            view=view_message(state, seat, (True,) * SEATS), level=settings_pb2.BotLevel.ValueType(occupant.level)
        )
        try:
            response = await self._bots.Decide(request, timeout=DECIDE_TIMEOUT_S)
            return action_from_proto(response.action)
        except (EastwindError, InvalidMessage) as error:
            self._missing.inc()
            _log.warning("no decision of a computer player", table_id=state.table_id, error=str(error))
        hand = state.hand
        assert hand is not None
        assert hand.decision is not None
        seed = decision_seed(state.table_id, state.hand_number, hand.decision.decision, seat)
        return choose(view_of(hand, seat), Level.EASY, seed=seed)
