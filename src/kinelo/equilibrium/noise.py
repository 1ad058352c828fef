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
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from kinelo.equilibrium.anderson import Mixing
from kinelo.equilibrium.teams import Teams
from kinelo.errors import NoStationaryState
from kinelo.model.expectation import Closure, expected_result, expected_tie
from kinelo.model.outcome import Outcome
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array

Index = NDArray[np.intp]

WHOLE_COVARIANCE = 300
ITERATIONS = 200
WIDEST = 60.0
GOAL = 1e-12
CALM = 0.2
GROWTH = 1.4
CACHED = 1 << 14


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


@dataclass(frozen=True)
class PairMeans:
    """Means over the noise of a pair: its drift (antisymmetric), its restoring slope and its shake (symmetric)."""

    drift: Array
    slope: Array
    shake: Array


class Results:
    """First two moments of the results of all pairs."""

    def __init__(self, system: RatingSystem, teams: Teams, closure: Closure) -> None:
        self.mean = expected_result(system.outcome, teams.strengths, closure)
        self.square = 1 - expected_tie(system.outcome, teams.strengths)


def normal_nodes(sharpness: float) -> tuple[Array, Array]:
    """Nodes and weights of the trapezoidal rule for a standard normal; ``sharpness`` is its spread in units of what
    the integrand resolves.
    """
    step = min(0.7, 0.33 / max(sharpness, 1e-9))
    half = math.ceil(8.3 / step)
    x: Array = np.arange(-half, half + 1, dtype=np.float64) * step
    weight: Array = np.exp(-(x**2) / 2)
    return x, weight / weight.sum()


def pair_means(system: RatingSystem, results: Results, rating: Array, variance: Array) -> PairMeans:
    """Average over the noise of every pair; ``variance`` is the matrix of the variances of ``R_i − R_j``."""
    rows, columns = _pairs(rating.size)
    centre = rating[rows] - rating[columns]
    spread = np.sqrt(variance[rows, columns])
    mean, square = results.mean[rows, columns], results.square[rows, columns]
    pairing = system.pairing.softened()
    sharpness = float(spread.max()) / min(system.outcome.finest, pairing.finest)
    if not sharpness <= WIDEST:
        raise LinAlgError("the ratings run apart")
    x, weight = normal_nodes(sharpness)
    if pairing.constant:
        drift, slope, shake = _plain_sums(system.outcome, x, weight, centre, spread, mean, square)
    else:
        drift, slope, shake = np.zeros_like(centre), np.zeros_like(centre), np.zeros_like(centre)
        for node, share in zip(x, weight):
            z = centre + node * spread
            b, w = system.outcome.b(z), pairing.w(z) * share
            push = w * (mean - b)
            drift += push
            # Stein's identity: E f' = E f x / spread.
            slope -= push * node
            shake += w * (square - 2 * mean * b + b * b)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.where(spread > 0, slope / spread, 0.0)
    place, sign = _places(rating.size)
    return PairMeans(drift[place] * sign, slope[place], shake[place])


def _plain_sums(
    outcome: Outcome, x: Array, weight: Array, centre: Array, spread: Array, mean: Array, square: Array
) -> tuple[Array, Array, Array]:
    """The sums of :func:`pair_means` for w ≡ 1, where ``Σ b``, ``Σ x b`` and ``Σ b²`` say it all."""
    score, slope, energy = np.empty_like(centre), np.empty_like(centre), np.empty_like(centre)
    odd = weight * x
    # As many pairs at a time as stay in the processor's cache.
    size = max(1, CACHED // x.size)
    for begin in range(0, centre.size, size):
        part = slice(begin, begin + size)
        z = np.multiply.outer(x, spread[part])
        z += centre[part]
        b = np.asarray(outcome.b(z))
        score[part], slope[part] = weight @ b, odd @ b
        energy[part] = weight @ (b * b)
    return mean - score, slope, square - 2 * mean * score + energy


@lru_cache(maxsize=4)
def _pairs(size: int) -> tuple[Index, Index]:
    rows, columns = np.triu_indices(size)
    return rows, columns


@lru_cache(maxsize=4)
def _places(size: int) -> tuple[Index, Array]:
    """Where the pair of i and j stands among all pairs, and −1 below the diagonal."""
    rows, columns = _pairs(size)
    place = np.empty((size, size), dtype=np.intp)
    place[rows, columns] = place[columns, rows] = np.arange(rows.size)
    return place, np.where(np.tri(size, k=-1, dtype=np.bool_), -1.0, 1.0)


def fluctuations(
    system: RatingSystem, teams: Teams, closure: Closure, start: Array, guess: Fluctuation | None = None
) -> Fluctuation:
    """Solve for mean and covariance by alternating a Newton step for the mean with the equation for C.

    ``guess``, a solution for similar strengths or step size, saves iterations.
    """
    results = Results(system, teams, closure)
    return by_growing_steps(
        lambda step, first, known: _solved(step, teams, results, first, known), system, start, guess
    )


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
    system: RatingSystem, teams: Teams, results: Results, start: Array, guess: Fluctuation | None
) -> Fluctuation:
    whole = teams.finite and teams.size <= WHOLE_COVARIANCE
    rating = np.array(start)
    covariance = np.diag(np.full(teams.size, system.step / (2 * system.outcome.steepest)))
    if guess is not None:
        covariance = np.diag(guess.variance) if guess.covariance is None else guess.covariance
    weights, mixing = opponents(teams), Mixing()
    for iteration in range(1, ITERATIONS + 1):
        try:
            step, new, residual = advance(system, teams, results, weights, rating, covariance)
        except LinAlgError:
            raise unsettled(system) from None
        change = float(np.abs(new - covariance).max() / np.abs(new).max())
        if residual <= GOAL and change <= GOAL:
            variance = np.ascontiguousarray(np.diag(new))
            return Fluctuation(rating, variance, new if whole else None, residual, iteration)
        here, there = np.vstack([rating, covariance]), np.vstack([rating + step, new])
        point = mixing.propose(here.ravel(), there.ravel(), change)
        rating, covariance = point[: teams.size], point[teams.size :].reshape(covariance.shape)
    raise unsettled(system)


def advance(
    system: RatingSystem, teams: Teams, results: Results, weights: Array, rating: Array, covariance: Array
) -> tuple[Array, Array, float]:
    """Newton's step for the means, the covariance that the equation gives, and the largest drift that is left."""
    means = pair_means(system, results, rating, difference_variance(covariance, teams.finite))
    drift = (means.drift * weights).sum(axis=1)
    solve = _whole_step if teams.finite and teams.size <= WHOLE_COVARIANCE else _separate_step
    step, new = solve(system.step, teams.mass, drift, means.slope * weights, means.shake * weights)
    return step, new, float(np.abs(drift).max())


def difference_variance(covariance: Array, finite: bool) -> Array:
    """Variances of ``R_i − R_j``; on the diagonal of a continuum, of two different teams at the same node."""
    own = np.diag(covariance)
    total = own[:, None] + own[None, :] - 2 * covariance
    np.fill_diagonal(total, 0.0 if finite else 2 * own)
    return np.maximum(total, 0.0)


def opponents(teams: Teams) -> Array:
    """Weights of the opponents (columns) of each team."""
    weights = np.broadcast_to(teams.mass * teams.crowding, (teams.size, teams.size)).copy()
    if teams.finite:
        np.fill_diagonal(weights, 0.0)
    return weights


def laplacian(pairs: Array) -> Array:
    """Matrix of ``h → Σ_j pairs_ij (h_i − h_j)``."""
    return np.diag(pairs.sum(axis=1)) - pairs


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
