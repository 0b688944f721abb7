"""What callers read: ratings, the leaderboard, an account's history; and who may."""

from __future__ import annotations

from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from eastwind.ratings.v1 import ratings_service_pb2 as messages
from libs.chassis.errors import InvalidRequest, NotFound, PermissionDenied
from libs.chassis.events import HANDS
from libs.chassis.settings import SettingsError, read
from services.ratings.app import RatingsService
from services.ratings.model import START
from services.ratings.settings import RatingsSettings
from services.ratings.tables import metadata
from tests.service.ratings.publishing import FOUR, HKOS, delivered, finished, hand
from tests.service.ratings.running import SERVICE_KEY, Bench, Running


async def play_up(bench: Bench, groups: int, hands: int) -> None:
    """Groups of four newcomers who play so many hands, each with results of its own; equal ratings come up, too."""
    for group in range(groups):
        accounts = [f"{name}-{group}" for name in FOUR]
        for number in range(hands):
            record = hand((30, 10, -10, -30), accounts, table_id=f"table-{group}", number=number + 1)
            await bench.rate(delivered(HANDS, finished(record)))


async def test_accounts_that_have_not_played_have_their_start_rating(bench: Bench) -> None:
    request = messages.GetRatingsRequest(account_ids=["new", "newer", "new"])
    found = list((await bench.stub.GetRatings(request)).ratings)
    start = {"rating": 1500, "uncertainty": START.uncertainty, "units": 0, "provisional": True, "ruleset": HKOS}
    hong_kong = [rating for rating in found if rating.ruleset == HKOS]
    assert hong_kong == [messages.Rating(account_id=account, **start) for account in ("new", "newer")]


async def test_the_leaderboard_goes_page_by_page_without_the_provisional(bench: Bench) -> None:
    await play_up(bench, groups=2, hands=10)
    await play_up(bench, groups=1, hands=1)
    await bench.rate(delivered(HANDS, finished(hand(accounts=("p", "q", "r", "s")))))
    seen: list[messages.Rating] = []
    token = ""
    while True:
        request = messages.ListLeaderboardRequest(ruleset=HKOS, page_size=3, page_token=token)
        page = await bench.stub.ListLeaderboard(request)
        seen += page.ratings
        token = page.next_page_token
        if not token:
            break
        assert len(page.ratings) == 3
    assert len({each.account_id for each in seen}) == len(seen) == 8
    assert not any(each.provisional for each in seen)
    assert [each.rating for each in seen] == sorted((each.rating for each in seen), reverse=True)
    assert {each.account_id.split("-")[0] for each in seen[:2]} == {"ann"}


async def test_a_page_token_of_another_list_is_refused(bench: Bench) -> None:
    await play_up(bench, groups=1, hands=10)
    board = await bench.stub.ListLeaderboard(messages.ListLeaderboardRequest(ruleset=HKOS, page_size=1))
    past = await bench.stub.GetHistory(messages.GetHistoryRequest(account_id="ann-0", page_size=1))
    assert board.next_page_token
    assert past.next_page_token
    for call in (
        bench.stub.GetHistory(messages.GetHistoryRequest(account_id="ann-0", page_token=board.next_page_token)),
        bench.stub.GetHistory(messages.GetHistoryRequest(account_id="bo-0", page_token=past.next_page_token)),
        bench.stub.ListLeaderboard(messages.ListLeaderboardRequest(ruleset=HKOS, page_token=past.next_page_token)),
        bench.stub.ListLeaderboard(messages.ListLeaderboardRequest(ruleset=HKOS, page_token="%")),
    ):
        with pytest.raises(InvalidRequest) as caught:
            await call
        assert caught.value.reason == "PAGE_TOKEN_INVALID"


async def test_the_history_of_an_account_is_a_chain_newest_first(bench: Bench) -> None:
    await play_up(bench, groups=1, hands=7)
    seen: list[messages.RatingChange] = []
    token = ""
    while True:
        request = messages.GetHistoryRequest(account_id="di-0", ruleset=HKOS, page_size=3, page_token=token)
        page = await bench.stub.GetHistory(request)
        seen += page.changes
        token = page.next_page_token
        if not token:
            break
    assert [change.unit_id for change in seen] == [f"table-0-{number}" for number in range(7, 0, -1)]
    assert [change.after for change in seen[1:]] == [change.before for change in seen[:-1]]
    assert seen[-1].before == 1500 > seen[0].after == (await bench.ratings("di-0"))[0].rating
    assert {change.placement_tenths for change in seen} == {40}
    assert all(change.provisional and change.changed_ms for change in seen)


async def test_what_nobody_can_have_asked_for_is_refused(bench: Bench) -> None:
    for request in (
        messages.GetRatingsRequest(),
        messages.GetRatingsRequest(account_ids=[""]),
        messages.GetRatingsRequest(account_ids=["a\0"]),
        messages.GetRatingsRequest(account_ids=[str(number) for number in range(101)]),
    ):
        with pytest.raises(InvalidRequest):
            await bench.stub.GetRatings(request)
    with pytest.raises(NotFound) as caught:
        await bench.stub.ListLeaderboard(messages.ListLeaderboardRequest(ruleset="chess-v1"))
    assert caught.value.reason == "RULESET_UNKNOWN"


async def test_only_gateway_and_matchmaking_may_read(running: Running, postgres_url: str) -> None:
    service = await running.start(postgres_url)
    request = messages.GetRatingsRequest(account_ids=["ann"])
    await running.stub(service, "matchmaking").GetRatings(request)
    for call in (running.stub(service, "table").GetRatings, running.stub(service, "history").GetRatings):
        with pytest.raises(PermissionDenied):
            await call(request)


async def test_the_migrations_make_the_tables_that_the_code_uses(bench: Bench) -> None:
    def differences(connection: sa.Connection) -> list[Any]:
        def ours(name: str | None, kind: str, _parents: Any) -> bool:
            return kind != "table" or name in metadata.tables

        context = MigrationContext.configure(connection, opts={"include_name": ours, "compare_type": True})
        return compare_metadata(context, metadata)

    async with bench.engine.connect() as connection:
        assert await connection.run_sync(differences) == []


async def test_a_service_without_a_database_says_so() -> None:
    with pytest.raises(SettingsError, match="EASTWIND_DATABASE_URL"):
        RatingsService(read(RatingsSettings, service_key=SERVICE_KEY))
