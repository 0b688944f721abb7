"""Pictures of the dashboards, one SVG each, from what a real Prometheus holds: Grafana is not needed for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from deploy.grafana.panels import Board, Panel
from tests.telemetry.prometheus import Prometheus

_WIDTH, _HEIGHT, _MARGIN = 460, 220, 14
_PLOT_TOP, _PLOT_BOTTOM, _PLOT_LEFT = 34, 150, 56
_MOST_NAMED: Final = 5
_COLOURS: Final = ("#1f6feb", "#d9822b", "#2e8540", "#b5403c", "#7a5cc7", "#0f8b8d", "#8a6d3b", "#c2478d")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a panel: its name, and (unix seconds, value) in order."""

    name: str
    points: Sequence[tuple[float, float]]


async def board_svg(prometheus: Prometheus, board: Board, start: float, end: float) -> str:
    """The picture of a dashboard over that time (unix seconds), with all its panels."""
    drawn = []
    for place, panel in enumerate(board.panels):
        lines = [
            line for query in panel.queries for line in await _lines(prometheus, query.expr, query.legend, start, end)
        ]
        x, y = place % 2 * (_WIDTH + _MARGIN) + _MARGIN, place // 2 * (_HEIGHT + _MARGIN) + 44
        drawn.append(f'<g transform="translate({x},{y})">{"".join(_panel(panel, lines, start, end))}</g>')
    rows = (len(board.panels) + 1) // 2
    width, height = 2 * _WIDTH + 3 * _MARGIN, rows * (_HEIGHT + _MARGIN) + 54
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">'
        f'<rect width="{width}" height="{height}" fill="#f6f7f9"/>'
        f'<text x="{_MARGIN}" y="28" font-size="18" fill="#222">Eastwind / {escape(board.title)}</text>'
        f"{''.join(drawn)}</svg>\n"
    )


async def _lines(prometheus: Prometheus, expr: str, legend: str, start: float, end: float) -> list[Line]:
    query = expr.replace("$__rate_interval", "15s")
    found = await prometheus.get("query_range", query=query, start=f"{start}", end=f"{end}", step="1")
    lines = []
    for each in found["result"]:
        points = [(float(at), float(value)) for at, value in each["values"]]
        name = legend
        for label, value in each["metric"].items():
            name = name.replace("{{" + label + "}}", value)
        lines.append(Line(name, [point for point in points if math.isfinite(point[1])]))
    return [line for line in lines if line.points]


def _panel(panel: Panel, lines: Sequence[Line], start: float, end: float) -> Iterable[str]:
    top = max((value for line in lines for _, value in line.points), default=0.0) or 1.0
    yield f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="4" fill="#fff" stroke="#d8dce2"/>'
    yield f'<text x="12" y="22" font-size="13" fill="#222">{escape(panel.title)}</text>'
    for share in (0.0, 0.5, 1.0):
        y = _PLOT_BOTTOM - share * (_PLOT_BOTTOM - _PLOT_TOP)
        yield f'<line x1="{_PLOT_LEFT}" x2="{_WIDTH - 12}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e6e9ed"/>'
        told = _told(top * share, panel.unit)
        place = f'x="{_PLOT_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end"'
        yield f'<text {place} font-size="10" fill="#666">{told}</text>'
    for number, line in enumerate(lines):
        path = " ".join(
            f"{_PLOT_LEFT + (at - start) / (end - start) * (_WIDTH - 12 - _PLOT_LEFT):.1f},"
            f"{_PLOT_BOTTOM - value / top * (_PLOT_BOTTOM - _PLOT_TOP):.1f}"
            for at, value in line.points
        )
        colour = _COLOURS[number % len(_COLOURS)]
        yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        if number < _MOST_NAMED:
            yield f'<text x="12" y="{166 + 11 * number}" font-size="10" fill="{colour}">{escape(line.name[:80])}</text>'
    if len(lines) > _MOST_NAMED:
        more = len(lines) - _MOST_NAMED
        yield f'<text x="{_WIDTH - 12}" y="210" font-size="10" text-anchor="end" fill="#666">and {more} more</text>'


def _told(value: float, unit: str) -> str:
    if unit == "s":
        return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"
    if unit == "bytes":
        return f"{value / 2**20:.0f} MB"
    if unit == "percentunit":
        return f"{value * 100:.3g}%"
    return f"{value:.3g}"
