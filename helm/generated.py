"""Writes the parts of the chart that come from elsewhere: `make chart`.

Dashboards and alerting rules are kept in `deploy/grafana` and `deploy/prometheus`; a chart can only read files of its
own folder, so it holds copies. The tables of its README are the comments of `values.yaml`. A test checks that nothing
is out of date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

ROOT: Final = Path(__file__).parents[1]
CHART: Final = ROOT / "helm" / "eastwind"
COPIED: Final[Mapping[str, tuple[str, str]]] = {
    "dashboards": ("deploy/grafana/dashboards", "*.json"),
    "rules": ("deploy/prometheus/rules", "*.yaml"),
}
"""Folders below `files/`, with where their files come from."""
_LINE: Final = re.compile(r"^(?P<indent> *)(?P<name>[A-Za-z0-9_.-]+):(?P<rest>.*)$")
_MARK: Final = "<!-- values -->"


def wanted() -> dict[Path, str]:
    """Every generated file with what it has to hold."""
    found = {CHART / "README.md": _readme()}
    for folder, (source, pattern) in COPIED.items():
        for path in sorted((ROOT / source).glob(pattern)):
            found[CHART / "files" / folder / path.name] = path.read_text()
    return found


def present() -> set[Path]:
    """Every generated file that is there."""
    copies = {path for folder in COPIED for path in (CHART / "files" / folder).glob("*") if path.is_file()}
    return copies | {CHART / "README.md"}


def _readme() -> str:
    text = (CHART / "README.md.in").read_text()
    assert text.count(_MARK) == 1
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["version"]
    return text.replace(_MARK, "\n".join(_tables()).rstrip()).replace("<!-- version -->", version)


def _tables() -> Iterator[str]:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    sections: dict[str, list[str]] = {"general": []}
    for path, comment in described_values():
        section = path[0] if len(path) > 1 else "general"
        row = f"| `{'.'.join(path)}` | {_shown(_at(values, path))} | {comment} |"
        sections.setdefault(section, []).append(row)
    for section, rows in sections.items():
        yield f"### {section}\n\n| value | default | what it is |\n|---|---|---|"
        yield from rows
        yield ""


def described_values() -> Iterator[tuple[tuple[str, ...], str]]:
    """The values that a comment beginning with "--" describes, by their path, in their order."""
    path: list[tuple[int, str]] = []
    comment: list[str] = []
    for line in (CHART / "values.yaml").read_text().splitlines():
        text = line.strip()
        if text.startswith("# -- "):
            comment = [text.removeprefix("# -- ")]
        elif text.startswith("#"):
            if comment:
                comment.append(text.removeprefix("#").strip())
        elif match := _LINE.match(line):
            indent = len(match["indent"])
            path = [(depth, name) for depth, name in path if depth < indent]
            path.append((indent, match["name"]))
            if comment:
                yield tuple(name for _, name in path), " ".join(comment)
            comment = []
        else:
            comment = []


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        values = values[name]
    return values


def _shown(value: object) -> str:
    if value in ("", [], {}):
        return ""
    shown = yaml.safe_dump(value, default_flow_style=True, width=10_000).removesuffix("...\n").strip()
    return f"`{shown}`"


def main() -> None:
    """Write what is wanted and remove what is not."""
    files = wanted()
    for path in present() - set(files):
        path.unlink()
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
