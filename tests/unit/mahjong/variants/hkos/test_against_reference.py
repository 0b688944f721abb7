"""The quick scorer agrees with the plain one on any hand, winning or not."""

import random
from collections import Counter

import pytest

from libs.mahjong.melds import Meld, MeldKind
from libs.mahjong.scores import Circumstance, Holding, WinMethod, WinSituation
from libs.mahjong.variants.hkos import RULESET as HKOS
from libs.mahjong.variants.hkos.patterns import PATTERNS
from tests.unit.mahjong.variants.hkos import reference

# Few kinds, so that flushes, pungs, several groupings and rare patterns come up often.
PALETTES = (
    tuple(range(9)),
    (*range(9, 18), *range(27, 34)),
    tuple(range(27, 34)),
    (0, 8, 9, 17, 18, 26, 27, 28, 31, 32),
    (0, 8, 17, 26),
    tuple(range(34)),
)
METHODS = {
    WinMethod.SELF_DRAW: (
        Circumstance.NONE,
        Circumstance.KONG_REPLACEMENT,
        Circumstance.LAST_TILE,
        Circumstance.KONG_REPLACEMENT | Circumstance.LAST_TILE,
        Circumstance.BEFORE_FIRST_DISCARD,
        Circumstance.BEFORE_FIRST_DISCARD | Circumstance.KONGS_DECLARED,
    ),
    WinMethod.DISCARD: (
        Circumstance.NONE,
        Circumstance.LAST_DISCARD,
        Circumstance.FIRST_DISCARD,
        Circumstance.FIRST_DISCARD | Circumstance.KONGS_DECLARED,
    ),
    WinMethod.ROBBED_KONG: (Circumstance.NONE,),
    WinMethod.ROBBED_CONCEALED_KONG: (Circumstance.NONE,),
}


def situation(source: random.Random) -> WinSituation:
    """Four groups and a pair, some of them declared; now and then with a tile that spoils them."""
    palette = source.choice(PALETTES)
    left = Counter(dict.fromkeys(range(34), 4))
    concealed: list[int] = []
    melds: list[Meld] = []
    openness = source.random()
    while len(melds) + len(concealed) // 3 < 4:
        kind = source.choice(palette)
        chow = kind < 27 and kind % 9 <= 6 and source.random() < 0.6
        sort = MeldKind.CHOW if chow else source.choice(list(MeldKind)[1:])
        declared = source.random() < openness
        size = 4 if declared and not chow and sort is not MeldKind.PUNG else 3
        kinds = (kind, kind + 1, kind + 2) if chow else (kind,) * size
        if any(left[one] < number for one, number in Counter(kinds).items()):
            continue
        left.subtract(kinds)
        if not declared:
            concealed += kinds
            continue
        tiles = tuple(4 * one + (0 if chow else place) for place, one in enumerate(kinds))
        exposed = sort is not MeldKind.CONCEALED_KONG
        melds.append(Meld(sort, tiles, tiles[0] if exposed else None, 0 if exposed else None))
    pair = source.choice([kind for kind in range(34) if left[kind] >= 2 and (kind in palette or kind > 30)])
    concealed += (pair, pair)
    winning = concealed.pop(source.randrange(len(concealed)))
    if source.random() < 0.1:
        winning = source.choice(palette)
    method = source.choice(list(METHODS))
    dealt = method is WinMethod.SELF_DRAW and source.random() < 0.3
    circumstances = source.choice(METHODS[method])
    if melds:
        # Nobody claims a tile before the first discard, and a kong of the winner's is never left out.
        circumstances &= ~Circumstance.BEFORE_FIRST_DISCARD
    seat = source.randrange(4)
    few = source.sample(range(34, 42), source.randint(0, 4))
    bonus = source.choice((few, few, [], range(34, 42), range(34, 38), [38, 39, 40, 41, 34 + seat]))
    return WinSituation(
        seat_wind=seat,
        prevailing_wind=source.randrange(4),
        holding=Holding(
            tuple(sorted([*concealed, winning] if dealt else concealed)), tuple(melds), tuple(sorted(bonus))
        ),
        winning=None if dealt else winning,
        method=method,
        source=None if method is WinMethod.SELF_DRAW else (seat + source.randint(1, 3)) % 4,
        circumstances=circumstances,
    )


def test_any_hand_scores_as_the_plain_scorer_says() -> None:
    source = random.Random(20240611)
    seen = Counter[str]()
    for _ in range(3000):
        won = situation(source)
        if max(Counter((*won.holding.concealed, *([] if won.winning is None else [won.winning]))).values()) > 4:
            continue
        found, wanted = HKOS.score(won), reference.score(won)
        assert found.complete is (wanted is not None), won
        if wanted is None:
            assert (found.legal, found.items) == (False, ()), won
            continue
        total, groupings = wanted
        assert (found.total, found.value, found.legal) == (total, min(total, 13), total >= 3), won
        listed = Counter[str]()
        for item in found.items:
            listed[item.name] += item.amount
        if found.limit is None:
            # Of groupings with equal totals any one may be shown, of several limits any one named.
            assert listed in groupings, won
        if found.legal:
            assert sum(HKOS.settle(won).changes) == 0
        seen.update(listed.keys())
    # Two patterns never come up so; they have tests of their own and many vectors.
    assert {pattern.name for pattern in PATTERNS} - set(seen) <= {"Thirteen Orphans", "Nine Gates"}


def test_unsorted_concealed_kinds_are_refused() -> None:
    holding = Holding((30, 1, 2, 3, 9, 9, 9, 18, 18, 18, 27, 27, 27))
    with pytest.raises(ValueError, match="not sorted"):
        HKOS.score(WinSituation(0, 0, holding, 30, WinMethod.SELF_DRAW))
