"""Settings of a service from `EASTWIND_*` variables.

A service subclasses `ServiceSettings` with its own fields and calls `load(ItsSettings)` once at start. A wrong value
ends the process with exit code 2 and one sentence that names the variable.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any, Self, TypeVar
from urllib.parse import quote

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from libs.chassis.brokers import BrokerLogin, Brokers

PREFIX = "EASTWIND_"

Addresses = Annotated[tuple[str, ...], NoDecode]
"""`host:port` pairs, comma separated in the variable; one `dns:///name:port` stands for all addresses of that name."""


class ServiceSettings(BaseSettings):
    """What every service can be told. Times are seconds."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True, hide_input_in_errors=True)

    host: str = "127.0.0.1"
    grpc_port: int = Field(default=0, ge=0, le=65535, description="0 picks a free port")
    http_port: int = Field(default=0, ge=0, le=65535, description="0 picks a free port")
    advertise_host: str = Field(default="", description="the host that other services reach this one by; '' means host")
    worker_id: str = Field(default="", description="a stable name of this process; '' makes one")
    grpc_connection_age_s: float = Field(
        default=30.0, gt=0, description="clients connect anew after so long, and so find new replicas"
    )

    redis_url: str = "redis://127.0.0.1:6379/0"
    redis_username: str = Field(default="", description="goes into `redis_url`, with `redis_password`")
    redis_password: SecretStr = SecretStr("")
    redis_authority: str = Field(
        default="",
        description="path of the PEM certificate that a rediss:// server is checked against; '' means the system's",
    )
    kafka_bootstrap: Addresses = ("127.0.0.1:9092",)
    kafka_idempotent: bool = Field(default=True, description="the broker can do idempotent producers")
    kafka_security: str = Field(default="PLAINTEXT", pattern="^(SASL_)?(PLAINTEXT|SSL)$")
    kafka_sasl_mechanism: str = Field(default="SCRAM-SHA-512", pattern="^(PLAIN|SCRAM-SHA-256|SCRAM-SHA-512)$")
    kafka_username: str = ""
    kafka_password: SecretStr = SecretStr("")
    kafka_authority: str = Field(
        default="", description="path of the PEM certificate that brokers are checked against; '' means the system's"
    )
    kafka_session_timeout_s: float = Field(
        default=10.0, ge=0.5, le=300, description="a consumer that is silent for so long loses its partitions"
    )
    database_url: str = Field(default="", description="postgresql://user:password@host/name")
    database_username: str = Field(default="", description="goes into `database_url`, with `database_password`")
    database_password: SecretStr = SecretStr("")
    database_migrate: bool = Field(
        default=True, description="bring the schema up to date at the start; else wait until somebody else did"
    )

    log_level: str = "info"
    log_format: str = Field(default="auto", pattern="^(auto|json|console)$")
    otlp_endpoint: str = Field(default="", description="where traces go, as http://host:4317; '' exports none")
    trace_ratio: float = Field(
        default=0.01, ge=0, le=1, description="the share of traces that is recorded and exported"
    )

    service_key: SecretStr = Field(default=SecretStr(""), description="shared by all services, signs caller tokens")
    jwks_ttl_s: float = Field(default=300.0, gt=0)
    tls_certificate: str = Field(default="", description="path of this service's PEM certificate; '' means plain text")
    tls_key: str = ""
    tls_authority: str = Field(default="", description="path of the PEM certificate that peers are checked against")
    tls_worker_name: str = Field(
        default="",
        description="the name in the certificate of a process that is called by its address; '' means the address",
    )

    rpc_timeout_s: float = Field(default=2.0, gt=0, le=60)
    drain_grace_s: float = Field(default=20.0, ge=0, le=3600)
    outbox_retain_s: float = Field(default=60.0, ge=0, description="how long an acknowledged outbox message is kept")

    accounts_address: Addresses = ()
    bots_address: Addresses = ()
    clock_address: Addresses = ()
    gateway_address: Addresses = ()
    history_address: Addresses = ()
    matchmaking_address: Addresses = ()
    ratings_address: Addresses = ()
    scoring_address: Addresses = ()
    table_address: Addresses = ()

    @field_validator("*", mode="before")
    @classmethod
    def _split_lists(cls, value: Any, info: Any) -> Any:
        field = cls.model_fields.get(info.field_name or "")
        if field is not None and isinstance(value, str) and "NoDecode" in repr(field.metadata):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @model_validator(mode="after")
    def _add_credentials(self) -> Self:
        """An address and the secret to it may come from different places."""
        for field, user, password in (
            ("redis_url", self.redis_username, self.redis_password),
            ("database_url", self.database_username, self.database_password),
        ):
            if user or password.get_secret_value():
                url = with_credentials(getattr(self, field), user, password.get_secret_value())
                object.__setattr__(self, field, url)
        if self.redis_authority:
            separator = "&" if "?" in self.redis_url else "?"
            checked = f"{self.redis_url}{separator}authority={quote(self.redis_authority, safe='')}"
            object.__setattr__(self, "redis_url", checked)
        if self.kafka_security != "PLAINTEXT":
            login = BrokerLogin(
                self.kafka_security,
                self.kafka_sasl_mechanism,
                self.kafka_username,
                self.kafka_password.get_secret_value(),
                self.kafka_authority,
            )
            object.__setattr__(self, "kafka_bootstrap", Brokers(self.kafka_bootstrap, login))
        return self

    @field_validator("log_level")
    @classmethod
    def _known_level(cls, value: str) -> str:
        if value.lower() not in ("debug", "info", "warning", "error"):
            raise ValueError("must be debug, info, warning or error")
        return value.lower()

    def addresses(self, service: str) -> tuple[str, ...]:
        """The addresses of a service by its name.

        Raises `SettingsError` when none is set, naming the variable.
        """
        found: tuple[str, ...] = getattr(self, f"{service}_address")
        if not found:
            raise SettingsError(f"{PREFIX}{service.upper()}_ADDRESS is not set, and this service calls {service}.")
        return found


def with_credentials(url: str, user: str, password: str) -> str:
    """The URL with user and password, whatever characters they have; an address that has some already loses them."""
    scheme, separator, rest = url.partition("://")
    address, slash, path = rest.partition("/")
    host = address.rpartition("@")[2]
    return f"{scheme}{separator}{quote(user, safe='')}:{quote(password, safe='')}@{host}{slash}{path}"


class SettingsError(ValueError):
    """A setting is missing or wrong; the message is one sentence that names the variable."""


SettingsType = TypeVar("SettingsType", bound=ServiceSettings)


def read(settings: type[SettingsType], **overrides: Any) -> SettingsType:
    """Settings from the environment, `overrides` (field names) first.

    Raises `SettingsError` naming the first wrong variable; the value itself is not shown, it may be a secret.
    """
    try:
        return settings(**overrides)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = PREFIX + "_".join(str(part) for part in first["loc"][:1]).upper()
        raise SettingsError(f"{name} is wrong: {first['msg']}.") from None


def load(settings: type[SettingsType], **overrides: Any) -> SettingsType:
    """Like `read`, but a wrong value prints its sentence to stderr and exits the process with code 2."""
    try:
        return read(settings, **overrides)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(2) from None
