"""Parts of a result in JSON that rulesets share: itemised patterns and changes by wind."""

from collections.abc import Iterable

from libs.mahjong.scores import ScoreItem

WIND_LETTERS = "ESWN"
"""The letter of each wind, in JSON and on the command line."""


def items_form(items: Iterable[ScoreItem]) -> list[list[object]]:
    """``[name, amount]`` for each item, in their order."""
    return [[item.name, item.amount] for item in items]


def changes_form(changes: Iterable[int]) -> dict[str, int]:
    """The change in points of each wind by its letter, as ``{"E": -4, "S": 12, "W": -4, "N": -4}``."""
    return dict(zip(WIND_LETTERS, changes, strict=True))
