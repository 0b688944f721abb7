"""Every client of the project over verified TLS, to Debian's Redis and PostgreSQL and to Apache Kafka with log-ins."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any, Final

import asyncpg
import pytest
import pytest_asyncio
import sqlalchemy as sa

from deploy.kafka.server import ApacheKafkaServer, java_command
from deploy.local.debian import RedisServer
from deploy.local.ports import LOOPBACK, free_port
from deploy.local.roster import ORDER
from deploy.local.stack import BackingStack
from libs.chassis import database
from libs.chassis.errors import StoreUnavailable, Unavailable
from libs.chassis.events import EventConsumer, EventProducer, EventRecord, ensure_topics
from libs.chassis.events.incarnation import broker_incarnation
from libs.chassis.redis_client import RedisClient
from libs.chassis.settings import ServiceSettings, read
from libs.chassis.table_store import OutboxMessage
from libs.chassis.telemetry import Telemetry
from tests.backing import BACKING
from tests.documented import Operator
from tests.faults.test_key_rotation import rolling, under_play
from tests.service.chassis.authority import Authority

pytestmark = [pytest.mark.production, pytest.mark.timeout(300), pytest.mark.asyncio(loop_scope="module")]
USER: Final = "eastwind"
SECRET: Final = "the-first-secret"
TOPIC: Final = "eastwind.hands.v1"


class TlsRedis(RedisServer):
    """A Redis with a second port for TLS."""

    certificate: Mapping[str, str]
    tls_port = 0

    @property
    def tls_url(self) -> str:
        return f"rediss://{LOOPBACK}:{self.tls_port}/0"

    def _command(self) -> list[str]:
        self.tls_port = self.tls_port or free_port()
        return [
            *super()._command(),
            *("--tls-port", str(self.tls_port), "--tls-auth-clients", "no"),
            *("--tls-cert-file", self.certificate["tls_certificate"], "--tls-key-file", self.certificate["tls_key"]),
            *("--tls-ca-cert-file", self.certificate["tls_authority"]),
        ]


class GuardedKafka(ApacheKafkaServer):
    """A broker with a second listener, for those who log in by SCRAM over TLS."""

    certificate: Mapping[str, str]
    guarded_port = 0

    @property
    def guarded(self) -> str:
        return f"{LOOPBACK}:{self.guarded_port}"

    def _further_listeners(self) -> Mapping[str, str]:
        self.guarded_port = self.guarded_port or free_port()
        return {"SASL_SSL": self.guarded}

    def _further_properties(self) -> Mapping[str, str]:
        both = Path(self.certificate["tls_key"]).with_suffix(".pem")
        both.write_bytes(
            Path(self.certificate["tls_key"]).read_bytes() + Path(self.certificate["tls_certificate"]).read_bytes()
        )
        scram = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
        return {
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(both),
            "sasl.enabled.mechanisms": "SCRAM-SHA-512",
            "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config": scram,
        }


class GuardedStack(BackingStack):
    """The three servers with TLS, and whom their clients should trust."""

    redis: TlsRedis
    kafka: GuardedKafka
    certificate: Mapping[str, str]
    authority: str
    stranger: str

    @classmethod
    def make(cls, folder: Path) -> GuardedStack:
        """Servers that do not run yet."""
        authority = Authority(folder, "authority")
        stack = cls(folder / "stack", backing=BACKING, fsync=False)
        stack.authority, stack.stranger = str(authority.path), str(Authority(folder, "stranger").path)
        stack.redis = stack.valkey = TlsRedis(stack.data_dir)
        stack.redis.certificate = authority.sign("redis", LOOPBACK)
        stack.kafka = stack.broker = GuardedKafka(stack.data_dir)
        stack.kafka.certificate = authority.sign("kafka", LOOPBACK)
        stack.certificate = authority.sign("postgres", LOOPBACK)
        return stack

    async def start_guarded(self) -> None:
        """Start them, and nobody comes in any more who has no TLS or, at the broker's guarded port, no log-in."""
        await self.postgres.start()
        self._certify_the_database(self.certificate)
        await self._guard_the_database()
        await self.start()
        await self.add_broker_user(USER, SECRET)

    def _certify_the_database(self, certificate: Mapping[str, str]) -> None:
        data = self.postgres.folder / "data"
        owner = data.stat()
        for name, kind in (("server.crt", "tls_certificate"), ("server.key", "tls_key")):
            (data / name).write_bytes(Path(certificate[kind]).read_bytes())
            (data / name).chmod(0o600)
            os.chown(data / name, owner.st_uid, owner.st_gid)
        rules = data / "pg_hba.conf"
        rules.write_text("hostnossl all all all reject\n" + rules.read_text())

    async def _guard_the_database(self) -> None:
        """Let nobody in without TLS, from the next start on."""
        connection = await asyncpg.connect(self.postgres_url(), timeout=10)
        await connection.execute("ALTER SYSTEM SET ssl = on")
        await connection.close()
        await self.postgres.stop()

    async def add_broker_user(self, user: str, password: str) -> None:
        operator = self.operator(BROKER_USER=user, NEW_PASSWORD=password)
        await operator.do("second broker user")

    def operator(self, **variables: str) -> Operator:
        """Somebody with the tools of Kafka."""
        programs = self.data_dir / "programs"
        programs.mkdir(exist_ok=True)
        script = programs / "kafka-configs.sh"
        command = " ".join(f"'{part}'" for part in java_command("org.apache.kafka.tools.ConfigCommand"))
        script.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        script.chmod(0o755)
        return Operator("key-rotation.md", {"KAFKA": self.kafka.bootstrap, **variables}, [programs])

    def settings(self, *, user: str = USER, password: str = SECRET, authority: str = "") -> dict[str, Any]:
        """Fields of settings of whoever trusts `authority`, by default the right one."""
        trusted = authority or self.authority
        return {
            "redis_url": self.redis.tls_url,
            "redis_authority": trusted,
            "kafka_bootstrap": (self.kafka.guarded,),
            "kafka_security": "SASL_SSL",
            "kafka_username": user,
            "kafka_password": password,
            "kafka_authority": trusted,
        }

    def read(self, **who: str) -> ServiceSettings:
        return read(ServiceSettings, **self.settings(**who))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[GuardedStack]:
    stack = GuardedStack.make(tmp_path_factory.mktemp("guarded"))
    try:
        await stack.start_guarded()
        yield stack
    finally:
        await stack.stop()


