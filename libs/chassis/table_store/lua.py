"""The Lua scripts of this package, read once from their files."""

from __future__ import annotations

from functools import cache
from importlib import resources

from libs.chassis.redis_client import Script


@cache
def script(name: str) -> Script:
    """The script of `scripts/<name>.lua`."""
    source = resources.files("libs.chassis.table_store").joinpath("scripts", f"{name}.lua").read_bytes()
    return Script.of(name, source)
