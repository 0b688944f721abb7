"""The labels of all metrics. One that several metrics have in the same sense is declared once."""

from __future__ import annotations

from typing import Final

from libs.chassis.telemetry_contract.model import Label

TOPICS: Final = tuple(f"eastwind.{name}.v1" for name in ("tables", "hands", "matches", "ratings", "matchmaking"))

SERVICE: Final = Label("service", "the services of the architecture page")
METHOD: Final = Label("method", "the gRPC methods of our contracts, as `/package.Service/Method`")
CODE: Final = Label("code", "the gRPC status codes")
TOPIC: Final = Label("topic", "the topics of events")
VARIANT: Final = Label("variant", "the ids of the rulesets")
QUEUE: Final = Label("queue", "ruleset, and `rated` or `casual`")
REASON: Final = Label("reason", "the names in `eastwind.type.v1.Reason`, lower case")
LEVEL: Final = Label("kind", "the strengths of computer players", ("easy", "medium", "hard"))


def outcome(*values: str) -> Label:
    """What became of something."""
    return Label("outcome", "what became of it", values)


def kind(*values: str) -> Label:
    """Which kind of something."""
    return Label("kind", "which kind", values)


def cause(*values: str) -> Label:
    """Why something happened."""
    return Label("cause", "why", values)
