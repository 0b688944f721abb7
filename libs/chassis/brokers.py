"""Addresses of Kafka brokers, with how to log in there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class BrokerLogin:
    """How to reach brokers that are not open to everybody. `protocol` and `mechanism` are Kafka's own names.

    `authority` is the path of the PEM certificate that brokers are checked against; "" means the system's list.
    """

    protocol: str = "PLAINTEXT"
    mechanism: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    authority: str = ""

    def arguments(self) -> dict[str, Any]:
        """Arguments of every client of aiokafka. Raises OSError for a certificate that cannot be read."""
        found: dict[str, Any] = {"security_protocol": self.protocol}
        if self.protocol.endswith("SSL"):
            from aiokafka.helpers import create_ssl_context

            found["ssl_context"] = create_ssl_context(cafile=self.authority or None)
        if self.protocol.startswith("SASL"):
            found |= {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password,
            }
        return found


class Brokers(tuple[str, ...]):  # noqa: SLOT001 (a subclass of tuple cannot have slots of its own)
    """`host:port` pairs that carry their log-in: whoever takes a list of addresses takes this."""

    login: BrokerLogin

    def __new__(cls, addresses: Iterable[str], login: BrokerLogin) -> Brokers:
        made = super().__new__(cls, addresses)
        made.login = login
        return made


def client_arguments(bootstrap: Sequence[str]) -> dict[str, Any]:
    """What a client of aiokafka needs to reach these brokers."""
    arguments: dict[str, Any] = {"bootstrap_servers": list(bootstrap)}
    if isinstance(bootstrap, Brokers):
        arguments |= bootstrap.login.arguments()
    return arguments
