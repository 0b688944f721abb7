"""Nothing that was promised in a contract is taken back: numbers, names and types stay what they were."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.contract.snapshot import PROTOS, SNAPSHOT, buf, build


def against_snapshot(protos: Path) -> tuple[int, str]:
    """The exit code of the comparison, and what it found."""
    found = buf("breaking", str(protos), "--against", str(SNAPSHOT))
    return found.returncode, found.stdout + found.stderr


def test_the_contracts_keep_what_they_promised() -> None:
    code, found = against_snapshot(PROTOS)
    assert code == 0, found


def test_the_snapshot_is_of_today(tmp_path: Path) -> None:
    """What was added is promised as well: ``python -m tests.contract.snapshot`` takes it down."""
    today = tmp_path / "today.binpb"
    build(today)
    compared = buf("breaking", str(SNAPSHOT), "--against", str(today))
    assert compared.returncode == 0, compared.stdout + compared.stderr


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("edge/v1/frames.proto", "uint64 id = 1;", "uint64 id = 2;"),
        ("edge/v1/frames.proto", "string detail = 4;", "string text = 4;"),
        ("table/v1/view.proto", "sint32 points = 3;", "string points = 3;"),
        ("type/v1/reason.proto", "REASON_TILE_NOT_HELD = 1;", "REASON_TILE_IS_NOT_HELD = 1;"),
        ("matchmaking/v1/matchmaking_service.proto", "rpc LeaveQueue(", "rpc QuitQueue("),
    ],
)
def test_taking_something_back_is_noticed(tmp_path: Path, file: str, old: str, new: str) -> None:
    shutil.copytree(PROTOS, tmp_path / "protos")
    changed = tmp_path / "protos" / "eastwind" / file
    text = changed.read_text()
    assert old in text
    changed.write_text(text.replace(old, new, 1))
    code, found = against_snapshot(tmp_path / "protos")
    assert code != 0
    assert Path(file).name in found
