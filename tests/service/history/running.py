"""History services to try, on a real database and a real broker."""

from __future__ import annotations

import time
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from eastwind.events.v1 import envelope_pb2
from eastwind.history.v1 import history_service_pb2 as messages
from eastwind.history.v1 import history_service_pb2_grpc
from libs.chassis.auth import USER_METADATA, AccessTokenSigner, AccessTokenVerifier, Identity
from libs.chassis.channels import Channels
from libs.chassis.events import HANDS, MATCHES, RATINGS
from libs.chassis.settings import read
from libs.chassis.telemetry import Telemetry
from services.history.app import HistoryService
from services.history.settings import HistorySettings
from services.history.storing import Store
from tests.backing import QUICK_BROKER
from tests.service.ratings.publishing import delivered

SERVICE_KEY = "a key that all services share"
_SIGNER = AccessTokenSigner(Ed25519PrivateKey.generate(), "key")
_TOPICS = {"hand_finished": HANDS, "match_finished": MATCHES, "ratings_changed": RATINGS}


async def _keys() -> dict[str, Any]:
    return {"keys": [_SIGNER.public_jwk()]}


def settings_for(database_url: str, bootstrap: str, **values: Any) -> HistorySettings:
    quick = {"service_key": SERVICE_KEY, **QUICK_BROKER}
    places = {"database_url": database_url, "kafka_bootstrap": (bootstrap,), "accounts_address": ("127.0.0.1:1",)}
    return read(HistorySettings, **{**quick, **places, **values})


class Running:
    """Services that run, all stopped at the end of the test."""

    def __init__(self) -> None:
        self._services: list[HistoryService] = []
        self._channels: list[Channels] = []

    async def start(self, database_url: str, bootstrap: str = "127.0.0.1:1", **values: Any) -> HistoryService:
        """Another replica."""
        settings = settings_for(database_url, bootstrap, **values)
        service = HistoryService(settings, access_tokens=AccessTokenVerifier(_keys))
        await service.start()
        self._services.append(service)
        return service

    def reader(self, service: HistoryService, account: str = "", *, caller: str = "gateway") -> Reader:
        """Somebody at the service, "" without an account."""
        channels = Channels(caller, read(HistorySettings, service_key=SERVICE_KEY), Telemetry(caller))
        self._channels.append(channels)
        stub = history_service_pb2_grpc.HistoryServiceStub(channels.at(service.grpc_address, timeout_s=20))
        return Reader(stub, account)

    async def stop_all(self) -> None:
        for channels in self._channels:
            await channels.close()
        for service in self._services:
            await service.stop(1.0)


class Reader:
    """Calls history as the gateway does for a player."""

    def __init__(self, stub: Any, account: str) -> None:
        self._stub = stub
        self._metadata: tuple[tuple[str, str], ...] = ()
        if account:
            identity = Identity(account, account.title(), False, "session", int(time.time()) + 600)
            self._metadata = ((USER_METADATA, f"Bearer {_SIGNER.sign(identity)}"),)

    async def get(self, record_id: str) -> messages.GetRecordResponse:
        request = messages.GetRecordRequest(record_id=record_id)
        response: messages.GetRecordResponse = await self._stub.GetRecord(request, metadata=self._metadata)
        return response

    async def export(self, record_id: str) -> messages.ExportRecordResponse:
        request = messages.ExportRecordRequest(record_id=record_id)
        response: messages.ExportRecordResponse = await self._stub.ExportRecord(request, metadata=self._metadata)
        return response

    async def verify(self, record_id: str) -> messages.VerifyRecordResponse:
        request = messages.VerifyRecordRequest(record_id=record_id)
        response: messages.VerifyRecordResponse = await self._stub.VerifyRecord(request, metadata=self._metadata)
        return response

    async def list(self, **fields: Any) -> messages.ListRecordsResponse:
        request = messages.ListRecordsRequest(**fields)
        response: messages.ListRecordsResponse = await self._stub.ListRecords(request, metadata=self._metadata)
        return response

    async def ids(self, **fields: Any) -> list[str]:
        return [record.record_id for record in (await self.list(**fields)).records]


async def store(handler: Store, *envelopes: envelope_pb2.Envelope) -> None:
    """Hand events over as the consumer does."""
    for envelope in envelopes:
        kind = envelope.WhichOneof("payload")
        assert kind is not None
        await handler(delivered(_TOPICS[kind], envelope))
