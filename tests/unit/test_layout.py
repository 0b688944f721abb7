"""The tree keeps its shape: a fixed top level, locks without addresses, and a game that needs nothing but Python."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Which groups of dependencies each lock pins, beside those that Eastwind needs to run.
LOCKS = {
    "requirements.lock": (),
    "requirements-dev.lock": ("local", "dev"),
    "requirements-bench.lock": ("local", "dev", "bench"),
    "requirements-kafka.lock": ("kafka",),
}
CONTAINED = (
    ("requirements.lock", "requirements-dev.lock"),
    ("requirements-dev.lock", "requirements-bench.lock"),
    ("requirements.lock", "requirements-kafka.lock"),
)
TOP_LEVEL = {
    *("protos", "services", "libs", "deploy", "helm", "tests"),
    *("Makefile", "README.md", "CHANGELOG.md", "pyproject.toml", *LOCKS),
}
GENERATED = re.compile(r"_pb2(_grpc)?\.pyi?$|(^|/)(node_modules|dist|__pycache__|generated|src/gen)/|\.stamp-")
# Modules of the standard library that reach outside: files, sockets, clocks, randomness, other processes.
AMBIENT = {"asyncio", "datetime", "multiprocessing", "random", "secrets", "socket", "subprocess", "threading", "time"}


def committed_files() -> list[Path]:
    """The files that git tracks; without git or outside a clone, those that are there and not ignored by name."""
    git = shutil.which("git")
    if git and (ROOT / ".git").exists():
        listing = subprocess.run([git, "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        return [Path(name) for name in listing.split("\0") if name]
    present = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
    return [path for path in present if not path.parts[0].startswith(".") and not GENERATED.search(path.as_posix())]


def imported_modules(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"), filename=str(source))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{source.relative_to(ROOT)}: relative import"
            yield node.module or ""


def mahjong_sources() -> list[Path]:
    return sorted((ROOT / "libs/mahjong").rglob("*.py"))


def test_the_top_level_is_the_fixed_set() -> None:
    names = {path.parts[0] for path in committed_files() if not path.parts[0].startswith(".")}
    assert names <= TOP_LEVEL
    assert {"Makefile", "README.md", "pyproject.toml", "libs", "services", "protos", "tests"} <= names


def test_nothing_generated_is_committed() -> None:
    assert [str(path) for path in committed_files() if GENERATED.search(path.as_posix())] == []


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_pins_every_package_by_hash_and_names_no_address(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index-url" not in text
    requirements = re.findall(r"^[a-z0-9].*(?:\n {4}.*)*", text, flags=re.MULTILINE)
    assert requirements
    for requirement in requirements:
        assert re.match(r"[a-z0-9.-]+==\S+", requirement), requirement.splitlines()[0]
        assert "--hash=sha256:" in requirement, requirement.splitlines()[0]


def pinned(lock: str) -> dict[str, set[str]]:
    """Package name to the versions that ``lock`` pins: more than one where they differ by Python version."""
    versions: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([a-z0-9-]+)==([^\s;]+)", (ROOT / lock).read_text(), flags=re.MULTILINE):
        versions.setdefault(name, set()).add(version)
    return versions


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_every_dependency_that_the_project_names(lock: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *(project["optional-dependencies"][group] for group in LOCKS[lock])]
    named = {re.split(r"[\[<>=!;~ ]", requirement)[0] for group in groups for requirement in group}
    assert named <= pinned(lock).keys(), "pyproject.toml has changed: run `make lock`"


def test_the_locks_agree_on_every_version() -> None:
    for smaller, larger in CONTAINED:
        versions = pinned(larger)
        assert {name: found for name, found in pinned(smaller).items() if versions.get(name) != found} == {}


def test_the_web_lock_names_no_address() -> None:
    assert '"resolved"' not in (ROOT / "services/gateway/web/package-lock.json").read_text(encoding="utf-8")


def test_mahjong_imports_the_standard_library_only() -> None:
    foreign = {
        f"{source.relative_to(ROOT)}: {module}"
        for source in mahjong_sources()
        for module in imported_modules(source)
        if module.split(".")[0] not in sys.stdlib_module_names and not f"{module}.".startswith("libs.mahjong.")
    }
    assert foreign == set()


def test_mahjong_has_no_clock_no_randomness_and_no_other_processes() -> None:
    ambient = {
        f"{source.relative_to(ROOT)}: {module}"
        for source in mahjong_sources()
        for module in imported_modules(source)
        if module.split(".")[0] in AMBIENT
    }
    assert ambient == set()
