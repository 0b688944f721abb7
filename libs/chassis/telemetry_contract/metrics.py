"""Every metric of every service. What is not here is not exported; `telemetry.Metrics` takes nothing else."""

from __future__ import annotations

from typing import Final

from libs.chassis.telemetry_contract import labels
from libs.chassis.telemetry_contract.model import (
    EVERY,
    CounterMetric,
    GaugeMetric,
    HistogramMetric,
    InfoMetric,
    Label,
    Metric,
)

_GATEWAY: Final = frozenset({"gateway"})
_TABLE: Final = frozenset({"table"})
_CLOCK: Final = frozenset({"clock"})
_MATCHMAKING: Final = frozenset({"matchmaking"})
_RATINGS: Final = frozenset({"ratings"})
_HISTORY: Final = frozenset({"history"})
_BOTS: Final = frozenset({"bots"})
_ON_REDIS: Final = frozenset({"table", "clock", "matchmaking", "gateway"})
_CALLERS: Final = EVERY - {"scoring", "bots", "accounts"}
_PRODUCERS: Final = frozenset({"table", "matchmaking", "ratings", "history"})
_CONSUMERS: Final = frozenset({"matchmaking", "ratings", "history"})
_ANSWERED: Final = labels.outcome("accepted", "refused", "failed")

PLAYER_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
DELIVERY_SECONDS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
WAITING_SECONDS: Final = (0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0, 300.0)
LATENESS_SECONDS: Final = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0)
OUTAGE_SECONDS: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)

# Every service
SERVICE_INFO = InfoMetric("eastwind_service_info", "Which service this is.", (labels.SERVICE,))
DRAINING = GaugeMetric("eastwind_draining", "1 while the process drains and takes no new work.")
LOOP_LAG = HistogramMetric(
    "eastwind_loop_lag_seconds",
    "How late the event loop ran a timer, sampled four times a second.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5),
)
RPC_SERVER = HistogramMetric(
    "eastwind_rpc_server_seconds", "Calls taken, from their start to their end.", (labels.METHOD, labels.CODE)
)
RPC_SERVER_ACTIVE = GaugeMetric(
    "eastwind_rpc_server_active", "Calls and streams that are being served.", (labels.METHOD,)
)
RPC_CLIENT = HistogramMetric(
    "eastwind_rpc_client_seconds", "Unary calls made, until their answer.", (labels.METHOD, labels.CODE)
)

# Redis
REDIS_ROUND_TRIP = HistogramMetric(
    "eastwind_redis_round_trip_seconds",
    "From the first command of a send to its reply; one observation a send.",
    services=_ON_REDIS,
)
REDIS_COMMANDS = CounterMetric("eastwind_redis_commands_total", "Commands sent to Redis.", services=_ON_REDIS)
REDIS_SENDS = CounterMetric(
    "eastwind_redis_sends_total", "Sends to Redis, each with all commands of a turn of the loop.", services=_ON_REDIS
)
REDIS_UNANSWERED = CounterMetric(
    "eastwind_redis_unanswered_total",
    "Commands without a reply: the deadline passed or the connection was lost.",
    services=_ON_REDIS,
)
REDIS_CONNECTIONS_LOST = CounterMetric(
    "eastwind_redis_connections_lost_total", "Connections to Redis that ended.", services=_ON_REDIS
)
REDIS_IN_FLIGHT = GaugeMetric(
    "eastwind_redis_in_flight", "Commands that were sent and not answered yet.", services=_ON_REDIS
)
REDIS_CONNECTED = GaugeMetric("eastwind_redis_connected", "1 while Redis answers.", services=_ON_REDIS)

