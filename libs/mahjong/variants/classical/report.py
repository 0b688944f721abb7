"""The result of a hand of classical as a JSON object, in the form of the vectors' ``expected``."""

from libs.mahjong.result_form import changes_form, items_form
from libs.mahjong.scores import Unit, WinSituation
from libs.mahjong.variants.classical.scoring import score
from libs.mahjong.variants.classical.settlement import settle


def result_form(situation: WinSituation) -> dict[str, object]:
    """``{"legal": false}`` for tiles that are no winning hand; otherwise ``legal``, ``value``, ``base`` and ``doubles``
    (names and amounts; neither for a limit hand), ``limit`` (its name or null) and ``payments``, the change of each
    seat's points by wind."""
    worth = score(situation)
    if not worth.legal:
        return {"legal": False}
    found: dict[str, object] = {"legal": True, "value": worth.value}
    if worth.limit is None:
        found["base"] = items_form(item for item in worth.items if item.unit is Unit.POINTS)
        found["doubles"] = items_form(item for item in worth.items if item.unit is Unit.DOUBLES)
        found["limit"] = None
    else:
        found["limit"] = worth.items[0].name
    found["payments"] = changes_form(settle(situation).changes)
    return found
