"""Several nodes of Apache Kafka on this machine, each with a copy of all, for tests of nodes that come and go."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar, Final

from aiokafka.admin import AIOKafkaAdminClient

from deploy.kafka.server import ApacheKafkaServer, Place, new_cluster_id
from deploy.local.ports import free_port

_REQUEST_MS: Final = 20_000


class ClusterNode(ApacheKafkaServer):
    """One of the nodes. It answers once enough of the others are there; kill and start it like any server."""

    title: ClassVar[str] = "a node of Apache Kafka"

    def __init__(self, data_dir: Path, place: Place, cluster_id: str) -> None:
        super().__init__(data_dir, free_port())
        self._own_place = place
        self._own_cluster_id = cluster_id

    def _cluster_id(self) -> str:
        return self._own_cluster_id

    def _place(self) -> Place:
        return self._own_place


class ApacheKafkaCluster:
    """So many nodes in one folder, all of them brokers and controllers. Every topic has a copy on each.

    A message is acknowledged once more than half of the nodes have it, and as long as so many live the cluster works.
    """

    def __init__(self, data_dir: Path, nodes: int = 3) -> None:
        numbers = range(1, nodes + 1)
        controllers = {number: free_port() for number in numbers}
        cluster_id = new_cluster_id()
        self.nodes = tuple(
            ClusterNode(data_dir / f"node-{number}", Place(number, controllers, copies=nodes), cluster_id)
            for number in numbers
        )

    @property
    def bootstrap(self) -> list[str]:
        """The addresses of all nodes, for `bootstrap_servers` of a Kafka client."""
        return [node.bootstrap for node in self.nodes]

    async def start(self) -> None:
        """Start all nodes at once; returns when they answer. When one cannot start, none is left running."""
        results = await asyncio.gather(*(node.start() for node in self.nodes), return_exceptions=True)
        failure = next((result for result in results if isinstance(result, BaseException)), None)
        if failure is not None:
            await self.stop()
            raise failure

    async def whole(self) -> bool:
        """Whether every node lives and has everything, so that any of them may be taken away."""
        admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap, request_timeout_ms=_REQUEST_MS)
        await admin.start()
        try:
            topics = await admin.describe_topics()
        finally:
            await admin.close()
        return all(len(each["isr"]) == len(self.nodes) for topic in topics for each in topic["partitions"])

    async def stop(self) -> None:
        """Stop all nodes, at once: the last ones are killed, as they have nobody to hand over to."""
        await asyncio.gather(*(node.kill() for node in self.nodes))
