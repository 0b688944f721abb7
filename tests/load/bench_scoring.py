"""The Hong Kong score against other libraries: ``python -m tests.load.bench_scoring [seconds]``.

Every case scores the same winning hands: ours itemised with payments from ready situations, every peer from the input
in the form in which it holds a hand. All cases of a round run in turn, several times over, in short slices of processor
time; per round the cost of a peer is divided by ours, and the median of these ratios is printed with their 10th and
90th percentiles. A goal is judged on the 10th percentile. The hands are those handed vectors that every peer accepts,
since what a peer refuses it gives up early.

Ours keeps what it has worked out about suits and outlines, as it does in play. Two more lines show the cost over 20,000
different hands, more than it keeps, and the cost when everything is forgotten before every pass, that is, when almost
every suit of every hand is new. Needs the ``bench`` extra.
"""

import itertools
import random
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

from hk_mahjong.core import tiles as hk_tiles  # type: ignore[import-untyped]
from hk_mahjong.core.meld import Meld as HkMeld  # type: ignore[import-untyped]
from hk_mahjong.core.meld import MeldType
from hk_mahjong.core.scoring import ScoringContext, score_hand  # type: ignore[import-untyped]
from hk_mahjong.core.win_check import check_win  # type: ignore[import-untyped]
from mahjong.hand_calculating.hand import HandCalculator
from mahjong.hand_calculating.hand_config import HandConfig
from mahjong.meld import Meld as RiichiMeld
from MahjongGB import MahjongFanCalculator  # type: ignore[import-not-found]

from libs.mahjong.melds import Meld, MeldKind
from libs.mahjong.notation import parse_line
from libs.mahjong.scores import Holding, WinMethod, WinSituation
from libs.mahjong.tiles import EAST, RANK_OF_KIND, RED, SUIT_OF_KIND, Kind, tiles_of_kind
from libs.mahjong.variants.hkos import scoring

SLICE_NS = 1_500_000
SLICES = 6
DIFFERENT = 20_000
Case = Callable[[], None]
GOALS = {"hk-mahjong check_win + score_hand": 50, "pymahjonggb": 2, "mahjong estimate_hand_value": 25}
OURS = "ours"


class HkHand:
    """A hand as ``hk-mahjong`` holds it."""

    def __init__(self, situation: WinSituation) -> None:
        holding = situation.holding
        assert situation.winning is not None
        self.concealed = [self.tile(kind) for kind in (*holding.concealed, situation.winning)]
        self.melds = [HkMeld(self.meld_type(meld), tuple(map(self.tile, meld.kinds))) for meld in holding.melds]
        self.situation = situation
        self.winning = self.tile(situation.winning)
        self.bonus = [self.tile(kind) for kind in holding.bonus]

    @staticmethod
    def tile(kind: Kind) -> Any:
        suit, rank = SUIT_OF_KIND[kind], RANK_OF_KIND[kind]
        if suit < 3:
            suits = (hk_tiles.Suit.CHARACTERS, hk_tiles.Suit.DOTS, hk_tiles.Suit.BAMBOO)
            return hk_tiles.Tile(suit=suits[suit], rank=rank)
        if kind < RED:
            return hk_tiles.Tile(wind=hk_tiles.WIND_ORDER[kind - EAST])
        if suit == 3:
            return hk_tiles.Tile(dragon=list(hk_tiles.Dragon)[kind - RED])
        sort = hk_tiles.BonusType.FLOWER if suit == 4 else hk_tiles.BonusType.SEASON
        return hk_tiles.Tile(bonus_type=sort, bonus_number=rank)

    @staticmethod
    def meld_type(meld: Meld) -> Any:
        if meld.kind is MeldKind.CHOW:
            return MeldType.CHOW
        if meld.kind is MeldKind.PUNG:
            return MeldType.PONG
        return MeldType.CONCEALED_KONG if meld.kind is MeldKind.CONCEALED_KONG else MeldType.KONG

    def score(self) -> Any:
        """The best decomposition, as that library plays it."""
        best = None
        for decomposition in check_win(self.concealed, self.melds):
            result = score_hand(
                ScoringContext(
                    decomposition=decomposition,
                    exposed_melds=self.melds,
                    concealed_tiles=self.concealed,
                    bonus_tiles=self.bonus,
                    winning_tile=self.winning,
                    self_drawn=self.situation.method is WinMethod.SELF_DRAW,
                    seat_wind=hk_tiles.WIND_ORDER[self.situation.seat_wind],
                    prevailing_wind=hk_tiles.WIND_ORDER[self.situation.prevailing_wind],
                )
            )
            if best is None or result.total_faan > best.total_faan:
                best = result
        return best


