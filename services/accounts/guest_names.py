"""Names for guests who bring none: a quality, a creature or a thing outdoors, and a number."""

from __future__ import annotations

import random

# Together with the two spaces and three digits they stay within the 20 characters of a name.
QUALITIES = (
    *("Amber", "Autumn", "Bold", "Brave", "Bright", "Calm", "Cheery", "Clever", "Cosy", "Crisp", "Dapper", "Dawn"),
    *("Deft", "Eager", "Early", "Gentle", "Golden", "Happy", "Hazel", "Humble", "Jade", "Jolly", "Keen", "Kind"),
    *("Lively", "Lucky", "Mellow", "Merry", "Misty", "Modest", "Mossy", "Nimble", "Noble", "Olive", "Patient"),
    *("Plucky", "Quick", "Quiet", "Rapid", "Rosy", "Scarlet", "Serene", "Silver", "Snowy", "Sober", "Spring"),
    *("Steady", "Summer", "Sunny", "Swift", "Tidy", "Velvet", "Warm", "Winter", "Wise", "Witty"),
)
THINGS = (
    *("Badger", "Bamboo", "Beaver", "Birch", "Breeze", "Brook", "Carp", "Cedar", "Cicada", "Clover", "Comet", "Coral"),
    *("Crane", "Cricket", "Curlew", "Cypress", "Dolphin", "Dove", "Egret", "Falcon", "Fern", "Finch", "Fox", "Gecko"),
    *("Ginkgo", "Hare", "Harbour", "Heron", "Ibis", "Iris", "Kestrel", "Koi", "Lantern", "Lark", "Linnet", "Lotus"),
    *("Lynx", "Magnolia", "Magpie", "Maple", "Marten", "Meadow", "Moth", "Orchid", "Otter", "Owl", "Panda", "Peony"),
    *("Pine", "Plover", "Plum", "Puffin", "Quail", "River", "Robin", "Sable", "Sparrow", "Starling", "Swallow"),
    *("Swan", "Tern", "Thistle", "Tortoise", "Walnut", "Willow", "Wren"),
)

_SMALL_NUMBERS = range(2, 100)
_ALL_NUMBERS = range(2, 1000)


def made_up_name(attempt: int, chance: random.Random) -> str:
    """A name like "Quiet Heron 27"; from the third attempt on, out of ten times as many numbers."""
    numbers = _SMALL_NUMBERS if attempt < 2 else _ALL_NUMBERS
    return f"{chance.choice(QUALITIES)} {chance.choice(THINGS)} {chance.choice(numbers)}"
