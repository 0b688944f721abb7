"""Passwords are hashed away from the event loop, a bounded number at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from libs.chassis.errors import ResourceExhausted
from libs.chassis.settings import read
from services.accounts.passwords import PasswordInvalid, Passwords, read_password
from services.accounts.settings import AccountsSettings


@pytest_asyncio.fixture
async def passwords() -> AsyncIterator[Passwords]:
    """One thread, two more may wait; a hash takes some dozen milliseconds."""
    settings = read(AccountsSettings, password_workers=1, password_queue=2, argon2_time_cost=40, argon2_memory_kib=1024)
    passwords = Passwords(settings)
    yield passwords
    await passwords.close()


async def test_a_hash_is_of_its_password_only(passwords: Passwords) -> None:
    made = await passwords.hash("four winds")
    assert made.startswith("$argon2id$v=19$m=1024,t=40,p=1$")
    assert await passwords.verify("four winds", made)
    assert not await passwords.verify("four wind", made)
    assert not await passwords.verify("four winds", None)
    assert await passwords.hash("four winds") != made


async def test_a_password_of_nobody_costs_as_much_to_check(passwords: Passwords) -> None:
    made = await passwords.hash("four winds")

    async def cost(password_hash: str | None) -> float:
        costs = []
        for _ in range(3):
            before = time.process_time()
            await passwords.verify("four wind", password_hash)
            costs.append(time.process_time() - before)
        return min(costs)

    assert await cost(None) > 0.5 * await cost(made)


async def test_what_finds_no_room_is_refused_at_once(passwords: Passwords) -> None:
    answers = await asyncio.gather(*(passwords.hash("four winds") for _ in range(12)), return_exceptions=True)
    made = [answer for answer in answers if isinstance(answer, str)]
    assert [type(answer) for answer in answers if not isinstance(answer, str)] == [ResourceExhausted] * 9
    assert len(made) == 3
    assert await passwords.verify("four winds", made[-1])


async def test_a_caller_that_goes_away_gives_its_place_free(passwords: Passwords) -> None:
    for _ in range(3):
        calls = [asyncio.create_task(passwords.hash("four winds")) for _ in range(3)]
        await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        # Those that waited are gone; the one that was being hashed has its place until it is done.
        assert await passwords.hash("four winds")


async def test_the_event_loop_goes_on_while_a_password_is_hashed(passwords: Passwords) -> None:
    call = asyncio.create_task(passwords.hash("four winds"))
    turns = 0
    while not call.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 10


def test_passwords_have_8_to_256_characters_however_they_were_typed() -> None:
    assert read_password("pass wörd") == read_password("pass wo\u0308rd")
    assert read_password("é" * 256) == read_password("e\u0301" * 256)
    for text in ("", "seven77", "x" * 257, "e\u0301" * 7, "x" * 1_000_000):
        with pytest.raises(PasswordInvalid):
            read_password(text)
