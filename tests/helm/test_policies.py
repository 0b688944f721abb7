"""Network policies: everything is denied, and exactly the architecture's edges are allowed."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import pytest

from libs.chassis.auth import ANY_SERVICE
from tests.helm.rendering import ROOT, Chart, Rendered
from tests.helm.test_workloads import FACTS, SERVICES

pytestmark = pytest.mark.helm

EDGES = {
    ("gateway", "accounts"),
    ("gateway", "history"),
    ("gateway", "matchmaking"),
    ("gateway", "ratings"),
    ("gateway", "scoring"),
    ("gateway", "table"),
    ("clock", "table"),
    ("matchmaking", "table"),
    ("matchmaking", "ratings"),
    ("matchmaking", "accounts"),
    ("history", "accounts"),
    ("table", "accounts"),
    ("table", "scoring"),
    ("table", "bots"),
}
"""Who calls whom, as the architecture has it."""
BACKING = {"redis": 6379, "kafka": 9092, "database": 5432}


def allow_list(service: str) -> dict[str, set[str]]:
    """Who may call which method, from the service's own code."""
    for module in (f"services.{service}.app", f"services.{service}.service"):
        for name in ("CALLERS", "ALLOW"):
            found = getattr(import_module(module), name, None)
            if found is not None:
                return dict(found)
    raise AssertionError(f"{service} has no allow list")


def asks_for_keys(service: str) -> bool:
    """Whether it verifies access tokens by the keys of accounts, which every service may ask for."""
    return "account_tokens(" in (ROOT / "services" / service / "app.py").read_text()


def test_the_component_list_is_that_of_the_allow_lists() -> None:
    for service, facts in FACTS.items():
        if not facts.get("grpc"):
            continue
        allowed = set[str]().union(*allow_list(service).values())
        expected = allowed - {ANY_SERVICE, "operator"}
        if ANY_SERVICE in allowed:
            expected |= {other for other in SERVICES if asks_for_keys(other)}
        assert facts["callers"] == sorted(expected), service


def test_the_component_list_says_what_each_service_keeps_its_state_in() -> None:
    needles = {"redis": "settings.redis_url", "kafka": "settings.kafka_bootstrap", "database": "settings.database_url"}
    for service, facts in FACTS.items():
        code = "".join(path.read_text() for path in (ROOT / "services" / service).glob("*.py"))
        for backing, needle in needles.items():
            assert bool(facts.get(backing)) == (needle in code), f"{service} and {backing}"


def selects(selector: dict[str, Any], service: str) -> bool:
    """Whether a pod selector is of this service's pods of our release."""
    labels = {
        "app.kubernetes.io/name": "eastwind",
        "app.kubernetes.io/instance": "ew",
        "app.kubernetes.io/component": service,
    }
    return bool(selector.get("matchLabels", {}).items() <= labels.items())


def edges(rendered: Rendered) -> set[tuple[str, str]]:
    """The pairs of services between which the policies let calls through, in both policies' eyes."""
    policies = {service: rendered.one("NetworkPolicy", f"ew-eastwind-{service}")["spec"] for service in SERVICES}

    def lets(rules: list[dict[str, Any]], side: str, service: str) -> bool:
        return any(
            {"protocol": "TCP", "port": 50051} in rule["ports"]
            and any("podSelector" in peer and selects(peer["podSelector"], service) for peer in rule.get(side, []))
            for rule in rules
        )

    return {
        (caller, callee)
        for caller in SERVICES
        for callee in SERVICES
        if lets(policies[callee]["ingress"], "from", caller) and lets(policies[caller]["egress"], "to", callee)
    }


@pytest.mark.parametrize("permutation", ["minimal", "full"])
def test_exactly_the_edges_of_the_architecture_are_open(chart: Chart, permutation: str) -> None:
    assert edges(chart.render(permutation)) == EDGES