async def test_the_store_is_believed_by_its_authority_alone(stack: GuardedStack) -> None:
    async with RedisClient(stack.read().redis_url) as client:
        assert await client.call("PING", key=b"") == b"PONG"
    for url in (stack.read(authority=stack.stranger).redis_url, stack.redis.tls_url):
        stranger = RedisClient(url)
        with pytest.raises(StoreUnavailable):
            await stranger.open(wait_s=1.0)
        await stranger.close()
    # Its certificate names the address, and no other name.
    elsewhere = RedisClient(stack.read().redis_url.replace(LOOPBACK, "localhost"))
    with pytest.raises(StoreUnavailable):
        await elsewhere.open(wait_s=1.0)
    await elsewhere.close()


async def test_the_database_is_believed_by_its_authority_alone(
    stack: GuardedStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{stack.postgres_url()}?ssl=verify-full"

    async def over_tls(url: str) -> bool:
        engine = database.engine(url)
        try:
            async with engine.connect() as connection:
                return bool(
                    await connection.scalar(sa.text("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"))
                )
        finally:
            await engine.dispose()

    monkeypatch.setenv("PGSSLROOTCERT", stack.authority)
    assert await over_tls(url)
    with pytest.raises(ssl.SSLCertVerificationError):
        await over_tls(url.replace(LOOPBACK, "localhost"))
    monkeypatch.setenv("PGSSLROOTCERT", stack.stranger)
    with pytest.raises(ssl.SSLCertVerificationError):
        await over_tls(url)
    with pytest.raises(sa.exc.DBAPIError, match="no encryption"):
        await over_tls(f"{stack.postgres_url()}?ssl=disable")


async def test_brokers_are_believed_by_their_authority_alone_and_believe_who_logs_in(stack: GuardedStack) -> None:
    brokers = stack.read().kafka_bootstrap
    await ensure_topics(brokers, timeout_s=15.0)
    assert await broker_incarnation(brokers)
    telemetry = Telemetry("test")
    producer = EventProducer(brokers, telemetry)
    heard = asyncio.Queue[bytes]()

    async def hear(record: EventRecord) -> None:
        await heard.put(record.payload)

    consumer = EventConsumer(brokers, "test", [TOPIC], hear, producer, telemetry, session_timeout_s=6.0)
    await consumer.start()
    await producer.send(OutboxMessage(TOPIC, "a table", b"over TLS", {"event-id": b"1"}))
    async with asyncio.timeout(30):
        assert await heard.get() == b"over TLS"
    await consumer.stop()
    await producer.stop(5.0)
    await telemetry.close()
    for wrong in ({"authority": stack.stranger}, {"password": "another"}, {"user": "nobody"}):
        with pytest.raises(Unavailable):
            await ensure_topics(stack.read(**wrong).kafka_bootstrap, timeout_s=5.0)


async def test_all_services_run_on_such_servers_and_the_brokers_user_changes_under_play(
    stack: GuardedStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    monkeypatch.setenv("PGSSLROOTCERT", stack.authority)
    second = stack.settings(user=f"{USER}-b", password="the-next-secret")
    copies = dict.fromkeys(ORDER, 2)
    async with rolling(stack, copies, **stack.settings()) as services, under_play(services.edges) as four:
        await stack.add_broker_user(f"{USER}-b", "the-next-secret")
        await services.replace_all(**second)
        await stack.operator(OLD_USER=USER).do("retire the first broker user")
        hand = await four.finish_hand()
        await four.check_record(hand)
        await four.next_hand()
    with pytest.raises(Unavailable):
        await ensure_topics(stack.read().kafka_bootstrap, timeout_s=5.0)
    await ensure_topics(read(ServiceSettings, **second).kafka_bootstrap, timeout_s=15.0)
