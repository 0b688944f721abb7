"""The accounts service as one object to start and stop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import structlog

from eastwind.accounts.v1 import accounts_service_pb2_grpc
from libs.chassis import database
from libs.chassis.auth import ANY_SERVICE, AccessTokenVerifier, AllowList
from libs.chassis.clocks import Clock, SteadyClock
from libs.chassis.errors import Unavailable
from libs.chassis.httpside import HttpSide
from libs.chassis.server import GrpcServer
from libs.chassis.service import ServiceObject
from libs.chassis.settings import SettingsError
from libs.chassis.telemetry import Telemetry
from libs.chassis.telemetry_contract import metrics as contract
from services.accounts.accounts import Accounts
from services.accounts.attempts import LogInAttempts
from services.accounts.keys import signing_keys_of
from services.accounts.passwords import Passwords
from services.accounts.service import AccountsServicer, adapt_error
from services.accounts.sessions import Sessions
from services.accounts.settings import AccountsSettings
from services.accounts.upkeep import Upkeep

_SERVICE = "/eastwind.accounts.v1.AccountsService"
CALLERS: AllowList = {
    f"{_SERVICE}/Register": {"gateway"},
    f"{_SERVICE}/RegisterGuest": {"gateway"},
    f"{_SERVICE}/LogIn": {"gateway"},
    f"{_SERVICE}/RefreshSession": {"gateway"},
    f"{_SERVICE}/LogOut": {"gateway"},
    f"{_SERVICE}/GetKeys": {ANY_SERVICE},
}
"""Which services may call which method."""

MIGRATIONS = Path(__file__).parent / "migrations"
_RETRY_START_S = 0.5
_log = structlog.get_logger(__name__)


class AccountsService(ServiceObject[AccountsSettings]):
    """One instance of the service. Several may live in one process, and several on one database."""

    name = "accounts"
    _server: GrpcServer
    _http: HttpSide

    def __init__(self, settings: AccountsSettings, *, clock: Clock | None = None) -> None:
        if not settings.database_url:
            raise SettingsError("EASTWIND_DATABASE_URL is not set, and accounts are kept in PostgreSQL.")
        super().__init__(settings)
        self._clock = clock or SteadyClock()
        self._telemetry = Telemetry(self.name, otlp_endpoint=settings.otlp_endpoint, trace_ratio=settings.trace_ratio)
        self._http = HttpSide(settings, self._telemetry.metrics)
        self._server = GrpcServer(settings, self._telemetry, allow=CALLERS, error_adapters=[adapt_error])
        self._engine = database.engine(settings.database_url, pool_size=settings.database_pool, overflow=0)
        self._keys = signing_keys_of(settings, self._engine, self._clock)
        self._sessions = Sessions(settings, self._clock)
        self._upkeep = Upkeep(self._engine, self._keys, self._sessions)

    async def _start(self) -> None:
        """Return when players can register and log in."""
        self._lifecycle.on_stop("telemetry", self._telemetry.close)
        self._lifecycle.on_stop("database", self._engine.dispose)
        self._http.add_check("grpc", lambda: self._server.health.serving)
        self._http.add_check("database", lambda: self._upkeep.database_answers)
        await self._http.start()
        self._lifecycle.on_stop("http", self._http.stop)
        await self._prepare_database()
        passwords = await asyncio.to_thread(Passwords, self._settings)
        self._lifecycle.on_stop("passwords", passwords.close)
        self._serve(passwords)
        self._lifecycle.on_stop("tasks", self._tasks.close)
        self._tasks.start(self._upkeep.probe_every(self._settings.database_probe_s), name="accounts-probe")
        self._tasks.start(self._upkeep.tidy_every(self._settings.upkeep_every_s), name="accounts-upkeep")
        await self._server.start()

    def _serve(self, passwords: Passwords) -> None:
        refreshes = self._telemetry.metrics.counter(contract.REFRESHES)
        attempts = LogInAttempts(self._settings, self._clock)
        accounts = Accounts(
            self._settings,
            self._engine,
            self._keys,
            passwords,
            self._sessions,
            attempts,
            self._clock,
            refreshes,
        )
        servicer = AccountsServicer(accounts, self._keys, AccessTokenVerifier(self._load_keys))
        self._server.add(accounts_service_pb2_grpc.add_AccountsServiceServicer_to_server, servicer)

    async def _prepare_database(self) -> None:
        """Bring the schema and the keys up to date, once the database is there."""
        prepare = database.migrate if self._settings.database_migrate else database.require_schema
        loop = asyncio.get_running_loop()
        give_up_at = loop.time() + self._settings.database_wait_s
        while True:
            try:
                await prepare(self._settings.database_url, MIGRATIONS, version_table="accounts_version")
                await self._keys.refresh()
                return
            except Exception as error:
                if not (isinstance(error, Unavailable) or database.is_retriable(error)):
                    raise
                if loop.time() >= give_up_at:
                    raise Unavailable("the accounts database cannot be used") from error
                _log.warning("waiting for the database", reason=str(error))
                await asyncio.sleep(_RETRY_START_S)

    async def _load_keys(self) -> Mapping[str, Any]:
        await self._keys.refresh()
        return self._keys.jwks()
