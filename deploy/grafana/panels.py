"""What the dashboards show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from deploy.prometheus.objectives import RATIO

_W: Final = "[$__rate_interval]"


@dataclass(frozen=True, slots=True)
class Query:
    """A query and what its lines are called."""

    expr: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel; ``unit`` is one of Grafana's."""

    title: str
    unit: str
    queries: tuple[Query, ...]
    about: str = ""
    exemplars: bool = False


@dataclass(frozen=True, slots=True)
class Board:
    """A dashboard."""

    name: str
    title: str
    about: str
    panels: tuple[Panel, ...]


def _rate(name: str, by: str, *, where: str = "") -> Query:
    selector = f"{{{where}}}" if where else ""
    return Query(f"sum by ({by}) (rate({name}{selector}{_W}))", _legend(by))


def _total(name: str, legend: str, *, where: str = "") -> Query:
    selector = f"{{{where}}}" if where else ""
    return Query(f"sum(rate({name}{selector}{_W}))", legend)


def _legend(by: str) -> str:
    return " ".join(f"{{{{{label.strip()}}}}}" for label in by.split(","))


def _quantiles(name: str, *, of: tuple[float, ...] = (0.5, 0.95, 0.99), by: str = "") -> tuple[Query, ...]:
    labels = f"{by}, le" if by else "le"
    return tuple(
        Query(
            f"histogram_quantile({share}, sum by ({labels}) (rate({name}_bucket{_W})))",
            f"p{share * 100:g}" + (f" {_legend(by)}" if by else ""),
        )
        for share in of
    )


