"""Registering, guests and their upgrade, logging in: a real server on a real PostgreSQL."""

from __future__ import annotations

import asyncio
from typing import Any

import argon2
import pytest
import sqlalchemy as sa

from libs.chassis import database
from libs.chassis.errors import (
    EastwindError,
    InvalidRequest,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
)
from services.accounts.app import AccountsService
from services.accounts.tables import accounts, sessions
from tests.service.accounts.running import PASSWORD, Player, Running


async def rows(url: str, table: sa.Table) -> list[Any]:
    engine = database.engine(url)
    try:
        async with engine.connect() as connection:
            return list((await connection.execute(sa.select(table))).all())
    finally:
        await engine.dispose()


async def reason_of(call: Any) -> str:
    with pytest.raises(EastwindError) as caught:
        await call
    return caught.value.reason


async def test_a_registered_player_logs_in_by_the_name_in_any_case(player: Player) -> None:
    made = await player.register("Ｗind Rider")
    assert (made.name, made.guest) == ("Wind Rider", False)
    found = await player.log_in("wIND rIDER")
    assert (found.account_id, found.name, found.guest) == (made.account_id, "Wind Rider", False)
    assert found.refresh_token != made.refresh_token


async def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(player: Player) -> None:
    await player.register("Wind Rider")
    await player.be_guest("Some Guest")
    answers = set()
    for name, password in (
        ("Wind Rider", "not the password"),
        ("Nobody Here", PASSWORD),
        ("Some Guest", PASSWORD),
        ("", PASSWORD),
        ("Wind Rider", "short"),
        ("Wind Rider", "x" * 100_000),
    ):
        with pytest.raises(Unauthenticated) as caught:
            await player.log_in(name, password)
        answers.add((caught.value.reason, caught.value.message, tuple(caught.value.metadata)))
    assert answers == {("WRONG_CREDENTIALS", "name and password do not belong together", ())}


async def test_twenty_registrations_of_one_name_make_one_account(
    running: Running, service: AccountsService, postgres_url: str
) -> None:
    other = await running.start(postgres_url)
    players = [running.player(service), running.player(other)]
    names = ("Wind Rider", "WIND RIDER", "wind  rider", "Wіnd Rider")
    answers = await asyncio.gather(
        *(players[n % 2].register(names[n % 4], f"password {n}") for n in range(20)), return_exceptions=True
    )
    made = [answer for answer in answers if not isinstance(answer, BaseException)]
    assert len(made) == 1
    assert {answer.reason for answer in answers if isinstance(answer, EastwindError)} == {"NAME_TAKEN"}
    assert [row.account_id for row in await rows(postgres_url, accounts)] == [made[0].account_id]
    assert len(await rows(postgres_url, sessions)) == 1


async def test_names_and_passwords_that_are_refused_leave_nothing_behind(player: Player, postgres_url: str) -> None:
    for name in ("", "x", " ", "n" * 21, "n" * 10_000, "a\u202eb", "a\u200bb", "line\nbreak"):
        assert await reason_of(player.register(name)) == "NAME_INVALID"
    assert await reason_of(player.be_guest("x")) == "NAME_INVALID"
    for password in ("", "seven77", "x" * 257):
        with pytest.raises(InvalidRequest) as caught:
            await player.register("Wind Rider", password)
        assert caught.value.reason == "PASSWORD_INVALID"
    assert await rows(postgres_url, accounts) == []


async def test_c135_a_name_with_markup_is_kept_as_the_text_it_is(player: Player) -> None:
    made = await player.register("<b onclick=x>&amp;")
    assert made.name == "<b onclick=x>&amp;"
    assert (await player.log_in("<B ONCLICK=X>&AMP;")).account_id == made.account_id


async def test_a_guest_without_a_name_gets_one(player: Player) -> None:
    guests = await asyncio.gather(*(player.be_guest() for _ in range(20)))
    assert all(guest.guest for guest in guests)
    assert len({guest.account_id for guest in guests}) == len({guest.name for guest in guests}) == 20
    assert all(guest.name[0].isupper() and guest.name[-1].isdigit() for guest in guests)


async def test_a_guest_cannot_have_the_name_of_a_registered_player(player: Player) -> None:
    await player.register("Wind Rider")
    assert await reason_of(player.be_guest("wind rider")) == "NAME_TAKEN"


async def test_an_upgraded_guest_keeps_its_id(player: Player) -> None:
    guest = await player.be_guest()
    upgraded = await player.register("Wind Rider", access_token=guest.access_token)
    assert (upgraded.account_id, upgraded.name, upgraded.guest) == (guest.account_id, "Wind Rider", False)
    assert (await player.log_in("Wind Rider")).account_id == guest.account_id
    renewed = await player.refresh(guest.refresh_token)
    assert (renewed.account_id, renewed.name, renewed.guest) == (guest.account_id, "Wind Rider", False)
    # The name that it had as a guest is free again.
    assert (await player.be_guest(guest.name)).account_id != guest.account_id


