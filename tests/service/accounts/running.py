"""Accounts services to try, and stubs to them in the name of other services."""

from __future__ import annotations

from typing import Any

from eastwind.accounts.v1 import accounts_service_pb2 as messages
from eastwind.accounts.v1 import accounts_service_pb2_grpc
from libs.chassis.auth import CLIENT_ADDRESS_METADATA, USER_METADATA
from libs.chassis.channels import Channels
from libs.chassis.clocks import SteadyClock
from libs.chassis.settings import read
from libs.chassis.telemetry import Telemetry
from services.accounts.app import AccountsService
from services.accounts.settings import AccountsSettings

SERVICE_KEY = "a key that all services share"
PASSWORD = "four winds, one wall"
# The smallest cost that argon2 takes: what is tested is not how slow it is.
CHEAP = {"argon2_time_cost": 1, "argon2_memory_kib": 8, "argon2_parallelism": 1}


class MovableClock:
    """The steady clock, and what a test adds to it."""

    def __init__(self) -> None:
        self._clock = SteadyClock()
        self._ahead_ms = 0

    def now_ms(self) -> int:
        return self._clock.now_ms() + self._ahead_ms

    def pass_s(self, seconds: float) -> None:
        self._ahead_ms += round(seconds * 1000)


class Player:
    """Calls accounts as the gateway does for a player."""

    def __init__(self, stub: Any) -> None:
        self.stub = stub

    async def register(self, name: str, password: str = PASSWORD, access_token: str = "") -> messages.Session:
        metadata = ((USER_METADATA, f"Bearer {access_token}"),) if access_token else ()
        request = messages.RegisterRequest(name=name, password=password)
        return (await self.stub.Register(request, metadata=metadata)).session

    async def be_guest(self, name: str = "") -> messages.Session:
        return (await self.stub.RegisterGuest(messages.RegisterGuestRequest(name=name))).session

    async def log_in(self, name: str, password: str = PASSWORD, address: str = "") -> messages.Session:
        metadata = ((CLIENT_ADDRESS_METADATA, address),) if address else ()
        return (await self.stub.LogIn(messages.LogInRequest(name=name, password=password), metadata=metadata)).session

    async def refresh(self, refresh_token: str) -> messages.Session:
        request = messages.RefreshSessionRequest(refresh_token=refresh_token)
        return (await self.stub.RefreshSession(request)).session

    async def log_out(self, refresh_token: str) -> None:
        await self.stub.LogOut(messages.LogOutRequest(refresh_token=refresh_token))


class Running:
    """Services that run, all stopped at the end of the test."""

    def __init__(self) -> None:
        self.clock = MovableClock()
        self._services: list[AccountsService] = []
        self._channels: list[Channels] = []

    async def start(self, database_url: str, **settings: Any) -> AccountsService:
        """Another replica."""
        values = {"service_key": SERVICE_KEY, "database_url": database_url, **CHEAP, **settings}
        service = AccountsService(read(AccountsSettings, **values), clock=self.clock)
        await service.start()
        self._services.append(service)
        return service

    async def stop(self, service: AccountsService) -> None:
        self._services.remove(service)
        await service.stop(1.0)

    def stub(self, service: AccountsService, caller: str = "gateway") -> Any:
        channels = Channels(caller, read(AccountsSettings, service_key=SERVICE_KEY), Telemetry(caller))
        self._channels.append(channels)
        return accounts_service_pb2_grpc.AccountsServiceStub(channels.at(service.grpc_address, timeout_s=20))

    def player(self, service: AccountsService) -> Player:
        return Player(self.stub(service))

    async def stop_all(self) -> None:
        for channels in self._channels:
            await channels.close()
        for service in list(self._services):
            await self.stop(service)
