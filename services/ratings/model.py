"""How a rated unit changes ratings: Weng and Lin's Bayesian update for the Plackett-Luce model (common C13).

The parameters were chosen by simulation: `services.ratings.simulation` shows what others would do, and
`deploy/docs/adr/0002-rating-parameters.md` gives the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from openskill.models import PlackettLuce

START_MU: Final = 1500.0
PROVISIONAL_UNITS: Final = 10


@dataclass(frozen=True, slots=True)
class Parameters:
    """All in points of rating.

    `sigma` is the uncertainty of somebody who has not played; `beta` the luck in one unit; `tau` what is added to the
    uncertainty with every unit, because people get better and worse.
    """

    sigma: float
    beta: float
    tau: float


CHOSEN: Final = Parameters(sigma=200.0, beta=400.0, tau=1.0)


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's rating on one ladder: the estimate `mu`, its uncertainty `sigma`, and how many units it comes from."""

    mu: float
    sigma: float
    units: int

    @property
    def shown(self) -> int:
        """The rating as players see it."""
        return round(self.mu)

    @property
    def uncertainty(self) -> int:
        """The uncertainty as players see it."""
        return round(self.sigma)

    @property
    def provisional(self) -> bool:
        """True during the first ten rated units."""
        return self.units < PROVISIONAL_UNITS


START: Final = Rating(START_MU, CHOSEN.sigma, 0)


class RatingModel:
    """The update, a pure function of the ratings before the unit and of the placements."""

    def __init__(self, parameters: Parameters = CHOSEN) -> None:
        self.start = Rating(START_MU, parameters.sigma, 0)
        self._model = PlackettLuce(
            mu=START_MU, sigma=parameters.sigma, beta=parameters.beta, tau=parameters.tau, limit_sigma=False
        )

    def update(self, before: Sequence[Rating], placements: Sequence[int]) -> tuple[Rating, ...]:
        """Return the ratings after a unit, each from the ratings of all before it (field case C086).

        `placements` are in tenths as of `placement_tenths`; equal ones are ties. The same players with the same
        placements give the same bits in any order: the sums of the model are taken in an order of their own.
        """
        order = sorted(range(len(before)), key=lambda place: (placements[place], before[place].mu, before[place].sigma))
        teams = [[self._model.rating(mu=before[place].mu, sigma=before[place].sigma)] for place in order]
        rated = self._model.rate(teams, ranks=[float(placements[place]) for place in order])
        after = list(before)
        for place, (result,) in zip(order, rated, strict=True):
            after[place] = Rating(float(result.mu), float(result.sigma), before[place].units + 1)
        return tuple(after)


def placement_tenths(points: Sequence[int]) -> tuple[int, ...]:
    """Return each one's place in tenths, 10 for the first; equal points share the average of their places (C12)."""
    places = []
    for own in points:
        better = sum(other > own for other in points)
        equal = sum(other == own for other in points)
        places.append(10 * better + 5 * (equal + 1))
    return tuple(places)
