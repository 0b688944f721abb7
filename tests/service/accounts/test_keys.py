"""The keys that sign access tokens: shared, kept, followed by newer ones, checked by everybody with the chassis."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from eastwind.accounts.v1 import accounts_service_pb2 as messages
from libs.chassis.auth import AccessTokenVerifier
from libs.chassis.errors import Unauthenticated
from libs.chassis.settings import SettingsError, read
from services.accounts.app import AccountsService
from services.accounts.settings import AccountsSettings
from tests.service.accounts.running import SERVICE_KEY, Running


async def key_set(running: Running, service: AccountsService, caller: str = "table") -> Any:
    answer = await running.stub(service, caller).GetKeys(messages.GetKeysRequest())
    return json.loads(answer.jwks_json)


async def key_ids(running: Running, service: AccountsService) -> list[str]:
    return [key["kid"] for key in (await key_set(running, service))["keys"]]


def verifier_of(running: Running, service: AccountsService) -> AccessTokenVerifier:
    """As another service has it."""
    return AccessTokenVerifier(lambda: key_set(running, service), min_refresh_s=0.0)


def pem_of(key: Any) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


async def test_an_access_token_says_who_the_player_is_to_every_service(
    running: Running, service: AccountsService
) -> None:
    session = await running.player(service).register("Wind Rider")
    identity = await verifier_of(running, service).verify(session.access_token)
    assert (identity.account_id, identity.name, identity.guest) == (session.account_id, "Wind Rider", False)
    assert identity.expires_at * 1000 == session.access_expires_ms
    assert abs(session.access_expires_ms - running.clock.now_ms() - 900_000) < 30_000


async def test_the_key_set_is_as_rfc_8037_has_it_and_holds_no_private_part(
    running: Running, service: AccountsService
) -> None:
    [key] = (await key_set(running, service))["keys"]
    assert set(key) == {"kty", "crv", "x", "kid", "use", "alg"}
    assert (key["kty"], key["crv"], key["alg"], key["use"]) == ("OKP", "Ed25519", "EdDSA", "sig")
    session = await running.player(service).be_guest()
    assert jwt.get_unverified_header(session.access_token) == {"alg": "EdDSA", "typ": "JWT", "kid": key["kid"]}


async def test_a_token_of_another_deployment_is_refused(
    running: Running, service: AccountsService, fresh_database: Any
) -> None:
    elsewhere = await running.start(await fresh_database())
    session = await running.player(elsewhere).be_guest()
    with pytest.raises(Unauthenticated):
        await verifier_of(running, service).verify(session.access_token)


async def test_replicas_that_start_together_share_one_key(running: Running, postgres_url: str) -> None:
    replicas = await asyncio.gather(*(running.start(postgres_url) for _ in range(3)))
    sets = [await key_set(running, replica) for replica in replicas]
    assert sets[0] == sets[1] == sets[2]
    assert len(sets[0]["keys"]) == 1
    session = await running.player(replicas[0]).be_guest()
    upgraded = await running.player(replicas[1]).register("Wind Rider", access_token=session.access_token)
    assert upgraded.account_id == session.account_id
    await verifier_of(running, replicas[2]).verify(upgraded.access_token)


async def test_a_restart_keeps_the_key_and_the_sessions(running: Running, postgres_url: str) -> None:
    first = await running.start(postgres_url)
    session = await running.player(first).be_guest()
    keys = await key_set(running, first)
    await running.stop(first)
    second = await running.start(postgres_url)
    assert await key_set(running, second) == keys
    await verifier_of(running, second).verify(session.access_token)
    assert (await running.player(second).refresh(session.refresh_token)).account_id == session.account_id


async def test_a_new_key_signs_and_the_old_one_verifies_until_its_tokens_expire(
    running: Running, postgres_url: str
) -> None:
    day, lead = 86_400.0, 600.0
    replicas = [await running.start(postgres_url, signing_key_age_s=day, signing_key_lead_s=lead) for _ in range(2)]
    player = running.player(replicas[0])
    old_session = await player.be_guest()
    verifier = verifier_of(running, replicas[1])
    [old] = await key_ids(running, replicas[0])

    running.clock.pass_s(day + 1)
    both = await asyncio.gather(*(key_ids(running, replica) for replica in replicas))
    assert both[0] == both[1]
    new = both[0][0]
    assert both[0][1:] == [old]
    assert new != old
    # Verifiers may go on with the keys that they have for a while, so nothing is signed yet that they would refuse.
    early = await player.be_guest()
    assert jwt.get_unverified_header(early.access_token)["kid"] == old

    running.clock.pass_s(lead)
    new_session = await player.be_guest()
    assert jwt.get_unverified_header(new_session.access_token)["kid"] == new
    assert (await verifier.verify(new_session.access_token)).account_id == new_session.account_id
    assert (await verifier.verify(old_session.access_token)).account_id == old_session.account_id

    running.clock.pass_s(3 * 3600)
    assert await key_ids(running, replicas[1]) == [new]


async def test_a_key_may_be_given_and_its_forerunner_still_verifies(
    running: Running, postgres_url: str, tmp_path: Path
) -> None:
    old, new = pem_of(Ed25519PrivateKey.generate()), pem_of(Ed25519PrivateKey.generate())
    before = await running.start(postgres_url, signing_key=old)
    session = await running.player(before).be_guest()
    [old_id] = await key_ids(running, before)
    secret = tmp_path / "signing-keys.pem"
    secret.write_text(new + old, encoding="ascii")
    after = await running.start(postgres_url, signing_key_file=str(secret))
    new_id, kept_id = await key_ids(running, after)
    assert (kept_id, new_id != old_id) == (old_id, True)
    await verifier_of(running, after).verify(session.access_token)
    newer = await running.player(after).be_guest()
    assert jwt.get_unverified_header(newer.access_token)["kid"] == new_id


@pytest.mark.parametrize(
    "given",
    [
        {"signing_key": "no key"},
        {"signing_key": pem_of(generate_private_key(SECP256R1()))},
        {"signing_key": pem_of(Ed25519PrivateKey.generate()).replace("M", "N")},
        {"signing_key_file": "/nonexistent/key.pem"},
    ],
)
async def test_a_wrong_key_is_named_at_the_start(given: dict[str, str]) -> None:
    settings = read(AccountsSettings, service_key=SERVICE_KEY, database_url="postgresql://localhost/x", **given)
    with pytest.raises(SettingsError, match=r"^EASTWIND_SIGNING_KEY(_FILE)? ") as caught:
        AccountsService(settings)
    assert "BEGIN" not in str(caught.value)
