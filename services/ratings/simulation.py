"""Why the parameters of the rating model are what they are: ``python -m services.ratings.simulation [seconds]``.

A population of players with known skill plays Hong Kong hands at random tables. A hand is drawn, won by self-draw or
won on a discard; who wins follows the Plackett-Luce model with the players' true strengths, who discards the winning
tile the same model backwards, and what strength is worth is small beside the luck of a hand. Every set of parameters
rates the same hands, and is judged by what it can be held to:

- ``foretold``: how much better its ratings tell the winners of the hands to come than equal chances do, as a share of
  what the true strengths themselves would tell (1.0: nothing is left to learn);
- ``order``: the rank correlation of ratings and true strengths;
- ``wobble``: how far a player's rating moves over 20 hands once it has settled, in units of the spread of ratings;
- ``drift``: as ``order``, after every fifth player has changed to another strength, 300 hands later.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Final

from services.ratings.model import CHOSEN, Parameters, Rating, RatingModel, placement_tenths

PLAYERS: Final = 80
SPREAD: Final = 0.30
"""The standard deviation of true strengths in logarithmic odds: one deviation more wins 30 % instead of 25 %."""
DRAWN: Final = 0.15
SELF_DRAWN: Final = 0.35
CHECKPOINTS: Final = (10, 50, 200, 1000)
CHANGED: Final = 300
COMING: Final = 300
"""Hands of each player that are foretold."""
_WINNER, _PAYER = 24, -24


@dataclass(frozen=True, slots=True)
class SimulatedHand:
    """The players of a hand and their points in it."""

    players: tuple[int, int, int, int]
    points: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a set of parameters achieves: by checkpoint, and after strengths changed."""

    foretold: tuple[float, ...]
    order: tuple[float, ...]
    wobble: float
    drift: float


def picked(weights: Sequence[float], random_source: random.Random) -> int:
    """An index, each with the chance of its weight."""
    return random_source.choices(range(len(weights)), weights)[0]


def play(strengths: Sequence[float], random_source: random.Random) -> SimulatedHand:
    """One hand of four players who met by chance."""
    first, second, third, fourth = random_source.sample(range(len(strengths)), 4)
    players = (first, second, third, fourth)
    points = [0, 0, 0, 0]
    if random_source.random() >= DRAWN:
        winner = picked([exp(strengths[player]) for player in players], random_source)
        points[winner] = _WINNER
        others = [seat for seat in range(4) if seat != winner]
        if random_source.random() < SELF_DRAWN:
            for seat in others:
                points[seat] = _PAYER // 3
        else:
            points[others[picked([exp(-strengths[players[seat]]) for seat in others], random_source)]] = _PAYER
    return SimulatedHand(players, (points[0], points[1], points[2], points[3]))


def hands(strengths: Sequence[float], each: int, random_source: random.Random) -> Iterator[SimulatedHand]:
    """Hands until everybody has played about so many."""
    for _ in range(each * len(strengths) // 4):
        yield play(strengths, random_source)


def rate(model: RatingModel, ratings: list[Rating], played: SimulatedHand) -> None:
    """Let a hand change the ratings."""
    after = model.update([ratings[player] for player in played.players], placement_tenths(played.points))
    for player, rating in zip(played.players, after, strict=True):
        ratings[player] = rating


def told(values: Sequence[float], coming: Sequence[SimulatedHand], scale: float) -> float:
    """The mean gain in log-likelihood of the winners over equal chances, when e-fold odds are `scale` apart."""
    gain = 0.0
    won = [hand for hand in coming if _WINNER in hand.points]
    for hand in won:
        weights = [exp((values[player] - values[hand.players[0]]) / scale) for player in hand.players]
        gain += log(4 * weights[hand.points.index(_WINNER)] / sum(weights))
    return gain / len(won)


def correlation(left: Sequence[float], right: Sequence[float]) -> float:
    """Spearman's rank correlation."""
    return statistics.correlation(_ranks(left), _ranks(right))


def _ranks(values: Sequence[float]) -> list[int]:
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0] * len(values)
    for rank, at in enumerate(order):
        ranks[at] = rank
    return ranks


