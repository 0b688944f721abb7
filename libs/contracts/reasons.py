"""Reasons by name and by number: the domain and gRPC speak in names, socket frames in enum values."""

from __future__ import annotations

from eastwind.type.v1 import reason_pb2

_PREFIX = "REASON_"
_PLATFORMS = frozenset(("UNAVAILABLE", "INTERNAL", "NOT_OWNER", "DRAINING", "GOING_AWAY"))


def reason_value(name: str) -> reason_pb2.Reason.ValueType:
    """Return the enum value of a reason's name; a name that the contract does not know is ``REASON_INTERNAL``."""
    try:
        return reason_pb2.Reason.Value(_PREFIX + name)
    except ValueError:
        return reason_pb2.REASON_INTERNAL


def reason_name(value: int) -> str:
    """Return the name of a reason without its prefix; a newer value than this contract has is ``INTERNAL``."""
    try:
        return reason_pb2.Reason.Name(reason_pb2.Reason.ValueType(value)).removeprefix(_PREFIX)
    except ValueError:
        return "INTERNAL"


def is_platforms(name: str) -> bool:
    """Tell whether a command with that answer failed for a reason that lies with the platform, not with the player."""
    return name in _PLATFORMS
