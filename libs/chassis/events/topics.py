"""The topics, and how to make sure that they exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from libs.chassis.errors import Unavailable

TABLES = "eastwind.tables.v1"
HANDS = "eastwind.hands.v1"
MATCHES = "eastwind.matches.v1"
RATINGS = "eastwind.ratings.v1"
MATCHMAKING = "eastwind.matchmaking.v1"
EVENT_TOPICS = (TABLES, HANDS, MATCHES, RATINGS, MATCHMAKING)

PARTITIONS = 8
"""Partitions of each topic of events: the most consumers of one kind that can share its work."""


def dead_topic(topic: str) -> str:
    """Where messages of a topic go that no consumer can handle."""
    return f"{topic}.dead"


TOPICS: Mapping[str, int] = {
    **dict.fromkeys(EVENT_TOPICS, PARTITIONS),
    **{dead_topic(topic): 1 for topic in EVENT_TOPICS},
}
"""Every topic with its number of partitions."""


async def ensure_topics(
    bootstrap: Sequence[str],
    topics: Mapping[str, int] = TOPICS,
    *,
    timeout_s: float,
    replication: int = 1,
) -> frozenset[str]:
    """Create the topics (name to partitions) that are missing; returns the names of the new ones.

    A topic that exists stays as it is. Raises `Unavailable` when no broker answers, or when the broker refuses, as one
    does that lets only its operator create topics.
    """
    timeout_ms = int(timeout_s * 1000)
    admin = AIOKafkaAdminClient(bootstrap_servers=list(bootstrap), request_timeout_ms=timeout_ms)
    try:
        await admin.start()
        response = await admin.create_topics(
            [
                NewTopic(name=name, num_partitions=partitions, replication_factor=replication)
                for name, partitions in topics.items()
            ],
            timeout_ms=timeout_ms,
        )
    except (KafkaError, OSError) as error:
        raise Unavailable(f"topics could not be created: {type(error).__name__}") from error
    finally:
        await admin.close()
    created = set[str]()
    for topic, code, *_ in response.topic_errors:
        if code == 0:
            created.add(topic)
        elif for_code(code) is not TopicAlreadyExistsError:
            raise Unavailable(f"topic {topic} could not be created: {for_code(code).__name__}")
    return frozenset(created)
