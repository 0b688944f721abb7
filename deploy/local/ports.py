"""Ports on the loopback interface."""

from __future__ import annotations

import random
import socket

LOOPBACK = "127.0.0.1"

# Below the range from which kernels take the ports of outgoing connections, so that none of those can be in the way.
_LOWEST, _HIGHEST = 20_000, 32_000
_random = random.SystemRandom()


def port_is_free(port: int) -> bool:
    """Whether a server could listen on 127.0.0.1:`port` now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # As the servers do: connections of an earlier run that still linger are no obstacle.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port on which nobody listens now. Nothing reserves it: whoever uses it must cope with losing the race."""
    for _ in range(200):
        port = _random.randrange(_LOWEST, _HIGHEST)
        if port_is_free(port):
            return port
    raise OSError(f"no free port found on {LOOPBACK} between {_LOWEST} and {_HIGHEST}")