class GbHand:
    """A hand as ``pymahjonggb`` takes it."""

    def __init__(self, situation: WinSituation) -> None:
        holding = situation.holding
        assert situation.winning is not None
        names = {MeldKind.CHOW: "CHI", MeldKind.PUNG: "PENG"}
        self.arguments = (
            tuple(
                (names.get(meld.kind, "GANG"), self.tile(meld.kinds[1]), 0 if not meld.is_exposed else 1)
                for meld in holding.melds
            ),
            tuple(self.tile(kind) for kind in holding.concealed),
            self.tile(situation.winning),
            len(holding.bonus),
            situation.method is WinMethod.SELF_DRAW,
            False,
            False,
            False,
            situation.seat_wind,
            situation.prevailing_wind,
        )

    @staticmethod
    def tile(kind: Kind) -> str:
        if kind < EAST:
            return f"{'WBT'[SUIT_OF_KIND[kind]]}{RANK_OF_KIND[kind]}"
        return f"F{kind - EAST + 1}" if kind < RED else f"J{kind - RED + 1}"

    def score(self) -> Any:
        """All fans with their names."""
        return MahjongFanCalculator(*self.arguments)


class RiichiHand:
    """A hand as PyPI ``mahjong`` takes it; its dragons come in another order, which changes nothing here."""

    calculator = HandCalculator()

    def __init__(self, situation: WinSituation) -> None:
        holding = situation.holding
        assert situation.winning is not None
        used: dict[Kind, int] = {}

        def take(kind: Kind) -> int:
            used[kind] = used.get(kind, 0) + 1
            return tiles_of_kind(kind)[used[kind] - 1]

        self.winning = take(situation.winning)
        self.melds = [
            RiichiMeld(
                {MeldKind.CHOW: "chi", MeldKind.PUNG: "pon"}.get(meld.kind, "kan"),
                [take(kind) for kind in meld.kinds],
                opened=meld.is_exposed,
            )
            for meld in holding.melds
        ]
        self.tiles = [take(kind) for kind in holding.concealed] + [self.winning]
        self.tiles += [tile for meld in self.melds for tile in meld.tiles or ()]
        self.config = HandConfig(
            is_tsumo=situation.method is WinMethod.SELF_DRAW,
            player_wind=EAST + situation.seat_wind,
            round_wind=EAST + situation.prevailing_wind,
        )

    def score(self) -> Any:
        """Value, fu and yaku, or an error."""
        return self.calculator.estimate_hand_value(self.tiles, self.winning, self.melds, config=self.config)


def hands() -> list[tuple[WinSituation, HkHand, GbHand, RiichiHand]]:
    """The legal hands that every library scores."""
    lines = resources.files("libs.mahjong.variants.hkos").joinpath("golden/vectors/random.jsonl")
    found = []
    for line in lines.read_text(encoding="utf-8").splitlines():
        preset, situation = parse_line(line)
        if situation.winning is None or not preset.score(situation).legal:
            continue
        hk, gb, riichi = HkHand(situation), GbHand(situation), RiichiHand(situation)
        if hk.score() is None or riichi.score().error is not None:
            continue
        try:
            gb.score()
        except TypeError:
            continue
        found.append((situation, hk, gb, riichi))
    return found


