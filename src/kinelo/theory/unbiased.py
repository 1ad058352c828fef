r"""The step size at which ratings are on the scale of the strengths.

Performance noise shrinks the map R(θ), rating noise stretches it, and rating noise grows with γ: at one step size γ*
the slope is 1. There ratings vary about as much as performances do, so the equations for the noise
(:mod:`kinelo.theory.noise`) are solved for ratings, covariance and γ at once, starting from ``R = θ`` and
``C = diag σ²``. Where that does not settle, γ climbs from small steps instead.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import root_scalar

from kinelo.errors import InputError
from kinelo.model.expectation import Closure
from kinelo.model.open_outcome import check_outcome
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.anderson import NEAR, Mixing
from kinelo.theory.continuum import Continuum
from kinelo.theory.crowd import representatives
from kinelo.theory.joint_step import Aim
from kinelo.theory.limit import balanced_ratings, fluctuating
from kinelo.theory.noise import CALM, GROWTH, WHOLE_COVARIANCE, Fluctuation, look, opponents
from kinelo.theory.pair_means import Results
from kinelo.theory.state import regression_slope
from kinelo.theory.teams import Teams, teams_of
from kinelo.theory.threads import few_threads

UNBIASED = 1e-9
SETTLED = 1e-8
ATTEMPTS = 60


class Unbiased(NamedTuple):
    """γ*, and the fluctuations there where they were found together with it (to ``SETTLED``)."""

    gamma: float
    there: Fluctuation | None


def unbiased_gamma(outcome: Outcome, strengths: Strength | Continuum, closure: Closure = "exact") -> float:
    """Step size at which the regression of stationary ratings on strengths has slope 1, under AllPlayAll.

    Strengths that do not vary are rated without bias only by infinitely small steps: the answer is then 0.

    Examples
    --------
    >>> from kinelo.model.outcome import Tanh
    >>> round(unbiased_gamma(Tanh(nu=0.5), Continuum(theta=(4, 10), sigma=1.0)), 3)
    0.613
    """
    check_outcome(outcome)
    teams = teams_of(strengths)
    if teams.theta.max() == teams.theta.min():
        raise InputError("All teams have the same mean strength, so no step size changes the slope of their ratings.")
    if teams.finite and teams.size > WHOLE_COVARIANCE:
        teams, _ = representatives(teams)
    with few_threads(teams.size):
        still = balanced_ratings(outcome, teams, closure, teams.theta, dense=True).positions
        return unbiased_of(outcome, teams, closure, still).gamma


def unbiased_of(outcome: Outcome, teams: Teams, closure: Closure, still: Array) -> Unbiased:
    """γ* of teams whose ratings rest at ``still`` as γ → 0."""
    if _slope(teams, still) >= 1 - UNBIASED:
        return Unbiased(0.0, None)
    found = _together(outcome, teams, closure, still)
    return Unbiased(_climbing(outcome, teams, closure, still), None) if found is None else found


def _slope(teams: Teams, rating: Array) -> float:
    return regression_slope(teams.theta, rating, teams.mass)


def _together(outcome: Outcome, teams: Teams, closure: Closure, still: Array) -> Unbiased | None:
    """Iterate ratings, covariance and γ as one; None where they do not settle."""
    results, weights, mixing = Results(RatingSystem(outcome), teams, closure), opponents(teams), Mixing()
    rating, covariance = np.array(teams.theta), np.diag(np.maximum(teams.sigma, 1e-3 * teams.typical_sigma) ** 2)
    of_slope = _slope_weights(teams)
    try:
        unit = look(RatingSystem(outcome, gamma=1.0), teams, results, weights, rating, covariance).implied
        gamma = float(np.trace(covariance) / np.trace(unit))
        covariance = gamma * unit
        for iteration in range(1, ATTEMPTS + 1):
            now = look(RatingSystem(outcome, gamma=gamma), teams, results, weights, rating, covariance)
            aim = Aim(of_slope, 1 - float(of_slope @ rating))
            if max(now.residual, now.change, abs(aim.missing)) <= SETTLED:
                variance = np.ascontiguousarray(np.diag(now.implied))
                return Unbiased(gamma, Fluctuation(rating, variance, now.implied, now.residual, iteration))
            ahead = now.next_point(teams.mass, aim)
            here = np.concatenate([rating, covariance.ravel(), [gamma]])
            there = np.concatenate([ahead.rating, ahead.covariance.ravel(), [ahead.gamma]])
            point = mixing.propose(here, there, min(now.change, NEAR))
            rating, covariance = point[: teams.size], point[teams.size : -1].reshape(covariance.shape)
            gamma = float(point[-1])
            if not gamma > 0:
                return None
    except LinAlgError:
        pass
    return None


def _slope_weights(teams: Teams) -> Array:
    """What the slope of the regression on θ weighs ratings by."""
    centred = teams.theta - teams.mean(teams.theta)
    return teams.mass * centred / teams.mean(centred**2)


def _climbing(outcome: Outcome, teams: Teams, closure: Closure, still: Array) -> float:
    """Climb to the first step size whose slope is above 1, each solved from the one before, and refine from there."""

    def settled(gamma: float, guess: Fluctuation | None) -> Fluctuation:
        start = still if guess is None else guess.rating
        return fluctuating(RatingSystem(outcome, gamma=gamma), teams, closure, start, guess=guess)

    low, high = 0.0, min(0.8 * outcome.sharpness * teams.typical_sigma**2, CALM / outcome.steepest)
    below, above = None, settled(high, None)
    while _slope(teams, above.rating) < 1:
        low, high, below = high, GROWTH * high, above
        above = settled(high, below)
    near = above if below is None else below

    def excess(gamma: float) -> float:
        return _slope(teams, settled(gamma, near).rating if gamma > 0 else still) - 1

    return float(root_scalar(excess, bracket=(low, high), method="brentq", xtol=1e-6 * high).root)
