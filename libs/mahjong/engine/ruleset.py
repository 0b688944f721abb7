"""What a ruleset tells the engine, and the registry in which the engine finds it.

The engine knows turns, claims, kongs, walls and settlement in general. A ruleset is a subclass of ``Ruleset`` in one
folder under ``libs/mahjong/variants``; it fills in data and overrides a handful of methods. The engine never imports
the variants: they register themselves when ``libs.mahjong.variants`` is imported.
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from libs.mahjong.scores import Circumstance, HandScore, Holding, ScoreItem, WindSettlement, WinMethod, WinSituation
from libs.mahjong.tiles import Wind

WinFlags: TypeAlias = Mapping[str, Mapping[WinMethod, Circumstance]]
"""What each flag of the vector form says about a win, by its method; a method that is missing does not go with it."""


class WallEnd(enum.IntEnum):
    """Where a tile is taken from."""

    FRONT = 1
    BACK = 2
    KONG_BOX = 3


class RatedUnit(enum.IntEnum):
    """What changes a rating: every finished hand, or the finished match (common §3.4)."""

    HAND = 1
    MATCH = 2


@dataclass(frozen=True, slots=True)
class WallLayout:
    """How the shuffled sequence is used: the last ``kong_box`` tiles are set apart for kongs (0: none), and
    replacements of bonus tiles and of kongs come from the given places."""

    kong_box: int
    bonus_from: WallEnd
    kong_from: WallEnd


@dataclass(frozen=True, slots=True)
class ReadyStep:
    """What happens between hands (common C14): ``seconds`` until the step ends at a timed table; then everybody is
    ready (``automatic``) or the seats that are not ready are released."""

    seconds: int
    automatic: bool


class Ruleset(ABC):
    """One preset: its identity, its data and the decisions that differ between rulesets."""

    id: ClassVar[str]
    """Stable id with its version, such as ``hkos-3-v1``; a record names it for ever."""
    name: ClassVar[str]
    """The name for players."""
    rated_unit: ClassVar[RatedUnit]
    starting_points: ClassVar[int]
    wall: ClassVar[WallLayout]
    ready_step: ClassVar[ReadyStep]
    opening_kongs: ClassVar[bool] = False
    """Concealed kongs are asked for before the first discard (classical §2.3)."""
    original_call: ClassVar[bool] = False
    """A first discard may carry an Original Call (classical §2.5)."""
    reveals_all: ClassVar[bool] = False
    """Every seat's tiles are laid open at a win; otherwise the winner's alone."""
    minimum: ClassVar[int] = 0
    """What a win needs at least, in the unit of its score; 0: nothing."""
    win_flags: ClassVar[WinFlags] = {}
    """The flags that ``libs.mahjong.notation`` reads for this preset."""

    @abstractmethod
    def score(self, situation: WinSituation) -> HandScore:
        """Return the best score of the winner's tiles; ``legal`` tells whether the win may be declared."""

    @abstractmethod
    def settle(self, situation: WinSituation) -> WindSettlement:
        """Return scores and payments of a legal win. Raises ``ValueError`` when the win is not legal."""

    def certain(self, seat_wind: Wind, prevailing_wind: Wind, holding: Holding) -> tuple[ScoreItem, ...]:
        """Return the patterns that declared melds and bonus tiles secure, whatever tiles may come."""
        return ()

    def result_form(self, situation: WinSituation) -> dict[str, object]:
        """Return the result of a win as a JSON object, in the words of this preset (``libs.mahjong.notation``)."""
        score = self.score(situation)
        return {"legal": score.legal, "items": [[item.name, item.amount] for item in score.items], "total": score.total}

    def match_over(self, dealer_changes: int) -> bool:
        """Tell whether the match ends after that many changes of the dealer; without a last hand: never."""
        return False

    def prevailing_wind(self, dealer_changes: int) -> Wind:
        """Return the round's wind: it moves on after four changes of the dealer, without end (hkos A30)."""
        return dealer_changes // 4 % 4


class UnknownRuleset(LookupError):
    """No ruleset of that id is registered; ``ruleset_id`` is what was asked for."""

    def __init__(self, ruleset_id: str) -> None:
        super().__init__(f"unknown ruleset {ruleset_id!r}")
        self.ruleset_id = ruleset_id


_registered: dict[str, Ruleset] = {}


def register(ruleset: Ruleset) -> Ruleset:
    """Make a ruleset known by its id and return it. Raises ``ValueError`` when another has that id."""
    known = _registered.setdefault(ruleset.id, ruleset)
    if type(known) is not type(ruleset):
        raise ValueError(f"two rulesets have the id {ruleset.id!r}")
    return known


def ruleset(ruleset_id: str) -> Ruleset:
    """Return the registered ruleset of that id. Raises ``UnknownRuleset``."""
    try:
        return _registered[ruleset_id]
    except KeyError:
        raise UnknownRuleset(ruleset_id) from None


def rulesets() -> tuple[Ruleset, ...]:
    """Return all registered rulesets in order of their ids."""
    return tuple(_registered[key] for key in sorted(_registered))
