r"""How well ratings follow strengths when whole rounds are rated at once.

A round: ratings are recorded, every pair plays with them frozen, then strengths move. With ``a = I − γA``,
``A = Lap(E b'(Δr))``, ``A_θ = Lap(E s'(Δθ))``, ``Q = Lap(E S² − E s²)`` and φ what form keeps from round to round,

    ``C = φγ(I − φa)⁻¹A_θV``,  ``U = aUa + γ(aCA_θ + A_θC'a) + γ²VA_θ² + γ²Q``.

A walk adds its variance of a round to the spread about today's strengths: ``E = aEa + γ²Q + s²``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError, eigh, solve, solve_discrete_lyapunov

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Form, Walk
from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array
from kinelo.theory.anderson import Mixing
from kinelo.theory.moving.moments import Moments, Parts
from kinelo.theory.moving.pairs import PairMeans
from kinelo.theory.moving.performance import normal_only
from kinelo.theory.noise import WHOLE_COVARIANCE
from kinelo.theory.pair_means import laplacian
from kinelo.theory.teams import Teams

GOAL = 1e-11
ITERATIONS = 400
CALM = 0.4
GROWTH = 1.3


@dataclass(frozen=True)
class RoundTracking:
    """Moments of strengths and ratings just before a round, and the error just after it.

    Attributes
    ----------
    within, between
        Moments of the teams about their own means, averaged over the league without its common shift; and of the means.
    after
        Mean square error right after a round, before strengths move on.
    parts
        The error before a round by cause.
    rating
        Mean rating of each team.
    """

    within: Moments
    between: Moments
    after: float
    parts: Parts
    rating: Array = field(repr=False)

    @property
    def moments(self) -> Moments:
        """Moments over the league before a round."""
        return self.within + self.between


def round_tracking(outcome: Outcome, teams: Teams, dynamics: Form | Walk, gamma: float) -> RoundTracking:
    """Solve the closure of tracking by rounds, reached from small steps; one round is N − 1 matches of a team."""
    normal_only(teams)
    if not teams.finite or teams.size > WHOLE_COVARIANCE:
        raise InputError(f"Tracking by rounds is computed for leagues of 2 to {WHOLE_COVARIANCE} teams.")
    closure = _Closure(outcome, teams, dynamics)
    gammas = [gamma]
    while gammas[-1] * teams.size * outcome.steepest > CALM:
        gammas.append(gammas[-1] / GROWTH)
    state = None
    for step in reversed(gammas[1:]):
        state = closure.solved(step, state)
    return closure.described(gamma, closure.solved(gamma, state))


class _Closure:
    """The equations, on disturbances that do not shift the league as a whole."""

    def __init__(self, outcome: Outcome, teams: Teams, dynamics: Form | Walk) -> None:
        self._outcome, self._teams, size = outcome, teams, teams.size
        self._rows, self._columns = np.triu_indices(size, 1)
        self._form = dynamics.spread**2 if isinstance(dynamics, Form) else 0.0
        self._keeps = math.exp(-dynamics.rate * (size - 1)) if isinstance(dynamics, Form) else 1.0
        self._wander = dynamics.step**2 * (size - 1) if isinstance(dynamics, Walk) else 0.0
        i, j = self._rows, self._columns
        noise = np.sqrt(2 * self._form + teams.sigma[i] ** 2 + teams.sigma[j] ** 2)
        means = PairMeans(outcome, teams.theta[i] - teams.theta[j], noise)
        self._target = self._matrix(means.mean, -1).sum(axis=1)
        # Orthonormal directions without a common shift.
        self._basis = eigh(laplacian(np.ones((size, size))))[1][:, 1:]
        self._drive = self._inner(laplacian(self._matrix(means.slope)))
        self._luck = self._inner(laplacian(self._matrix(1 - means.tie - self._known(means))))

    def _known(self, means: PairMeans) -> Array:
        """``E s²`` over the form of a pair: the product of two results that share it."""
        return means.product(means, np.full(means.spread.size, 2 * self._form))

    def _matrix(self, values: Array, sign: int = 1) -> Array:
        full = np.zeros((self._teams.size, self._teams.size))
        full[self._rows, self._columns] = values
        full[self._columns, self._rows] = sign * values
        return full

    def _inner(self, matrix: Array) -> Array:
        return self._basis.T @ matrix @ self._basis

    def _pull(self, rating: Array, spread: Array) -> tuple[Array, Array]:
        """Drift of the means in a round, and A."""
        full = self._basis @ spread @ self._basis.T
        own, i, j = np.diag(full), self._rows, self._columns
        width = np.sqrt(np.maximum(own[i] + own[j] - 2 * full[i, j], 0.0))
        means = PairMeans(self._outcome, rating[i] - rating[j], width)
        drift = self._target - self._matrix(means.mean, -1).sum(axis=1)
        return drift, self._inner(laplacian(self._matrix(means.slope)))

    def covariances(self, gamma: float, pull: Array) -> tuple[Array, Array]:
        """C and U for given slopes."""
        one = np.eye(pull.shape[0])
        a = one - gamma * pull
        if np.abs(np.linalg.eigvalsh(a)).max() >= 1:
            raise LinAlgError("rounds overshoot")
        C = self._keeps * gamma * self._form * solve(one - self._keeps * a, self._drive)
        cross = gamma * a @ C @ self._drive
        source = gamma**2 * (self._form * self._drive @ self._drive + self._luck) + cross + cross.T
        return C, solve_discrete_lyapunov(a, source + self._wander * one)

    def solved(self, gamma: float, start: tuple[Array, Array] | None) -> tuple[Array, Array]:
        """Mean ratings and U."""
        size = self._teams.size
        rating, U = start or (self._teams.theta.copy(), np.eye(size - 1) * gamma / (2 * self._outcome.steepest))
        mixing = Mixing()
        for _ in range(ITERATIONS):
            try:
                drift, pull = self._pull(rating, U)
                _, new = self.covariances(gamma, pull)
            except LinAlgError:
                break
            change = float(np.abs(new - U).max() / np.abs(new).max())
            if change <= GOAL and np.abs(drift).max() <= GOAL * size:
                return rating, new
            moved = rating + self._basis @ solve(pull, self._basis.T @ drift)
            here, there = np.concatenate([rating, U.ravel()]), np.concatenate([moved, new.ravel()])
            point = mixing.propose(here, there, change)
            rating, U = point[:size], point[size:].reshape(U.shape)
        raise NoStationaryState(
            f"Tracking by rounds was not solved at gamma = {gamma:g}; take a smaller one, or simulate."
        )

    def described(self, gamma: float, state: tuple[Array, Array]) -> RoundTracking:
        """Moments over the league."""
        rating, U = state
        pull = self._pull(rating, U)[1]
        C, U = self.covariances(gamma, pull)
        luck = solve_discrete_lyapunov(np.eye(pull.shape[0]) - gamma * pull, gamma**2 * self._luck)
        teams, free = self._teams, self._teams.size - 1
        rating = rating - rating.mean() + teams.theta.mean()
        x, y = teams.theta - teams.theta.mean(), rating - rating.mean()
        between = Moments(float(x @ x) / teams.size, float(x @ y) / teams.size, float(y @ y) / teams.size)
        within = Moments(self._form, float(np.trace(C)) / free, float(np.trace(U)) / free)
        bias = float((x - y) @ (x - y)) / teams.size
        played = Moments(within.V, within.C / self._keeps, within.U - self._wander)
        noise = float(np.trace(luck)) / free
        return RoundTracking(within, between, bias + played.error, Parts(noise, within.error - noise, bias), rating)


def best_round_gain(step: float, outcome: Outcome, slope: float) -> float:
    """γλ at which a mode of slope λ follows a walk best: ``(−x + √(x² + 4x))/2`` with ``x = s²νλ``, the Kalman gain."""
    x = step**2 * outcome.nu * slope
    return (-x + math.sqrt(x * x + 4 * x)) / 2
