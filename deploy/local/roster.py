"""Which services there are, and what all of them are told on this machine."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any, Final

from deploy.local.stack import BackingStack

DATABASES: Final = ("accounts", "history", "ratings")
"""The services that keep something in PostgreSQL, each in a database of its own."""
ORDER: Final = ("accounts", "scoring", "bots", "ratings", "history", "table", "clock", "matchmaking", "gateway")
"""Every service after those that it calls."""


def common_settings(stack: BackingStack) -> dict[str, Any]:
    """Fields of `ServiceSettings` that are the same for every service on this stack."""
    return {
        "redis_url": stack.valkey_url,
        "kafka_bootstrap": (stack.kafka_bootstrap,),
        **stack.broker.client_settings,
        "service_key": service_key(stack.data_dir),
    }


def service_key(data_dir: Path) -> str:
    """Return the key that the services of this data folder share; made on first use, readable by its owner alone."""
    path = data_dir / "service-key"
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        pass
    data_dir.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    key = secrets.token_urlsafe(32)
    path.write_text(key + "\n")
    return key
