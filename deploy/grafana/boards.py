"""The dashboards as Grafana reads them: ``python -m deploy.grafana.boards deploy/grafana/dashboards``.

What is drawn stands in `panels`; this module gives it Grafana's form. `$__rate_interval` is Grafana's own; tests put a
window in its place.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from deploy.grafana.panels import BOARDS, Board, Panel

_DATA_SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}
_WIDTH, _HEIGHT = 12, 8


def board_json(board: Board) -> str:
    """The file of one dashboard."""
    return json.dumps(_board(board), indent=1, ensure_ascii=False) + "\n"


def write(folder: Path) -> None:
    """Write all dashboards, and remove what is none of ours."""
    wanted = {f"{board.name}.json": board_json(board) for board in BOARDS}
    for path in folder.glob("*.json"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")


def _board(board: Board) -> dict[str, Any]:
    return {
        "uid": f"eastwind-{board.name}",
        "title": f"Eastwind / {board.title}",
        "description": board.about,
        "tags": ["eastwind"],
        "schemaVersion": 39,
        "editable": False,
        "refresh": "30s",
        "time": {"from": "now-3h", "to": "now"},
        "timezone": "utc",
        "templating": {
            "list": [{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}]
        },
        "panels": list(_panels(board.panels)),
    }


def _panels(panels: Iterable[Panel]) -> Iterable[dict[str, Any]]:
    for place, panel in enumerate(panels):
        yield {
            "id": place + 1,
            "title": panel.title,
            "description": panel.about,
            "type": "timeseries",
            "datasource": _DATA_SOURCE,
            "gridPos": {"x": place % 2 * _WIDTH, "y": place // 2 * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
            "fieldConfig": {
                "defaults": {"unit": panel.unit, "min": 0, "custom": {"fillOpacity": 10, "showPoints": "never"}},
                "overrides": [],
            },
            "options": {
                "legend": {"displayMode": "list", "placement": "bottom"},
                "tooltip": {"mode": "multi", "sort": "desc"},
            },
            "targets": [
                {
                    "refId": chr(ord("A") + number),
                    "datasource": _DATA_SOURCE,
                    "expr": query.expr,
                    "legendFormat": query.legend,
                    "exemplar": panel.exemplars,
                }
                for number, query in enumerate(panel.queries)
            ],
        }


if __name__ == "__main__":
    write(Path(sys.argv[1]))
