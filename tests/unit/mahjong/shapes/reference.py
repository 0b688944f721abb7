"""The obvious, slow way to everything that the shapes library looks up: try every split."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

from hypothesis import strategies as st

from libs.mahjong.shapes import CHOW_GROUP
from libs.mahjong.tiles import MAJOR_KINDS, REGULAR_KINDS, Kind

Counts = tuple[int, ...]

ALL_GROUPS: tuple[tuple[int, tuple[Kind, Kind, Kind]], ...] = tuple(
    [(kind, (kind, kind, kind)) for kind in range(REGULAR_KINDS)]
    + [(kind + CHOW_GROUP, (kind, kind + 1, kind + 2)) for kind in range(27) if kind % 9 <= 6]
)


def counts_of(kinds: tuple[Kind, ...] | list[Kind]) -> Counts:
    held = Counter(kinds)
    return tuple(held[kind] for kind in range(REGULAR_KINDS))


def with_change(counts: Counts, kinds: tuple[Kind, ...], change: int) -> Counts | None:
    changed = list(counts)
    for kind in kinds:
        changed[kind] += change
    return tuple(changed) if min(changed) >= 0 else None


@cache
def group_splits(counts: Counts) -> frozenset[tuple[int, ...]]:
    """All ways to split tiles into groups, each way sorted."""
    if not any(counts):
        return frozenset([()])
    lowest = next(kind for kind, copies in enumerate(counts) if copies)
    found: set[tuple[int, ...]] = set()
    for group, kinds in ALL_GROUPS:
        if kinds[0] == lowest:
            rest = with_change(counts, kinds, -1)
            if rest is not None:
                found.update(tuple(sorted((group, *others))) for others in group_splits(rest))
    return frozenset(found)


def full_splits(counts: Counts) -> set[tuple[Kind, tuple[int, ...]]]:
    """All ways to split tiles into a pair and groups."""
    found: set[tuple[Kind, tuple[int, ...]]] = set()
    for kind in range(REGULAR_KINDS):
        rest = with_change(counts, (kind, kind), -1)
        if rest is not None:
            found.update((kind, groups) for groups in group_splits(rest))
    return found


def is_orphans(counts: Counts) -> bool:
    return sum(counts) == 14 and all(counts[kind] for kind in MAJOR_KINDS) and max(counts) == 2


def is_complete(counts: Counts) -> bool:
    return is_orphans(counts) or bool(full_splits(counts))


def waiting_kinds(counts: Counts, most_copies: int = 4) -> set[Kind]:
    """The kinds that complete the tiles without exceeding so many copies of one kind."""
    found = set()
    for kind in range(REGULAR_KINDS):
        drawn = with_change(counts, (kind,), 1)
        if drawn is not None and drawn[kind] <= most_copies and is_complete(drawn):
            found.add(kind)
    return found


def lacking(counts: Counts, target: Counts) -> int:
    return sum(max(0, wanted - held) for held, wanted in zip(counts, target, strict=True))


def standard_tiles_away(counts: Counts) -> int:
    """Fewest tiles to add to have groups and a pair, minus one: tries all targets of the right number of groups."""
    best = 99
    for kind in range(REGULAR_KINDS):
        pair = with_change((0,) * REGULAR_KINDS, (kind, kind), 1)
        assert pair is not None
        for target in _targets(pair, sum(counts) // 3, 0):
            best = min(best, lacking(counts, target))
    return best - 1


def _targets(base: Counts, groups: int, first: int) -> Iterator[Counts]:
    if groups == 0:
        yield base
        return
    for index in range(first, len(ALL_GROUPS)):
        target = with_change(base, ALL_GROUPS[index][1], 1)
        assert target is not None
        if max(target) <= 4:
            yield from _targets(target, groups - 1, index)


@st.composite
def holdings(draw: st.DrawFn, sizes: tuple[int, ...], most_kinds: int = REGULAR_KINDS) -> list[Kind]:
    """Holdings of one of the sizes from a few neighbouring kinds, so that groups are frequent."""
    size = draw(st.sampled_from(sizes))
    width = draw(st.integers((size + 3) // 4, max(most_kinds, (size + 3) // 4)))
    start = draw(st.integers(0, REGULAR_KINDS - width))
    pool = [kind for kind in range(start, start + width) for _ in range(4)]
    return draw(st.permutations(pool))[:size]


@st.composite
def complete_holdings(draw: st.DrawFn, most_groups: int = 4) -> list[Kind]:
    """Complete holdings of any number of groups, put together from groups and a pair in few kinds."""
    start = draw(st.integers(0, 27))
    near = [kinds for _, kinds in ALL_GROUPS if start <= kinds[0] and kinds[2] < start + 9]
    kinds: list[Kind] = []
    for chosen in draw(st.lists(st.sampled_from(near), max_size=most_groups)):
        if all(kinds.count(kind) + chosen.count(kind) <= 4 for kind in chosen):
            kinds += chosen
    pair = draw(st.integers(0, REGULAR_KINDS - 1).filter(lambda kind: kinds.count(kind) <= 2))
    return [*kinds, pair, pair]
