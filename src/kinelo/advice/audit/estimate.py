r"""What the matches alone say of a league: how far strengths lie apart, how fast they move, home and draws.

The parameters of the model in :mod:`kinelo.advice.audit.kernels` by maximum likelihood of one-step-ahead forecasts,
with wide priors that decide only where matches say nothing. Damped Newton steps with the outer products of scores for
the curvature; its inverse is the covariance of the estimates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from kinelo.advice.audit import kernels
from kinelo.matches.matches import Matches

Array = NDArray[np.float64]

NU = math.log(10.0) / 800.0
"""The chess scale: 400 points are odds of ten to one."""

NODES = 9
DIFFERENCE = 1e-3
MOST_STEPS = 40
NEGLIGIBLE = 0.01
MOST_WALKED = 1e7
"""Matches filtered in all while drawing parameters, about."""

# Name, whether it is positive, centre and width of its prior (of its logarithm where positive).
_PRIORS = (
    ("walk per match", True, 6.0, 1.5),
    ("walk per year", True, 30.0, 1.5),
    ("return per year", True, 0.05, 1.5),
    ("spread of newcomers", True, 150.0, 1.0),
    ("level of late newcomers", False, 0.0, 400.0),
    ("home advantage", False, 30.0, 100.0),
    ("ties", True, 0.7, 1.5),
)


@dataclass(frozen=True)
class Calendar:
    """The matches as the compiled loops take them: days count from the first one."""

    home: NDArray[np.int32]
    away: NDArray[np.int32]
    result: Array
    neutral: NDArray[np.bool_]
    weight: Array
    day: Array
    sides: int

    def __len__(self) -> int:
        return self.home.size

    @classmethod
    def of(cls, matches: Matches) -> Calendar:
        """The calendar of these matches."""
        day = (matches.day - matches.day[0]).astype(float)
        return cls(matches.home, matches.away, matches.signed, matches.neutral, matches.weight, day, len(matches.teams))


@dataclass(frozen=True)
class Filtered:
    """What the filter believes before each match, and of each side after its last one; ``centre`` is the league's mean.

    ``path`` keeps what it believed of both sides of every match (see :mod:`kinelo.advice.audit.kernels`), if asked for.
    """

    likelihood: Array
    gap: Array
    doubt: Array
    mean: Array
    variance: Array
    last: Array
    centre: float
    path: Array


@dataclass(frozen=True)
class LeagueEstimate:
    """The parameters of the league, in rating points (ν = ln 10 / 800).

    Attributes
    ----------
    walk_per_match, walk_per_year
        Standard deviation by which a strength moves from match to match, and by the calendar in a year.
    return_per_year
        Rate at which strengths return to the league's mean.
    newcomer_spread, newcomer_level
        Standard deviation of newcomers' strengths, and where those who enter two years after the first match or later
        lie relative to the mean of the sides that then play.
    home_advantage, ties
        In points, and Davidson's κ.
    covariance
        Of the free parameters on their own scales (logarithms of positive ones).
    """

    walk_per_match: float
    walk_per_year: float
    return_per_year: float
    newcomer_spread: float
    newcomer_level: float
    home_advantage: float
    ties: float
    log_likelihood: float = math.nan
    covariance: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    free: tuple[int, ...] = field(default=(), repr=False)

    @property
    def vector(self) -> Array:
        """The numbers as the compiled loops take them."""
        return np.array([*self._values, NU])

    @property
    def _values(self) -> tuple[float, ...]:
        return (
            self.walk_per_match, self.walk_per_year, self.return_per_year, self.newcomer_spread, self.newcomer_level,
            self.home_advantage, self.ties,
        )  # fmt: skip

    @property
    def standard_errors(self) -> dict[str, float]:
        """By name; of positive parameters relative ones (of the logarithm)."""
        return {_PRIORS[k][0]: float(math.sqrt(self.covariance[n, n])) for n, k in enumerate(self.free)}

    def draw(self, calendar: Calendar, number: int, seed: int = 0) -> list[LeagueEstimate]:
        """Other parameters that these matches could have come from: a Metropolis walk, thinned to some of its places.

        Its step is fitted to the acceptance of the first third, which is left out.
        """
        generator = np.random.default_rng(seed)
        here, reach = np.array([_inner(k, self._values[k]) for k in self.free]), 2.4 / math.sqrt(len(self.free))
        root, level = np.linalg.cholesky(self.covariance), self.log_posterior(calendar)
        steps = int(np.clip(MOST_WALKED / len(calendar), 10 * number, 20 * number))
        walked: list[Array] = []
        for step in range(steps):
            there = here + reach * root @ generator.standard_normal(here.size)
            height = _with(self, self.free, there).log_posterior(calendar)
            accepted = math.isfinite(height) and math.log(generator.random()) < height - level
            if accepted:
                here, level = there, height
            if step < steps // 3:
                reach *= math.exp((0.7 if accepted else -0.3) * 0.2)
            else:
                walked.append(here)
        chosen = np.linspace(0, len(walked) - 1, number).astype(int)
        return [_with(self, self.free, walked[place]) for place in chosen]

    def log_posterior(self, calendar: Calendar) -> float:
        """Logarithm of the likelihood of all results times the prior, up to a constant."""
        penalty = sum(((_inner(k, self._values[k]) - _inner(k, _PRIORS[k][2])) / _PRIORS[k][3]) ** 2 for k in self.free)
        return float(calendar.weight @ filtered(calendar, self.vector).likelihood) - penalty / 2


def filtered(calendar: Calendar, numbers: Array, *, keep_path: bool = False) -> Filtered:
    """Run the filter over all matches."""
    x, weight = hermite(NODES)
    n, sides = len(calendar), calendar.sides
    likelihood, gap, doubt = np.empty(n), np.empty(n), np.empty(n)
    mean, variance, last = np.zeros(sides), np.zeros(sides), np.full(sides, -1.0)
    path = np.empty((n if keep_path else 0, 2, 5))
    centre = kernels.filter_all(
        calendar.home, calendar.away, calendar.result, calendar.neutral, calendar.weight, calendar.day, numbers, x,
        weight, mean, variance, last, likelihood, gap, doubt, path,
    )  # fmt: skip
    return Filtered(likelihood, gap, doubt, mean, variance, last, float(centre), path)


def estimate_league(calendar: Calendar) -> LeagueEstimate:
    """Estimate the league from its matches."""
    draws, at_home = bool(np.any(np.abs(calendar.result) < 1)), not bool(calendar.neutral.all())
    late = bool(np.any(_debuts(calendar) > kernels.LATE))
    keep = (True, True, True, True, late, at_home, draws)
    free = tuple(k for k, wanted in enumerate(keep) if wanted)
    first = [p[2] if keep[k] else 0.0 for k, p in enumerate(_PRIORS)]
    start = _made(first)
    centre = np.array([_inner(k, _PRIORS[k][2]) for k in free])
    width = np.array([_PRIORS[k][3] for k in free])
    moved = np.array([1.0 if _PRIORS[k][1] else _PRIORS[k][3] / 2 for k in free])
    here = centre.copy()

    def losses(point: Array) -> Array:
        return -calendar.weight * filtered(calendar, _with(start, free, point).vector).likelihood

    def penalty(point: Array) -> float:
        return 0.5 * float((((point - centre) / width) ** 2).sum())

    base, damping = losses(here), 1e-3
    curvature = np.eye(here.size)
    for _ in range(MOST_STEPS):
        steps = DIFFERENCE * moved
        scores = np.stack(
            [
                (losses(here + step * one) - losses(here - step * one)) / (2 * step)
                for step, one in zip(steps, np.eye(here.size))
            ]
        )
        gradient = scores.sum(axis=1) + (here - centre) / width**2
        curvature = scores @ scores.T + np.diag(1 / width**2)
        old = base.sum() + penalty(here)
        while damping < 1e6:
            change = -np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), gradient)
            change *= min(1.0, 1.0 / float(np.abs(change / moved).max()))
            tried = losses(here + change)
            new = tried.sum() + penalty(here + change)
            if np.isfinite(new) and new <= old:
                break
            damping *= 10
        else:
            break
        here, base, damping = here + change, tried, max(damping / 10, 1e-9)
        if old - new < NEGLIGIBLE:
            break
    found = _with(start, free, here)
    return replace(found, log_likelihood=-float(base.sum()), covariance=np.linalg.inv(curvature), free=free)


@cache
def hermite(number: int) -> tuple[Array, Array]:
    """Nodes and weights of the expectation over a standard normal variable."""
    x, weight = np.polynomial.hermite_e.hermegauss(number)
    return x, weight / weight.sum()


def _debuts(calendar: Calendar) -> Array:
    debut = np.full(calendar.sides, np.inf)
    for side in (calendar.home, calendar.away):
        np.minimum.at(debut, side, calendar.day)
    return debut[np.isfinite(debut)]


def _inner(k: int, value: float) -> float:
    return math.log(value) if _PRIORS[k][1] else value


def _made(values: list[float]) -> LeagueEstimate:
    match, year, back, spread, level, home, ties = values
    return LeagueEstimate(match, year, back, spread, level, home, ties)


def _with(league: LeagueEstimate, free: tuple[int, ...], point: Array) -> LeagueEstimate:
    values = list(league._values)
    for k, value in zip(free, point):
        values[k] = math.exp(float(np.clip(value, -20.0, 20.0))) if _PRIORS[k][1] else float(value)
    return replace(_made(values), covariance=league.covariance, free=free)
