"""The pages for operators: what they point at is there, and every command that they say is tried is in a test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.documented import PAGES, blocks

ROOT = Path(__file__).parents[3]
EVERY_PAGE = sorted(PAGES.rglob("*.md"))
_LINK = re.compile(r"\]\((?!https?://)(?P<file>[^)#\s]*)(?:#(?P<heading>[^)]*))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_TEST_FILE = re.compile(r"`((?:tests|libs|services|deploy|helm)/[\w./-]+)`")


def leads_somewhere(page: Path, file: str, heading: str | None) -> bool:
    target = page.parent / file if file else page
    if not target.exists() or heading is None:
        return target.exists()
    return heading in [
        re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in _HEADING.findall(target.read_text())
    ]


@pytest.mark.parametrize("page", EVERY_PAGE, ids=lambda page: str(page.relative_to(PAGES)))
def test_every_link_and_path_leads_somewhere(page: Path) -> None:
    text = page.read_text()
    links = [link for link in _LINK.finditer(text) if not leads_somewhere(page, link["file"], link["heading"])]
    paths = [path for path in _TEST_FILE.findall(text) if not (ROOT / path).exists()]
    assert ([link[0] for link in links], paths) == ([], [])


def test_every_tried_block_is_run_by_a_test() -> None:
    code = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = [name for page in EVERY_PAGE for name in blocks(str(page.relative_to(PAGES)))]
    assert len(named) > 10
    assert [name for name in named if f'"{name}"' not in code] == []


def test_operators_find_every_page_from_the_first() -> None:
    index = (PAGES / "README.md").read_text()
    pages = [page.relative_to(PAGES) for page in EVERY_PAGE if page.parent == PAGES or page.parent.name == "adr"]
    assert [page for page in map(str, pages) if page != "README.md" and f"]({page})" not in index] == []


def test_decisions_are_short() -> None:
    long = [page.name for page in (PAGES / "adr").glob("*.md") if len(page.read_text().splitlines()) >= 60]
    assert long == []
