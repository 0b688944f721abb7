"""Keys are changed by rolling restarts under play, as ``deploy/docs/key-rotation.md`` says, and nobody is refused."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import asyncpg
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from deploy.local.fleet import Fleet
from deploy.local.roster import DATABASES, ORDER
from deploy.local.stack import BackingStack
from libs.chassis.auth import ServiceKey
from libs.chassis.errors import StoreUnavailable, Unauthenticated
from libs.chassis.redis_client import RedisClient
from libs.chassis.settings import with_credentials
from tests.backing import BACKING
from tests.documented import Operator, libpq
from tests.faults.players import RULESET, CallRefused, Four, Player
from tests.service.fleet import QUICK

pytestmark = [pytest.mark.faults, pytest.mark.timeout(300)]
OLD: Final = "the key of the last years"
NEW: Final = "the key of the years to come"


class Rolling:
    """A fleet whose copies are replaced one after the other, at their old addresses, as a rolling update does."""

    def __init__(self, stack: BackingStack, fleet: Fleet) -> None:
        self._stack = stack
        self._fleet = fleet

    @property
    def edges(self) -> tuple[str, ...]:
        """Where players come in."""
        return self._fleet.edge_urls

    async def replace(self, service: str, *, database_url: str = "", **fields: Any) -> None:
        """Replace every copy of a service by one with these settings."""
        if service in DATABASES:
            database_url = database_url or self._stack.postgres_url(service)
        for _ in range(len(self._fleet.services[service])):
            copy = self._fleet.services[service][0]
            kind = "edge" if service == "gateway" else "grpc"
            port = int(getattr(copy, f"{kind}_address").rpartition(":")[2])
            await self._fleet.stop_one(service, grace_s=5.0)
            await self._fleet.add(service, database_url, **{**fields, f"{kind}_port": port})

    async def replace_all(self, **fields: Any) -> None:
        """Replace everything."""
        for service in ORDER:
            await self.replace(service, **fields)


@asynccontextmanager
async def rolling(stack: BackingStack, copies: Mapping[str, int], **fields: Any) -> AsyncIterator[Rolling]:
    """That many copies of the services, with these settings."""
    fleet = Fleet(stack, settings={**QUICK, "": {**QUICK[""], **fields}}, copies=copies)
    await fleet.start()
    try:
        yield Rolling(stack, fleet)
    finally:
        await fleet.stop(1.0)


@asynccontextmanager
async def under_play(edges: tuple[str, ...]) -> AsyncIterator[Four]:
    """Four people who play, and a fifth who asks every service again and again; the first refusal fails the test."""
    async with Four(edges) as four:
        await four.play_on(2)
        caller = Player(four.session, edges, 0, 0)
        await caller.register("Asks a lot")

        async def ask() -> None:
            while True:
                await caller.call("Matchmaking/ListTables", {"pageSize": 10})
                await caller.call("Matchmaking/GetSeat", {})
                await caller.call("Ratings/GetRatings", {"accountIds": [caller.account_id], "ruleset": RULESET})
                await caller.call("History/ListRecords", {"accountId": caller.account_id})
                await caller.call("Scoring/ListVariants", {})
                await caller.refresh()

        asking = asyncio.ensure_future(ask())
        try:
            yield four
            await four.play_on(2)
            assert four.timeouts() == []
            assert not {reason for each in four.players for _, reason in each.refused} & {"UNAUTHENTICATED"}
        finally:
            asking.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asking


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Tokens of services that another one did not believe."""
    tokens: list[str] = []
    verify = ServiceKey.verify

    def noted(key: ServiceKey, token: str) -> str:
        try:
            return verify(key, token)
        except Unauthenticated:
            tokens.append(token)
            raise

    monkeypatch.setattr(ServiceKey, "verify", noted)
    return tokens


@pytest.fixture
async def stack(tmp_path: Path) -> AsyncIterator[BackingStack]:
    """Servers of this test's own."""
    async with BackingStack(tmp_path, backing=BACKING, fsync=False) as stack:
        yield stack


async def test_the_service_key_changes_in_three_steps_and_no_call_is_refused(
    stack: BackingStack, refused: list[str]
) -> None:
    async with rolling(stack, {"table": 2, "gateway": 2, "accounts": 2}, service_key=OLD) as services:
        async with under_play(services.edges) as four:
            for key in (f"{OLD},{NEW}", f"{NEW},{OLD}", NEW):
                await services.replace_all(service_key=key)
                await four.play_on(4)
        assert refused == []
        # A service that leaves a step out is noticed: calls to it are refused.
        await services.replace("scoring", service_key="a key that nobody else knows")
        async with Four(services.edges) as four:
            with pytest.raises(CallRefused):
                await four.players[0].call("Scoring/ListVariants", {}, tries=1)
        assert refused


def pem() -> str:
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def signed_by(player: Player) -> str:
    return str(jwt.get_unverified_header(player.access_token)["kid"])


