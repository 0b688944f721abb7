"""Computer players: they see a seat's view, nothing else.

``choose`` is the whole interface. A ruleset's folder may bring its own ``guidance`` on which hands are worth heading
for; the players themselves know no ruleset.
"""

from libs.mahjong.bots.choosing import Level, choose, warm_up
from libs.mahjong.bots.dice import decision_seed

__all__ = ["Level", "choose", "decision_seed", "warm_up"]
