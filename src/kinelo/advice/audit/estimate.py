r"""What the matches alone say of a league: how far strengths lie apart, how fast they move, home and draws.

The parameters of the model in :mod:`kinelo.advice.audit.kernels` by maximum likelihood of one-step-ahead forecasts,
with wide priors that decide only where matches say nothing. Damped Newton steps with the outer products of scores for
the curvature; its inverse is the covariance of the estimates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

from kinelo.advice.audit import kernels
from kinelo.advice.audit.kernels import CHESS_NU, Array, Calendar, Nodes, Parameters, Strengths

NODES = 9
DIFFERENCE = 1e-3
MOST_STEPS = 40
NEGLIGIBLE = 0.01
STILL = 1e-6
"""Movement of strengths that do not move."""
TELLING = 3.0
"""Log-likelihood by which strengths that move must be likelier: three more parameters gain half as much by chance."""
NO_DRAWS = np.empty((1, 0))
MOST_FILTERED = 1e7
"""Matches filtered in all while drawing parameters, about."""


class Prior(NamedTuple):
    """Of one parameter: whether it is positive, and centre and width (of the logarithm where it is positive)."""

    positive: bool
    centre: float
    width: float
    in_points: bool = True


# In the order of Parameters, on the chess scale.
PRIORS = (
    Prior(True, 6.0, 1.5),
    Prior(True, 30.0, 1.5),
    Prior(True, 0.05, 1.5, False),
    Prior(True, 150.0, 1.0),
    Prior(False, 0.0, 400.0),
    Prior(True, 3.0, 1.5),
    Prior(True, 0.7, 1.5, False),
)


class Filtered(NamedTuple):
    """Log-likelihood of each result before it is seen, the filter's path, and the league's mean at the end."""

    likelihood: Array
    path: Array
    home_path: Array
    centre: float


@dataclass(frozen=True)
class LeagueEstimate:
    """The parameters of the league, in rating points.

    Attributes
    ----------
    parameters
        Standard deviation by which a strength moves from match to match, and by the calendar in a year; rate per year
        at which it returns to the league's mean; standard deviation of newcomers' strengths, and where they lie
        relative to the mean once the average side has played twice; drift of the home advantage per root year; ties
        (Davidson's κ).
    log_likelihood
        Of all results, each before it is seen.
    covariance
        Of the free parameters on their own scales (logarithms of positive ones).
    """

    parameters: Parameters
    log_likelihood: float = math.nan
    covariance: Array = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    free: tuple[int, ...] = field(default=(), repr=False)

    @property
    def ties(self) -> float:
        """Davidson's κ: equal sides draw with probability κ/(2 + κ)."""
        return self.parameters.ties

    @property
    def standard_errors(self) -> dict[str, float]:
        """By name; of positive parameters relative ones (of the logarithm)."""
        return {Parameters._fields[k]: float(math.sqrt(self.covariance[n, n])) for n, k in enumerate(self.free)}

    def draw(self, calendar: Calendar, number: int, seed: int = 0) -> list[Parameters]:
        """Other parameters that these matches could have come from: a Metropolis walk, thinned to some of its places.

        Its step is adapted to the acceptance of the first third, which is left out.
        """
        generator = np.random.default_rng(seed)
        here, reach = _inner(self.parameters, self.free), 2.4 / math.sqrt(len(self.free))
        root = np.linalg.cholesky(self.covariance)
        level = log_posterior(calendar, self.parameters, self.free)
        steps = int(np.clip(MOST_FILTERED / calendar.size, 10 * number, 20 * number))
        walked: list[Parameters] = []
        there = self.parameters
        for step in range(steps):
            moved = here + reach * root @ generator.standard_normal(here.size)
            tried = _with(self.parameters, self.free, moved)
            height = log_posterior(calendar, tried, self.free)
            accepted = math.isfinite(height) and math.log(generator.random()) < height - level
            if accepted:
                here, level, there = moved, height, tried
            if step < steps // 3:
                reach *= math.exp((0.7 if accepted else -0.3) * 0.2)
            else:
                walked.append(there)
        return [walked[place] for place in np.linspace(0, len(walked) - 1, number).astype(int)]


def log_posterior(calendar: Calendar, parameters: Parameters, free: tuple[int, ...]) -> float:
    """Logarithm of the likelihood of all results times the prior, up to a constant."""
    likelihood = filter_league(calendar, parameters).likelihood
    return float(calendar.weight @ likelihood) - _penalty(_inner(parameters, free), free, parameters.nu)


def filter_league(calendar: Calendar, parameters: Parameters) -> Filtered:
    """Run the filter over all matches."""
    n = calendar.size
    likelihood, path, home_path = np.empty(n), np.empty((n, 2, 5)), np.empty((n, 4))
    centre = kernels.filter_matches(calendar, parameters, hermite(NODES), likelihood, path, home_path)
    return Filtered(likelihood, path, home_path, float(centre))


def smooth_league(calendar: Calendar, filtered: Filtered) -> Strengths:
    """Strengths and home advantage in every match, given all results."""
    n = calendar.size
    strengths = Strengths(np.empty((n, 2)), np.empty((n, 2)), np.empty((n, 2)), np.empty(n))
    kernels.smooth_sides(calendar, filtered.path, NO_DRAWS, *strengths[:3])
    kernels.smooth_home(calendar.neutral, filtered.home_path, NO_DRAWS[0], strengths.home)
    return strengths


def estimate_league(calendar: Calendar, nu: float = CHESS_NU, *, still: bool = False) -> LeagueEstimate:
    """Estimate the league from its matches; ``still`` strengths never move."""
    draws, at_home = bool(np.any(np.abs(calendar.result) < 1)), not bool(calendar.neutral.all())
    wanted = (*[not still] * 3, True, has_late_newcomers(calendar), at_home, draws)
    free = tuple(k for k, one in enumerate(wanted) if one)
    unit = _unit(nu)
    first = [prior.centre * (unit if prior.in_points else 1.0) for prior in PRIORS]
    absent = (STILL, STILL, STILL, 0.0, 0.0, 0.0, 0.0)
    start = Parameters(*(value if wanted[k] else absent[k] for k, value in enumerate(first)), nu=nu)

    def losses(point: Array) -> Array:
        return -calendar.weight * filter_league(calendar, _with(start, free, point)).likelihood

    here, base, curvature = _newton(losses, start, free)
    return LeagueEstimate(_with(start, free, here), -float(base.sum()), np.linalg.inv(curvature).astype(float), free)


def moves(calendar: Calendar, league: LeagueEstimate) -> bool:
    """Whether the matches show that strengths move: the league is likelier than one that stands still."""
    still = estimate_league(calendar, league.parameters.nu, still=True)
    return league.log_likelihood - still.log_likelihood > TELLING


def _newton(losses: Callable[[Array], Array], start: Parameters, free: tuple[int, ...]) -> tuple[Array, Array, Array]:
    """The least penalised loss: the place, the losses there, and the curvature."""
    here, nu = _inner(start, free), start.nu
    centre, width = here.copy(), _widths(free, nu)
    moved = np.array([1.0 if PRIORS[k].positive else width[n] / 2 for n, k in enumerate(free)])
    base, damping = losses(here), 1e-3
    curvature = np.eye(here.size)
    for _ in range(MOST_STEPS):
        scores = np.stack(
            [
                (losses(here + step * one) - losses(here - step * one)) / (2 * step)
                for step, one in zip(DIFFERENCE * moved, np.eye(here.size))
            ]
        )
        gradient = scores.sum(axis=1) + (here - centre) / width**2
        curvature = scores @ scores.T + np.diag(1 / width**2)
        old = base.sum() + _penalty(here, free, nu)
        while damping < 1e6:
            change = -np.linalg.solve(curvature + damping * np.diag(np.diag(curvature)), gradient)
            change *= min(1.0, 1.0 / float(np.abs(change / moved).max()))
            tried = losses(here + change)
            new = tried.sum() + _penalty(here + change, free, nu)
            if np.isfinite(new) and new <= old:
                break
            damping *= 10
        else:
            break
        here, base, damping = here + change, tried, max(damping / 10, 1e-9)
        if old - new < NEGLIGIBLE:
            break
    return here, base, curvature


@cache
def hermite(number: int) -> Nodes:
    """Nodes and weights of the expectation over a standard normal variable."""
    x, weight = np.polynomial.hermite_e.hermegauss(number)
    return Nodes(x, weight / weight.sum())


def has_late_newcomers(calendar: Calendar) -> bool:
    """Whether some side enters once the average side seen has played twice."""
    places = np.empty(2 * calendar.size, np.int64)
    places[0::2], places[1::2] = calendar.home, calendar.away
    debut = np.unique(places, return_index=True)[1]
    debut.sort()
    seen = np.arange(debut.size)
    return bool(np.any((debut // 2 >= seen) & (seen > 0)))


def _unit(nu: float) -> float:
    """Points of this scale in one point of the chess scale."""
    return CHESS_NU / nu


def _widths(free: tuple[int, ...], nu: float) -> Array:
    return np.array([PRIORS[k].width * (1.0 if PRIORS[k].positive else _unit(nu)) for k in free])


def _penalty(point: Array, free: tuple[int, ...], nu: float) -> float:
    unit = _unit(nu)
    values = [PRIORS[k].centre * (unit if PRIORS[k].in_points else 1.0) for k in free]
    centre = np.array([math.log(value) if PRIORS[k].positive else value for k, value in zip(free, values)])
    return 0.5 * float((((point - centre) / _widths(free, nu)) ** 2).sum())


def _inner(parameters: Parameters, free: tuple[int, ...]) -> Array:
    return np.array([math.log(parameters[k]) if PRIORS[k].positive else parameters[k] for k in free])


def _with(parameters: Parameters, free: tuple[int, ...], point: Array) -> Parameters:
    values = list(parameters)
    for k, value in zip(free, point):
        values[k] = math.exp(float(np.clip(value, -20.0, 20.0))) if PRIORS[k].positive else float(value)
    return Parameters(*values)
