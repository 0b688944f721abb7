"""The pods of the services: how they start, are looked after, drain, and what they may."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from libs.chassis.health import LIVENESS, READINESS
from libs.chassis.settings import PREFIX, ServiceSettings
from tests.helm.rendering import CHART, NAMESPACE, PERMUTATIONS, ROOT, Chart

pytestmark = pytest.mark.helm

SERVICES = tuple(sorted(path.parent.name for path in (ROOT / "services").glob("*/__main__.py")))
FACTS: dict[str, dict[str, Any]] = yaml.safe_load((CHART / "files" / "components.yaml").read_text())


def settings_of(service: str) -> type[ServiceSettings]:
    """The settings class of a service."""
    module = import_module(f"services.{service}.settings")
    (found,) = {
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, ServiceSettings) and each is not ServiceSettings
    }
    return found


def pod_of(chart: Chart, service: str, permutation: str = "minimal", *sets: str) -> Any:
    return chart.render(permutation, *sets).component("Deployment", service)["spec"]["template"]["spec"]


def test_every_service_of_the_tree_is_in_the_chart(chart: Chart) -> None:
    assert tuple(FACTS) == SERVICES
    assert sorted(chart.render().kind("Deployment")) == [f"ew-eastwind-{service}" for service in SERVICES]


@pytest.mark.parametrize("service", SERVICES)
def test_a_pod_runs_its_service(chart: Chart, service: str) -> None:
    (container,) = pod_of(chart, service)["containers"]
    assert container["command"] == ["python", "-m", f"services.{service}"]


@pytest.mark.parametrize("permutation", PERMUTATIONS)
def test_every_variable_is_a_setting_of_the_service(chart: Chart, permutation: str) -> None:
    rendered = chart.render(permutation)
    for service in SERVICES:
        fields = settings_of(service).model_fields
        ours = {name for name in rendered.environment(service) if name.startswith(PREFIX)}
        assert {name.removeprefix(PREFIX).lower() for name in ours} <= set(fields), service


@pytest.mark.parametrize("permutation", PERMUTATIONS)
def test_the_services_take_the_settings_that_the_chart_gives(
    chart: Chart, permutation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered = chart.render(permutation)
    for service in SERVICES:
        with monkeypatch.context() as context:
            for name, value in rendered.environment(service).items():
                context.setenv(name, value)
            settings = settings_of(service)()
        assert settings.grpc_port == 50051
        if FACTS[service].get("database"):
            assert settings.database_url.startswith("postgresql://")
            assert not settings.database_migrate


@pytest.mark.parametrize("permutation", PERMUTATIONS)
def test_c123_numbers_are_written_out_in_full(chart: Chart, permutation: str) -> None:
    rendered = chart.render(permutation)
    for service in SERVICES:
        for name, value in rendered.environment(service).items():
            if re.match(r"^[0-9.+-]+(e[0-9+-]+)?$", value) and not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9.]+", value):
                assert re.fullmatch(r"[0-9]+(\.[0-9]*[1-9])?", value), f"{name}={value}"
    assert not re.search(r"\de\+\d", rendered.text)


def test_c123_a_large_number_reaches_the_service_as_it_is(chart: Chart) -> None:
    rendered = chart.render("fixed")
    table, gateway = rendered.environment("table"), rendered.environment("gateway")
    assert table["EASTWIND_TABLE_LEASE_MS"] == "86400000"
    assert gateway["EASTWIND_SOCKET_FRAME_BYTES"] == "5242880"
    assert gateway["EASTWIND_SOCKET_LIMIT"] == "1500"
    assert gateway["EASTWIND_SOCKET_RATE"] == "12.5"
    assert rendered.environment("history")["EASTWIND_REPEATS_KEPT_S"] == "86400000"
    assert chart.render("minimal", "components.table.settings.table_lease_ms=86400000").environment("table")[
        "EASTWIND_TABLE_LEASE_MS"
    ] == ("86400000")


@pytest.mark.parametrize("service", [service for service in SERVICES if FACTS[service].get("grpc")])
def test_c117_probes_by_grpc_ask_three_different_things(chart: Chart, service: str) -> None:
    (container,) = pod_of(chart, service)["containers"]
    asked = {name: container[f"{name}Probe"]["grpc"]["service"] for name in ("startup", "readiness", "liveness")}
    assert asked == {"startup": "", "readiness": READINESS, "liveness": LIVENESS}


def test_c124_liveness_is_patient_and_asks_for_nothing_but_the_process(chart: Chart) -> None:
    for _, spec in chart.render().pods():
        for container in spec["containers"]:
            probe = container.get("livenessProbe")
            if probe is None:
                continue
            assert probe.get("grpc", {}).get("service") == LIVENESS or probe["httpGet"]["path"] == "/healthz"
            assert probe["periodSeconds"] * probe["failureThreshold"] >= 60


def test_a_start_may_take_longer_than_a_service_waits_for_its_database(chart: Chart) -> None:
    for service in SERVICES:
        (container,) = pod_of(chart, service)["containers"]
        probe = container["startupProbe"]
        waits = settings_of(service).model_fields.get("database_wait_s")
        assert probe["periodSeconds"] * probe["failureThreshold"] > (waits.default if waits else 30)


@pytest.mark.parametrize("permutation", ["full", "adapter"])
def test_with_mtls_probes_need_no_certificate(chart: Chart, permutation: str) -> None:
    for service in SERVICES:
        (container,) = pod_of(chart, service, permutation)["containers"]
        paths = {name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness", "liveness")}
        assert paths == {"startup": "/readyz", "readiness": "/readyz", "liveness": "/healthz"}


@pytest.mark.parametrize("service", SERVICES)
def test_c125_c126_the_grace_period_holds_the_whole_drain(chart: Chart, service: str) -> None:
    spec = pod_of(chart, service)
    (container,) = spec["containers"]
    before = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain = int(chart.render().environment(service)["EASTWIND_DRAIN_GRACE_S"])
    # The process itself gives up ten seconds after its grace.
    assert spec["terminationGracePeriodSeconds"] >= before + drain + 10
    assert before >= (5 if service != "table" else 1)


def test_c125_a_gateway_waits_for_the_endpoints_and_is_never_missing(chart: Chart) -> None:
    spec = pod_of(chart, "gateway")
    assert spec["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"] >= 10
    strategy = chart.render().component("Deployment", "gateway")["spec"]["strategy"]
    assert strategy["rollingUpdate"]["maxUnavailable"] == 0
    assert chart.render().component("PodDisruptionBudget", "gateway")["spec"]["maxUnavailable"] == 1


def test_c126_table_workers_leave_one_after_the_other(chart: Chart) -> None:
    rendered = chart.render()
    update = rendered.component("Deployment", "table")["spec"]["strategy"]["rollingUpdate"]
    assert update == {"maxUnavailable": 0, "maxSurge": 1}
    assert rendered.component("PodDisruptionBudget", "table")["spec"]["maxUnavailable"] == 1
    down = rendered.component("HorizontalPodAutoscaler", "table")["spec"]["behavior"]["scaleDown"]
    assert down["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 120}]
    drain = int(rendered.environment("table")["EASTWIND_DRAIN_GRACE_S"])
    assert down["policies"][0]["periodSeconds"] > drain
    assert rendered.environment("table")["EASTWIND_ADVERTISE_HOST"] == "field:status.podIP"
    assert rendered.environment("table")["EASTWIND_ROLLOUT"] == "field:metadata.labels['pod-template-hash']"


@pytest.mark.parametrize("permutation", PERMUTATIONS)
def test_pods_fit_the_restricted_level_and_write_nothing_but_tmp(chart: Chart, permutation: str) -> None:
    for name, spec in chart.render(permutation).pods():
        assert spec["securityContext"]["runAsNonRoot"] is True, name
        assert spec["securityContext"]["runAsUser"] > 10_000, name
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}, name
        assert spec["automountServiceAccountToken"] is False, name
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(spec), name
        assert all(set(volume) <= {"name", "emptyDir", "secret"} for volume in spec["volumes"]), name
        for container in spec["containers"]:
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False, name
            assert context["readOnlyRootFilesystem"] is True, name
            assert context["capabilities"] == {"drop": ["ALL"]}, name
            writable = [mount["mountPath"] for mount in container["volumeMounts"] if not mount.get("readOnly")]
            assert writable == ["/tmp"], name
            assert set(container["resources"]) == {"requests", "limits"}, name
            assert {"cpu", "memory"} <= set(container["resources"]["requests"]), name


@pytest.mark.parametrize("service", SERVICES)
def test_copies_are_spread_and_each_service_has_a_budget(chart: Chart, service: str) -> None:
    constraints = pod_of(chart, service)["topologySpreadConstraints"]
    assert [each["topologyKey"] for each in constraints] == ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
    budget = chart.render().component("PodDisruptionBudget", service)["spec"]
    labels = chart.render().component("Deployment", service)["spec"]["template"]["metadata"]["labels"]
    assert budget["selector"]["matchLabels"].items() <= labels.items()


@pytest.mark.parametrize("service", [service for service in SERVICES if FACTS[service].get("grpc")])
def test_c117_a_service_is_headless_and_called_by_a_name_that_gives_all_copies(chart: Chart, service: str) -> None:
    rendered = chart.render()
    found = rendered.one("Service", f"ew-eastwind-{service}")["spec"]
    assert found["clusterIP"] == "None"
    for caller in FACTS[service]["callers"]:
        address = rendered.environment(caller)[f"EASTWIND_{service.upper()}_ADDRESS"]
        assert address == f"dns:///ew-eastwind-{service}.{NAMESPACE}.svc.cluster.local:50051"
    assert settings_of(service).model_fields["grpc_connection_age_s"].default <= 60


def test_c117_an_update_adds_before_it_takes_away(chart: Chart) -> None:
    for deployment in chart.render().kind("Deployment").values():
        assert deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
        assert deployment["spec"]["minReadySeconds"] >= 5


def test_sockets_need_no_stickiness(chart: Chart) -> None:
    rendered = chart.render("full")
    assert rendered.one("Service", "ew-eastwind")["spec"]["sessionAffinity"] == "None"
    ingress = rendered.one("Ingress", "ew-eastwind")
    assert not re.search("affinity|sticky|cookie", str(ingress["metadata"].get("annotations", {})))
    gateway = rendered.environment("gateway")
    assert gateway["EASTWIND_ALLOWED_ORIGINS"] == "https://play.example.org"
    assert gateway["EASTWIND_PROXIES"] == "1"
    assert chart.render().environment("gateway")["EASTWIND_PROXIES"] == "0"


def test_migrations_run_before_anything_new_starts(chart: Chart) -> None:
    job = chart.render().one("Job", "ew-eastwind-migrations")
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    commands = [each["command"] for each in job["spec"]["template"]["spec"]["containers"]]
    assert commands == [
        ["eastwind", "migrate", "accounts"],
        ["eastwind", "migrate", "history"],
        ["eastwind", "migrate", "ratings"],
        ["eastwind", "migrate", "topics", "--replication", "3"],
    ]
    # What the hook needs and the release brings would not be there yet.
    assert job["spec"]["template"]["spec"]["serviceAccountName"] == "default"


def test_helm_test_plays_a_hand_through_the_gateway_with_an_origin_that_is_allowed(chart: Chart) -> None:
    pod = chart.render("full").one("Pod", "ew-eastwind-plays-a-hand")
    assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
    (container,) = pod["spec"]["containers"]
    assert container["command"] == ["eastwind", "bot"]
    assert container["args"] == [
        "--url=http://ew-eastwind:80",
        "--origin=https://play.example.org",
        "--table",
        "--speed=bullet",
        "--hands=1",
    ]


@pytest.mark.parametrize("permutation", PERMUTATIONS)
def test_c121_two_renderings_are_equal_and_no_secret_is_made_or_shown(chart: Chart, permutation: str) -> None:
    first, second = chart.render(permutation), chart.render(permutation, again=True)
    assert first.text == second.text
    assert not first.kind("Secret")
    assert all("dashboard" in name for name in first.kind("ConfigMap"))
    for template in (CHART / "templates").rglob("*.*"):
        assert not re.search(r"\b(rand[A-Z]\w+|gen[A-Z]\w+|derivePassword|lookup)\b", template.read_text()), template
    for service in SERVICES:
        environment = first.environment(service)
        for name in environment:
            if re.search("PASSWORD|SERVICE_KEY|USERNAME", name):
                assert "/" in environment[name], f"{name} of {service} is not from a secret"


def test_c121_an_unrelated_value_leaves_the_pods_alone(chart: Chart) -> None:
    before, after = chart.render(), chart.render("minimal", "telemetry.serviceMonitor.enabled=true")
    assert before.kind("Deployment") == after.kind("Deployment")


def test_certificates_name_every_way_a_service_is_called(chart: Chart) -> None:
    rendered = chart.render("full")
    for service in SERVICES:
        names = rendered.component("Certificate", service)["spec"]["dnsNames"]
        address = f"ew-eastwind-{service}.{NAMESPACE}.svc.cluster.local"
        assert address in names
        environment = rendered.environment(service)
        assert environment["EASTWIND_TLS_CERTIFICATE"] == "/etc/eastwind/tls/tls.crt"
        assert environment["EASTWIND_TLS_WORKER_NAME"] in rendered.component("Certificate", "table")["spec"]["dnsNames"]
    adapter = chart.render("adapter")
    secrets = {
        service: next(
            volume["secret"]["secretName"]
            for volume in adapter.component("Deployment", service)["spec"]["template"]["spec"]["volumes"]
            if volume["name"] == "tls"
        )
        for service in SERVICES
    }
    assert secrets == {service: "eastwind-table-tls" if service == "table" else "eastwind-tls" for service in SERVICES}


def test_the_chart_has_no_default_secret_or_host() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert values["serviceKey"]["existingSecret"] == ""
    assert [values[each]["existingSecret"] for each in ("redis", "kafka", "postgresql", "signingKey")] == [""] * 4
    assert (values["redis"]["host"], values["kafka"]["bootstrap"], values["postgresql"]["host"]) == ("", [], "")
    assert not list(Path(CHART).rglob("*.pem"))
