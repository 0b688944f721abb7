"""The Lua scripts of matchmaking, read once from their files."""

from __future__ import annotations

from functools import cache
from importlib import resources

from libs.chassis.redis_client import Script


@cache
def script(name: str) -> Script:
    """The script of ``<name>.lua`` in this folder."""
    source = resources.files(__name__).joinpath(f"{name}.lua").read_bytes()
    return Script.of(f"matchmaking-{name}", source)
