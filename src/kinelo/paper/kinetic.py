"""What the figures of the kinetic equation share: conservation, conditional means, stationary maps on a grid; and the
equation of all-play-all without cells, where teams follow their characteristics.

For w ≡ 1 the speed of a rating is ``a = G(θ, σ) − D(r, t)``. The mean result ``G = ∫ s f′`` never changes, and
``D = ∫ b(r − r′) f′`` is a smooth function of r alone. Points ``(θ, σ, r₀)`` of a quadrature rule that move with this
speed carry their masses along, so every integral of f keeps the accuracy of the rule: no cell, no numerical diffusion.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr
from numpy.polynomial import Chebyshev
from numpy.typing import ArrayLike

from kinelo.errors import InputError, KineloWarning
from kinelo.model.expectation import Closure, expected_result
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Normal
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.studies.study import Study
from kinelo.theory.limit import stationary
from kinelo.theory.state import StationaryState
from kinelo.theory.teams import Continuum


@dataclass(frozen=True, kw_only=True)
class Kinetic:
    """A run of the kinetic equation: largest change of mass and of mean rating along it."""

    mass_error: float
    mean_error: float


def conservation(run: xr.Dataset) -> Kinetic:
    """How well a run conserves."""
    return Kinetic(
        mass_error=float(np.abs(run.mass - run.mass[0]).max()),
        mean_error=float(np.abs(run.mean_rating - run.mean_rating[0]).max()),
    )


def given(density: Array, r: Array) -> tuple[Array, Array]:
    """Mean and standard deviation of r in each row of a density over (label, r)."""
    weight = density / density.sum(axis=1, keepdims=True)
    mean = weight @ r
    return mean, np.sqrt(np.maximum(weight @ r**2 - mean**2, 0.0))


def continuum_of(run: xr.Dataset) -> Continuum:
    """The continuum of teams that a run discretises, with one σ or with an interval of them."""
    sigma = run.sigma.values
    return Continuum(
        theta=edges_of(run.theta.values),
        sigma=(max(edges_of(sigma)[0], 0.0), edges_of(sigma)[1]) if sigma.size > 1 else float(sigma[0]),
    )


Interval = tuple[float, float]


def uniform_domain(study: Study, run: xr.Dataset) -> tuple[Interval, Interval, Interval]:
    """The intervals of θ, σ and r of a run that starts from uniform data, all playing all."""
    if getattr(study.population, "kind", None) != "uniform" or not study.system.pairing.constant:
        raise InputError('This figure needs populations of kind = "uniform" and teams that all play all.')
    sigma = run.sigma.values
    spread = edges_of(sigma) if sigma.size > 1 else (float(sigma[0]), float(sigma[0]))
    return edges_of(run.theta.values), (max(spread[0], 0.0), spread[1]), edges_of(run.r.values)


def edges_of(centres: Array) -> tuple[float, float]:
    """The interval whose cells have these centres."""
    half = (centres[1] - centres[0]) / 2
    return float(centres[0] - half), float(centres[-1] + half)


def stationary_of(system: RatingSystem, teams: Continuum, closure: Closure) -> StationaryState:
    """The stationary state; the report states where a closure is out of its range."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        return stationary(system, teams, closure)


DIGITS = 11
"""To which a polynomial in r stands for D."""
TOLERANCE, MARGIN = 1e-9, 0.5
"""Error of a path, and how far beyond the ratings the polynomial reaches: they may begin as one."""


@dataclass(frozen=True)
class Cloud:
    """Points that stand for teams: mean strength, spread, rating and mass of each. A point of mass 0 only watches."""

    theta: Array
    sigma: Array
    rating: Array
    mass: Array

    def mean(self, values: ArrayLike) -> Array:
        """Mean over the teams; the last axis of ``values`` counts points."""
        return np.asarray(values) @ self.mass


def nodes(interval: tuple[float, float], count: int) -> tuple[Array, Array]:
    """Gauss–Legendre points of an interval and their masses, which sum to one."""
    x, weight = np.polynomial.legendre.leggauss(count)
    low, high = interval
    return (low + high) / 2 + (high - low) / 2 * x, weight / 2


