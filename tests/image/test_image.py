"""What is in the image, and that every service runs in it: read-only, without rights, as its own user."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import pytest

from deploy.local.ports import LOOPBACK, free_port
from deploy.local.roster import DATABASES, ORDER
from libs.chassis.settings import PREFIX
from tests.backing import FreshDatabases
from tests.image.containers import Containers, once

pytestmark = pytest.mark.image

_READY_S = 180.0
_BUILDERS = ("pip", "pip3", "uv", "gcc", "cc", "make", "ld", "npm", "node", "git", "curl", "wget")


def test_it_runs_as_a_user_without_rights_who_writes_nothing() -> None:
    assert once("id", "-u").strip() == "10808"
    script = "for place in / /opt/eastwind /usr /etc /var; do touch $place/x 2>/dev/null && echo $place; done; true"
    assert once("sh", "-c", script) == ""
    assert once("sh", "-c", "find / -xdev -type f -perm /6000 2>/dev/null; true") == ""


def test_it_holds_nothing_that_builds_or_fetches() -> None:
    script = f"for name in {' '.join(_BUILDERS)}; do command -v $name; done; true"
    assert once("sh", "-c", script) == ""
    assert once("python", "-c", "import importlib.util as u; print(u.find_spec('pip'))").strip() == "None"


def test_the_parts_list_names_every_package_in_it() -> None:
    parts = json.loads(once("cat", "/opt/eastwind/share/sbom.cdx.json"))
    assert (parts["bomFormat"], parts["metadata"]["component"]["name"]) == ("CycloneDX", "eastwind")
    listed = {(part["name"].lower().replace("_", "-"), part["version"]) for part in parts["components"]}
    code = (
        "import importlib.metadata as m, json;"
        "print(json.dumps([(d.metadata['Name'], d.version) for d in m.distributions()]))"
    )
    installed = {(name.lower().replace("_", "-"), version) for name, version in json.loads(once("python", "-c", code))}
    assert {each for each in installed if each[0] != "eastwind"} <= listed
    assert "preact" in {name for name, _ in listed}


@pytest.mark.timeout(900)
async def test_every_service_starts_in_it_a_hand_is_played_and_all_drain(
    valkey_url: str, kafka_bootstrap: str, fresh_database: FreshDatabases
) -> None:
    free = {free_port() for _ in range(4 * len(ORDER))}
    ports = {service: (free.pop(), free.pop()) for service in ORDER}
    edge_port = free.pop()
    databases = {service: await fresh_database() for service in DATABASES}
    common = {
        "host": LOOPBACK,
        "redis_url": valkey_url,
        "kafka_bootstrap": kafka_bootstrap,
        "kafka_idempotent": "false",
        "service_key": "a key that all services share",
        "drain_grace_s": "20",
        "database_migrate": "false",
        "edge_port": str(edge_port),
        **{f"{service}_address": f"{LOOPBACK}:{grpc}" for service, (grpc, _) in ports.items()},
    }

    def environment(service: str) -> dict[str, str]:
        grpc, http = ports[service]
        fields = {**common, "grpc_port": str(grpc), "http_port": str(http)}
        if service in databases:
            fields["database_url"] = databases[service]
        return {f"{PREFIX}{name.upper()}": value for name, value in fields.items()}

    for service in DATABASES:
        said = await asyncio.to_thread(once, "eastwind", "migrate", service, environment=environment(service))
        assert "is up to date" in said
    said = await asyncio.to_thread(once, "eastwind", "migrate", "topics", environment=environment("table"))
    assert "Topics created" in said

    with Containers() as containers:
        for service in ORDER:
            await asyncio.to_thread(containers.start, service, environment(service))
        async with aiohttp.ClientSession() as session:
            for service in ORDER:
                await _until_ready(session, ports[service][1], service, containers)
        played = await asyncio.to_thread(
            once, "eastwind", "bot", f"--url=http://{LOOPBACK}:{edge_port}", "--table", "--speed=bullet"
        )
        assert "Plays at table" in played
        for service in reversed(ORDER):
            assert await asyncio.to_thread(containers.stop, service, 45) == 0, containers.logs(service)


async def _until_ready(session: aiohttp.ClientSession, port: int, service: str, containers: Containers) -> None:
    try:
        async with asyncio.timeout(_READY_S):
            while True:
                try:
                    async with session.get(f"http://{LOOPBACK}:{port}/readyz") as response:
                        if response.status == 200:
                            return
                except aiohttp.ClientError:
                    pass
                await asyncio.sleep(0.2)
    except TimeoutError:
        pytest.fail(f"{service} was not ready: {await asyncio.to_thread(containers.logs, service)}")