def judge(parameters: Parameters, seed: int) -> Verdict:
    """Rate the hands of one population, the same for the same seed whatever the parameters."""
    random_source = random.Random(seed)
    strengths = [random_source.gauss(0, SPREAD) for _ in range(PLAYERS)]
    coming = list(hands(strengths, COMING, random_source))
    possible = told(strengths, coming, 1.0)
    model = RatingModel(parameters)
    ratings = [model.start] * PLAYERS
    foretold, order, played = [], [], 0
    for checkpoint in CHECKPOINTS:
        for hand in hands(strengths, checkpoint - played, random_source):
            rate(model, ratings, hand)
        played = checkpoint
        values = [rating.mu for rating in ratings]
        foretold.append(told(values, coming, 2 * parameters.beta) / possible)
        order.append(correlation(values, strengths))
    wobble = _wobble(model, ratings, strengths, random_source)
    for player in range(0, PLAYERS, 5):
        strengths[player] = random_source.gauss(0, SPREAD)
    for hand in hands(strengths, CHANGED, random_source):
        rate(model, ratings, hand)
    drift = correlation([rating.mu for rating in ratings], strengths)
    return Verdict(tuple(foretold), tuple(order), wobble, drift)


def _wobble(
    model: RatingModel, ratings: list[Rating], strengths: Sequence[float], random_source: random.Random
) -> float:
    before = [rating.mu for rating in ratings]
    for hand in hands(strengths, 20, random_source):
        rate(model, ratings, hand)
    moves = [rating.mu - mu for rating, mu in zip(ratings, before, strict=True)]
    return statistics.pstdev(moves) / statistics.pstdev(before)


CANDIDATES: Final = {
    "chosen": CHOSEN,
    "openskill's proportions": Parameters(500.0, 250.0, 5.0),
    "sigma = beta": Parameters(400.0, 400.0, 1.0),
    "sigma = beta / 4": Parameters(100.0, 400.0, 1.0),
    "tau 0": Parameters(CHOSEN.sigma, CHOSEN.beta, 0.0),
    "tau x 4": Parameters(CHOSEN.sigma, CHOSEN.beta, CHOSEN.tau * 4),
    "tau x 10": Parameters(CHOSEN.sigma, CHOSEN.beta, CHOSEN.tau * 10),
}
"""Other proportions; the scale as such changes nothing but the look."""


def main(seconds: float) -> None:
    """Print a line for every candidate: the means over as many populations as fit into the time."""
    verdicts: dict[str, list[Verdict]] = {name: [] for name in CANDIDATES}
    ends_at, seed = time.monotonic() + seconds, 0
    while seed == 0 or time.monotonic() < ends_at:
        for name, parameters in CANDIDATES.items():
            verdicts[name].append(judge(parameters, seed))
        seed += 1
    out = sys.stdout.write
    out(f"{seed} populations of {PLAYERS} players; after {', '.join(map(str, CHECKPOINTS))} hands each\n\n")
    out(f"{'':<24} {'sigma':>6} {'beta':>5} {'tau':>5}  {'foretold':<24} {'order':<24} {'wobble':>6} {'drift':>6}\n")
    for name, found in verdicts.items():
        each = CANDIDATES[name]
        foretold = "".join(f"{_mean(v.foretold[at] for v in found):6.2f}" for at in range(len(CHECKPOINTS)))
        order = "".join(f"{_mean(v.order[at] for v in found):6.2f}" for at in range(len(CHECKPOINTS)))
        out(f"{name:<24} {each.sigma:6.0f} {each.beta:5.0f} {each.tau:5.1f}  {foretold} {order} ")
        out(f"{_mean(v.wobble for v in found):6.2f} {_mean(v.drift for v in found):6.2f}\n")


def _mean(values: Iterator[float]) -> float:
    return statistics.fmean(values)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
