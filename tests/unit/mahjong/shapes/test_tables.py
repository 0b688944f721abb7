"""The tables are what their digest says, and a bad cache never harms."""

import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from libs.mahjong.shapes import tables
from libs.mahjong.shapes.encoding import HONOUR_CODES, SUIT_CODES, SUIT_RANKS


@pytest.fixture(scope="module")
def built() -> tables.Tables:
    return tables.build(SUIT_RANKS, runs=True)


def test_the_digest_in_the_code_is_that_of_a_fresh_build(built: tables.Tables) -> None:
    assert tables.digest(built) == tables.CONTENT_SHA256
    assert (built.status, built.waits) == (tables.SUIT, tables.SUIT_WAITS)


def test_the_tables_stay_small() -> None:
    profiles = 2 * (SUIT_CODES + HONOUR_CODES)
    bytes_held = len(tables.SUIT) + 2 * len(tables.SUIT_WAITS) + len(tables.HONOUR) + 2 * len(tables.HONOUR_WAITS)
    assert bytes_held + profiles <= 15_000_000


def test_known_numbers_of_complete_codes() -> None:
    without, with_pair = tables.complete_codes(SUIT_RANKS, runs=True)
    sizes = [[0] * 6, [0] * 6]
    for pairs, codes in enumerate((without, with_pair)):
        for code in codes:
            sizes[pairs][sum(code // 5**rank % 5 for rank in range(SUIT_RANKS)) // 3] += 1
    assert sizes[0][:3] == [1, 16, 127]
    assert sizes[1][0] == 9
    assert sizes[1][4] == 13259


def test_a_cache_file_is_written_and_read_back(built: tables.Tables, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "shapes.bin"
    assert tables.read_cached(path) is None
    assert tables.write_cached(path, built)
    assert tables.read_cached(path) == built
    assert tables.load_suits(path) == built
    assert [entry.name for entry in path.parent.iterdir()] == ["shapes.bin"]


def flip_a_bit(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def change_one_entry(content: bytes) -> bytes:
    return zlib.compress(flip_a_bit(zlib.decompress(content)), 1)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: b"",
        lambda _: b"no tables",
        lambda content: content[: len(content) // 2],
        flip_a_bit,
        change_one_entry,
        lambda _: zlib.compress(b"short"),
        lambda _: zlib.compress(bytes(100_000_000), 1),
    ],
    ids=["empty", "other", "cut", "bit", "entry", "short", "bomb"],
)
def test_a_spoilt_cache_file_is_replaced(spoil: Callable[[bytes], bytes], built: tables.Tables, tmp_path: Path) -> None:
    path = tmp_path / "shapes.bin"
    assert tables.write_cached(path, built)
    path.write_bytes(spoil(path.read_bytes()))
    assert tables.read_cached(path) is None
    assert tables.load_suits(path) == built
    assert tables.read_cached(path) == built


def test_without_a_place_for_the_cache_the_tables_are_built(built: tables.Tables, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a directory")
    assert not tables.write_cached(blocked / "shapes.bin", built)
    assert tables.load_suits(blocked / "shapes.bin") == built
    occupied = tmp_path / "shapes.bin"
    occupied.mkdir()
    assert not tables.write_cached(occupied, built)
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.endswith(".part")] == []


def test_the_place_of_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EASTWIND_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert tables.cache_file().parent == tmp_path / "own"
    monkeypatch.delenv("EASTWIND_CACHE_DIR")
    assert tables.cache_file().parent == tmp_path / "xdg" / "eastwind"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert tables.cache_file().parent == tmp_path / "home" / ".cache" / "eastwind"
    assert tables.CONTENT_SHA256.startswith(tables.cache_file().stem.removeprefix("shapes-"))