_KNOWN_AFTER_S: Final = 7.0
"""With `jwks_ttl_s` 1: verifiers load keys at most every five seconds, and have surely done so after this time."""


async def test_given_signing_keys_change_in_three_steps_and_no_player_is_refused(stack: BackingStack) -> None:
    old, new = pem(), pem()
    async with rolling(stack, {"accounts": 2, "gateway": 2, "table": 2}, jwks_ttl_s=1.0) as services:
        await services.replace("accounts", signing_key=old)
        async with under_play(services.edges) as four:
            player = four.players[0]
            await player.refresh()
            signer = signed_by(player)
            for keys in (old + new, new + old):
                await services.replace("accounts", signing_key=keys)
                # What the page says to wait for.
                await asyncio.sleep(_KNOWN_AFTER_S)
                # Tokens of the step before are good, and so are those of now.
                for each in four.players:
                    await each.call("Matchmaking/GetSeat", {})
                    await each.refresh()
                    await each.call("Matchmaking/GetSeat", {})
            assert signed_by(player) != signer
            await services.replace("accounts", signing_key=new)
            await player.call("Matchmaking/GetSeat", {})


async def test_a_signing_key_of_the_database_is_followed_at_once_when_an_operator_wants_it(stack: BackingStack) -> None:
    lead = {"jwks_ttl_s": 1.0, "signing_key_lead_s": _KNOWN_AFTER_S, "upkeep_every_s": 1.0}
    async with rolling(stack, {"accounts": 2, "gateway": 2}, **lead) as services, under_play(services.edges) as four:
        player = four.players[0]
        signer, token = signed_by(player), player.access_token
        operator = Operator("key-rotation.md", libpq(stack.postgres_url()), [stack.postgres.programs])
        await operator.do("follow the signing key")
        async with asyncio.timeout(60):
            while signed_by(player) == signer:
                await player.refresh()
                await player.call("Matchmaking/GetSeat", {})
                await asyncio.sleep(0.1)
        # Nobody is refused: neither a token of the new key nor one of the old.
        for each in four.players:
            await each.refresh()
            await each.call("Matchmaking/GetSeat", {})
        player.access_token = token
        await player.call("Matchmaking/GetSeat", {})


async def test_after_a_theft_of_the_signing_key_its_tokens_are_refused_and_sessions_go_on(stack: BackingStack) -> None:
    async with rolling(stack, {}) as services, Four(services.edges) as four:
        await four.play_on(2)
        player = four.players[0]
        stolen = player.access_token
        operator = Operator("key-rotation.md", libpq(stack.postgres_url()), [stack.postgres.programs])
        await operator.do("forget the signing keys")
        await services.replace_all()
        for each in four.players:
            await each.refresh()
            assert (await each.call("Matchmaking/GetSeat", {}))["tableId"] == four.table_id
        await four.play_on(2)
        player.access_token = stolen
        with pytest.raises(CallRefused, match="UNAUTHENTICATED"):
            await player.call("Matchmaking/GetSeat", {})


@pytest.mark.production
async def test_credentials_of_database_and_store_change_under_play(stack: BackingStack) -> None:
    old, new = "the first password", "the second password"
    connection = await asyncpg.connect(stack.postgres_url(), timeout=10)
    await connection.execute(f"CREATE ROLE administrator SUPERUSER LOGIN PASSWORD '{old}'")
    await connection.close()
    async with RedisClient(stack.valkey_url) as client:
        await client.call("CONFIG", "SET", "requirepass", old, key=b"")
    before, after = ({"redis_url": with_credentials(stack.valkey_url, "", word)} for word in (old, new))
    environment = {
        **libpq(with_credentials(stack.postgres_url(), "administrator", old)),
        "REDIS_HOST": "127.0.0.1",
        "REDIS_PORT": str(stack.valkey.port),
        "REDISCLI_AUTH": old,
        "OWNER": "eastwind",
        "OLD_PASSWORD": old,
        "NEW_PASSWORD": new,
    }
    operator = Operator("key-rotation.md", environment, [stack.postgres.programs])
    async with rolling(stack, dict.fromkeys(ORDER, 2), **before) as services, under_play(services.edges) as four:
        await operator.do("second database user")
        await operator.do("second store password")
        databases = {name: with_credentials(stack.postgres_url(name), "eastwind_b", new) for name in DATABASES}
        for service in ORDER:
            await services.replace(service, database_url=databases.get(service, ""), **after)
        await operator.do("retire the first database user")
        await operator.do("retire the first store password")
        with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError):
            await asyncpg.connect(stack.postgres_url(), timeout=10)
        with pytest.raises(StoreUnavailable):
            await RedisClient(before["redis_url"]).open(wait_s=1.0)
        hand = await four.finish_hand()
        await four.check_record(hand)
        await four.next_hand()
