"""What the leader of a consumer group shared out, and whether that is still everything there is.

The client shares out anew when a topic gets more partitions, but not when it learns of them while it is sharing out:
then nobody would ever read the new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

_PATIENCE_S = 3.0
"""How long the client has to notice by itself."""


class Sharing:
    """Remembers how many partitions each topic had when this consumer shared them out; knows nothing if another did."""

    def __init__(self) -> None:
        self._partitions: dict[str, int] = {}
        self._differs_since: float | None = None

    def forget(self) -> None:
        """The group shares out anew."""
        self._partitions = {}
        self._differs_since = None

    def outdated(self, consumer: AIOKafkaConsumer, now: float) -> bool:
        """Whether topics have had another number of partitions for some seconds. `now` is monotonic, in seconds."""
        if all(_count(consumer, topic) == number for topic, number in self._partitions.items()):
            self._differs_since = None
            return False
        if self._differs_since is None:
            self._differs_since = now
        return now - self._differs_since > _PATIENCE_S

    def assignor(self) -> type[Any]:
        """The client's own assignor, watched."""
        sharing = self

        class WatchedAssignor(RoundRobinPartitionAssignor):  # type: ignore[misc]
            @classmethod
            def assign(cls, cluster: Any, members: Mapping[str, Any]) -> Any:
                topics = {topic for member in members.values() for topic in member.subscription}
                sharing._partitions = {topic: _count(cluster, topic) for topic in topics}
                return super().assign(cluster, members)

        return WatchedAssignor


def _count(of: Any, topic: str) -> int:
    return len(of.partitions_for_topic(topic) or ())
