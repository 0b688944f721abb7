"""Settings of a gateway."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from libs.chassis.settings import Addresses, ServiceSettings

WEB_DIST = Path(__file__).parent / "web" / "dist"


class GatewaySettings(ServiceSettings):
    """What a gateway can be told."""

    edge_host: str = Field(default="127.0.0.1", description="the host that players connect to")
    edge_port: int = Field(default=0, ge=0, le=65535, description="the port of page and sockets; 0 picks a free one")
    allowed_origins: Addresses = Field(
        default=(), description="origins that may open a socket, such as https://play.example.org; none: the own host"
    )
    web_dist: Path = Field(default=WEB_DIST, description="the folder of the built browser client")
    socket_frame_bytes: int = Field(default=16_384, ge=1_024, description="the largest frame of a client")
    socket_rate: float = Field(default=20.0, gt=0, description="frames a second that a client may send")
    socket_burst: int = Field(default=60, gt=0, description="frames that a client may send at once")
    socket_queue: int = Field(default=256, gt=0, description="frames that may wait for a client that reads slowly")
    socket_hello_s: float = Field(default=10.0, gt=0, description="how long a client may take for its first frame")
    socket_heartbeat_s: float = Field(default=10.0, gt=0, description="how often a client is probed")
    socket_limit: int = Field(default=20_000, gt=0, description="sockets that this gateway holds")
    socket_limit_per_address: int = Field(
        default=2_000, gt=0, description="sockets of one address, so that none takes all the room"
    )
    proxies: int = Field(
        default=0, ge=0, le=8, description="proxies in front whose X-Forwarded-For tells the address of a client"
    )
    call_header_s: float = Field(default=15.0, gt=0, description="how long a connection may take for its first request")
    call_body_s: float = Field(default=10.0, gt=0, description="how long the body of a call may take to come")
    call_rate: float = Field(default=10.0, gt=0, description="HTTP calls a second from one address")
    call_burst: int = Field(default=40, gt=0, description="HTTP calls at once from one address")