def different_hands(source: random.Random, number: int) -> list[WinSituation]:
    """Legal wins as they come up at tables: mostly of one suit and honours, few bonus tiles, some melds declared."""
    found: list[WinSituation] = []
    while len(found) < number:
        suit = source.randrange(3)
        palette = [*range(9 * suit, 9 * suit + 9), *range(27, 34)] if source.random() < 0.7 else list(range(34))
        left = Counter(dict.fromkeys(range(34), 4))
        concealed: list[Kind] = []
        melds: list[Meld] = []
        while len(melds) + len(concealed) // 3 < 4:
            kind = source.choice(palette)
            chow = kind < EAST and kind % 9 <= 6 and source.random() < 0.7
            kinds = (kind, kind + 1, kind + 2) if chow else (kind,) * 3
            if all(left[one] >= needed for one, needed in Counter(kinds).items()):
                left.subtract(kinds)
                if source.random() < 0.6:
                    concealed += kinds
                else:
                    tiles = tuple(4 * one + (0 if chow else place) for place, one in enumerate(kinds))
                    melds.append(Meld(MeldKind.CHOW if chow else MeldKind.PUNG, tiles, tiles[0], 0))
        pair = source.choice([kind for kind in palette if left[kind] >= 2])
        concealed += (pair, pair)
        winning = concealed.pop(source.randrange(len(concealed)))
        bonus = source.sample(range(34, 42), source.choice((0, 1, 1, 2, 2, 3)))
        seat, self_drawn = source.randrange(4), source.random() < 0.4
        won = WinSituation(
            seat_wind=seat,
            prevailing_wind=source.randrange(4),
            holding=Holding(tuple(sorted(concealed)), tuple(melds), tuple(sorted(bonus))),
            winning=winning,
            method=WinMethod.SELF_DRAW if self_drawn else WinMethod.DISCARD,
            source=None if self_drawn else (seat + source.randint(1, 3)) % 4,
        )
        if scoring.score(won).legal:
            found.append(won)
    return found


def passes(chosen: list[tuple[WinSituation, HkHand, GbHand, RiichiHand]]) -> dict[str, Case]:
    """Each case scores all hands once."""
    settle = scoring.settle

    def ours() -> None:
        for situation, _, _, _ in chosen:
            settle(situation)

    def hk() -> None:
        for _, hand, _, _ in chosen:
            hand.score()

    def gb() -> None:
        for _, _, hand, _ in chosen:
            hand.score()

    def riichi() -> None:
        for _, _, _, hand in chosen:
            hand.score()

    return {
        OURS: ours,
        "hk-mahjong check_win + score_hand": hk,
        "pymahjonggb": gb,
        "mahjong estimate_hand_value": riichi,
    }


def slice_cost(case: Case, scored: int) -> float:
    """Nanoseconds of processor time per hand in one slice."""
    started = time.process_time_ns()
    done = 0
    while True:
        case()
        done += 1
        elapsed = time.process_time_ns() - started
        if elapsed >= SLICE_NS:
            return elapsed / (done * scored)


def rounds(cases: dict[str, Case], scored: int, seconds: float) -> Iterator[dict[str, float]]:
    """Costs of all cases, round by round, until the time is over."""
    for case in cases.values():
        case()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        costs = dict.fromkeys(cases, 0.0)
        for _ in range(SLICES):
            for name, case in cases.items():
                costs[name] += slice_cost(case, scored) / SLICES
        yield costs


def print_without_memory(scored: int, ours: Case) -> None:
    """What ours costs when little or nothing of a hand has been seen before; apart, since both spoil the memory."""
    coming = itertools.cycle(different_hands(random.Random(20240613), DIFFERENT))

    def over_many() -> None:
        for situation in itertools.islice(coming, scored):
            scoring.settle(situation)

    def from_nothing() -> None:
        scoring.clear_memory()
        ours()

    for _ in range(DIFFERENT // scored):
        over_many()
    for name, case in ((f"over {DIFFERENT} different hands", over_many), ("everything forgotten", from_nothing)):
        costs = [slice_cost(case, scored) / 1000 for _ in range(51)]
        print(f"3 ours, {name}: {statistics.median(costs):.1f} us")


def main(seconds: float) -> None:
    """Print all ratios and whether the goals are met."""
    chosen = hands()[::6]
    cases = passes(chosen)
    costs = list(rounds(cases, len(chosen), seconds))
    print(f"{len(costs)} rounds of {len(cases)} cases, {len(chosen)} hands each")
    for name in cases:
        ratios = [cost[name] / cost[OURS] for cost in costs]
        low, *_, high = statistics.quantiles(ratios, n=10)
        goal = GOALS.get(name)
        verdict = "" if goal is None else f" (goal {goal}x: {'met' if low >= goal else 'MISSED'})"
        microseconds = statistics.median(cost[name] for cost in costs) / 1000
        middle = statistics.median(ratios)
        print(f"3 {name}: {microseconds:.1f} us, {middle:.2f}x ours (p10 {low:.2f}, p90 {high:.2f}){verdict}")
    print_without_memory(len(chosen), cases[OURS])


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 12)
