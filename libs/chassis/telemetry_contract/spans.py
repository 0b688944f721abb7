"""Every kind of span, and the names of their attributes."""

from __future__ import annotations

from typing import Final

from libs.chassis.telemetry_contract.model import EVERY, SpanKind

RPC_CODE: Final = "rpc.grpc.status_code"
TABLE_ID: Final = "eastwind.table_id"
COMMAND: Final = "eastwind.command"
ANSWER: Final = "eastwind.answer"
TOPIC: Final = "messaging.destination.name"
EVENT_ID: Final = "messaging.message.id"

EDGE_COMMAND: Final = SpanKind(
    "edge command",
    "A player's command from its frame on the socket to its acknowledgement; the root of its trace.",
    frozenset({"gateway"}),
    (TABLE_ID, COMMAND, ANSWER),
)
TABLE_COMMAND: Final = SpanKind(
    "table command",
    "The same command at the worker, from its arrival to its acknowledgement.",
    frozenset({"table"}),
    (TABLE_ID, COMMAND, ANSWER),
)
SETTLE: Final = SpanKind(
    "table settle",
    "The settlement of a hand, from the command that ended it to the append with the outbox messages.",
    frozenset({"table"}),
    (TABLE_ID,),
)
RPC: Final = SpanKind("{package.Service}/{Method}", "A call, as its client and as its server.", EVERY, (RPC_CODE,))
PUBLISH: Final = SpanKind(
    "{topic} publish",
    "A message on its way to the broker, until that has it.",
    frozenset({"table", "matchmaking", "ratings", "history"}),
    (TOPIC, EVENT_ID),
)
HANDLE: Final = SpanKind(
    "{topic} handle",
    "The work of a consumer on a message.",
    frozenset({"matchmaking", "ratings", "history", "gateway"}),
    (TOPIC, EVENT_ID),
)

SPANS: Final = tuple(span for span in tuple(globals().values()) if isinstance(span, SpanKind))
