"""Numbers that look random and follow from a seed: the library has no source of randomness of its own."""

from __future__ import annotations

from typing import Final

_MASK: Final = (1 << 64) - 1


def number(seed: int, of: int) -> float:
    """A number from 0 up to 1 that follows from a seed and what it is for (splitmix64)."""
    value = (seed * 0x9E3779B97F4A7C15 + (of + 1) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & _MASK
    return (value ^ value >> 31) / 2.0**64