async def test_a_guest_may_keep_its_name_at_the_upgrade(player: Player) -> None:
    guest = await player.be_guest("wind rider")
    upgraded = await player.register("Wind Rider", access_token=guest.access_token)
    assert (upgraded.account_id, upgraded.name) == (guest.account_id, "Wind Rider")


async def test_an_upgrade_whose_answer_was_lost_may_be_repeated(player: Player, postgres_url: str) -> None:
    guest = await player.be_guest()
    answers = await asyncio.gather(*(player.register("Wind Rider", access_token=guest.access_token) for _ in range(4)))
    assert {answer.account_id for answer in answers} == {guest.account_id}
    assert len(await rows(postgres_url, accounts)) == 1
    for name, password in (("Other Name", PASSWORD), ("Wind Rider", "another password")):
        with pytest.raises(PermissionDenied):
            await player.register(name, password, access_token=guest.access_token)
    assert (await player.log_in("Wind Rider")).account_id == guest.account_id


async def test_guests_who_want_one_name_at_the_same_time_get_it_once(player: Player) -> None:
    guests = await asyncio.gather(*(player.be_guest() for _ in range(6)))
    answers = await asyncio.gather(
        *(player.register("Wind Rider", access_token=guest.access_token) for guest in guests), return_exceptions=True
    )
    made = [answer for answer in answers if not isinstance(answer, BaseException)]
    assert len(made) == 1
    assert {answer.reason for answer in answers if isinstance(answer, EastwindError)} == {"NAME_TAKEN"}
    assert (await player.log_in("Wind Rider")).account_id == made[0].account_id
    renewed = await asyncio.gather(*(player.refresh(guest.refresh_token) for guest in guests))
    assert sum(session.guest for session in renewed) == 5


async def test_an_upgrade_needs_a_guest_whose_session_lives(player: Player) -> None:
    guest = await player.be_guest()
    await player.log_out(guest.refresh_token)
    assert await reason_of(player.register("Wind Rider", access_token=guest.access_token)) == "UNAUTHENTICATED"
    assert await reason_of(player.register("Wind Rider", access_token="made up")) == "UNAUTHENTICATED"
    registered = await player.register("Wind Rider")
    with pytest.raises(PermissionDenied):
        await player.register("Second Name", access_token=registered.access_token)


async def test_a_name_waits_after_failed_log_ins(running: Running, postgres_url: str) -> None:
    service = await running.start(postgres_url, log_ins_per_name=3, log_in_name_refill_s=30.0)
    player = running.player(service)
    await player.register("Wind Rider")
    await player.register("Other Name")
    tried = await asyncio.gather(
        *(player.log_in(name, "a wrong guess") for name in ("Wind Rider", "wind rider") * 5), return_exceptions=True
    )
    assert sorted(type(answer).__name__ for answer in tried) == ["ResourceExhausted"] * 7 + ["Unauthenticated"] * 3
    with pytest.raises(ResourceExhausted) as caught:
        await player.log_in("Wind Rider")
    assert caught.value.reason == "RATE_LIMITED"
    assert 0 < int(caught.value.metadata["retry_after_ms"]) <= 30_000
    await player.log_in("Other Name")
    running.clock.pass_s(30.0)
    await player.log_in("Wind Rider")
    # The right password makes the name begin anew.
    for _ in range(3):
        with pytest.raises(Unauthenticated):
            await player.log_in("Wind Rider", "a wrong guess")


async def test_an_address_waits_after_failed_log_ins(running: Running, postgres_url: str) -> None:
    service = await running.start(postgres_url, log_ins_per_address=3)
    player = running.player(service)
    await player.register("Wind Rider")
    for host in ("1", "2", "3"):
        with pytest.raises(Unauthenticated):
            await player.log_in(f"Name {host}", address=f"2001:db8::{host}")
    with pytest.raises(ResourceExhausted):
        await player.log_in("Wind Rider", address="2001:db8::4")
    for _ in range(5):
        await player.log_in("Wind Rider", address="192.0.2.1")


async def test_a_hash_with_old_parameters_is_replaced_at_the_next_log_in(
    running: Running, service: AccountsService, postgres_url: str
) -> None:
    await running.player(service).register("Wind Rider")
    stronger = running.player(await running.start(postgres_url, argon2_time_cost=3))
    [before] = await rows(postgres_url, accounts)
    with pytest.raises(Unauthenticated):
        await stronger.log_in("Wind Rider", "not the password")
    assert await rows(postgres_url, accounts) == [before]
    await stronger.log_in("Wind Rider")
    [after] = await rows(postgres_url, accounts)
    assert argon2.extract_parameters(before.password_hash).time_cost == 1
    assert argon2.extract_parameters(after.password_hash).time_cost == 3
    await stronger.log_in("Wind Rider")
    assert await rows(postgres_url, accounts) == [after]