def normal_nodes(count: int) -> tuple[Array, Array]:
    """Gauss–Hermite points of the standard normal law and their masses."""
    x, weight = np.polynomial.hermite_e.hermegauss(count)
    return x, weight / weight.sum()


Rule = tuple[Array, Array]


def cloud_of(theta: Rule, sigma: Rule, last: Rule, rating: Callable[[Array, Array], Array] | None = None) -> Cloud:
    """Every combination of θ, σ and a third number: the rating itself, or what ``rating(θ, third)`` makes one of.

    >>> line = cloud_of(nodes((4.0, 10.0), 8), (np.ones(1), np.ones(1)), (np.zeros(1), np.ones(1)), lambda t, _: t)
    >>> round(float(line.mean((line.rating - 7.0) ** 2)), 12)
    3.0
    """
    t, s, x = (axis.ravel() for axis in np.meshgrid(theta[0], sigma[0], last[0], indexing="ij"))
    mass = np.multiply.outer(np.multiply.outer(theta[1], sigma[1]), last[1]).ravel()
    return Cloud(t, s, x if rating is None else rating(t, x), mass)


def watched(*clouds: Cloud) -> Cloud:
    """The first cloud, and the points of the others as mere watchers of it."""
    first, *others = clouds
    theta, sigma, rating = (
        np.concatenate([getattr(one, name) for one in clouds]) for name in ("theta", "sigma", "rating")
    )
    return Cloud(theta, sigma, rating, np.append(first.mass, np.zeros(sum(one.mass.size for one in others))))


@dataclass(frozen=True)
class Paths:
    """Ratings of a cloud at given times, of shape (time, point).

    ``log_growth`` is the logarithm of how much denser the teams around each point of positive mass have become, where
    it was asked for.
    """

    cloud: Cloud
    time: Array
    rating: Array
    log_growth: Array

    @property
    def energy(self) -> Array:
        """``E = ∫ (r − θ)² f`` at each time."""
        return self.cloud.mean((self.rating - self.cloud.theta) ** 2)

    @property
    def variance(self) -> Array:
        """Second moment of r about its mean."""
        return self.cloud.mean(self.rating**2) - self.cloud.mean(self.rating) ** 2


def mean_results(outcome: Outcome, cloud: Cloud, closure: Closure) -> Array:
    """``G``: the mean result of every point against the teams."""
    labels, place = np.unique(np.column_stack([cloud.theta, cloud.sigma]), axis=0, return_inverse=True)
    mass = np.bincount(place.ravel(), cloud.mass, minlength=len(labels))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KineloWarning)
        results = expected_result(outcome, Normal(labels[:, 0], labels[:, 1]), closure)
    return (results @ mass)[place.ravel()]


def follow(outcome: Outcome, cloud: Cloud, times: ArrayLike, closure: Closure, *, density: bool = False) -> Paths:
    """Ratings of the points of a cloud at ``times``, from the first of them on; with ``density`` also how it grows."""
    from scipy.integrate import solve_ivp

    time, results, teams = np.asarray(times, dtype=float), mean_results(outcome, cloud, closure), cloud.mass > 0
    mass, count = cloud.mass[teams], cloud.rating.size

    def speed(_: float, state: Array) -> Array:
        rating = state[:count]
        of_teams, ends = rating[teams], (rating.min() - MARGIN, rating.max() + MARGIN)
        # The degree that DIGITS need: tanh(νz) has its poles at ±πi/2ν.
        half_width = outcome.steepest * (ends[1] - ends[0]) / 2
        degree = math.ceil(DIGITS * math.log(10) / math.asinh(math.pi / (2 * half_width)))
        expected = Chebyshev.interpolate(lambda r: outcome.b(np.subtract.outer(r, of_teams)) @ mass, degree, ends)
        grows = expected.deriv()(of_teams) if density else rating[:0]
        return np.concatenate([results - expected(rating), grows])

    begin = np.concatenate([cloud.rating, np.zeros(mass.size if density else 0)])
    found = solve_ivp(speed, time[[0, -1]], begin, "DOP853", time, rtol=TOLERANCE, atol=TOLERANCE)
    return Paths(cloud, time, found.y[:count].T, found.y[count:].T)