def test_each_side_of_an_edge_is_opened_for_the_other_alone(chart: Chart) -> None:
    for service in SERVICES:
        policy = chart.render().one("NetworkPolicy", f"ew-eastwind-{service}")["spec"]
        callers = {
            peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
            for rule in policy["ingress"]
            if {"protocol": "TCP", "port": 50051} in rule["ports"]
            for peer in rule["from"]
        }
        called = {
            peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"]
            for rule in policy["egress"]
            if {"protocol": "TCP", "port": 50051} in rule["ports"]
            for peer in rule["to"]
        }
        assert callers == {caller for caller, callee in EDGES if callee == service}
        assert called == {callee for caller, callee in EDGES if caller == service}


def test_everything_else_is_denied_to_every_pod_of_the_release(chart: Chart) -> None:
    spec = chart.render().one("NetworkPolicy", "ew-eastwind-deny-all")["spec"]
    assert spec == {
        "podSelector": {"matchLabels": {"app.kubernetes.io/name": "eastwind", "app.kubernetes.io/instance": "ew"}},
        "policyTypes": ["Ingress", "Egress"],
    }


def test_c132_only_the_players_port_takes_strangers(chart: Chart) -> None:
    for name, policy in chart.render().kind("NetworkPolicy").items():
        for rule in policy["spec"].get("ingress", []):
            if "from" not in rule:
                assert name == "ew-eastwind-gateway-edge"
                assert rule["ports"] == [{"protocol": "TCP", "port": 8808}]
    full = chart.render("full").one("NetworkPolicy", "ew-eastwind-gateway-edge")["spec"]
    assert all("from" in rule for rule in full["ingress"])


def test_what_strangers_reach_stands_in_a_policy_of_its_own(chart: Chart) -> None:
    """A controller that judges a connection between two gateways by one policy would open it for both directions."""
    spec = chart.render().one("NetworkPolicy", "ew-eastwind-gateway-edge")["spec"]
    assert spec["policyTypes"] == ["Ingress"]
    assert "egress" not in spec
    assert selects(spec["podSelector"], "gateway")
    assert not any(selects(spec["podSelector"], service) for service in SERVICES if service != "gateway")


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_reaches_what_it_keeps_its_state_in_and_no_other(chart: Chart, service: str) -> None:
    policy = chart.render().one("NetworkPolicy", f"ew-eastwind-{service}")["spec"]
    open_ports = {each["port"] for rule in policy["egress"] if "to" not in rule for each in rule["ports"]}
    assert open_ports == {port for backing, port in BACKING.items() if FACTS[service].get(backing)}


def test_with_peers_nothing_leaves_to_anywhere(chart: Chart) -> None:
    for policy in chart.render("full").kind("NetworkPolicy").values():
        assert all(rule["to"] for rule in policy["spec"].get("egress", []))
    kafka = [
        rule["ports"]
        for rule in chart.render("full").one("NetworkPolicy", "ew-eastwind-table")["spec"]["egress"]
        if {"protocol": "TCP", "port": 9093} in rule["ports"]
    ]
    assert kafka == [[{"protocol": "TCP", "port": 9093}]]


def test_the_migrations_and_the_test_pod_have_policies_of_their_own(chart: Chart) -> None:
    rendered = chart.render()
    migrations = rendered.one("NetworkPolicy", "ew-eastwind-migrations")
    assert "pre-install" in migrations["metadata"]["annotations"]["helm.sh/hook"]
    job = rendered.one("Job", "ew-eastwind-migrations")
    assert int(migrations["metadata"]["annotations"]["helm.sh/hook-weight"]) < int(
        job["metadata"]["annotations"]["helm.sh/hook-weight"]
    )
    labels = job["spec"]["template"]["metadata"]["labels"]
    assert migrations["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    pod = rendered.one("Pod", "ew-eastwind-plays-a-hand")
    policy = rendered.one("NetworkPolicy", "ew-eastwind-helm-test")
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= pod["metadata"]["labels"].items()


def test_no_policy_names_a_port_that_no_container_has(chart: Chart) -> None:
    rendered = chart.render()
    for service in SERVICES:
        (container,) = rendered.component("Deployment", service)["spec"]["template"]["spec"]["containers"]
        ports = {each["containerPort"] for each in container["ports"]}
        policy = rendered.one("NetworkPolicy", f"ew-eastwind-{service}")["spec"]
        assert {each["port"] for rule in policy["ingress"] for each in rule["ports"]} <= ports
        assert re.fullmatch(r"[a-z]+", service)
