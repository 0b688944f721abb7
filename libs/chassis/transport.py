"""What both ends of a gRPC connection must agree on: keepalive, message sizes, certificates.

A client that pings more often than the server allows is cut off with "too many pings"; so the server's smallest allowed
interval and the client's interval are defined next to each other, here.
"""

from __future__ import annotations

from pathlib import Path

import grpc

from libs.chassis.settings import ServiceSettings, SettingsError

PING_EVERY_S = 20.0
PING_TIMEOUT_S = 8.0
SMALLEST_PING_INTERVAL_S = 10.0
LARGEST_MESSAGE_BYTES = 8 * 1024 * 1024
CONNECT_TIMEOUT_S = 5.0

_BOTH: list[tuple[str, int]] = [
    ("grpc.keepalive_time_ms", int(PING_EVERY_S * 1000)),
    ("grpc.keepalive_timeout_ms", int(PING_TIMEOUT_S * 1000)),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", LARGEST_MESSAGE_BYTES),
    ("grpc.max_send_message_length", LARGEST_MESSAGE_BYTES),
]


def server_options(connection_age_s: float) -> list[tuple[str, int]]:
    """Channel arguments of a server.

    `connection_age_s` makes clients connect anew from time to time, and so find new replicas; streams that run stay on
    their old connection until they end.
    """
    return [
        *_BOTH,
        ("grpc.http2.min_recv_ping_interval_without_data_ms", int(SMALLEST_PING_INTERVAL_S * 1000)),
        ("grpc.http2.min_ping_interval_without_data_ms", int(SMALLEST_PING_INTERVAL_S * 1000)),
        ("grpc.so_reuseport", 0),
        ("grpc.max_connection_age_ms", int(connection_age_s * 1000)),
    ]


def client_options() -> list[tuple[str, int]]:
    """Channel arguments of a client."""
    return [
        *_BOTH,
        ("grpc.dns_min_time_between_resolutions_ms", 5000),
        ("grpc.initial_reconnect_backoff_ms", 100),
        # In spite of its name, how long one attempt may take: a busy server is slow to answer, however near it is.
        ("grpc.min_reconnect_backoff_ms", int(CONNECT_TIMEOUT_S * 1000)),
        ("grpc.max_reconnect_backoff_ms", 2000),
        ("grpc.use_local_subchannel_pool", 1),
    ]


def server_credentials(settings: ServiceSettings) -> grpc.ServerCredentials | None:
    """Mutual TLS when a certificate is set, else None. Raises `SettingsError` for a file that cannot be read."""
    if not settings.tls_certificate:
        return None
    authority = _read("TLS_AUTHORITY", settings.tls_authority)
    pair = (_read("TLS_KEY", settings.tls_key), _read("TLS_CERTIFICATE", settings.tls_certificate))
    return grpc.ssl_server_credentials([pair], root_certificates=authority, require_client_auth=True)


def client_credentials(settings: ServiceSettings) -> grpc.ChannelCredentials | None:
    """Mutual TLS when a certificate is set, else None. Raises `SettingsError` for a file that cannot be read."""
    if not settings.tls_certificate:
        return None
    return grpc.ssl_channel_credentials(
        root_certificates=_read("TLS_AUTHORITY", settings.tls_authority),
        private_key=_read("TLS_KEY", settings.tls_key),
        certificate_chain=_read("TLS_CERTIFICATE", settings.tls_certificate),
    )


def _read(variable: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise SettingsError(f"EASTWIND_{variable} names a file that cannot be read: {error.strerror}.") from None
