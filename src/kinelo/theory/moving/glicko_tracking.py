r"""How Glicko follows strengths that move: each team's step is the one its deviation settles at.

With ``v₀ = c/√I``, ε = v₀I, the discount g_j at v = v₀(1 + 3ε/8) and the mean step ``γ_i = νv₀(1 − 5ε/8)``, a match
moves rating i by ``γ_i g_j(S − b(g_jΔr))``. So the closure of form holds with

    ``B_θ = ⟨g_jE s'(Δθ)⟩``,  ``B_r = ⟨g_j²E b'(g_jΔr)⟩``,  ``Q = ⟨g_j²E(S − b(g_jΔr))²⟩``,  ``I = νB_r``.

If strengths walk by s = c then ``E(r − θ)² = v`` in the limit of small c: the deviation is calibrated. Left out: the
correlation of a team's deviation with its rating, and the travelling of the scale in lopsided leagues.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinelo.errors import InputError, NoStationaryState
from kinelo.model.dynamics import Form, Walk
from kinelo.model.outcome import Outcome, Tanh
from kinelo.model.steps import DeviationSteps
from kinelo.model.validation import Array
from kinelo.theory.anderson import Mixing
from kinelo.theory.crowd import representatives
from kinelo.theory.moving.deviation import discount
from kinelo.theory.moving.moments import Moments, Parts
from kinelo.theory.moving.pairs import PairMeans
from kinelo.theory.moving.performance import normal_only
from kinelo.theory.pair_means import laplacian
from kinelo.theory.teams import Teams

GOAL = 1e-11
ITERATIONS = 500
MOST_TEAMS = 120


@dataclass(frozen=True)
class DeviationTracking:
    """Where ratings with a deviation follow to; see :class:`~kinelo.theory.moving.form.TrackedTeams`.

    Attributes
    ----------
    rating, covariance, variance
        Mean rating of each team, covariance with its own strength, variance.
    deviation
        RD of each team.
    within, between, parts
        Moments about the teams' own means, and of these means; noise, lag and bias of the error.
    """

    rating: Array = field(repr=False)
    covariance: Array = field(repr=False)
    variance: Array = field(repr=False)
    deviation: Array = field(repr=False)
    within: Moments
    between: Moments
    parts: Parts


def deviation_tracking(
    outcome: Outcome, teams: Teams, rule: DeviationSteps, dynamics: Form | Walk
) -> DeviationTracking:
    """Solve the closure of tracking by Glicko."""
    if not isinstance(outcome, Tanh):
        raise InputError(f"Glicko's formulas are those of Tanh, not of {type(outcome).__name__}.")
    normal_only(teams)
    if teams.size > MOST_TEAMS:
        teams, _ = representatives(teams)
    closure = _Closure(outcome, teams, rule, dynamics)
    size, mixing = teams.size, Mixing()
    spread: Array = np.full(size, rule.growth / outcome.nu)
    state = np.concatenate([teams.theta, np.zeros(size), spread, spread])
    for _ in range(ITERATIONS):
        image = closure.image(state)
        change = float(np.abs(image - state).max() / np.abs(image[size:]).max())
        if change <= GOAL:
            return closure.described(image)
        state = mixing.propose(state, image, change)
        state[2 * size :] = np.maximum(state[2 * size :], image[2 * size :] / 4)
    raise NoStationaryState(f"Tracking by deviations was not solved with growth = {rule.growth:g}; simulate it.")


class _Closure:
    """State: mean ratings, C, U and v₀ of each team."""

    def __init__(self, outcome: Tanh, teams: Teams, rule: DeviationSteps, dynamics: Form | Walk) -> None:
        self._outcome, self._teams, self._rule, size = outcome, teams, rule, teams.size
        self._weights = np.broadcast_to(teams.mass * teams.crowding, (size, size)).copy()
        if teams.finite:
            np.fill_diagonal(self._weights, 0.0)
        self._form = dynamics.spread**2 if isinstance(dynamics, Form) else 0.0
        self._rate = dynamics.rate if isinstance(dynamics, Form) else 0.0
        self._wander = dynamics.step**2 if isinstance(dynamics, Walk) else 0.0
        spread = np.sqrt(2 * self._form + np.add.outer(teams.sigma**2, teams.sigma**2))
        self._results = PairMeans(outcome, np.subtract.outer(teams.theta, teams.theta).ravel(), spread.ravel())

    def _of(self, values: Array) -> Array:
        return values.reshape(self._weights.shape)

    def _means(self, state: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
        rating, C, U, base = np.split(state, 4)
        nu = self._outcome.nu
        excess = self._rule.growth**2 / base
        g = np.broadcast_to(discount(nu, base * (1 + 3 * excess / 8)), self._weights.shape)
        width, gap = np.sqrt(np.add.outer(U, U)), np.subtract.outer(rating, rating)
        noise = PairMeans(self._outcome, (g * gap).ravel(), (g * width).ravel())
        both = self._of(self._results.product(noise, (g * np.add.outer(C, C)).ravel()))
        square = 1 - 2 * both + self._of(noise.square)
        slope = self._weights * g**2 * self._of(noise.slope)
        drift = (self._weights * g * (self._of(self._results.mean) - self._of(noise.mean))).sum(axis=1)
        drive = (self._weights * g * self._of(self._results.slope)).sum(axis=1)
        restoring = slope.sum(axis=1)
        settled = self._rule.growth / np.sqrt(nu * restoring)
        step = nu * settled * (1 - 5 * settled * nu * restoring / 8)
        return drift, slope, drive, (self._weights * g**2 * square).sum(axis=1), step, settled

    def image(self, state: Array) -> Array:
        """One step of the iteration: Newton for the means, the balances for C, U and v₀."""
        drift, slope, drive, shake, step, settled = self._means(state)
        restoring, mass = slope.sum(axis=1), self._teams.mass
        C = step * self._form * drive / (self._rate + step * restoring) if self._form else np.zeros(drive.size)
        U = (C * drive + step * shake / 2 + self._wander / (2 * step)) / restoring
        pinned = laplacian(slope) + np.multiply.outer(np.ones(mass.size), mass) * restoring.max()
        rating = state[: mass.size] + np.linalg.solve(pinned, drift - mass @ drift)
        return np.concatenate([rating, C, U, settled])

    def described(self, state: Array) -> DeviationTracking:
        """Moments over the league."""
        rating, C, U, _ = np.split(state, 4)
        _, slope, drive, shake, step, settled = self._means(state)
        restoring, teams, V = slope.sum(axis=1), self._teams, self._form
        rating = rating - teams.mean(rating) + teams.mean(teams.theta)
        x, y = teams.theta - teams.mean(teams.theta), rating - teams.mean(rating)
        between = Moments(teams.mean(x**2), teams.mean(x * y), teams.mean(y**2))
        within = Moments(V, teams.mean(C), teams.mean(U))
        noise = teams.mean(step * shake / (2 * restoring))
        lag = self._rate / (self._rate + step * restoring) if V else np.zeros(teams.size)
        late = teams.mean(V * lag + self._wander / (2 * step * restoring))
        bias = teams.mean((rating - teams.theta) ** 2 + V * (1 - drive / restoring) ** 2 * (1 - lag))
        deviation = np.sqrt(settled * (1 + 3 * settled * self._outcome.nu * restoring / 8))
        return DeviationTracking(rating, C, U, deviation, within, between, Parts(noise, late, bias))
