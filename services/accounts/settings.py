"""Settings of the accounts service, beside the common `EASTWIND_*` variables."""

from __future__ import annotations

from pydantic import Field, SecretStr

from libs.chassis.settings import ServiceSettings

_DAY_S = 86_400.0


class AccountsSettings(ServiceSettings):
    """Each field is the variable `EASTWIND_<FIELD>`. Times are seconds."""

    access_token_s: float = Field(default=900.0, gt=0, le=3600, description="how long an access token lasts")
    session_idle_s: float = Field(
        default=90 * _DAY_S, gt=0, description="a session that is not renewed for so long is over"
    )
    refresh_retry_s: float = Field(
        default=5.0,
        ge=0,
        le=60,
        description="a refresh repeated within this time, because its answer was lost, is answered again; 0: never",
    )

    signing_key: SecretStr = Field(
        default=SecretStr(""),
        description="PEM private keys (Ed25519), the first signs, all verify; '' keeps keys in the database",
    )
    signing_key_file: str = Field(default="", description="a file with what `signing_key` would hold")
    signing_key_age_s: float = Field(
        default=90 * _DAY_S, ge=60, description="a key of the database that is older is followed by a new one"
    )
    signing_key_lead_s: float = Field(
        default=600.0,
        ge=0,
        le=1800,
        description="a new key of the database is published for so long before it signs; more than `jwks_ttl_s`",
    )

    argon2_time_cost: int = Field(default=2, ge=1)
    argon2_memory_kib: int = Field(default=19_456, ge=8)
    argon2_parallelism: int = Field(default=1, ge=1)
    password_workers: int = Field(default=2, ge=1, le=64, description="passwords hashed at the same time")
    password_queue: int = Field(default=64, ge=1, description="passwords that may wait for that; more are refused")

    log_ins_per_name: int = Field(default=10, ge=1, description="failed log-ins in a row before the name has to wait")
    log_in_name_refill_s: float = Field(default=30.0, gt=0, description="after so long, one more try")
    log_ins_per_address: int = Field(default=100, ge=1, description="the same for one client address")
    log_in_address_refill_s: float = Field(default=3.0, gt=0)
    log_in_memory: int = Field(default=50_000, ge=1, description="names, and addresses, that are kept in mind")

    upkeep_every_s: float = Field(default=60.0, gt=0, description="keys are read again, old sessions removed")
    database_probe_s: float = Field(default=2.0, gt=0, description="how often readiness asks the database")
    database_wait_s: float = Field(default=60.0, ge=0, description="how long the start waits for the database")
    database_pool: int = Field(default=10, ge=1, le=200)