PLAYER = Board(
    "player-experience",
    "Player experience",
    "What players feel: whether commands are answered, how soon, and whether sockets hold.",
    (
        Panel(
            "Latency of accepted commands, at the edge",
            "s",
            _quantiles("eastwind_edge_action_seconds"),
            "From the frame on the socket to the acknowledgement. Objective: 99% within 250 ms.",
            exemplars=True,
        ),
        Panel("Commands by answer", "ops", (_rate("eastwind_edge_actions_total", "outcome"),)),
        Panel(
            "Refusals by reason",
            "ops",
            (_rate("eastwind_edge_refusals_total", "reason"),),
            "Reasons of the rules are the players' own; unavailable and internal are ours.",
        ),
        Panel(
            "Open sockets and watched tables",
            "short",
            (
                Query("sum(eastwind_sockets)", "sockets"),
                Query("sum(eastwind_watches)", "watched tables"),
            ),
        ),
        Panel(
            "Sockets opened, closed by us, refused",
            "ops",
            (
                _total("eastwind_sockets_opened_total", "opened"),
                _rate("eastwind_sockets_closed_total", "reason"),
                _rate("eastwind_sockets_refused_total", "cause"),
            ),
        ),
        Panel("Round trip to players", "s", _quantiles("eastwind_player_round_trip_seconds")),
        Panel("Views sent again", "ops", (_rate("eastwind_resyncs_total", "cause"),)),
        Panel("Watches that moved", "ops", (_rate("eastwind_watch_moves_total", "cause"),)),
    ),
)
TABLES = Board(
    "tables",
    "Tables",
    "Live tables, where they go, and what they do.",
    (
        Panel(
            "Live tables by worker, and room",
            "short",
            (
                Query("sum by (instance) (eastwind_live_tables)", "{{instance}}"),
                Query("sum(eastwind_table_capacity)", "capacity of all"),
            ),
        ),
        Panel("Tables that came and went", "ops", (_rate("eastwind_table_moves_total", "outcome"),)),
        Panel("Take-overs by cause", "ops", (_rate("eastwind_takeovers_total", "cause"),)),
        Panel(
            "Outages credited",
            "s",
            (
                Query(
                    f"sum by (cause) (rate(eastwind_outage_credited_seconds_sum{_W}))", "{{cause}}: seconds per second"
                ),
                Query(
                    f"sum by (cause) (rate(eastwind_outage_credited_seconds_count{_W}))", "{{cause}}: times per second"
                ),
            ),
        ),
        Panel(
            "Latency of accepted commands, at the tables",
            "s",
            _quantiles("eastwind_table_action_seconds"),
            exemplars=True,
        ),
        Panel(
            "Commands by answer",
            "ops",
            (
                _rate("eastwind_table_actions_total", "outcome"),
                _rate("eastwind_table_refusals_total", "reason"),
            ),
        ),
        Panel("Appends", "s", _quantiles("eastwind_append_seconds", of=(0.5, 0.99), by="outcome")),
        Panel("Hands", "ops", (_rate("eastwind_hands_total", "variant, outcome"),)),
        Panel(
            "Settlements and misses of computers",
            "ops",
            (
                _rate("eastwind_settlements_total", "outcome"),
                _total("eastwind_bot_misses_total", "decisions that bots missed"),
            ),
        ),
        Panel(
            "Computers' decisions",
            "s",
            (
                *_quantiles("eastwind_bots_decision_seconds", of=(0.5, 0.99), by="kind"),
                Query("sum(eastwind_bots_decisions_waiting)", "waiting (number)"),
            ),
        ),
        Panel("Processes that drain", "short", (Query("sum by (job) (eastwind_draining)", "{{job}}"),)),
    ),
)
CLOCKS = Board(
    "clocks-and-claims",
    "Clocks and claims",
    "Deadlines, windows, and who lets them pass.",
    (
        Panel(
            "Lateness of deadlines",
            "s",
            _quantiles("eastwind_deadline_lateness_seconds"),
            "Objective: 99% within 50 ms.",
        ),
        Panel(
            "Armed deadlines and running clocks",
            "short",
            (
                Query("max(eastwind_armed_deadlines)", "armed in the index"),
                Query("sum(eastwind_running_clocks)", "running at live tables"),
            ),
        ),
        Panel(
            "Deadlines resolved, ticks failed",
            "ops",
            (
                _total("eastwind_deadline_lateness_seconds_count", "resolved"),
                _total("eastwind_tick_failures_total", "unanswered"),
            ),
        ),
        Panel("Decisions opened", "ops", (_rate("eastwind_decisions_total", "kind"),)),
        Panel("Decisions that the clock made", "ops", (_rate("eastwind_timeouts_total", "kind"),)),
        Panel("Claim windows by how they ended", "ops", (_rate("eastwind_claim_window_seconds_count", "outcome"),)),
        Panel(
            "Length of claim windows", "s", _quantiles("eastwind_claim_window_seconds", of=(0.5, 0.95), by="outcome")
        ),
        Panel("Step of the system's clocks", "s", (Query("eastwind_wall_clock_step_seconds", "{{job}} {{instance}}"),)),
    ),
)
MATCHMAKING = Board(
    "matchmaking",
    "Matchmaking",
    "How long people wait, and what becomes of it.",
    (
        Panel("Waiting time until a match", "s", _quantiles("eastwind_queue_wait_seconds", of=(0.5, 0.9), by="queue")),
        Panel("Tickets that wait", "short", (Query("max by (queue) (eastwind_queue_waiting)", "{{queue}}"),)),
        Panel("Tables made by Quick Play", "ops", (_rate("eastwind_tables_matched_total", "outcome"),)),
        Panel(
            "Calls to matchmaking",
            "ops",
            (_rate("eastwind_rpc_server_seconds_count", "method, code", where='method=~".*MatchmakingService.*"'),),
        ),
    ),
)
RATINGS = Board(
    "ratings-and-events",
    "Ratings and events",
    "From the end of a hand to its record and its ratings.",
    (
        Panel("Hand to record", "s", _quantiles("eastwind_hand_delivery_seconds"), "Objective: 99.5% within 10 s."),
        Panel("Unit to ratings", "s", _quantiles("eastwind_rating_delivery_seconds")),
        Panel("Rated units", "ops", (_rate("eastwind_ratings_units_total", "outcome"),)),
        Panel("Changes of ratings", "ops", (_rate("eastwind_rating_changes_total", "variant"),)),
        Panel("Ratings told to sockets", "ops", (_rate("eastwind_events_fed_total", "topic, outcome"),)),
        Panel("Sessions refreshed", "ops", (_rate("eastwind_accounts_refreshes_total", "outcome"),)),
    ),
)
GRPC = Board(
    "grpc",
    "gRPC and loops",
    "Calls between services, and the loops that serve them.",
    (
        Panel("Calls taken", "ops", (_rate("eastwind_rpc_server_seconds_count", "method, code"),)),
        Panel(
            "Latency at servers, p99",
            "s",
            _quantiles("eastwind_rpc_server_seconds", of=(0.99,), by="method"),
            exemplars=True,
        ),
        Panel("Calls made", "ops", (_rate("eastwind_rpc_client_seconds_count", "job, method, code"),)),
        Panel(
            "Latency at clients, p99",
            "s",
            _quantiles("eastwind_rpc_client_seconds", of=(0.99,), by="method"),
            exemplars=True,
        ),
        Panel("Being served", "short", (Query("sum by (method) (eastwind_rpc_server_active)", "{{method}}"),)),
        Panel("Loop lag, p99", "s", _quantiles("eastwind_loop_lag_seconds", of=(0.99,), by="job, instance")),
        Panel(
            "CPU",
            "percentunit",
            (Query(f"sum by (job, instance) (rate(process_cpu_seconds_total{_W}))", "{{job}} {{instance}}"),),
        ),
        Panel("Memory", "bytes", (Query("process_resident_memory_bytes", "{{job}} {{instance}}"),)),
    ),
)
REDIS = Board(
    "redis",
    "Redis",
    "As the services see it.",
    (
        Panel("Round trips", "s", _quantiles("eastwind_redis_round_trip_seconds", of=(0.5, 0.99), by="job")),
        Panel("Commands", "ops", (_rate("eastwind_redis_commands_total", "job"),)),
        Panel(
            "Commands in a send",
            "short",
            (
                Query(
                    f"sum by (job) (rate(eastwind_redis_commands_total{_W}))"
                    f" / sum by (job) (rate(eastwind_redis_sends_total{_W}))",
                    "{{job}}",
                ),
            ),
            "More under load: all commands of a turn of the loop leave together.",
        ),
        Panel("In flight", "short", (Query("sum by (job) (eastwind_redis_in_flight)", "{{job}}"),)),
        Panel(
            "Unanswered, connections lost",
            "ops",
            (
                _rate("eastwind_redis_unanswered_total", "job"),
                _rate("eastwind_redis_connections_lost_total", "job"),
            ),
        ),
        Panel("Connected", "short", (Query("min by (job) (eastwind_redis_connected)", "{{job}}"),)),
    ),
)
KAFKA = Board(
    "kafka",
    "Kafka",
    "Outbox, producers and consumers.",
    (
        Panel("Outbox length", "short", (Query("sum(eastwind_outbox_length)", "messages, retained ones included"),)),
        Panel("Outbox delay", "s", _quantiles("eastwind_outbox_delay_seconds")),
        Panel(
            "Relayed, and tries that failed",
            "ops",
            (
                _total("eastwind_outbox_relayed_total", "relayed"),
                Query("max(eastwind_outbox_failures)", "failures in a row, tables"),
                Query("max(eastwind_ratings_outbox_failures)", "failures in a row, ratings"),
                _rate("eastwind_outbox_failed_rounds_total", "job, cause"),
            ),
        ),
        Panel("Sent", "ops", (_rate("eastwind_events_sent_total", "topic, outcome"),)),
        Panel("Consumed", "ops", (_rate("eastwind_events_consumed_total", "job, topic, outcome"),)),
        Panel("Consumer lag", "short", (Query("sum by (job, topic) (eastwind_consumer_lag)", "{{job}} {{topic}}"),)),
        Panel("Handling time, p99", "s", _quantiles("eastwind_event_handling_seconds", of=(0.99,), by="job, topic")),
        Panel("Dead letters", "ops", (_rate("eastwind_dead_letters_total", "job, topic"),)),
        Panel("Missing messages", "ops", (_rate("eastwind_event_gaps_total", "job, topic"),)),
        Panel(
            "Consumers without a share, restarts",
            "short",
            (
                Query("sum by (job) (eastwind_consumer_unassigned)", "{{job}} without a share"),
                Query(f"sum by (job) (increase(eastwind_consumer_restarts_total{_W}))", "{{job}} restarts"),
            ),
        ),
    ),
)
_SHARES: Final = (("5m", 14.4), ("1h", 14.4), ("6h", 6.0), ("3d", 1.0))
SLO = Board(
    "slo-burn",
    "SLO burn",
    "How fast the error budgets of 30 days burn; 1 spends a budget in exactly 30 days.",
    (
        *(
            Panel(
                f"Share of bad events over {window}",
                "percentunit",
                (Query(f"{RATIO}{window}", "{{slo}}"),),
                f"Alerts compare this window with {factor:g} times the budget.",
            )
            for window, factor in _SHARES
        ),
    ),
)
BOARDS: Final = (PLAYER, TABLES, CLOCKS, MATCHMAKING, RATINGS, GRPC, REDIS, KAFKA, SLO)
