"""What all sockets of a gateway share."""

from __future__ import annotations

from dataclasses import dataclass

from libs.chassis.auth import AccessTokenVerifier
from services.gateway.matchmaking import Matchmaking
from services.gateway.measuring import Measures
from services.gateway.table_links import TableLinks


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The ways from a socket into the platform."""

    access_tokens: AccessTokenVerifier
    links: TableLinks
    matchmaking: Matchmaking
    measures: Measures
