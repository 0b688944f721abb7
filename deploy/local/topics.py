"""The topics, and how they come into being on any broker of the Kafka protocol."""

from __future__ import annotations

from collections.abc import Mapping

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

PARTITIONS = 8
"""Partitions of each topic of events: the most consumers of one kind that can share its work."""

EVENT_TOPICS = tuple(f"eastwind.{kind}.v1" for kind in ("tables", "hands", "matches", "ratings", "matchmaking"))
"""Where the services publish."""

TOPICS: Mapping[str, int] = {
    **dict.fromkeys(EVENT_TOPICS, PARTITIONS),
    **{f"{topic}.dead": 1 for topic in EVENT_TOPICS},
}
"""Every topic with its number of partitions; `<topic>.dead` holds what no consumer could handle."""


class TopicsNotCreatedError(Exception):
    """The broker refused to create some topics; `reasons` says why for each."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self.reasons = dict(reasons)
        super().__init__("topics not created: " + "; ".join(f"{topic}: {why}" for topic, why in reasons.items()))


async def ensure_topics(
    bootstrap: str,
    topics: Mapping[str, int] = TOPICS,
    *,
    replication_factor: int = 1,
    timeout_seconds: float = 15.0,
) -> frozenset[str]:
    """Create those of `topics` (name to partitions) that are missing; returns the names of the new ones.

    A topic that exists stays as it is. Raises `TopicsNotCreatedError`, or the client's `KafkaError` when no broker
    answers.
    """
    timeout_ms = int(timeout_seconds * 1000)
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap, request_timeout_ms=timeout_ms)
    try:
        await admin.start()
        response = await admin.create_topics(
            [
                NewTopic(name=name, num_partitions=partitions, replication_factor=replication_factor)
                for name, partitions in topics.items()
            ],
            timeout_ms=timeout_ms,
        )
    finally:
        await admin.close()
    created, reasons = set(), {}
    for topic, code, *message in response.topic_errors:
        error: type[KafkaError] = for_code(code)
        if code == 0:
            created.add(topic)
        elif error is not TopicAlreadyExistsError:
            reasons[topic] = (message[0] if message and message[0] else None) or error.__name__
    if reasons:
        raise TopicsNotCreatedError(reasons)
    return frozenset(created)
