"""The lookup tables behind wins and waits, built once and kept in a cache file.

One table serves the three suits, a smaller one the honours; both are indexed by code. ``SUIT[code]`` and
``HONOUR[code]`` hold a status:

* ``DEAD`` 0: neither complete nor one tile from it;
* ``GROUPS`` 1: groups only (no tile at all counts as such);
* ``GROUPS_AND_PAIR`` 2: groups and one pair;
* ``WAITING`` 3: not complete, but one tile makes it ``GROUPS`` or ``GROUPS_AND_PAIR``;
* ``ORPHANS_WAIT`` 8 and ``ORPHANS_WIN`` 9 (honours only): the honours of a holding that may be one tile from, or equal
  to, Thirteen Orphans. Such honours are never anything else.

The values make the product of four statuses 2 exactly when there are groups and one pair altogether.
``SUIT_WAITS[code]`` and ``HONOUR_WAITS[code]`` are masks of the ranks (bit 0 = the lowest) that complete a code by one
tile; also complete codes can have such ranks. They never name a rank of which the code has four.

The groups in one suit go up to ``MOST_GROUPS``, which is more than any ruleset needs with its pair.
"""

import hashlib
import os
import tempfile
import zlib
from array import array
from collections import defaultdict
from pathlib import Path
from typing import Final, NamedTuple

from libs.mahjong.shapes.encoding import BASE, HONOUR_RANKS, SUIT_CODES, SUIT_RANKS, UNITS
from libs.mahjong.tiles import COPIES

DEAD: Final = 0
GROUPS: Final = 1
GROUPS_AND_PAIR: Final = 2
WAITING: Final = 3
ORPHANS_WAIT: Final = 8
ORPHANS_WIN: Final = 9

MOST_GROUPS: Final = 5

CONTENT_SHA256: Final = "f1680f57363182a990fe9740c33c94f2e9a00e6278856b85bdbbca7c45e8bd7f"
"""The digest of the right suit tables: names the cache file and is what its content must have."""

CACHE_VARIABLE: Final = "EASTWIND_CACHE_DIR"


class Tables(NamedTuple):
    """Status and waiting ranks for every code of one sort of suit."""

    status: bytes
    waits: "array[int]"


def complete_codes(ranks: int, runs: bool) -> tuple[set[int], set[int]]:
    """The codes that are groups only, and those that are groups and a pair; up to ``MOST_GROUPS`` groups.

    Walks the ranks upwards with the number of chows still open from the two ranks below. Three equal chows are three
    pungs, so at most two chows start at a rank.
    """
    states: dict[tuple[int, int, int, int], set[int]] = {(0, 0, 0, 0): {0}}
    for rank in range(ranks):
        starts = range(3) if runs and rank <= ranks - 3 else range(1)
        after: defaultdict[tuple[int, int, int, int], set[int]] = defaultdict(set)
        for (older, old, groups, pairs), codes in states.items():
            for new in starts:
                for pungs in range(2):
                    for pair in range(2 - pairs):
                        copies = older + old + new + 3 * pungs + 2 * pair
                        total = groups + new + pungs
                        if copies <= COPIES and total <= MOST_GROUPS:
                            step = copies * UNITS[rank]
                            after[old, new, total, pairs + pair].update([code + step for code in codes])
        states = after
    without: set[int] = set()
    with_pair: set[int] = set()
    for (older, old, _, pairs), codes in states.items():
        if older == old == 0:
            (with_pair if pairs else without).update(codes)
    return without, with_pair


def build(ranks: int, runs: bool) -> Tables:
    """Status and waits of every code with so many ranks; ``runs`` when chows exist."""
    without, with_pair = complete_codes(ranks, runs)
    status = bytearray(BASE**ranks)
    waits = array("H", bytes(2 * BASE**ranks))
    complete = [*without, *with_pair]
    for rank in range(ranks):
        unit, next_unit, bit = UNITS[rank], UNITS[rank] * BASE, 1 << rank
        for code in [code - unit for code in complete if code % next_unit >= unit]:
            waits[code] |= bit
            status[code] = WAITING
    for code in without:
        status[code] = GROUPS
    for code in with_pair:
        status[code] = GROUPS_AND_PAIR
    return Tables(bytes(status), waits)


def build_honours() -> Tables:
    """The tables of the honours, with the marks for Thirteen Orphans."""
    tables = build(HONOUR_RANKS, runs=False)
    status = bytearray(tables.status)
    every = sum(UNITS[:HONOUR_RANKS])
    for extra in (0, *UNITS[:HONOUR_RANKS]):
        status[every + extra] = ORPHANS_WIN
        for missing in UNITS[:HONOUR_RANKS]:
            if missing != extra:
                status[every + extra - missing] = ORPHANS_WAIT
    return Tables(bytes(status), tables.waits)


def cache_directory() -> Path:
    """``EASTWIND_CACHE_DIR``, else ``eastwind`` under the user's cache directory (XDG)."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path("~/.cache").expanduser()) / "eastwind"


def digest(tables: Tables) -> str:
    """The SHA-256 of tables, in hexadecimal."""
    content = hashlib.sha256(tables.status)
    content.update(tables.waits.tobytes())
    return content.hexdigest()


def cache_file() -> Path:
    """Where the suit tables are cached; the name changes with their content."""
    return cache_directory() / f"shapes-{CONTENT_SHA256[:16]}.bin"


def read_cached(path: Path) -> Tables | None:
    """The suit tables from a cache file; None when it is missing, unreadable or not exactly what ``build`` gives."""
    inflater = zlib.decompressobj()
    try:
        status = inflater.decompress(path.read_bytes(), SUIT_CODES)
        waits = inflater.decompress(inflater.unconsumed_tail, 2 * SUIT_CODES)
    except (OSError, zlib.error):
        return None
    if len(waits) % 2:
        return None
    tables = Tables(status, array("H", waits))
    return tables if digest(tables) == CONTENT_SHA256 else None


def write_cached(path: Path, tables: Tables) -> bool:
    """Put the suit tables in a cache file, whole or not at all; False when the place cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(zlib.compress(tables.status + tables.waits.tobytes(), 1))
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        return False
    return True


def load_suits(path: Path | None = None) -> Tables:
    """The suit tables, from the cache file if it is good, else built and cached. Never fails for want of a cache."""
    try:
        place = path or cache_file()
    except RuntimeError:
        return build(SUIT_RANKS, runs=True)
    tables = read_cached(place)
    if tables is None:
        tables = build(SUIT_RANKS, runs=True)
        write_cached(place, tables)
    return tables


SUIT, SUIT_WAITS = load_suits()
HONOUR, HONOUR_WAITS = build_honours()
