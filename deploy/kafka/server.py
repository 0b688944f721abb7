"""Apache Kafka as a backing server: a KRaft node that is broker and controller, by itself or one of several."""

from __future__ import annotations

import asyncio
import base64
import secrets
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from aiokafka.admin import AIOKafkaAdminClient, NewTopic

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


@dataclass(frozen=True, slots=True)
class Place:
    """A node among those of its cluster: its number, the controller's port of each node, and how many copies are kept.

    More than half of the copies must have a message before it is acknowledged.
    """

    node: int
    controllers: Mapping[int, int]
    copies: int


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
                # The list may not have a topic that was made a moment ago; once it has a later one, it has all.
                last = f"last-{secrets.token_hex(8)}"
                while last not in await admin.list_topics():
                    await admin.create_topics([NewTopic(last, 1, 1)])
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
        self._write_properties(fresh)
        arguments = ["format", "--cluster-id", self._cluster_id(), "--config", str(self._properties)]
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
        self._write_properties(self._data)
        return [*java_command("kafka.Kafka"), str(self._properties)]

    def _cluster_id(self) -> str:
        """The id of the cluster that a new data folder is made for."""
        return new_cluster_id()

    def _place(self) -> Place:
        """Where in its cluster the node stands from this start on."""
        return Place(1, {1: free_port()}, copies=1)

    def _further_listeners(self) -> Mapping[str, str]:
        """Listeners by name, with the address of each, besides the plain one and the controller's."""
        return {}

    def _further_properties(self) -> Mapping[str, str]:
        """Properties that are written after all others."""
        return {}

    def _write_properties(self, data: Path) -> None:
        place = self._place()
        broker, controller = self.bootstrap, f"{LOOPBACK}:{place.controllers[place.node]}"
        listeners = {"PLAINTEXT": broker, "CONTROLLER": controller, **self._further_listeners()}
        copies, enough = str(place.copies), str(place.copies // 2 + 1)
        properties = {
            "process.roles": "broker,controller",
            "node.id": str(place.node),
            "controller.quorum.voters": ",".join(f"{node}@{LOOPBACK}:{at}" for node, at in place.controllers.items()),
            "controller.listener.names": "CONTROLLER",
            "listeners": ",".join(f"{name}://{address}" for name, address in listeners.items()),
            "advertised.listeners": ",".join(
                f"{name}://{address}" for name, address in listeners.items() if name != "CONTROLLER"
            ),
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": str(data),
            "auto.create.topics.enable": "false",
            "default.replication.factor": copies,
            "min.insync.replicas": enough,
            "offsets.topic.replication.factor": copies,
            "offsets.topic.num.partitions": "4",
            "transaction.state.log.replication.factor": copies,
            "transaction.state.log.min.isr": enough,
            "share.coordinator.state.topic.replication.factor": copies,
            "share.coordinator.state.topic.min.isr": enough,
            # A first member need not wait for others to come.
            "group.initial.rebalance.delay.ms": "0",
            # Files of topics that were deleted, by `begin_anew` for example, go soon.
            "log.segment.delete.delay.ms": "1000",
            **self._further_properties(),
        }
        text = "".join(f"{key}={value}\n" for key, value in properties.items())
        self._properties.write_text("# Written at each start.\n" + text)


def java_command(main: str) -> list[str]:
    """The command that runs a main class of Kafka, to be followed by its arguments."""
    return [str(java_program()), *_JAVA, "-cp", f"{jars_folder()}/*", main]


def new_cluster_id() -> str:
    """The id of a new cluster: 16 random bytes as Kafka writes them."""
    while True:
        text = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        if not text.startswith("-"):
            return text
