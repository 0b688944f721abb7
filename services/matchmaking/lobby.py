"""What matchmaking knows about tables: who sits where, which are open, and the codes of private ones."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Final

from eastwind.events.v1 import envelope_pb2
from eastwind.matchmaking.v1 import matchmaking_service_pb2 as matchmaking_pb2
from libs.chassis.page_tokens import PageTokens
from libs.chassis.redis_client import RedisClient
from services.matchmaking import keys
from services.matchmaking.scripts import script

CODE_ALPHABET: Final = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
CODE_LENGTH: Final = 8
REQUEST_KEPT_MS: Final = 600_000
"""A request is answered with the table that it made for so long; a closed table is kept as long."""
_UNSEAT, _CHANGED = script("unseat"), script("table_changed")


@dataclass(frozen=True, slots=True)
class MadeTable:
    """A table that a request made; ``code`` is empty for a public one."""

    table_id: str
    code: str


def new_code() -> str:
    """Return an invitation code: 39 random bits, without characters that are mistaken for each other."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


class Lobby:
    """The lobby in Redis."""

    def __init__(self, redis: RedisClient, tokens: PageTokens) -> None:
        self._redis = redis
        self._tokens = tokens

    async def seat_of(self, account_id: str) -> str:
        """The table where the account sits, or ""."""
        key = keys.seat(account_id)
        table_id = await self._redis.call(b"GET", key, key=key)
        return (table_id or b"").decode()

    async def reserve(self, account_id: str, table_id: str) -> str:
        """Note that the account sits at the table unless it sits elsewhere; returns where it sits now."""
        key = keys.seat(account_id)
        old = await self._redis.call(b"SET", key, table_id, b"NX", b"GET", key=key)
        return table_id if old is None else str(old.decode())

    async def unseat(self, account_id: str, table_id: str) -> None:
        """The account sits at that table no more."""
        await self._redis.run(_UNSEAT, (keys.seat(account_id),), (table_id,))

    async def request_made(self, account_id: str, request_id: str, made: MadeTable) -> MadeTable:
        """Keep what a request makes before it is made; returns what an earlier try of it was given instead."""
        key = keys.request(account_id, request_id)
        value = f"{made.table_id} {made.code}"
        old = await self._redis.call(b"SET", key, value, b"NX", b"GET", b"PX", REQUEST_KEPT_MS, key=key)
        if old is None:
            return made
        table_id, _, code = old.decode().partition(" ")
        return MadeTable(table_id, code)

    async def open_with(self, code: str, table_id: str) -> None:
        """The code opens the table from now on."""
        table = keys.table(table_id)
        await self._redis.call(b"SET", keys.code(code), table_id, key=keys.code(code))
        await self._redis.call(b"HSET", table, b"code", code, key=table)

    async def table_of(self, code: str) -> str:
        """The table that a code opens, or ""."""
        if len(code) != CODE_LENGTH:
            return ""
        key = keys.code(code.upper())
        return (await self._redis.call(b"GET", key, key=key) or b"").decode()

    async def changed(self, changed: envelope_pb2.TableChanged, sequence: int, at_ms: int) -> bool:
        """Take over the state of a table that it published; an older or repeated one changes nothing."""
        accounts = [player.account_id for player in changed.players if player.account_id and not player.bot_level]
        free = sum(not player.account_id for player in changed.players)
        listed = free > 0 and not changed.closed and not changed.settings.private
        return bool(
            await self._redis.run(
                _CHANGED,
                (keys.table(changed.table_id), keys.LOBBY),
                (
                    changed.table_id,
                    sequence,
                    keys.seat(""),
                    keys.code(""),
                    b"1" if changed.closed else b"0",
                    b"1" if listed else b"0",
                    changed.SerializeToString(),
                    at_ms,
                    *accounts,
                ),
            )
        )

    async def about(self, table_id: str) -> envelope_pb2.TableChanged | None:
        """The state of a table as it was published last; ``None`` when none was."""
        key = keys.table(table_id)
        raw = await self._redis.call(b"HGET", key, b"about", key=key)
        return None if raw is None else envelope_pb2.TableChanged.FromString(raw)

    async def forget(self, table_id: str) -> None:
        """The table is gone, and so is its place in the list."""
        await self._redis.call(b"ZREM", keys.LOBBY, table_id, key=keys.LOBBY)

    async def listed(self, ruleset: str, size: int, page_token: str) -> tuple[list[matchmaking_pb2.ListedTable], str]:
        """Return open public tables, newest first, and the token of the next page ("" for none).

        Raises ``InvalidRequest`` (PAGE_TOKEN_INVALID) for a token that is none of this list's.
        """
        place = self._tokens.read(_list(ruleset), page_token, (int, str))
        after = None if place is None else (int(place[0]), str(place[1]))
        top = b"+inf" if after is None else b"%d" % after[0]
        tables: list[matchmaking_pb2.ListedTable] = []
        looked_at: set[str] = set()
        offset = 0
        while True:
            rows = await self._redis.call(
                b"ZRANGE", keys.LOBBY, top, b"-inf", b"BYSCORE", b"REV", b"LIMIT", offset, size + 1, b"WITHSCORES",
                key=keys.LOBBY,
            )  # fmt: skip
            pairs = [(rows[place].decode(), int(float(rows[place + 1]))) for place in range(0, len(rows), 2)]
            for table_id, created in pairs:
                if table_id in looked_at or (after is not None and (created, table_id) >= after):
                    continue
                looked_at.add(table_id)
                about = await self.about(table_id)
                if about is None:
                    await self.forget(table_id)
                elif not ruleset or about.settings.ruleset == ruleset:
                    if len(tables) == size:
                        last = tables[-1]
                        return tables, self._tokens.write(_list(ruleset), (last.created_ms, last.table_id))
                    tables.append(_listed(about, created))
            if len(pairs) <= size:
                return tables, ""
            offset += len(pairs)


def _list(ruleset: str) -> tuple[str, str]:
    return ("tables", ruleset)


def _listed(about: envelope_pb2.TableChanged, created: int) -> matchmaking_pb2.ListedTable:
    return matchmaking_pb2.ListedTable(
        table_id=about.table_id,
        settings=about.settings,
        players=[player for player in about.players if player.account_id],
        free_seats=sum(not player.account_id for player in about.players),
        created_ms=created,
    )
