r"""Rating noise when whole rounds are rated at once.

Linear, about the stationary ratings: ``LC + CL − γLCL = γ·Lap(Var S)``; with tanh and constant strengths mode k has the
variance ``γ/(ν(2 − γλ_k))``, against γ/2ν match by match.

Closure, with ``Δ_ij ~ N(m_i − m_j, C_ii + C_jj − 2C_ij)``: ``A = Lap(E b')``, ``Σ_j E b(Δ_ij) = Σ_j s_ij`` and
``AC + CA − γACA = γ·Lap(Var S + E b² − (E b)² − (E b')² Var Δ)``. Noise flattens b, so it holds beyond γ_c too.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, eigh

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.expectation import expected_result, expected_tie
from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array
from kinelo.theory.anderson import Mixing
from kinelo.theory.limit import balanced_ratings
from kinelo.theory.moving.pairs import PairMeans
from kinelo.theory.moving.rounds import round_modes
from kinelo.theory.noise import WHOLE_COVARIANCE, Fluctuation
from kinelo.theory.pair_means import difference_variance, laplacian
from kinelo.theory.teams import Teams

GOAL = 1e-11
ITERATIONS = 400
CALM = 0.4
GROWTH = 1.3


def linear_round_noise(outcome: Outcome, teams: Teams, gamma: float) -> Fluctuation:
    """Covariance of the ratings before a round, for noise so small that b is a straight line across it."""
    _check(teams)
    rating = balanced_ratings(outcome, teams, "exact", teams.theta, dense=True).positions
    rates, modes = round_modes(outcome, teams, rating)
    if gamma * rates[-1] >= 2:
        raise NoStationaryState(
            f"Rounds rated with gamma = {gamma:g} are unstable: their critical step is {2 / rates[-1]:.6g}."
        )
    results, decided = expected_result(outcome, teams.strengths), 1 - expected_tie(outcome, teams.strengths)
    covariance = _covariance(gamma, rates, modes, _laplacian(decided - results**2))
    return Fluctuation(rating, np.diag(covariance).copy(), covariance, 0.0, 1)


def round_noise(outcome: Outcome, teams: Teams, gamma: float) -> Fluctuation:
    """Mean and covariance of the ratings before a round, by the closure, reached from small steps."""
    _check(teams)
    start = balanced_ratings(outcome, teams, "exact", teams.theta, dense=True).positions
    gammas = [gamma]
    while gammas[-1] * teams.size * outcome.steepest > CALM:
        gammas.append(gammas[-1] / GROWTH)
    closure = _Closure(outcome, teams)
    rating, covariance = start, np.eye(teams.size) * gammas[-1] / (2 * outcome.steepest)
    for step in reversed(gammas[1:]):
        found = closure.solved(step, rating, covariance)
        rating, covariance = found.rating, covariance if found.covariance is None else found.covariance
    return closure.solved(gamma, rating, covariance)


def _check(teams: Teams) -> None:
    if not teams.finite or teams.size > WHOLE_COVARIANCE:
        raise InputError(f"The noise of rounds is computed for leagues of 2 to {WHOLE_COVARIANCE} teams.")


def _laplacian(pairs: Array) -> Array:
    off = pairs.copy()
    np.fill_diagonal(off, 0.0)
    return laplacian(off)


def _covariance(gamma: float, rates: Array, modes: Array, forcing: Array) -> Array:
    """Solve ``AC + CA − γACA = γF`` in the modes of A; a shift of all ratings is neither held nor excited."""
    held = np.abs(rates) > 1e-9 * np.abs(rates).max()
    decay = rates[:, None] + rates[None, :] - gamma * np.multiply.outer(rates, rates)
    both = np.multiply.outer(held, held)
    if (decay[both] <= 0).any():
        raise LinAlgError("rounds overshoot")
    inner = np.where(both, gamma * (modes.T @ forcing @ modes) / np.where(both, decay, 1.0), 0.0)
    covariance = modes @ inner @ modes.T
    return (covariance + covariance.T) / 2


class _Closure:
    def __init__(self, outcome: Outcome, teams: Teams) -> None:
        self._outcome, self._size = outcome, teams.size
        self._results = expected_result(outcome, teams.strengths)
        self._spread = 1 - expected_tie(outcome, teams.strengths) - self._results**2
        self._rows, self._columns = np.triu_indices(teams.size, 1)

    def _matrix(self, values: Array, sign: int = 1) -> Array:
        full = np.zeros((self._size, self._size))
        full[self._rows, self._columns] = values
        full[self._columns, self._rows] = sign * values
        return full

    def solved(self, gamma: float, rating: Array, covariance: Array) -> Fluctuation:
        """Alternate a Newton step for the means with the equation for C, mixing the last few steps."""
        mixing, size = Mixing(), self._size
        for iteration in range(1, ITERATIONS + 1):
            try:
                drift, step, new = self._images(gamma, rating, covariance)
            except LinAlgError:
                break
            change = float(np.abs(new - covariance).max() / np.abs(new).max())
            residual = float(np.abs(drift).max())
            if residual <= GOAL and change <= GOAL:
                return Fluctuation(rating, np.diag(new).copy(), new, residual, iteration)
            here, there = np.vstack([rating, covariance]), np.vstack([rating + step, new])
            point = mixing.propose(here.ravel(), there.ravel(), change)
            rating, covariance = point[:size], point[size:].reshape(size, size)
        raise NoStationaryState(
            f"The noise of rounds was not found at gamma = {gamma:g}; take a smaller one, or simulate."
        )

    def _images(self, gamma: float, rating: Array, covariance: Array) -> tuple[Array, Array, Array]:
        i, j = self._rows, self._columns
        variance = difference_variance(covariance, finite=True)[i, j]
        noise = PairMeans(self._outcome, rating[i] - rating[j], np.sqrt(variance))
        rates, modes = eigh(laplacian(self._matrix(noise.slope)))
        drift = (self._results - self._matrix(noise.mean, -1)).sum(axis=1)
        rest = self._matrix(noise.square - noise.mean**2 - noise.slope**2 * variance)
        covariance = _covariance(gamma, rates, modes, _laplacian(self._spread + rest))
        inverse = np.where(np.arange(self._size) == 0, 0.0, 1 / np.maximum(rates, 1e-300))
        return drift, modes @ (inverse * (modes.T @ drift)), covariance
