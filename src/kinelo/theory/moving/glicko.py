r"""A league rated by Glicko with strengths at rest, noise left out: where ratings and deviations settle.

``A_i = νv_i⟨g_j(s_ij − b(g_j(R_i − R_j)))⟩`` is the speed of rating i and ``c² − v_i²I_i`` that of its variance, with
``I_i = ν⟨g_j²b'(g_j(R_i − R_j))⟩``. Steps differ from team to team, so the mean rating is not conserved: in the long
run all ratings travel with one speed W, and ``v_i = c/√I_i``. W = 0 in symmetric leagues.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp
from scipy.linalg import solve

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.expectation import expected_result
from kinelo.model.outcome import Outcome, Tanh
from kinelo.model.strength import Strength
from kinelo.model.validation import Array, finite_array, positive
from kinelo.theory.anderson import Mixing
from kinelo.theory.continuum import Continuum
from kinelo.theory.moving.deviation import discount
from kinelo.theory.state import regression_slope
from kinelo.theory.teams import Teams, teams_of

GOAL = 1e-13
ITERATIONS = 400


@dataclass(frozen=True)
class DeviationState:
    """Ratings and deviations of a settled league.

    Attributes
    ----------
    rating, deviation
        Mean rating and RD of each team; the mean rating of the league is that of its strengths.
    variance
        Var r of each team about its mean: 0 where noise was left out.
    travel_speed
        W: by how much all ratings move per match of a team, for ever. 0 in symmetric leagues.

    >>> import kinelo as kn
    >>> state = kn.settled_deviations(kn.Tanh(nu=0.5), kn.Continuum(theta=(4, 10), sigma=1.0), growth=0.1)
    >>> bool(state.deviation.min() > 0), abs(state.travel_speed) < 1e-9
    (True, True)
    """

    rating: Array = field(repr=False)
    deviation: Array = field(repr=False)
    variance: Array = field(repr=False)
    travel_speed: float
    teams: Teams = field(repr=False)

    @cached_property
    def slope(self) -> float:
        """Slope of the regression of ratings on strengths."""
        return regression_slope(self.teams.theta, self.rating, self.teams.mass)


class GlickoLeague:
    """A league seen by Glicko: expected results, opponents, growth c."""

    def __init__(self, outcome: Outcome, strengths: Strength | Continuum, growth: float) -> None:
        if not isinstance(outcome, Tanh):
            raise InputError(f"Glicko's formulas are those of Tanh, not of {type(outcome).__name__}.")
        self.outcome, self.nu, self.growth = outcome, outcome.nu, positive("growth", growth)
        self.teams = teams_of(strengths)
        self.results = expected_result(outcome, self.teams.strengths)
        size = self.teams.size
        self.weights = np.broadcast_to(self.teams.mass * self.teams.crowding, (size, size)).copy()
        if self.teams.finite:
            np.fill_diagonal(self.weights, 0.0)

    def forces(self, rating: Array, variance: Array) -> tuple[Array, Array, Array]:
        """``⟨g(s − b(gΔ))⟩``, its slopes ``g²b'`` with the weights of the pairs, and ``I``."""
        g = discount(self.nu, variance)[None, :]
        z = g * (rating[:, None] - rating[None, :])
        drift = (self.weights * g * (self.results - self.outcome.b(z))).sum(axis=1)
        slope = self.weights * g**2 * self.outcome.b_prime(z)
        return drift, slope, self.nu * slope.sum(axis=1)

    def newton(self, drift: Array, slope: Array, steps: Array, speed: float) -> tuple[Array, float]:
        """Shift of the ratings, of mean zero, and of the speed W that make ``drift_i = W/steps_i``."""
        size = drift.size
        system = np.zeros((size + 1, size + 1))
        system[:size, :size] = np.diag(slope.sum(axis=1)) - slope
        system[:size, size] = 1 / steps
        system[size, :size] = self.teams.mass
        shift: Array = solve(system, np.append(drift - speed / steps, 0.0))
        return shift[:size], float(shift[size])


