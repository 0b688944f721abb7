"""The alerts, each with series that make it fire and series that must not: `promtool test rules`."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.telemetry.files import RULES, alerts, asked_by_rules, panels

pytestmark = pytest.mark.telemetry


@dataclass(frozen=True, slots=True)
class Case:
    """Series in promtool's notation, a sample a minute, and which alerts of a name fire at that moment."""

    alert: str
    series: Mapping[str, str]
    at: str
    fire: tuple[Mapping[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """The same alert seen when it must fire and when it must not."""

    bad: Mapping[str, str]
    good: Mapping[str, str]
    at: str = "30m"
    labels: Mapping[str, str] = field(default_factory=dict)


def _actions(failed: str, accepted: str) -> dict[str, str]:
    return {
        'eastwind_edge_actions_total{outcome="failed"}': failed,
        'eastwind_edge_actions_total{outcome="accepted"}': accepted,
    }


def _histogram(name: str, bound: str, fast: int, all_: int, minutes: int) -> dict[str, str]:
    return {
        f'{name}_bucket{{le="{bound}"}}': f"0+{fast}x{minutes}",
        f'{name}_bucket{{le="+Inf"}}': f"0+{all_}x{minutes}",
        f"{name}_count": f"0+{all_}x{minutes}",
    }


_WINDOWS = [
    # A tenth of all commands fails: within minutes, and long before the slower windows say so.
    Case("ActionsFail", _actions("0+60x20", "0+540x20"), "10m", ({"window": "1h"},)),
    Case("ActionsFail", _actions("0+60x60", "0+540x60"), "40m", ({"window": "1h"}, {"window": "6h"})),
    # Four in a thousand: nobody is woken, and there is a ticket.
    Case("ActionsFail", _actions("0+4x100", "0+996x100"), "90m", ({"window": "1d"},)),
    # What is promised.
    Case("ActionsFail", _actions("0+1x300", "0+1999x300"), "4h"),
    # An outage of an hour that is over: the short windows are clean, so nobody is woken any more.
    Case("ActionsFail", _actions("0+60x60 3600+0x60", "0+540x60 32400+600x60"), "100m", ({"window": "1d"},)),
    # No traffic, no ratio.
    Case("ActionsFail", _actions("0+0x60", "0+0x60"), "30m"),
    Case("ActionsSlow", _histogram("eastwind_edge_action_seconds", "0.25", 80, 100, 20), "10m", ({"window": "1h"},)),
    Case("ActionsSlow", _histogram("eastwind_edge_action_seconds", "0.25", 995, 1000, 75), "70m"),
    Case(
        "ClocksLate", _histogram("eastwind_deadline_lateness_seconds", "0.05", 80, 100, 20), "10m", ({"window": "1h"},)
    ),
    Case("ClocksLate", _histogram("eastwind_deadline_lateness_seconds", "0.05", 995, 1000, 75), "70m"),
    Case("HandsLate", _histogram("eastwind_hand_delivery_seconds", "10.0", 80, 100, 20), "10m", ({"window": "1h"},)),
    Case("HandsLate", _histogram("eastwind_hand_delivery_seconds", "10.0", 998, 1000, 75), "70m"),
]
_ALERTS = {
    "ServiceDown": Pair(
        {'up{job="eastwind-table",instance="a"}': "1 0x30"},
        {'up{job="eastwind-table",instance="a"}': "1x30", 'up{job="node",instance="b"}': "0x30"},
        labels={"job": "eastwind-table", "instance": "a"},
    ),
    "NoTableWorkers": Pair(
        {'eastwind_service_info{service="gateway"}': "1x30"}, {'eastwind_service_info{service="table"}': "1x30"}
    ),
    "LoopLagHigh": Pair(
        {
            'eastwind_loop_lag_seconds_bucket{job="t",instance="a",le="0.25"}': "0+200x30",
            'eastwind_loop_lag_seconds_bucket{job="t",instance="a",le="0.5"}': "0+240x30",
            'eastwind_loop_lag_seconds_bucket{job="t",instance="a",le="+Inf"}': "0+240x30",
        },
        {
            'eastwind_loop_lag_seconds_bucket{job="t",instance="a",le="0.25"}': "0+239x30",
            'eastwind_loop_lag_seconds_bucket{job="t",instance="a",le="0.5"}': "0+240x30",
            'eastwind_loop_lag_seconds_bucket{job="t",instance="a",le="+Inf"}': "0+240x30",
        },
        labels={"job": "t", "instance": "a"},
    ),
    "CallsFail": Pair(
        {
            'eastwind_rpc_server_seconds_count{method="/a/B",code="OK"}': "0+90x30",
            'eastwind_rpc_server_seconds_count{method="/a/B",code="UNAVAILABLE"}': "0+10x30",
        },
        {
            'eastwind_rpc_server_seconds_count{method="/a/B",code="NOT_FOUND"}': "0+90x30",
            'eastwind_rpc_server_seconds_count{method="/a/B",code="INTERNAL"}': "0+1x30",
        },
        labels={"method": "/a/B"},
    ),
    "TablesTakenOver": Pair(
        {'eastwind_takeovers_total{cause="unreachable"}': "0+90x30"},
        # A worker of 500 tables died, once.
        {'eastwind_takeovers_total{cause="unreachable"}': "0x10 500x20"},
    ),
    "AppendsSlow": Pair(
        {'eastwind_outage_credited_seconds_count{cause="slow_append"}': "0+20x30"},
        {'eastwind_outage_credited_seconds_count{cause="takeover"}': "0+200x30"},
    ),
    "TablesFull": Pair(
        {"eastwind_live_tables": "8100x30", "eastwind_table_capacity": "10000x30"},
        {"eastwind_live_tables": "7900x30", "eastwind_table_capacity": "10000x30"},
    ),
    "ScoringFallsBack": Pair(
        {
            'eastwind_settlements_total{outcome="library"}': "0+5x30",
            'eastwind_settlements_total{outcome="scoring"}': "0+95x30",
        },
        {
            'eastwind_settlements_total{outcome="library"}': "0x30",
            'eastwind_settlements_total{outcome="scoring"}': "0+95x30",
        },
    ),
    "BotsMissing": Pair({"eastwind_bot_misses_total": "0+12x30"}, {"eastwind_bot_misses_total": "0+1x30"}),
    "ClocksStandStill": Pair(
        {"eastwind_armed_deadlines": "500x30", "eastwind_deadline_lateness_seconds_count": "70x30"},
        {"eastwind_armed_deadlines": "500x30", "eastwind_deadline_lateness_seconds_count": "0+30x30"},
    ),
    "TicksUnanswered": Pair({"eastwind_tick_failures_total": "0+60x30"}, {"eastwind_tick_failures_total": "0+5x30"}),
    "WallClockStepped": Pair(
        {'eastwind_wall_clock_step_seconds{instance="a"}': "-3x30"},
        {'eastwind_wall_clock_step_seconds{instance="a"}': "0.02x30"},
        labels={"instance": "a"},
    ),
    "PlayersReconnect": Pair(
        {"eastwind_sockets": "1000x30", "eastwind_sockets_opened_total": "0+1800x30"},
        # Few players: somebody comes in.
        {"eastwind_sockets": "10x30", "eastwind_sockets_opened_total": "0+60x30"},
    ),
    "QueueStuck": Pair(
        {
            'eastwind_queue_waiting{queue="hkos-3-v1:rated"}': "6x30",
            'eastwind_queue_wait_seconds_count{queue="hkos-3-v1:rated"}': "80x30",
        },
        {
            'eastwind_queue_waiting{queue="hkos-3-v1:rated"}': "6x30",
            'eastwind_queue_wait_seconds_count{queue="hkos-3-v1:rated"}': "0+8x30",
        },
        labels={"queue": "hkos-3-v1:rated"},
    ),
    "RedisAway": Pair(
        {'eastwind_redis_connected{instance="a"}': "1 0x30"},
        {'eastwind_redis_connected{instance="a"}': "1x30"},
        labels={"instance": "a"},
    ),
    "RedisSlow": Pair(
        {
            'eastwind_redis_round_trip_seconds_bucket{job="t",le="0.05"}': "0+900x30",
            'eastwind_redis_round_trip_seconds_bucket{job="t",le="0.1"}': "0+1000x30",
            'eastwind_redis_round_trip_seconds_bucket{job="t",le="+Inf"}': "0+1000x30",
        },
        {
            'eastwind_redis_round_trip_seconds_bucket{job="t",le="0.05"}': "0+999x30",
            'eastwind_redis_round_trip_seconds_bucket{job="t",le="0.1"}': "0+1000x30",
            'eastwind_redis_round_trip_seconds_bucket{job="t",le="+Inf"}': "0+1000x30",
        },
        labels={"job": "t"},
    ),
    "OutboxStuck": Pair({"eastwind_outbox_failures": "20x30"}, {"eastwind_outbox_failures": "1x30"}),
    "OutboxGrows": Pair({"eastwind_outbox_length": "200000x30"}, {"eastwind_outbox_length": "5000x30"}),
    "ConsumerBehind": Pair(
        {'eastwind_consumer_lag{job="history",topic="eastwind.hands.v1"}': "5000x30"},
        {'eastwind_consumer_lag{job="history",topic="eastwind.hands.v1"}': "12x30"},
        labels={"job": "history", "topic": "eastwind.hands.v1"},
    ),
    "ConsumerUnassigned": Pair(
        {'eastwind_consumer_unassigned{instance="a"}': "1x30"},
        # A rebalance.
        {'eastwind_consumer_unassigned{instance="a"}': "0x25 1 1 0x10"},
        labels={"instance": "a"},
    ),
    "DeadLetters": Pair(
        {'eastwind_dead_letters_total{topic="eastwind.hands.v1"}': "0x25 1x10"},
        {'eastwind_dead_letters_total{topic="eastwind.hands.v1"}': "3x30"},
        labels={"topic": "eastwind.hands.v1"},
    ),
    "EventsMissing": Pair(
        {'eastwind_event_gaps_total{topic="eastwind.tables.v1"}': "0x25 2x10"},
        {'eastwind_event_gaps_total{topic="eastwind.tables.v1"}': "3x30"},
        labels={"topic": "eastwind.tables.v1"},
    ),
}
CASES = [
    *_WINDOWS,
    *(Case(name, pair.bad, pair.at, (pair.labels,)) for name, pair in _ALERTS.items()),
    *(Case(name, pair.good, pair.at) for name, pair in _ALERTS.items()),
]


def promtool(*arguments: str) -> str:
    """Run promtool; returns what it says. It comes with Debian's package ``prometheus``."""
    program = shutil.which("promtool")
    assert program is not None, "promtool is missing: apt-get install prometheus"
    ran = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, check=False)
    said = ran.stdout + ran.stderr
    assert ran.returncode == 0, said
    return said


def _expected(case: Case) -> list[dict[str, Any]]:
    """The firing alerts with all their labels and annotations, as promtool compares them."""
    found = []
    for wanted in case.fire:
        (rule,) = [
            rule
            for rule in alerts()
            if rule["alert"] == case.alert and rule["labels"].get("window") == wanted.get("window")
        ]
        # The recorded ratio carries its objective on into the alert.
        slo = {"slo": Path(rule["annotations"]["runbook_url"]).stem} if "window" in rule["labels"] else {}
        labels = {**rule["labels"], **slo, **wanted}
        found.append({"exp_labels": labels, "exp_annotations": rule["annotations"]})
    return found


def test_every_alert_has_a_case_that_fires_and_one_that_does_not() -> None:
    names = {alert["alert"] for alert in alerts()}
    assert {case.alert for case in CASES if case.fire} == names
    assert {case.alert for case in CASES if not case.fire} == names


def test_alerts_fire_when_they_must_and_only_then(tmp_path: Path) -> None:
    for file in ("slo.yaml", "alerts.yaml"):
        names = {alert["alert"] for alert in alerts(file)}
        tests = [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in case.series.items()],
                "alert_rule_test": [{"eval_time": case.at, "alertname": case.alert, "exp_alerts": _expected(case)}],
            }
            for case in CASES
            if case.alert in names
        ]
        path = tmp_path / f"test_{file}"
        whole = {"rule_files": [str(RULES / file)], "evaluation_interval": "1m", "tests": tests}
        path.write_text(yaml.safe_dump(whole))
        assert "SUCCESS" in promtool("test", "rules", str(path))


def test_rule_files_are_in_order() -> None:
    assert "SUCCESS" in promtool("check", "rules", *(str(path) for path in sorted(RULES.glob("*.yaml"))))


def test_every_query_parses(tmp_path: Path) -> None:
    asked = [*panels(), *asked_by_rules()]
    queries = [query for each in asked for query in (each.expr, each.measured)]
    rules = [{"record": f"query_{number}", "expr": query} for number, query in enumerate(queries)]
    path = tmp_path / "queries.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
    assert "SUCCESS" in promtool("check", "rules", str(path))
