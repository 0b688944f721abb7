"""How the service stands in its surroundings: probes, outages, callers, schema, process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path
from typing import Any

import aiohttp
import grpc
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from eastwind.accounts.v1 import accounts_service_pb2 as messages
from libs.chassis import database
from libs.chassis.errors import PermissionDenied, Unavailable
from libs.chassis.settings import SettingsError, read
from services.accounts.app import AccountsService
from services.accounts.settings import AccountsSettings
from services.accounts.tables import metadata
from tests.backing import BACKING
from tests.service.accounts.running import CHEAP, SERVICE_KEY, Player, Running

ROOT = Path(__file__).parents[3]


async def status_of(http: aiohttp.ClientSession, service: AccountsService, path: str) -> int:
    async with http.get(f"http://{service.http_address}{path}") as response:
        return response.status


async def until_ready(http: aiohttp.ClientSession, service: AccountsService, expected: int) -> None:
    """Wait until `/readyz` answers so; meanwhile `/healthz` must always be well."""
    async with asyncio.timeout(30):
        while await status_of(http, service, "/readyz") != expected:
            assert await status_of(http, service, "/healthz") == 200


async def test_c124_an_outage_of_the_database_costs_readiness_and_nothing_else(
    running: Running, tmp_path: Path
) -> None:
    server = BACKING.database(tmp_path / "postgres", fsync=False)
    await server.start()
    try:
        service = await running.start(await server.create_database("accounts"), database_probe_s=0.05)
        player = running.player(service)
        guest = await player.be_guest()
        keys = await player.stub.GetKeys(messages.GetKeysRequest())
        async with aiohttp.ClientSession() as http:
            await until_ready(http, service, 200)
            await server.stop()
            for call in (player.be_guest(), player.refresh(guest.refresh_token), player.log_in("Wind Rider")):
                with pytest.raises(Unavailable) as caught:
                    await call
                assert caught.value.retriable
            await until_ready(http, service, 503)
            assert await status_of(http, service, "/healthz") == 200
            # Tokens can be checked meanwhile.
            assert await player.stub.GetKeys(messages.GetKeysRequest()) == keys
            await server.start()
            await until_ready(http, service, 200)
        assert (await player.refresh(guest.refresh_token)).account_id == guest.account_id
        assert not service.failed.done()
    finally:
        await server.stop()


async def test_the_start_waits_for_the_database_and_gives_up_in_the_end(running: Running, tmp_path: Path) -> None:
    server = BACKING.database(tmp_path / "postgres", fsync=False)
    await server.start()
    url = await server.create_database("accounts")
    await server.stop()
    try:
        with pytest.raises(Unavailable):
            await running.start(url, database_wait_s=0.0)
        starting = asyncio.create_task(running.start(url))
        await server.start()
        assert (await running.player(await starting).be_guest()).guest
    finally:
        await server.stop()


async def test_a_start_that_is_broken_off_leaves_nothing_running() -> None:
    nowhere = "postgresql://nobody:none@127.0.0.1:1/none"
    service = AccountsService(read(AccountsSettings, service_key=SERVICE_KEY, database_url=nowhere, **CHEAP))
    starting = asyncio.create_task(service.start())
    async with aiohttp.ClientSession() as http, asyncio.timeout(30):
        while True:
            # It listens before it looks for the database.
            with contextlib.suppress(aiohttp.ClientConnectorError):
                assert await status_of(http, service, "/healthz") == 200
                break
        assert await status_of(http, service, "/readyz") == 503
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await service.stop(1.0)
        with pytest.raises(aiohttp.ClientConnectorError):
            await status_of(http, service, "/healthz")


async def test_only_the_gateway_serves_players_and_everybody_gets_the_keys(
    running: Running, service: AccountsService
) -> None:
    stub = running.stub(service, "table")
    await stub.GetKeys(messages.GetKeysRequest())
    for call in (
        stub.Register(messages.RegisterRequest()),
        stub.RegisterGuest(messages.RegisterGuestRequest()),
        stub.LogIn(messages.LogInRequest()),
        stub.RefreshSession(messages.RefreshSessionRequest()),
        stub.LogOut(messages.LogOutRequest()),
    ):
        with pytest.raises(PermissionDenied):
            await call


async def test_health_reflection_and_metrics_answer_without_a_token(service: AccountsService, player: Player) -> None:
    await player.refresh((await player.be_guest()).refresh_token)
    async with grpc.aio.insecure_channel(service.grpc_address) as channel:
        request = health_pb2.HealthCheckRequest(service="eastwind.accounts.v1.AccountsService")
        health = await health_pb2_grpc.HealthStub(channel).Check(request, timeout=10)
        assert health.status == health_pb2.HealthCheckResponse.SERVING
        asked = reflection_pb2.ServerReflectionRequest(list_services="")
        listing = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter([asked]), timeout=10)
        names = [found.name async for answer in listing for found in answer.list_services_response.service]
        assert "eastwind.accounts.v1.AccountsService" in names
    async with aiohttp.ClientSession() as http, http.get(f"http://{service.http_address}/metrics") as response:
        assert 'eastwind_accounts_refreshes_total{outcome="renewed"} 1.0' in await response.text()


async def test_the_migrations_make_the_tables_that_the_code_uses(service: AccountsService, postgres_url: str) -> None:
    engine = database.engine(postgres_url)

    def differences(connection: sa.Connection) -> list[Any]:
        def ours(name: str | None, kind: str, _parents: Any) -> bool:
            return kind != "table" or name in metadata.tables

        context = MigrationContext.configure(connection, opts={"include_name": ours, "compare_type": True})
        return compare_metadata(context, metadata)

    try:
        async with engine.connect() as connection:
            assert await connection.run_sync(differences) == []
    finally:
        await engine.dispose()


async def test_a_service_without_a_database_says_so() -> None:
    with pytest.raises(SettingsError, match="EASTWIND_DATABASE_URL"):
        AccountsService(read(AccountsSettings, service_key=SERVICE_KEY))


async def test_the_process_drains_at_sigterm(postgres_url: str) -> None:
    variables = {f"EASTWIND_{name.upper()}": str(value) for name, value in CHEAP.items()}
    variables |= {"EASTWIND_DATABASE_URL": postgres_url, "EASTWIND_SERVICE_KEY": SERVICE_KEY}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.accounts"),
        cwd=ROOT,
        env={**os.environ, **variables, "EASTWIND_LOG_FORMAT": "json"},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(60):
            seen = b""
            while b"service runs" not in seen:
                line = await process.stderr.readline()
                assert line, seen.decode()
                seen += line
            process.send_signal(signal.SIGTERM)
            rest = await process.stderr.read()
            assert await process.wait() == 0, rest.decode()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
