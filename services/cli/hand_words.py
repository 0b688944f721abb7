"""The result of a hand in words."""

from __future__ import annotations

from typing import Final

from eastwind.scoring.v1 import score_pb2
from eastwind.table.v1 import event_pb2, view_pb2

_METHODS: Final = {
    score_pb2.WIN_METHOD_SELF_DRAW: "by self-draw",
    score_pb2.WIN_METHOD_DISCARD: "on a discard of",
    score_pb2.WIN_METHOD_ROBBED_KONG: "by robbing a kong of",
    score_pb2.WIN_METHOD_ROBBED_CONCEALED_KONG: "by robbing a concealed kong of",
}


def describe_hand(view: view_pb2.TableView) -> list[str]:
    """Return lines that tell how the settled hand of a view ended and what it changed."""
    settled = view.settled
    rated = "rated" if view.unit_rated else "casual"
    lines = [f"Hand {view.hand} ({rated}): {_ending(view)}"]
    if settled.HasField("winner"):
        score = settled.scores[settled.winner].score
        items = ", ".join(f"{item.name} {item.amount}" for item in score.items)
        lines.append(f"  {score.total}: {items}" if items else f"  {score.total}")
    changes = (f"{_name(view, seat)} {change:+d}" for seat, change in enumerate(settled.changes))
    lines.append(f"  {', '.join(changes)}")
    lines.append(f"  record {settled.record_id}")
    return lines


def _ending(view: view_pb2.TableView) -> str:
    if not view.HasField("won"):
        cause = view.drawn.cause
        if cause == event_pb2.DRAWN_HAND_CAUSE_REPLACEMENT_EXHAUSTED:
            return "nobody wins, no tile is left to replace one."
        return "nobody wins, the wall is empty."
    won = view.won
    how = _METHODS.get(won.method, "")
    source = f" {_name(view, won.source)}" if won.HasField("source") else ""
    return f"{_name(view, won.seat)} wins {how}{source}."


def _name(view: view_pb2.TableView, seat: int) -> str:
    name = view.seats[seat].player.name
    return f"{name} (you)" if view.HasField("viewer") and view.viewer == seat else name
