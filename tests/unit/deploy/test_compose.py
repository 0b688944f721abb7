"""`deploy/compose.yaml` names every service, and tells each what it can be told."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.local.roster import DATABASES, ORDER
from libs.chassis.settings import PREFIX, ServiceSettings

DEPLOY = Path(__file__).parents[3] / "deploy"
BACKING = {"kafka", "valkey", "postgresql", "prometheus", "grafana"}
ONCE = {"topics", *(f"{service}-schema" for service in DATABASES)}


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services of the file by their names, merge keys resolved."""
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return found


def settings_of(service: str) -> type[ServiceSettings]:
    """The settings class of a service."""
    module = import_module(f"services.{service}.settings")
    (found,) = (
        each
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, ServiceSettings) and each is not ServiceSettings
    )
    return found


def test_every_service_is_there_with_what_it_needs_in_production(services: dict[str, Any]) -> None:
    assert set(services) == {*ORDER, *BACKING, *ONCE}


@pytest.mark.parametrize("service", ORDER)
def test_a_service_is_confined_and_told_only_what_it_can_be_told(services: dict[str, Any], service: str) -> None:
    about = services[service]
    assert about["read_only"] is True
    assert about["cap_drop"] == ["ALL"]
    assert f"python -m services.{service}" in " ".join(about["command"])
    named = {name.removeprefix(PREFIX).lower() for name in about["environment"] if name.startswith(PREFIX)}
    assert named <= set(settings_of(service).model_fields)
    assert about["environment"]["EASTWIND_DATABASE_MIGRATE"] == "false"
    assert ("EASTWIND_DATABASE_URL" in about["environment"]) == (service in DATABASES)


def test_nothing_waits_for_what_is_not_there(services: dict[str, Any]) -> None:
    for name, about in services.items():
        for other, how in about.get("depends_on", {}).items():
            assert other in services, name
            if how["condition"] == "service_healthy":
                assert "healthcheck" in services[other], f"{name} waits for the health of {other}"
            if other in ONCE:
                assert how["condition"] == "service_completed_successfully", name


def test_every_file_that_is_mounted_is_there(services: dict[str, Any]) -> None:
    for about in services.values():
        for volume in about.get("volumes", []):
            source = volume.split(":")[0]
            assert not source.startswith(".") or (DEPLOY / source).exists(), source


def test_secrets_are_given_and_never_made_up() -> None:
    text = (DEPLOY / "compose.yaml").read_text()
    assert "${EASTWIND_SERVICE_KEY:?" in text
    assert "${POSTGRES_PASSWORD:?" in text
    assert not re.search(r"(PASSWORD|SERVICE_KEY): [^$&*\s]", text)


def test_c108_the_store_keeps_every_table(services: dict[str, Any]) -> None:
    command = " ".join(services["valkey"]["command"])
    assert "--appendonly yes" in command
    assert "--maxmemory-policy noeviction" in command


def test_every_service_is_scraped() -> None:
    jobs = yaml.safe_load((DEPLOY / "compose" / "prometheus.yaml").read_text())["scrape_configs"]
    assert sorted(job["job_name"] for job in jobs) == sorted(ORDER)
    assert all(job["dns_sd_configs"][0]["names"] == [job["job_name"]] for job in jobs)
