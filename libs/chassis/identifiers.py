"""Ids: ordered ones for events, commands and accounts, unguessable ones for tables."""

from __future__ import annotations

import secrets

import uuid_utils

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_TABLE_ID_LENGTH = 22


def new_event_id() -> str:
    """A UUIDv7 as text: unique, and ordered by the time it was made."""
    return str(uuid_utils.uuid7())


def new_account_id() -> str:
    """A UUIDv7 as text: unique, and with 74 random bits nothing to guess."""
    return str(uuid_utils.uuid7())


def new_table_id() -> str:
    """128 random bits as 22 letters and digits: nobody can guess another table."""
    number = secrets.randbits(128)
    digits = []
    for _ in range(_TABLE_ID_LENGTH):
        number, digit = divmod(number, 62)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))


def new_worker_id(service: str) -> str:
    """A name for a process that was not given one: the service and 40 random bits."""
    return f"{service}-{secrets.token_hex(5)}"


def is_table_id(text: str) -> bool:
    """Whether this has the form of a table id."""
    return len(text) == _TABLE_ID_LENGTH and text.isascii() and text.isalnum()