# Gateway
SOCKETS = GaugeMetric("eastwind_sockets", "Open sockets of players.", services=_GATEWAY)
SOCKETS_OPENED = CounterMetric("eastwind_sockets_opened_total", "Sockets that were accepted.", services=_GATEWAY)
SOCKETS_CLOSED = CounterMetric(
    "eastwind_sockets_closed_total", "Sockets that this gateway closed.", (labels.REASON,), _GATEWAY
)
SOCKETS_REFUSED = CounterMetric(
    "eastwind_sockets_refused_total",
    "Upgrades to a socket that were refused.",
    (labels.cause("no_room", "address", "token", "origin", "subprotocol"),),
    _GATEWAY,
)
PLAYER_ROUND_TRIP = HistogramMetric(
    "eastwind_player_round_trip_seconds",
    "Measured round trips between this gateway and players.",
    services=_GATEWAY,
    buckets=PLAYER_SECONDS,
)
WATCHES = GaugeMetric("eastwind_watches", "Tables being watched, once for each socket that does.", services=_GATEWAY)
WATCH_MOVES = CounterMetric(
    "eastwind_watch_moves_total",
    "Watches that had to find their table anew.",
    (labels.cause("told", "stream_ended", "worker_unreachable"),),
    _GATEWAY,
)
EDGE_ACTIONS = CounterMetric(
    "eastwind_edge_actions_total",
    "Commands of players, by their answer: refused by the rules, or failed for a reason that lies with the platform.",
    (_ANSWERED,),
    _GATEWAY,
)
EDGE_REFUSALS = CounterMetric(
    "eastwind_edge_refusals_total", "Commands refused or failed, by reason.", (labels.REASON,), _GATEWAY
)
EDGE_ACTION = HistogramMetric(
    "eastwind_edge_action_seconds",
    "From an accepted command's frame on the socket to its acknowledgement, moves of the table included.",
    services=_GATEWAY,
    buckets=PLAYER_SECONDS,
)

