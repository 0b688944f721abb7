"""Who is at the other end, as far as limits count it: an address, or the network that one customer has as a whole."""

from __future__ import annotations

import ipaddress


def network_of(address: str) -> str:
    """An IPv4 address itself; of IPv6 the /64, which one customer has as a whole; "" when it is none."""
    try:
        ip = ipaddress.ip_address(address.strip())
    except ValueError:
        return ""
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return str(ip.ipv4_mapped)
        return str(ipaddress.IPv6Network((int(ip) >> 64 << 64, 64)))
    return str(ip)


def address_behind(proxies: int, peer: str, forwarded_for: str) -> str:
    """The client's address when ``proxies`` of our own stand in front, each of which adds the address that it saw to
    the end of ``X-Forwarded-For``. What a client wrote there itself stands before those and is never looked at; with
    no proxy, or a list that is too short, it is the address of the connection."""
    seen = [part.strip() for part in forwarded_for.split(",")] if forwarded_for else []
    if proxies and len(seen) >= proxies and network_of(seen[-proxies]):
        return seen[-proxies]
    return peer