def settled_deviations(outcome: Outcome, strengths: Strength | Continuum, growth: float) -> DeviationState:
    """Where Glicko settles without noise: ratings, deviations and the speed at which all ratings travel.

    Parameters
    ----------
    outcome, strengths
        Tanh, and a league or a continuum with strengths at rest.
    growth
        c: the variance RD² grows by c² from one match of a team to its next.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> teams = Continuum(theta=(4, 10), sigma=1.0)
    >>> round(settled_deviations(Tanh(nu=0.5), teams, growth=0.1).slope, 8)
    0.79058394
    """
    league = GlickoLeague(outcome, strengths, growth)
    teams, mixing = league.teams, Mixing()
    rating, speed = teams.theta.copy(), 0.0
    variance: Array = np.full(teams.size, growth / league.nu)
    change = math.inf
    for _ in range(ITERATIONS):
        drift, slope, information = league.forces(rating, variance)
        new = growth / np.sqrt(information)
        shift, change_of_speed = league.newton(drift, slope, league.nu * variance, speed)
        change = float(np.abs(new / variance - 1).max() + np.abs(shift).max() * league.nu)
        if change <= GOAL:
            return DeviationState(rating, np.sqrt(variance), np.zeros(teams.size), speed, teams)
        # A long Newton step can overshoot where b is flat; the next ones make up for a shorter one.
        shift *= min(1.0, 2 / (league.nu * float(np.abs(shift).max()) + 1e-300))
        here = np.concatenate([rating, variance, [speed]])
        there = np.concatenate([rating + shift, new, [speed + change_of_speed]])
        point = mixing.propose(here, there, change)
        rating, speed = point[: teams.size], float(point[-1])
        variance = np.maximum(point[teams.size : -1], new / 4)
    if change <= 1e-9:
        return DeviationState(rating, np.sqrt(variance), np.zeros(teams.size), speed, teams)
    raise NoStationaryState(f"The deviations of this league were not found with growth = {growth:g}.")


@dataclass(frozen=True)
class DeviationPath:
    """Ratings and deviations on the way: one row per time, one column per team or node."""

    time: Array
    rating: Array = field(repr=False)
    deviation: Array = field(repr=False)
    teams: Teams = field(repr=False)

    def slopes(self) -> Array:
        """Slope of the regression of ratings on strengths at each time."""
        return np.array([regression_slope(self.teams.theta, one, self.teams.mass) for one in self.rating])


def deviation_path(
    outcome: Outcome,
    strengths: Strength | Continuum,
    growth: float,
    times: Sequence[float],
    *,
    rating: ArrayLike,
    deviation: ArrayLike,
) -> DeviationPath:
    """Follow ratings and deviations without noise: the kinetic equation of Glicko along its characteristics.

    ``times`` count matches of a team; ``rating`` and ``deviation`` are where all start, one number or one per team.
    """
    league = GlickoLeague(outcome, strengths, growth)
    size = league.teams.size
    first = np.broadcast_to(finite_array("rating", rating, np.ndim(rating)), size)
    spread = np.broadcast_to(finite_array("deviation", deviation, np.ndim(deviation)), size)
    when = finite_array("times", times, 1)

    def speed(_: float, state: Array) -> Array:
        variance = state[size:]
        drift, _slope, information = league.forces(state[:size], variance)
        return np.concatenate([league.nu * variance * drift, growth**2 - variance**2 * information])

    end = max(float(when.max()), 1e-9)
    found = solve_ivp(speed, (0.0, end), np.concatenate([first, spread**2]), "DOP853", when, rtol=1e-11, atol=1e-12)
    return DeviationPath(when, found.y[:size].T, np.sqrt(found.y[size:].T), league.teams)


def narrow_slope(nu: float, variance: float, sigma: float) -> float:
    """``1 + (6/π² + 2/3)ν²v − 2ν²σ²``: slope of ratings on strengths in a narrow league; unbiased near RD = 1.25 σ."""
    return 1 + (6 / math.pi**2 + 2 / 3) * nu**2 * variance - 2 * nu**2 * sigma**2