# Table
LIVE_TABLES = GaugeMetric("eastwind_live_tables", "Tables in this worker's memory.", services=_TABLE)
TABLE_CAPACITY = GaugeMetric("eastwind_table_capacity", "Tables that this worker says it can hold.", services=_TABLE)
RUNNING_CLOCKS = GaugeMetric(
    "eastwind_running_clocks", "Live tables at which a decision or a ready step has a deadline.", services=_TABLE
)
TABLE_MOVES = CounterMetric(
    "eastwind_table_moves_total",
    "Tables that came to this worker or left it.",
    (labels.outcome("created", "claimed", "drained", "passivated", "fenced", "unsettled", "discarded"),),
    _TABLE,
)
TAKEOVERS = CounterMetric(
    "eastwind_takeovers_total",
    "Tables taken over from a worker that had not released them: its lease had run out, or it was unreachable.",
    (labels.cause("lease_ran_out", "unreachable"),),
    _TABLE,
)
OUTAGE_CREDITED = HistogramMetric(
    "eastwind_outage_credited_seconds",
    "Time given back to players whose clocks ran while nobody could play.",
    (labels.cause("takeover", "handover", "slow_append", "standstill"),),
    _TABLE,
    OUTAGE_SECONDS,
)
TABLE_ACTIONS = CounterMetric(
    "eastwind_table_actions_total",
    "Commands of players at tables, by their answer: refused by the rules, or failed for a reason of the platform.",
    (_ANSWERED,),
    _TABLE,
)
TABLE_REFUSALS = CounterMetric(
    "eastwind_table_refusals_total", "Commands refused or failed, by reason.", (labels.REASON,), _TABLE
)
TABLE_ACTION = HistogramMetric(
    "eastwind_table_action_seconds",
    "From an accepted command's arrival at the worker to its acknowledgement.",
    services=_TABLE,
)
APPEND = HistogramMetric(
    "eastwind_append_seconds",
    "Appends to the table store.",
    (Label("outcome", "`done`, or the reason of the error, lower case"),),
    _TABLE,
)
DECISIONS = CounterMetric(
    "eastwind_decisions_total",
    "Decisions that were opened; `claim` and `robbing` are windows.",
    (labels.kind("turn", "claim", "robbing", "opening"),),
    _TABLE,
)
CLAIM_WINDOW = HistogramMetric(
    "eastwind_claim_window_seconds",
    "How long claim windows stood open, by how they ended.",
    (labels.outcome("claimed", "won", "passed"),),
    _TABLE,
    (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 10.0, 15.0, 30.0),
)
TIMEOUTS = CounterMetric(
    "eastwind_timeouts_total",
    "Decisions that the clock made for a seat.",
    (labels.kind("turn", "claim", "robbing", "opening"),),
    _TABLE,
)
HANDS = CounterMetric(
    "eastwind_hands_total",
    "Hands that ended.",
    (labels.VARIANT, labels.outcome("won", "drawn")),
    _TABLE,
)
RESYNCS = CounterMetric(
    "eastwind_resyncs_total",
    "Views sent again to players who had watched already: they asked, their decision was stale, they came back.",
    (labels.cause("asked", "stale_decision", "resumed"),),
    _TABLE,
)
SETTLEMENTS = CounterMetric(
    "eastwind_settlements_total",
    "Won hands, by who settled them.",
    (labels.outcome("scoring", "library"),),
    _TABLE,
)
BOT_MISSES = CounterMetric(
    "eastwind_bot_misses_total", "Decisions that the bots service did not make; the worker chose.", services=_TABLE
)
OUTBOX_RELAYED = CounterMetric(
    "eastwind_outbox_relayed_total", "Outbox messages that the broker took.", services=_TABLE
)
OUTBOX_FAILURES = GaugeMetric(
    "eastwind_outbox_failures", "Tries in a row in which the broker took nothing.", services=_TABLE
)
OUTBOX_FAILED_ROUNDS = CounterMetric(
    "eastwind_outbox_failed_rounds_total",
    "Rounds of an outbox relay that failed and are tried again: a server was away, or what nobody foresaw.",
    (labels.cause("unavailable", "unexpected"),),
    _TABLE | _RATINGS,
)
OUTBOX_LENGTH = GaugeMetric(
    "eastwind_outbox_length",
    "Messages in this worker's share of the outbox, those included that the broker has and that are kept for a while.",
    services=_TABLE,
)
OUTBOX_DELAY = HistogramMetric(
    "eastwind_outbox_delay_seconds",
    "From the append that wrote an outbox message to the broker's acknowledgement; the oldest of each batch.",
    services=_TABLE,
    buckets=DELIVERY_SECONDS,
)

# Clock
DEADLINE_LATENESS = HistogramMetric(
    "eastwind_deadline_lateness_seconds",
    "From a deadline to the answer of its tick.",
    services=_CLOCK,
    buckets=LATENESS_SECONDS,
)
TICK_FAILURES = CounterMetric(
    "eastwind_tick_failures_total", "Ticks that no worker answered; they come again.", services=_CLOCK
)
ARMED_DEADLINES = GaugeMetric(
    "eastwind_armed_deadlines",
    "Tables with a deadline in the index. Every replica tells the whole number, so take the largest.",
    services=_CLOCK,
)
CLOCK_STEP = GaugeMetric(
    "eastwind_wall_clock_step_seconds",
    "How far the system's clock is ahead of the steady clock that deadlines are measured by.",
    services=frozenset({"table", "clock", "matchmaking", "gateway"}),
)

# Matchmaking
TABLES_MATCHED = CounterMetric(
    "eastwind_tables_matched_total",
    "Tables made by Quick Play: of four people, filled with computers, or given up.",
    (labels.outcome("full", "filled", "given_up"),),
    _MATCHMAKING,
)
QUEUE_WAIT = HistogramMetric(
    "eastwind_queue_wait_seconds",
    "From a ticket to its match.",
    (labels.QUEUE,),
    _MATCHMAKING,
    WAITING_SECONDS,
)
QUEUE_WAITING = GaugeMetric(
    "eastwind_queue_waiting",
    "Tickets that wait. Every replica tells the whole number, so take the largest.",
    (labels.QUEUE,),
    _MATCHMAKING,
)

