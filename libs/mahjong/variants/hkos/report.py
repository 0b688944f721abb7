"""The result of a hand of hkos-3-v1 as a JSON object, in the form of the vectors' ``expected``."""

from libs.mahjong.result_form import changes_form, items_form
from libs.mahjong.scores import WinSituation
from libs.mahjong.variants.hkos.scoring import score, settle


def result_form(situation: WinSituation) -> dict[str, object]:
    """``{"legal": false}`` for tiles that are no winning shape; below the minimum with ``items`` and ``total`` beside;
    for a legal win ``legal``, ``items`` (pattern and faan), ``total`` (uncapped), ``faan`` and ``payments``, the change
    of each seat's points by wind."""
    worth = score(situation)
    if not worth.complete:
        return {"legal": False}
    found: dict[str, object] = {"legal": worth.legal, "items": items_form(worth.items), "total": worth.total}
    if worth.legal:
        found["faan"] = worth.value
        found["payments"] = changes_form(settle(situation).changes)
    return found
