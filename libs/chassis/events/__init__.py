"""Events over the Kafka protocol: the relay of the outbox, producers, consumers, and what makes repeats harmless."""

from libs.chassis.events.consumer import EventConsumer
from libs.chassis.events.feed import EventFeed
from libs.chassis.events.once import consumed_events, forget_consumed, once
from libs.chassis.events.producer import EventProducer
from libs.chassis.events.record import EVENT_ID, EventRecord, PoisonMessage, event_headers
from libs.chassis.events.relay import OutboxRelay
from libs.chassis.events.topics import EVENT_TOPICS, HANDS, MATCHES, MATCHMAKING, RATINGS, TABLES, TOPICS, ensure_topics

__all__ = [
    "EVENT_ID",
    "EVENT_TOPICS",
    "HANDS",
    "MATCHES",
    "MATCHMAKING",
    "RATINGS",
    "TABLES",
    "TOPICS",
    "EventConsumer",
    "EventFeed",
    "EventProducer",
    "EventRecord",
    "OutboxRelay",
    "PoisonMessage",
    "consumed_events",
    "ensure_topics",
    "event_headers",
    "forget_consumed",
    "once",
]
