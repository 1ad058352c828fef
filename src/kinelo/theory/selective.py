r"""Equilibria when pairing depends on ratings: ``a_i = Σ_j μ_j w(R_i − R_j) (s_ij − b(R_i − R_j)) = 0``.

The drift is still a gradient, but of a functional that need not be convex: several equilibria are possible. From a
given start we follow the flow by implicit Euler steps that lengthen as the drift dies out, until they are Newton steps.
The eigenvalues of the Jacobian then tell whether the equilibrium is stable.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigvalsh

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.expectation import Closure, expected_result
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.balance import Balance
from kinelo.theory.fixed_point import GOAL, ROUNDING_FLOOR
from kinelo.theory.pair_means import FREE_RATE, mass_laplacian
from kinelo.theory.teams import Teams

MOST_DENSE_TEAMS = 3000
MOST_SELECTIVE_STEPS = 2000


def drift_and_slope(system: RatingSystem, results: Array, mass: Array, rating: Array) -> tuple[Array, Array]:
    """Drift of every team, and the symmetric matrix of how strongly each pair is drawn together."""
    gap = rating[:, None] - rating[None, :]
    b, w = system.outcome.b(gap), system.pairing.w(gap)
    slope = w * system.outcome.b_prime(gap) - system.pairing.w_prime(gap) * (results - b)
    return (w * (results - b)) @ mass, slope


def equilibrium(system: RatingSystem, teams: Teams, closure: Closure, start: Array) -> Balance:
    """Follow the flow from ``start`` to where it ends."""
    if teams.size > MOST_DENSE_TEAMS:
        raise InputError(
            f"A pairing that depends on ratings is solved for at most {MOST_DENSE_TEAMS:,} teams, not {teams.size:,}; "
            "AllPlayAll has no such limit."
        )
    results = expected_result(system.outcome, teams.strengths, closure)
    mass, rating = teams.mass, np.array(start)
    drift, slope = drift_and_slope(system, results, mass, rating)
    time = 1 / system.outcome.steepest
    for iteration in range(MOST_SELECTIVE_STEPS):
        residual = float(np.abs(drift).max())
        if residual <= ROUNDING_FLOOR:
            return Balance(rating, residual, iteration, _growth(slope, mass))
        step = _implicit_step(slope, mass, drift, time)
        if step is None:
            time /= 4
            continue
        new_drift, new_slope = drift_and_slope(system, results, mass, rating + step)
        new_residual = float(np.abs(new_drift).max())
        if new_residual >= residual and residual <= GOAL:
            return Balance(rating, residual, iteration, _growth(slope, mass))
        if new_residual > 2 * residual and time * system.outcome.steepest > 1e-3:
            time /= 4
            continue
        rating, drift, slope = rating + step, new_drift, new_slope
        time *= float(np.clip(2 * residual / max(new_residual, 1e-300), 0.7, 10))
    raise NoStationaryState(
        f"The ratings reach no equilibrium from this start: they still drift by {np.abs(drift).max():.3g} per match "
        "where pairs of teams enter and leave the pairing; a smoothed pairing or another start may have one."
    )


def _implicit_step(slope: Array, mass: Array, drift: Array, time: float) -> Array | None:
    """Solve ``(1/time − J) step = drift``, or None where the step is too long for a downhill direction."""
    matrix = -slope * np.multiply.outer(mass, mass)
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1) + mass / time)
    try:
        return cho_solve(cho_factor(matrix), mass * drift)
    except LinAlgError:
        return None


def _growth(slope: Array, mass: Array) -> float:
    """Largest eigenvalue of the Jacobian apart from shifts of groups that never meet, which are free."""
    rates = eigvalsh(mass_laplacian(slope, mass))
    moving = rates[np.abs(rates) > FREE_RATE * np.abs(rates).max()]
    return -float(moving.min()) if moving.size else 0.0
