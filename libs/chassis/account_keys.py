"""The public keys of accounts, for services that check access tokens themselves."""

from __future__ import annotations

import json
from typing import Any

from eastwind.accounts.v1 import accounts_service_pb2, accounts_service_pb2_grpc
from libs.chassis.auth import AccessTokenVerifier
from libs.chassis.channels import Channels

_GET_KEYS = "eastwind.accounts.v1.AccountsService/GetKeys"


def account_tokens(channels: Channels, *, ttl_s: float = 300.0) -> AccessTokenVerifier:
    """A verifier that loads its keys from accounts when it first needs them, and again when they may have changed.

    Raises `SettingsError` when the address of accounts is not set.
    """
    stub = accounts_service_pb2_grpc.AccountsServiceStub(channels.to("accounts", idempotent=[_GET_KEYS]))

    async def load() -> Any:
        response = await stub.GetKeys(accounts_service_pb2.GetKeysRequest())
        return json.loads(response.jwks_json)

    return AccessTokenVerifier(load, ttl_s=ttl_s)
