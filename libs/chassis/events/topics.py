"""The topics, and how to make sure that they exist."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import KafkaError, TopicAlreadyExistsError, for_code

from libs.chassis.brokers import client_arguments
from libs.chassis.errors import Unavailable
from libs.chassis.events.starting import start_client

TABLES = "eastwind.tables.v1"
HANDS = "eastwind.hands.v1"
MATCHES = "eastwind.matches.v1"
RATINGS = "eastwind.ratings.v1"
MATCHMAKING = "eastwind.matchmaking.v1"
BROKER = "eastwind.broker.v1"
"""The name of the broker's present life; see `incarnation`."""
EVENT_TOPICS = (TABLES, HANDS, MATCHES, RATINGS, MATCHMAKING)

LARGEST_MESSAGE_BYTES = 8 * 1024 * 1024
"""What a topic takes: the largest event with its key and headers, and room to grow."""

AS_THE_BROKER_LIKES = -1
"""Stands for as many replicas as the broker gives by itself (`default.replication.factor`)."""

_EVENT_SETTINGS = {"max.message.bytes": str(LARGEST_MESSAGE_BYTES)}
# Its one record must not grow too old.
_SETTINGS = {BROKER: {"retention.ms": "-1"}}

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
    replication: int = AS_THE_BROKER_LIKES,
) -> frozenset[str]:
    """Create the topics (name to partitions) that are missing; returns the names of the new ones.

    They take messages as large as ours may be, whatever the broker's own limit. A topic that exists stays as it is.
    Raises `Unavailable` when no broker answers, or when the broker refuses, as one does that lets only its operator
    create topics.
    """
    timeout_ms = int(timeout_s * 1000)
    admin = AIOKafkaAdminClient(**client_arguments(bootstrap), request_timeout_ms=timeout_ms)
    try:
        await start_client(admin)
        response = await admin.create_topics(
            [
                NewTopic(
                    name=name,
                    num_partitions=partitions,
                    replication_factor=replication,
                    # The client asks for this when a number is left to the broker.
                    replica_assignments={} if replication == AS_THE_BROKER_LIKES else None,
                    topic_configs=_SETTINGS.get(name, _EVENT_SETTINGS),
                )
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
