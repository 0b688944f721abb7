"""Shapes of concealed holdings: wins, waits, groupings and the distance to a win (hkos-3-v1 §1.6).

A holding is four codes ``m, p, s, z`` (see ``encoding``). All functions look at the concealed tiles alone: declared
melds are complete groups and are left out. How many groups are needed follows from the number of concealed tiles, so
hands of four and of five groups are both served. Thirteen Orphans needs thirteen or fourteen concealed tiles.
"""

from libs.mahjong.shapes.distance import (
    DiscardOption,
    discards_by_distance,
    distance,
    improving,
    orphans_distance,
    standard_distance,
)
from libs.mahjong.shapes.encoding import (
    EMPTY,
    UNIT_OF_KIND,
    Codes,
    KindMask,
    count,
    encode,
    iter_kinds,
    kinds_in,
    mask_of,
    size,
    with_tile,
    without_tile,
)
from libs.mahjong.shapes.groupings import (
    CHOW_GROUP,
    Grouping,
    group_kind,
    group_kinds,
    groupings,
    is_chow_group,
)
from libs.mahjong.shapes.waits import orphans_waits, shape_waits, standard_waits, waits
from libs.mahjong.shapes.wins import is_standard_win, is_thirteen_orphans, is_win
from libs.mahjong.tiles import SUIT_OF_KIND

__all__ = [
    "CHOW_GROUP",
    "EMPTY",
    "SUIT_OF_KIND",
    "UNIT_OF_KIND",
    "Codes",
    "DiscardOption",
    "Grouping",
    "KindMask",
    "count",
    "discards_by_distance",
    "distance",
    "encode",
    "group_kind",
    "group_kinds",
    "groupings",
    "improving",
    "is_chow_group",
    "is_standard_win",
    "is_thirteen_orphans",
    "is_win",
    "iter_kinds",
    "kinds_in",
    "mask_of",
    "orphans_distance",
    "orphans_waits",
    "shape_waits",
    "size",
    "standard_distance",
    "standard_waits",
    "waits",
    "with_tile",
    "without_tile",
]