# Events
EVENTS_SENT = CounterMetric(
    "eastwind_events_sent_total",
    "Messages given to the broker.",
    (labels.TOPIC, labels.outcome("sent", "failed")),
    _PRODUCERS,
)
EVENTS_CONSUMED = CounterMetric(
    "eastwind_events_consumed_total",
    "Messages taken from the broker.",
    (labels.TOPIC, labels.outcome("handled", "retried", "dead")),
    _CONSUMERS,
)
EVENT_HANDLING = HistogramMetric("eastwind_event_handling_seconds", "Work on one message.", (labels.TOPIC,), _CONSUMERS)
CONSUMER_LAG = GaugeMetric(
    "eastwind_consumer_lag",
    "Messages of the partitions of this process that it has not handled yet.",
    (labels.TOPIC,),
    _CONSUMERS,
)
CONSUMER_UNASSIGNED = GaugeMetric(
    "eastwind_consumer_unassigned", "1 while the group has given this process no share.", services=_CONSUMERS
)
CONSUMER_RESTARTS = CounterMetric(
    "eastwind_consumer_restarts_total", "Times that the client was made anew.", services=_CONSUMERS
)
EVENT_GAPS = CounterMetric(
    "eastwind_event_gaps_total",
    "Messages that were not there when a later one of the same table came.",
    (labels.TOPIC,),
    _CONSUMERS,
)
DEAD_LETTERS = CounterMetric(
    "eastwind_dead_letters_total",
    "Messages put into a dead-letter topic, by the topic that they came from or were meant for.",
    (labels.TOPIC,),
    _CONSUMERS | _TABLE,
)
EVENTS_FED = CounterMetric(
    "eastwind_events_fed_total",
    "Messages seen on a feed.",
    (labels.TOPIC, labels.outcome("handled", "failed")),
    _GATEWAY,
)

# Ratings and history
RATED_UNITS = CounterMetric(
    "eastwind_ratings_units_total",
    "Finished hands and matches, by what they did to ratings.",
    (labels.outcome("rated", "repeated", "not_rated"),),
    _RATINGS,
)
RATING_CHANGES = CounterMetric(
    "eastwind_rating_changes_total", "Ratings that a unit changed.", (labels.VARIANT,), _RATINGS
)
RATING_DELIVERY = HistogramMetric(
    "eastwind_rating_delivery_seconds",
    "From the end of a rated unit to its ratings.",
    services=_RATINGS,
    buckets=DELIVERY_SECONDS,
)
RATINGS_OUTBOX_FAILURES = GaugeMetric(
    "eastwind_ratings_outbox_failures", "Tries in a row in which nothing could be relayed.", services=_RATINGS
)
HAND_DELIVERY = HistogramMetric(
    "eastwind_hand_delivery_seconds",
    "From the end of a hand to its record.",
    services=_HISTORY,
    buckets=DELIVERY_SECONDS,
)

# Bots and accounts
BOT_DECISION = HistogramMetric(
    "eastwind_bots_decision_seconds", "From a request to its action, by level.", (labels.LEVEL,), _BOTS
)
BOTS_WAITING = GaugeMetric(
    "eastwind_bots_decisions_waiting", "Decisions that wait or are being thought about.", services=_BOTS
)
REFRESHES = CounterMetric(
    "eastwind_accounts_refreshes_total",
    "Refresh tokens that came, by what became of them.",
    (labels.outcome("renewed", "unknown", "over", "reused"),),
    frozenset({"accounts"}),
)

METRICS: Final[dict[str, Metric]] = {
    metric.name: metric for metric in tuple(globals().values()) if isinstance(metric, Metric)
}
"""All of them by name."""
FOREIGN: Final = ("process_", "python_gc_")
"""Metrics of the client library that every service exports besides, by how their names begin."""
