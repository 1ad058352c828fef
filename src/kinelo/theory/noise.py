r"""Ratings at a finite step size: mean and covariance of their fluctuations, solved together.

Let ``Δ_ij`` be normal with the mean and variance of ``R_i − R_j``, and ⟨·⟩_i the mean over the opponents of team i:

    ``⟨E w(Δ) (s − b(Δ))⟩_i = 0``  and  ``A C + C A = γ Q``

with ``A`` the Laplacian of ``−E [w (s − b)]'``, ``Q`` that of ``E w (S² − 2 s b + b²)`` and C the covariance. In a
small league C is kept whole. In a large one, or a continuum, ratings are independent and ``v_i = γ Q_ii / (2 A_ii)``.
As γ → 0 with tanh and w ≡ 1, v → γ/2ν for every team.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from kinelo.errors import NoStationaryState
from kinelo.model.expectation import Closure
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.anderson import NEAR, Mixing
from kinelo.theory.joint_step import Aim, joint_step
from kinelo.theory.pair_means import PairMeans, Results, difference_variance, laplacian, pair_means
from kinelo.theory.teams import Teams

WHOLE_COVARIANCE = 300
ITERATIONS = 200
ATTEMPTS = 40
GOAL = 1e-12
CALM = 0.2
GROWTH = 1.4
LARGEST_CHANGE = 4.0
"""Factor by which one step changes a variance at most."""


@dataclass(frozen=True)
class Fluctuation:
    """Mean ratings, their variances, and their covariance where it was kept."""

    rating: Array
    variance: Array
    covariance: Array | None
    residual: float
    iterations: int


Solve = Callable[[RatingSystem, Array, Fluctuation | None], Fluctuation]
"""``solve(system, start, guess)``."""


def fluctuations(
    system: RatingSystem, teams: Teams, closure: Closure, start: Array, guess: Fluctuation | None = None
) -> Fluctuation:
    """Solve for mean and covariance, by Newton's steps where everyone plays everyone.

    ``guess``, a solution for similar strengths or step size, saves iterations.
    """
    results = Results(system, teams, closure)

    def solve(step: RatingSystem, first: Array, known: Fluctuation | None, most: int = ITERATIONS) -> Fluctuation:
        return _solved(step, teams, results, first, known, most)

    if system.pairing.constant:
        try:
            return solve(system, start if guess is None else guess.rating, guess, ATTEMPTS)
        except NoStationaryState:
            pass
    return by_growing_steps(solve, system, start, guess)


def by_growing_steps(solve: Solve, system: RatingSystem, start: Array, guess: Fluctuation | None) -> Fluctuation:
    """Reach large noise from smaller noise: step sizes grow to the system's own, each solved from the one before.

    Without a guess the first is calm, ``γ sup b' ≤ 0.2``, and is found from the ratings without noise.
    """
    gammas = [system.step]
    while guess is None and gammas[-1] * system.outcome.steepest > CALM:
        gammas.append(gammas[-1] / GROWTH)
    try:
        found = solve(replace(system, gamma=gammas[-1]), start if guess is None else guess.rating, guess)
        for gamma in reversed(gammas[:-1]):
            found = solve(replace(system, gamma=gamma), found.rating, found)
    except NoStationaryState:
        raise unsettled(system) from None
    return found


def _solved(
    system: RatingSystem, teams: Teams, results: Results, start: Array, guess: Fluctuation | None, most: int
) -> Fluctuation:
    whole = teams.finite and teams.size <= WHOLE_COVARIANCE
    rating = np.array(start)
    covariance = np.diag(np.full(teams.size, system.step / (2 * system.outcome.steepest)))
    if guess is not None:
        covariance = np.diag(guess.variance) if guess.covariance is None else guess.covariance
    weights, mixing = opponents(teams), Mixing()
    for iteration in range(1, most + 1):
        try:
            now = look(system, teams, results, weights, rating, covariance)
            if now.change <= GOAL and now.residual <= GOAL:
                variance = np.ascontiguousarray(np.diag(now.implied))
                return Fluctuation(rating, variance, now.implied if whole else None, now.residual, iteration)
            ahead = now.next_point(teams.mass)
            here, there = np.vstack([rating, covariance]), np.vstack([ahead.rating, ahead.covariance])
            # After Newton's steps, past ones count from the first.
            change = min(now.change, NEAR) if system.pairing.constant else now.change
            point = mixing.propose(here.ravel(), there.ravel(), change)
        except LinAlgError:
            break
        rating, covariance = point[: teams.size], point[teams.size :].reshape(covariance.shape)
    raise unsettled(system)


class Point(NamedTuple):
    """Where an iteration goes."""

    rating: Array
    covariance: Array
    gamma: float


@dataclass(frozen=True)
class Look:
    """What is known at a point: the covariance that the equation gives and its relative distance from the one here, the
    largest drift that is left, and Newton's step for the means alone.
    """

    gamma: float
    rating: Array
    covariance: Array
    implied: Array
    change: float
    residual: float
    means: PairMeans
    weights: Array
    step: Array

    def next_point(self, mass: Array, aim: Aim | None = None) -> Point:
        """A Newton step for means and variances, or for the means alone where w varies."""
        if self.means.bends is None:
            return Point(self.rating + self.step, self.implied, self.gamma)
        variance, implied = np.diag(self.covariance), np.diag(self.implied)
        joint = joint_step(self.means, self.means.bends, self.weights, mass, variance, implied, self.gamma, aim)
        wider = np.sqrt(np.clip((variance + joint.variance) / implied, 1 / LARGEST_CHANGE, LARGEST_CHANGE))
        covariance = self.implied * np.multiply.outer(wider, wider)
        return Point(self.rating + joint.rating, covariance, self.gamma + joint.gamma)


def look(
    system: RatingSystem, teams: Teams, results: Results, weights: Array, rating: Array, covariance: Array
) -> Look:
    """Evaluate the equations at a point."""
    means = pair_means(system, results, rating, difference_variance(covariance, teams.finite))
    drift = (means.drift * weights).sum(axis=1)
    solve = _whole_step if teams.finite and teams.size <= WHOLE_COVARIANCE else _separate_step
    step, new = solve(system.step, teams.mass, drift, means.slope * weights, means.shake * weights)
    change, residual = float(np.abs(new - covariance).max() / np.abs(new).max()), float(np.abs(drift).max())
    if not math.isfinite(change + residual):
        raise LinAlgError("the ratings run apart")
    return Look(system.step, rating, covariance, new, change, residual, means, weights, step)


def opponents(teams: Teams) -> Array:
    """Weights of the opponents (columns) of each team."""
    weights = np.broadcast_to(teams.mass * teams.crowding, (teams.size, teams.size)).copy()
    if teams.finite:
        np.fill_diagonal(weights, 0.0)
    return weights


def _whole_step(gamma: float, mass: Array, drift: Array, slope: Array, shake: Array) -> tuple[Array, Array]:
    rates, modes = eigh(laplacian(slope), driver="evd")
    # Shifts of a whole group cost nothing: they neither decay nor are they excited.
    free = np.abs(rates) <= 1e-9 * np.abs(rates).max()
    if free.all() or (rates[~free] < 0).any():
        raise LinAlgError("nothing holds the ratings together")
    forcing = modes.T @ laplacian(shake) @ modes
    decay = rates[:, None] + rates[None, :]
    held = np.multiply.outer(~free, ~free)
    covariance = modes @ np.where(held, gamma * forcing / np.where(held, decay, 1.0), 0.0) @ modes.T
    inverse = np.where(free, 0.0, 1 / np.where(free, 1.0, rates))
    return modes @ (inverse * (modes.T @ drift)), (covariance + covariance.T) / 2


def _separate_step(gamma: float, mass: Array, drift: Array, slope: Array, shake: Array) -> tuple[Array, Array]:
    restoring = slope.sum(axis=1)
    stiffness = laplacian(slope) * mass[:, None] + np.multiply.outer(mass, mass) * restoring.max()
    step = cho_solve(cho_factor((stiffness + stiffness.T) / 2), mass * drift)
    if (restoring <= 0).any():
        raise LinAlgError("nothing holds the ratings together")
    return step, np.diag(gamma * shake.sum(axis=1) / (2 * restoring))


def unsettled(system: RatingSystem) -> NoStationaryState:
    """The error for noise whose equations were not solved."""
    if system.pairing.constant:
        return NoStationaryState(
            f"The equations for the rating noise were not solved at gamma = {system.step:g}: with nu = "
            f"{system.outcome.sharpness:g} ratings fluctuate too widely for them; take a smaller gamma, or simulate."
        )
    return NoStationaryState(
        f"The rating noise at gamma = {system.step:g} leaves no stable mean ratings near this start; "
        "a smaller gamma or a wider pairing has them."
    )
