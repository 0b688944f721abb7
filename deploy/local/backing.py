"""Which servers stand behind the services: those that wheels carry, or those of production."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from deploy.kafka.server import ApacheKafkaServer
from deploy.local.broker import BrokerServer, KafkaProtocolServer
from deploy.local.debian import DebianPostgresServer, RedisServer
from deploy.local.postgres import PostgresServer
from deploy.local.server import BackingServer
from deploy.local.valkey import ValkeyServer

VARIABLE: Final = "EASTWIND_BACKING"
"""The environment variable that chooses one by its name, for `eastwind run` and for the tests."""


@dataclass(frozen=True, slots=True)
class Backing:
    """The kinds of the three servers."""

    name: str
    store: type[ValkeyServer]
    broker: type[KafkaProtocolServer]
    database: type[PostgresServer]

    @property
    def kinds(self) -> tuple[type[BackingServer], ...]:
        """The three."""
        return (self.store, self.broker, self.database)


EMBEDDED: Final = Backing("embedded", ValkeyServer, BrokerServer, PostgresServer)
"""All from wheels: nothing has to be installed."""
PRODUCTION: Final = Backing("production", RedisServer, ApacheKafkaServer, DebianPostgresServer)
"""Redis and PostgreSQL from Debian, Apache Kafka from Maven."""
BACKINGS: Final[Mapping[str, Backing]] = {each.name: each for each in (EMBEDDED, PRODUCTION)}
