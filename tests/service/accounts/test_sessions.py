"""Sessions: what renews them, what ends them, and what is stored of them."""

from __future__ import annotations

import asyncio

import pytest
import sqlalchemy as sa

from libs.chassis import database
from libs.chassis.errors import EastwindError, Unauthenticated
from services.accounts.app import AccountsService
from services.accounts.tables import refresh_tokens, sessions
from tests.service.accounts.running import Player, Running


async def test_a_refresh_token_is_replaced_each_time(player: Player) -> None:
    guest = await player.be_guest()
    seen = {guest.refresh_token}
    session = guest
    for _ in range(3):
        session = await player.refresh(session.refresh_token)
        assert (session.account_id, session.name, session.guest) == (guest.account_id, guest.name, True)
        assert session.refresh_token not in seen
        seen.add(session.refresh_token)


async def test_a_spent_token_whose_successor_was_used_ends_the_session(player: Player) -> None:
    guest = await player.be_guest()
    second = await player.refresh(guest.refresh_token)
    third = await player.refresh(second.refresh_token)
    for spent in (guest, third, second):
        with pytest.raises(Unauthenticated) as caught:
            await player.refresh(spent.refresh_token)
        assert caught.value.reason == "UNAUTHENTICATED"


async def test_a_token_spent_a_while_ago_ends_the_session(running: Running, player: Player) -> None:
    guest = await player.be_guest()
    second = await player.refresh(guest.refresh_token)
    running.clock.pass_s(6.0)
    for token in (guest.refresh_token, second.refresh_token):
        with pytest.raises(Unauthenticated):
            await player.refresh(token)


async def test_without_time_for_retries_a_spent_token_ends_the_session_at_once(
    running: Running, postgres_url: str
) -> None:
    player = running.player(await running.start(postgres_url, refresh_retry_s=0.0))
    guest = await player.be_guest()
    second = await player.refresh(guest.refresh_token)
    for token in (guest.refresh_token, second.refresh_token):
        with pytest.raises(Unauthenticated):
            await player.refresh(token)


async def test_a_refresh_whose_answer_was_lost_gets_the_same_successor(
    running: Running, service: AccountsService, postgres_url: str
) -> None:
    players = [running.player(service), running.player(await running.start(postgres_url))]
    guest = await players[0].be_guest()
    answers = await asyncio.gather(*(players[n % 2].refresh(guest.refresh_token) for n in range(10)))
    assert len({answer.refresh_token for answer in answers}) == 1
    await players[0].refresh(answers[0].refresh_token)


async def test_of_many_uses_of_a_token_one_renews_when_retries_have_no_time(
    running: Running, postgres_url: str
) -> None:
    player = running.player(await running.start(postgres_url, refresh_retry_s=0.0))
    guest = await player.be_guest()
    answers = await asyncio.gather(*(player.refresh(guest.refresh_token) for _ in range(10)), return_exceptions=True)
    renewed = [answer for answer in answers if not isinstance(answer, BaseException)]
    assert len(renewed) == 1
    assert {answer.reason for answer in answers if isinstance(answer, EastwindError)} == {"UNAUTHENTICATED"}
    with pytest.raises(Unauthenticated):
        await player.refresh(renewed[0].refresh_token)


async def test_only_the_session_of_the_spent_token_ends(player: Player) -> None:
    first = await player.register("Wind Rider")
    other = await player.log_in("Wind Rider")
    second = await player.refresh(first.refresh_token)
    await player.refresh(second.refresh_token)
    with pytest.raises(Unauthenticated):
        await player.refresh(first.refresh_token)
    assert (await player.refresh(other.refresh_token)).account_id == first.account_id


async def test_logging_out_ends_the_session_and_may_be_repeated(player: Player) -> None:
    session = await player.register("Wind Rider")
    other = await player.log_in("Wind Rider")
    newer = await player.refresh(session.refresh_token)
    await player.log_out(session.refresh_token)
    await player.log_out(session.refresh_token)
    await player.log_out("no such token")
    with pytest.raises(Unauthenticated):
        await player.refresh(newer.refresh_token)
    await player.refresh(other.refresh_token)


async def test_a_session_that_nobody_renews_is_over_and_then_removed(running: Running, postgres_url: str) -> None:
    service = await running.start(postgres_url, session_idle_s=3600.0, upkeep_every_s=0.02)
    player = running.player(service)
    idle = await player.be_guest()
    used = await player.be_guest()
    running.clock.pass_s(3000.0)
    used = await player.refresh(used.refresh_token)
    running.clock.pass_s(1000.0)
    with pytest.raises(Unauthenticated):
        await player.refresh(idle.refresh_token)
    engine = database.engine(postgres_url)
    try:
        async with asyncio.timeout(20):
            left = 2
            while left > 1:
                async with engine.connect() as connection:
                    left = await connection.scalar(sa.select(sa.func.count()).select_from(sessions))
    finally:
        await engine.dispose()
    await player.refresh(used.refresh_token)


async def test_no_token_is_stored_as_it_is(player: Player, postgres_url: str) -> None:
    guest = await player.be_guest()
    renewed = await player.refresh(guest.refresh_token)
    engine = database.engine(postgres_url)
    try:
        async with engine.connect() as connection:
            tokens = (await connection.execute(sa.select(refresh_tokens))).all()
            stored = repr([tokens, (await connection.execute(sa.select(sessions))).all()])
    finally:
        await engine.dispose()
    assert [len(row.token_hash) for row in tokens] == [32, 32]
    assert guest.refresh_token not in stored
    assert renewed.refresh_token not in stored


async def test_a_token_that_is_none_is_refused(player: Player) -> None:
    for token in ("", "x", "\0", "é" * 5000):
        with pytest.raises(Unauthenticated):
            await player.refresh(token)
