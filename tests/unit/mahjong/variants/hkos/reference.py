"""A second scorer of hkos-3-v1, slow and plain: it enumerates groupings tile by tile and follows the rule of §1.8."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from libs.mahjong.scores import Circumstance, WinMethod, WinSituation

Group = tuple[int, ...]
MAJORS = {0, 8, 9, 17, 18, 26, *range(27, 34)}


def score(situation: WinSituation) -> tuple[int, list[Counter[str]]] | None:
    """The uncapped total and the patterns of every grouping that has it; ``None`` when the tiles are no win."""
    concealed = [*situation.holding.concealed, *([] if situation.winning is None else [situation.winning])]
    melds = [tuple(meld.kinds) for meld in situation.holding.melds]
    if not melds and len(concealed) == 14 and set(concealed) == MAJORS:
        return 13, [Counter({"Thirteen Orphans": 13})]
    if situation.method is WinMethod.ROBBED_CONCEALED_KONG:
        return None
    found = [
        worth(situation, groups + melds, pair)
        for groups, pair in splits(Counter(concealed))
        if len(groups + melds) == 4
    ]
    best = max((total for total, _ in found), default=None)
    return None if best is None else (best, [parts for total, parts in found if total == best])


def splits(counts: Counter[int]) -> Iterator[tuple[list[Group], int]]:
    """Every way to take a pair and then groups, lowest tile first."""
    for pair in [kind for kind in counts if counts[kind] >= 2]:
        for groups in groupings(counts - Counter([pair, pair])):
            yield groups, pair


def groupings(counts: Counter[int]) -> Iterator[list[Group]]:
    if not counts:
        yield []
        return
    first = min(counts)
    run = (first, first + 1, first + 2)
    options = [(first,) * 3] if counts[first] >= 3 else []
    if first < 27 and first % 9 <= 6 and all(counts[kind] for kind in run):
        options.append(run)
    for group in options:
        for rest in groupings(counts - Counter(group)):
            yield [group, *rest]


def worth(situation: WinSituation, groups: list[Group], pair: int) -> tuple[int, Counter[str]]:
    tiles = [kind for group in groups for kind in group] + [pair, pair]
    suits = {kind // 9 for kind in tiles if kind < 27}
    honours = any(kind >= 27 for kind in tiles)
    pungs = [group[0] for group in groups if group[0] == group[-1]]
    winds = [kind for kind in pungs if 27 <= kind <= 30]
    flags = situation.circumstances
    first_turn = not flags & Circumstance.KONGS_DECLARED
    declared = situation.holding.melds

    concealed = Counter(situation.holding.concealed) + Counter(
        [situation.winning] if situation.winning is not None else []
    )
    gates = [
        Counter({suit * 9: 3, suit * 9 + 8: 3} | dict.fromkeys(range(suit * 9 + 1, suit * 9 + 8), 1))
        for suit in range(3)
    ]
    limits = {
        "Nine Gates": not declared and len(suits) == 1 and not honours and any(gate <= concealed for gate in gates),
        "Big Four Winds": len(winds) == 4,
        "Four Kongs": sum(len(group) == 4 for group in groups) == 4,
        "Heavenly Hand": bool(flags & Circumstance.BEFORE_FIRST_DISCARD) and first_turn and situation.seat_wind == 0,
        "Earthly Hand": bool(flags & Circumstance.FIRST_DISCARD)
        and first_turn
        and situation.seat_wind != 0
        and situation.method is WinMethod.DISCARD,
    }
    if any(limits.values()):
        return 13, Counter({next(name for name, present in limits.items() if present): 13})

    tens = Counter[str]()
    if len(winds) == 3 and 27 <= pair <= 30:
        tens["Small Four Winds"] = 10
    if not suits:
        tens["All Honours"] = 10
    if all(kind in MAJORS and kind < 27 for kind in tiles):
        tens["All Terminals"] = 10
    parts = tens or components(situation, groups, pair)
    parts.update(bonuses(situation))
    return sum(parts.values()), parts


def components(situation: WinSituation, groups: list[Group], pair: int) -> Counter[str]:
    tiles = [kind for group in groups for kind in group] + [pair, pair]
    suits = {kind // 9 for kind in tiles if kind < 27}
    pungs = [group[0] for group in groups if group[0] == group[-1]]
    dragons = [kind for kind in pungs if kind >= 31]
    found = Counter[str]()
    if not pungs:
        found["All Sequences"] = 1
    if len(pungs) == 4:
        found["All Pungs"] = 3
    if len(suits) == 1:
        found["Half Flush" if any(kind >= 27 for kind in tiles) else "Pure Flush"] = 3 if max(tiles) >= 27 else 7
    if len(dragons) == 3:
        found["Big Three Dragons"] = 8
    elif len(dragons) == 2 and pair >= 31:
        found["Small Three Dragons"] = 5
    elif dragons:
        found["Dragon pung/kong"] = len(dragons)
    if 27 + situation.seat_wind in pungs:
        found["Seat wind"] = 1
    if 27 + situation.prevailing_wind in pungs:
        found["Prevailing wind"] = 1
    return found


def bonuses(situation: WinSituation) -> Counter[str]:
    bonus, flags, seat = set(situation.holding.bonus), situation.circumstances, situation.seat_wind
    found = Counter[str]()
    if situation.method is WinMethod.SELF_DRAW:
        found["Self-draw"] = 1
        if flags & Circumstance.KONG_REPLACEMENT:
            found["Kong replacement"] = 1
    if situation.method is WinMethod.ROBBED_KONG:
        found["Robbing a kong"] = 1
    if flags & (Circumstance.LAST_TILE | Circumstance.LAST_DISCARD):
        found["Last tile"] = 1
    if not bonus:
        found["No flowers or seasons"] = 1
    if len(bonus) == 8:
        found["All eight bonus tiles"] = 8
        return found
    for first, own, whole in ((34, "Own flower", "Complete flower set"), (38, "Own season", "Complete season set")):
        if {first, first + 1, first + 2, first + 3} <= bonus:
            found[whole] = 2
        elif first + seat in bonus:
            found[own] = 1
    return found
