"""Passwords: argon2id in a few threads of its own, so that the event loop never waits for it."""

from __future__ import annotations

import asyncio
import secrets
import threading
import unicodedata
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

from libs.chassis.errors import InvalidRequest, ResourceExhausted
from services.accounts.settings import AccountsSettings

SHORTEST = 8
LONGEST = 256

Result = TypeVar("Result")


class PasswordInvalid(InvalidRequest):
    """The password is too short or too long."""

    reason = "PASSWORD_INVALID"


def read_password(text: str) -> str:
    """The password in NFC, so that two keyboards that compose letters differently write the same one.

    Raises `PasswordInvalid` unless it has 8 to 256 characters.
    """
    if len(text) > LONGEST * 4:
        raise PasswordInvalid(f"a password has {SHORTEST} to {LONGEST} characters")
    password = unicodedata.normalize("NFC", text)
    if not SHORTEST <= len(password) <= LONGEST:
        raise PasswordInvalid(f"a password has {SHORTEST} to {LONGEST} characters")
    return password


class Passwords:
    """Hashes and checks passwords, a bounded number at a time and a bounded number waiting.

    Both raise `ResourceExhausted` at once when too many wait.
    """

    def __init__(self, settings: AccountsSettings) -> None:
        self._hasher = PasswordHasher(
            time_cost=settings.argon2_time_cost,
            memory_cost=settings.argon2_memory_kib,
            parallelism=settings.argon2_parallelism,
        )
        self._room = threading.BoundedSemaphore(settings.password_workers + settings.password_queue)
        self._threads = ThreadPoolExecutor(settings.password_workers, thread_name_prefix="passwords")
        # Of the same cost as any other hash, and of no password that anybody knows.
        self._nobodys = self._hasher.hash(secrets.token_urlsafe(32))

    async def hash(self, password: str) -> str:
        """The argon2id hash, with its salt and parameters in it."""
        return await self._run(lambda: self._hasher.hash(password))

    async def verify(self, password: str, password_hash: str | None) -> bool:
        """Whether the hash is of this password; without one (an unknown name, a guest) it takes as long, and is not."""
        right = await self._run(lambda: self._matches(password, password_hash or self._nobodys))
        return right and password_hash is not None

    def is_outdated(self, password_hash: str) -> bool:
        """Whether the hash was made with other parameters than are set now."""
        return self._hasher.check_needs_rehash(password_hash)

    async def close(self) -> None:
        """Wait for the hashes that are being made, drop those that wait."""
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)

    def _matches(self, password: str, password_hash: str) -> bool:
        try:
            return self._hasher.verify(password_hash, password)
        except VerifyMismatchError:
            return False
        except (VerificationError, InvalidHashError) as error:
            raise RuntimeError("a stored password hash cannot be read") from error

    async def _run(self, work: Callable[[], Result]) -> Result:
        if not self._room.acquire(blocking=False):
            raise ResourceExhausted("too many passwords are being checked, try again")
        try:
            future: Future[Result] = self._threads.submit(work)
        except BaseException:
            self._room.release()
            raise
        # The place is free when the thread is done, not when the caller went away.
        future.add_done_callback(lambda _: self._room.release())
        return await asyncio.wrap_future(future)
