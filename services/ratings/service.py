"""`eastwind.ratings.v1.RatingsService`: messages in, messages out."""

from __future__ import annotations

from typing import Final

from sqlalchemy.ext.asyncio import AsyncEngine

import libs.mahjong.variants  # noqa: F401  (registers the rulesets)
from eastwind.ratings.v1 import ratings_service_pb2 as messages
from eastwind.ratings.v1 import ratings_service_pb2_grpc
from libs.chassis.database import is_retriable
from libs.chassis.errors import EastwindError, InvalidRequest, NotFound, Unavailable
from libs.chassis.interceptors import Context
from libs.chassis.page_tokens import PageTokens, page_size
from libs.mahjong.engine.ruleset import rulesets
from services.ratings import reading
from services.ratings.model import START, Rating
from services.ratings.units import ladder_of

MOST_ACCOUNTS: Final = 100
_LONGEST_ID: Final = 200


def adapt_error(error: BaseException) -> EastwindError | None:
    """A database that is away as a status that says so; `None` for other errors."""
    if is_retriable(error):
        return Unavailable("the ratings database does not answer")
    return None


class RatingsServicer(ratings_service_pb2_grpc.RatingsServiceServicer):
    """Answers from the tables; changes nothing."""

    def __init__(self, engine: AsyncEngine, tokens: PageTokens) -> None:
        self._engine = engine
        self._tokens = tokens

    async def GetRatings(  # noqa: N802
        self, request: messages.GetRatingsRequest, context: Context
    ) -> messages.GetRatingsResponse:
        accounts = list(dict.fromkeys(request.account_ids))
        if not accounts or len(accounts) > MOST_ACCOUNTS:
            raise InvalidRequest(f"account_ids: 1 to {MOST_ACCOUNTS} of them")
        for account in accounts:
            _check_account(account, "account_ids")
        asked = _known(request.ruleset) if request.ruleset else ""
        found = {
            (each.account_id, each.ladder): each
            for each in await reading.standings(self._engine, accounts, asked and ladder_of(asked))
        }
        if asked:
            wanted = {ladder_of(asked): asked}
        else:
            wanted = {each.ladder: each.ruleset for each in found.values()}
            wanted |= {ladder_of(rules.id): rules.id for rules in rulesets()}
        return messages.GetRatingsResponse(
            ratings=[
                _rating(account, ruleset, each.rating if (each := found.get((account, ladder))) else START)
                for account in accounts
                for ladder, ruleset in sorted(wanted.items())
            ]
        )

    async def ListLeaderboard(  # noqa: N802
        self, request: messages.ListLeaderboardRequest, context: Context
    ) -> messages.ListLeaderboardResponse:
        ladder = ladder_of(_known(request.ruleset))
        this_list = ("leaderboard", ladder)
        size = page_size(request.page_size)
        after: tuple[float, str] | None = None
        match self._tokens.read(this_list, request.page_token, (float, str)):
            case [float(mu), str(account)]:
                after = (mu, account)
        found = await reading.leaderboard(self._engine, ladder, after, size + 1)
        page = found[:size]
        return messages.ListLeaderboardResponse(
            ratings=[_rating(each.account_id, request.ruleset, each.rating) for each in page],
            next_page_token=(
                self._tokens.write(this_list, (page[-1].rating.mu, page[-1].account_id)) if len(found) > size else ""
            ),
        )

    async def GetHistory(  # noqa: N802
        self, request: messages.GetHistoryRequest, context: Context
    ) -> messages.GetHistoryResponse:
        _check_account(request.account_id, "account_id")
        ladder = ladder_of(_known(request.ruleset)) if request.ruleset else ""
        this_list = ("history", request.account_id, ladder)
        size = page_size(request.page_size)
        before: int | None = None
        match self._tokens.read(this_list, request.page_token, (int,)):
            case [int(change)]:
                before = change
        found = await reading.changes(self._engine, request.account_id, ladder, before, size + 1)
        page = found[:size]
        return messages.GetHistoryResponse(
            changes=[_change(each) for each in page],
            next_page_token=self._tokens.write(this_list, (page[-1].change_id,)) if len(found) > size else "",
        )


def _known(ruleset: str) -> str:
    ladders = {ladder_of(rules.id) for rules in rulesets()}
    if ladder_of(ruleset) not in ladders:
        raise NotFound("ruleset: no ruleset has this id", reason="RULESET_UNKNOWN")
    return ruleset


def _check_account(account: str, field: str) -> None:
    if not account or len(account) > _LONGEST_ID or "\0" in account:
        raise InvalidRequest(f"{field}: no account has such an id")


def _rating(account_id: str, ruleset: str, rating: Rating) -> messages.Rating:
    return messages.Rating(
        account_id=account_id,
        ruleset=ruleset,
        rating=rating.shown,
        uncertainty=rating.uncertainty,
        units=rating.units,
        provisional=rating.provisional,
    )


def _change(change: reading.Change) -> messages.RatingChange:
    return messages.RatingChange(
        account_id=change.account_id,
        ruleset=change.ruleset,
        unit_id=change.unit_id,
        before=change.before,
        after=change.after.shown,
        uncertainty=change.after.uncertainty,
        changed_ms=change.changed_ms,
        placement_tenths=change.placement_tenths,
        provisional=change.after.provisional,
    )
