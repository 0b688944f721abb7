"""Numbers that look random and follow from a seed: the library has no source of randomness of its own."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

_MASK: Final = (1 << 64) - 1


def decision_seed(table_id: str, hand: int, decision: int, seat: int) -> int:
    """The seed of a decision: the same for a repeated question, another for every decision at every table."""
    named = f"{table_id}/{hand}/{decision}/{seat}".encode()
    return int.from_bytes(sha256(named).digest()[:8], "big")


def number(seed: int, of: int) -> float:
    """A number from 0 up to 1 that follows from a seed and what it is for (splitmix64)."""
    value = (seed * 0x9E3779B97F4A7C15 + (of + 1) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & _MASK
    return (value ^ value >> 31) / 2.0**64
