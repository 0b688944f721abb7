"""Settings from the environment, and the sentence about a wrong one."""

from __future__ import annotations

import ssl
import subprocess
import sys

import pytest
from pydantic import Field

from libs.chassis.brokers import client_arguments
from libs.chassis.multiplexed import Address
from libs.chassis.settings import ServiceSettings, SettingsError, read


class Example(ServiceSettings):
    cache_hands: int = Field(default=5, ge=1)


def test_variables_fill_the_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EASTWIND_CACHE_HANDS", "7")
    monkeypatch.setenv("EASTWIND_TABLE_ADDRESS", "10.0.0.1:5, 10.0.0.2:5")
    monkeypatch.setenv("EASTWIND_SERVICE_KEY", "very secret")
    settings = read(Example)
    assert settings.cache_hands == 7
    assert settings.addresses("table") == ("10.0.0.1:5", "10.0.0.2:5")
    assert "very secret" not in repr(settings)


def test_an_address_that_is_missing_is_named() -> None:
    with pytest.raises(SettingsError, match="EASTWIND_BOTS_ADDRESS is not set"):
        read(Example).addresses("bots")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("EASTWIND_CACHE_HANDS", "0"),
        ("EASTWIND_GRPC_PORT", "seventy"),
        ("EASTWIND_LOG_LEVEL", "loud"),
        ("EASTWIND_DRAIN_GRACE_S", "-1"),
        ("EASTWIND_LOG_FORMAT", "xml"),
    ],
)
def test_a_wrong_value_is_one_sentence_with_the_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SettingsError) as caught:
        read(Example)
    assert str(caught.value).startswith(f"{variable} is wrong: ")
    assert "\n" not in str(caught.value)


def test_a_process_with_a_wrong_value_ends_with_code_two() -> None:
    code = "from libs.chassis.settings import ServiceSettings, load; load(ServiceSettings)"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={"EASTWIND_HTTP_PORT": "99999", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 2
    assert result.stderr.startswith("EASTWIND_HTTP_PORT is wrong: ")
    assert len(result.stderr.splitlines()) == 1


def test_credentials_of_their_own_go_into_the_addresses_whatever_characters_they_have() -> None:
    settings = read(
        Example,
        redis_url="rediss://store:6379/0",
        redis_password="p@ss/w:rd %",
        database_url="postgresql://old:one@db:5432/ratings?ssl=require",
        database_username="eastwind",
        database_password="#1",
    )
    assert Address.parse(settings.redis_url).password == "p@ss/w:rd %"
    assert settings.redis_url.startswith("rediss://:p%40ss")
    assert settings.database_url == "postgresql://eastwind:%231@db:5432/ratings?ssl=require"


def test_the_log_in_to_the_brokers_goes_wherever_their_addresses_go() -> None:
    settings = read(
        Example,
        kafka_bootstrap=("broker:9093",),
        kafka_security="SASL_SSL",
        kafka_username="eastwind",
        kafka_password="very secret",
    )
    arguments = client_arguments(settings.kafka_bootstrap)
    assert arguments["bootstrap_servers"] == ["broker:9093"]
    assert arguments["security_protocol"] == "SASL_SSL"
    assert arguments["sasl_mechanism"] == "SCRAM-SHA-512"
    assert (arguments["sasl_plain_username"], arguments["sasl_plain_password"]) == ("eastwind", "very secret")
    assert arguments["ssl_context"].verify_mode is ssl.CERT_REQUIRED
    assert "very secret" not in repr(settings)
    assert client_arguments(read(Example).kafka_bootstrap) == {"bootstrap_servers": ["127.0.0.1:9092"]}


def test_the_authority_of_the_store_goes_with_its_address() -> None:
    settings = read(
        ServiceSettings,
        redis_url="rediss://store:6380/0",
        redis_password="a secret/with:signs",
        redis_authority="/etc/eastwind/a b/ca.crt",
    )
    address = Address.parse(settings.redis_url)
    assert (address.host, address.port, address.tls) == ("store", 6380, True)
    assert (address.password, address.authority) == ("a secret/with:signs", "/etc/eastwind/a b/ca.crt")
    assert Address.parse("rediss://store:6380/0").authority == ""
