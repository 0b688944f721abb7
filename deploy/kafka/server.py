"""Apache Kafka as a backing server: one KRaft node that is broker and controller."""

from __future__ import annotations

import asyncio
import base64
import secrets
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from aiokafka.admin import AIOKafkaAdminClient

from deploy.kafka.jars import jars_folder
from deploy.local.broker import KafkaProtocolServer
from deploy.local.errors import ServerStartError
from deploy.local.ports import LOOPBACK, free_port
from deploy.local.process import Account, spawn_command
from deploy.local.programs import java_program

_FORMAT_SECONDS = 180
_REQUEST_MS = 20_000
_JAVA = (
    "-Xms128m",
    "-Xmx512m",
    # A node of a developer's machine gains more from a quick start than from the second compiler.
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:+ExitOnOutOfMemoryError",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
    "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSS",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    # A few lines a start, among them that the node is up.
    "-Dorg.slf4j.simpleLogger.log.kafka.server=info",
)


class ApacheKafkaServer(KafkaProtocolServer):
    """Apache Kafka: what it acknowledged survives `kill -9` of the server. It makes no topic unless it is asked to."""

    name = "kafka"
    title = "Apache Kafka"
    client_settings: ClassVar[Mapping[str, Any]] = {"kafka_idempotent": True}
    # Its `group.min.session.timeout.ms`, left as it is.
    shortest_session_s = 6.0
    stop_signal = signal.SIGTERM
    start_seconds = 180.0
    stop_seconds = 30.0

    def __init__(self, data_dir: Path, port: int = 0) -> None:
        super().__init__(data_dir, port)
        self._data = self.folder / "data"
        self._properties = self.folder / "server.properties"

    async def begin_anew(self) -> None:
        await self.start()
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap, request_timeout_ms=_REQUEST_MS)
        await admin.start()
        try:
            async with asyncio.timeout(_REQUEST_MS / 1000):
                # Committed offsets go with their topics.
                while topics := [name for name in await admin.list_topics() if not name.startswith("__")]:
                    await admin.delete_topics(topics)
        finally:
            await admin.close()

    async def _prepare(self) -> Account | None:
        if not self._data.exists():
            await asyncio.to_thread(self._format)
        return None

    def _format(self) -> None:
        """Make the data folder all at once, so that an interrupted start leaves none rather than half of one."""
        fresh = self.folder / "data.new"
        shutil.rmtree(fresh, ignore_errors=True)
        self._write_properties(fresh, broker_port=1, controller_port=2)
        arguments = ["format", "--cluster-id", _cluster_id(), "--config", str(self._properties)]
        log = self.log.with_name("kafka-format.log")
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            try:
                code = subprocess.run(
                    spawn_command([*java_command("kafka.tools.StorageTool"), *arguments], signal.SIGKILL, None),
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=_FORMAT_SECONDS,
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                code = -signal.SIGKILL
        if code != 0:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-12:])
            raise ServerStartError(self.title, f"its StorageTool ended with exit code {code}", log, tail)
        fresh.rename(self._data)

    def _command(self) -> list[str]:
        self._write_properties(self._data, broker_port=self.port, controller_port=free_port())
        return [*java_command("kafka.Kafka"), str(self._properties)]

    def _write_properties(self, data: Path, *, broker_port: int, controller_port: int) -> None:
        broker, controller = f"{LOOPBACK}:{broker_port}", f"{LOOPBACK}:{controller_port}"
        properties = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{broker},CONTROLLER://{controller}",
            "advertised.listeners": f"PLAINTEXT://{broker}",
            "log.dirs": str(data),
            "auto.create.topics.enable": "false",
            # One node holds the only copy of everything.
            "default.replication.factor": "1",
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "4",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "share.coordinator.state.topic.replication.factor": "1",
            "share.coordinator.state.topic.min.isr": "1",
            # A first member need not wait for others to come.
            "group.initial.rebalance.delay.ms": "0",
            # Files of topics that were deleted, by `begin_anew` for example, go soon.
            "log.segment.delete.delay.ms": "1000",
        }
        text = "".join(f"{key}={value}\n" for key, value in properties.items())
        self._properties.write_text("# Written at each start.\n" + text)


def java_command(main: str) -> list[str]:
    """The command that runs a main class of Kafka, to be followed by its arguments."""
    return [str(java_program()), *_JAVA, "-cp", f"{jars_folder()}/*", main]


def _cluster_id() -> str:
    """A new one: 16 random bytes as Kafka writes them."""
    while True:
        text = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        if not text.startswith("-"):
            return text
