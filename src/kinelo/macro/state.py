"""One moment of a run: the population, and the integrals that are watched of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinelo.errors import NoStationaryState
from kinelo.macro.grid import Grid
from kinelo.macro.kernels import label_moments
from kinelo.macro.population import Population
from kinelo.macro.velocity import Velocity
from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array
from kinelo.theory.balance import DensePull, WavePull, find_balance, runaway_group
from kinelo.theory.limit import DENSE_TEAMS


@dataclass(frozen=True)
class Diagnostics:
    """Integrals of one density. ``stationary_distance`` is ∫(r − R*)² f, NaN where there is no unique R*."""

    mass: float
    mean_rating: float
    second_moment: float
    energy: float
    stationary_distance: float


@dataclass(frozen=True)
class StationaryMap:
    """``R*`` of each label, or None and the reason why."""

    rating: Array | None
    note: str


def stationary_map(outcome: Outcome, velocity: Velocity, label_mass: Array, mean: float, moving: bool) -> StationaryMap:
    """Ratings at which every label with mass would rest, for w ≡ 1 and labels that stay."""
    if moving:
        return StationaryMap(None, "strengths wander, so there is no stationary map")
    if not velocity.separates:
        return StationaryMap(None, "the stationary map need not be unique for this pairing")
    present = label_mass > 0
    mass, target = label_mass[present] / label_mass.sum(), velocity.label[present]
    if mass.size < 2:
        return StationaryMap(np.full(label_mass.size, mean), "")
    if runaway_group(target, mass, outcome.supremum) is not None:
        return StationaryMap(None, "no stationary map exists for this closure: some teams' ratings grow without end")
    theta = velocity.grid.label_theta[present]
    pull = (DensePull if mass.size <= DENSE_TEAMS else WavePull)(outcome, mass)
    rating = np.full(label_mass.size, mean)
    try:
        rating[present] = find_balance(pull, target, theta - mass @ theta + mean, mass).positions
    except NoStationaryState:
        return StationaryMap(None, "the stationary map was not found: ratings lie too far apart for this closure")
    return StationaryMap(rating, "")


def diagnose(density: Array, grid: Grid, stationary: StationaryMap) -> Diagnostics:
    """Integrals of a density of shape (labels, ratings)."""
    mass, first, second = label_moments(density, grid.r.centres) * grid.volume

    def squared_distance(to: Array) -> float:
        return float((second - 2 * to * first + to**2 * mass).sum())

    distance = np.nan if stationary.rating is None else squared_distance(stationary.rating)
    return Diagnostics(
        float(mass.sum()), float(first.sum()), float(second.sum()), squared_distance(grid.label_theta), distance
    )


@dataclass(frozen=True)
class KineticState:
    """The population at one time, and what is watched of it.

    Attributes
    ----------
    time, steps
        Kinetic time, and steps taken to reach it.
    population, diagnostics
        The density and its integrals.
    change
        Rating points that ratings have moved on average, per unit of time, since the state before: the Wasserstein
        distance in r between the two densities of each label. NaN at the start.
    saved
        Whether this is one of the times asked for rather than one in between.
    steady
        Whether the run ends here because the distribution no longer moves.
    centre
        The mean rating that the run conserves; in an open league, the one it has.
    note
        Why the distance to the stationary map is NaN, where it is.
    frame
        Under learning, by how much the mean strength has grown: θ is counted from there.

    >>> import kinelo as kn
    >>> teams = kn.macro.Population.uniform(theta=(4, 10, 12), r=(4, 10, 12), sigma=1.0)
    >>> *_, last = kn.macro.kinetic_states(kn.RatingSystem(kn.Tanh(nu=0.5)), teams, until=1.0)
    >>> last.time, round(last.population.mass, 9), last.steady
    (1.0, 1.0, False)
    """

    time: float
    steps: int
    population: Population
    diagnostics: Diagnostics
    change: float
    saved: bool
    steady: bool
    centre: float
    note: str
    frame: float = 0.0
