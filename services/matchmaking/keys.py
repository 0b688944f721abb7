"""The Redis keys of matchmaking. One hash tag, so that one script may touch several of them in a cluster."""

from __future__ import annotations

_PREFIX = b"ew:{matchmaking}:"

QUEUES = _PREFIX + b"queues"
"""Set of the names of queues that were ever entered."""
PENDING = _PREFIX + b"pending"
"""Hash of matches whose table may not have been made yet: table id to match."""
LOBBY = _PREFIX + b"lobby"
"""Sorted set of open tables by when they were made."""


def queue(name: str) -> bytes:
    """Sorted set of the accounts in a queue by when they entered it."""
    return _PREFIX + b"queue:" + name.encode()


def ticket(account_id: str) -> bytes:
    """Hash of an account's ticket; expires when nobody watches it."""
    return _PREFIX + b"ticket:" + account_id.encode()


def seat(account_id: str) -> bytes:
    """The table where an account sits."""
    return _PREFIX + b"seat:" + account_id.encode()


def table(table_id: str) -> bytes:
    """Hash of what the lobby knows about a table."""
    return _PREFIX + b"table:" + table_id.encode()


def code(text: str) -> bytes:
    """The private table that an invitation code opens."""
    return _PREFIX + b"code:" + text.encode()


def request(account_id: str, request_id: str) -> bytes:
    """The table that a request made, so that a repeat gets the same one."""
    return _PREFIX + b"request:" + account_id.encode() + b":" + request_id.encode()
