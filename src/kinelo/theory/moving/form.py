r"""How well ratings follow form: the Gaussian closure, team by team.

Strengths are normal about θ̄_i with variance V and forget at the rate ω; ratings have means m_i, covariances C_i with
their strengths and variances U_i; ⟨·⟩ is the mean over opponents:

    ``⟨E s(Δθ)⟩ = ⟨E b(Δr)⟩``,  ``C_i = γV B_θ/(ω + γB_r)``,  ``U_i = (C_i B_θ + ½γ⟨E(S − b)²⟩)/B_r``.

A random walk is the league of the day: θ_i is where team i stands now, and its rating lies about m_i with variance
``U_i = (½γ⟨E(S − b)²⟩ + s²/2γ)/B_r``. Strengths at rest are a walk with s = 0.

Periods of n matches, rated at once, strengths moving between them (φ = e^{−ωn}, p = nγB_r), just before they are rated:

    ``C_i = φnγV B_θ/(1 − φ(1 − p))``,
    ``p(2 − p + p/n)U_i = 2nγB_θC_i(1 − p + p/n) + n(n−1)γ²B_θ²V + nγ²⟨E(S − b)²⟩ + ns²``.

Linear, for equal teams at rest, this is ``γ/(ν(2 − γ(n + 1)μ))``: with n = N − 1 that of whole rounds.
Steps may differ from team to team; each row then has its own γ_i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from kinelo.errors import NoStationaryState
from kinelo.model.dynamics import Form, Walk
from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array
from kinelo.theory.anderson import Mixing
from kinelo.theory.crowd import representatives
from kinelo.theory.moving.moments import Moments, Parts
from kinelo.theory.moving.pairs import PairMeans
from kinelo.theory.moving.performance import normal_only
from kinelo.theory.noise import WHOLE_COVARIANCE
from kinelo.theory.pair_means import laplacian
from kinelo.theory.teams import Teams

GOAL = 1e-11
ITERATIONS = 300
CALM = 0.2
GROWTH = 1.5

Step = float | Array
State = tuple[Array, Array, Array]
"""Mean ratings, covariances with strengths, variances."""


@dataclass(frozen=True)
class TrackedTeams:
    """Mean ratings of the teams, and how their ratings follow their own strengths.

    Attributes
    ----------
    rating
        m_i, the mean rating of each team.
    covariance, variance
        C_i and U_i of each team about its own mean.
    within, between
        Moments of the teams about their own means, averaged; and of the means of strengths and ratings over the league.
    parts
        Noise, lag and bias of the error.
    """

    rating: Array = field(repr=False)
    covariance: Array = field(repr=False)
    variance: Array = field(repr=False)
    within: Moments
    between: Moments
    parts: Parts


class FormClosure:
    """The closure of a league for any step size; what does not depend on γ is prepared once."""

    def __init__(self, outcome: Outcome, teams: Teams, dynamics: Form | Walk | None, period: int | None = None) -> None:
        normal_only(teams)
        self._period = period
        if teams.finite and teams.size > WHOLE_COVARIANCE:
            teams, _ = representatives(teams)
        self._outcome, self.teams, self._dynamics = outcome, teams, dynamics
        self._rows, self._columns = np.triu_indices(teams.size, 1 if teams.finite else 0)
        self._weights = np.broadcast_to(teams.mass * teams.crowding, (teams.size, teams.size)).copy()
        if teams.finite:
            np.fill_diagonal(self._weights, 0.0)
        self._form = dynamics.spread**2 if isinstance(dynamics, Form) else 0.0
        self._rate = dynamics.rate if isinstance(dynamics, Form) else 0.0
        spread = 2 * self._form + teams.sigma[self._rows] ** 2 + teams.sigma[self._columns] ** 2
        self._results = PairMeans(outcome, teams.theta[self._rows] - teams.theta[self._columns], np.sqrt(spread))
        self._target = self._opponents(self._results.mean, -1)
        self._drive = self._opponents(self._results.slope)
        self._luck = 1.0
        self._last: tuple[float, State] | None = None

    def _opponents(self, values: Array, sign: int = 1) -> Array:
        """Mean over the opponents of each team."""
        return (self._matrix(values, sign) * self._weights).sum(axis=1)

    def _matrix(self, values: Array, sign: int = 1) -> Array:
        full = np.zeros(self._weights.shape)
        full[self._columns, self._rows] = sign * values
        full[self._rows, self._columns] = values
        return full

    def at(self, gamma: Step, luck: bool = True) -> TrackedTeams:
        """Solve at a step size, or one for each team, from the last one solved if that is near, else by growing ones.

        Without ``luck`` results equal their expectation: the limit of small γ at a fixed ω/γ.
        """
        most = float(np.max(gamma))
        if most == 0 and isinstance(self._dynamics, Walk):
            raise NoStationaryState("Ratings that do not move lose a random walk out of sight: gamma must exceed 0.")
        self._luck = float(luck)
        state, shares = self._near(most), [1.0]
        while state is None and shares[-1] * most * (self._period or 1) * self._outcome.steepest > CALM:
            shares.append(shares[-1] / GROWTH)
        for share in reversed(shares[1:]):
            state = self._solved(share * gamma, state)
        found = self._solved(gamma, state)
        self._last = (most, found)
        return self._described(gamma, *found)

    def _near(self, gamma: float) -> State | None:
        if self._last is None or not self._last[0] / GROWTH <= gamma <= GROWTH * self._last[0]:
            return None
        return self._last[1]

    def _solved(self, gamma: Step, start: State | None) -> State:
        teams, size = self.teams, self.teams.size
        if start is None:
            following = np.zeros(size)
            if self._form:
                following = gamma * self._form * self._drive / (self._rate + gamma * self._drive)
            noise = gamma / (2 * self._outcome.steepest) + self._source(gamma) / self._drive
            start = (teams.theta.copy(), following, following + noise)
        rating, C, U = start
        mixing = Mixing()
        for _ in range(ITERATIONS):
            drift, slope, restoring, shake = self._means(rating, C, U)
            new_C, new_U = self._images(gamma, restoring, shake)
            scale = max(float(new_U.max()), 1e-300)
            change = float(np.abs(new_U - U).max() + np.abs(new_C - C).max()) / scale
            if float(np.abs(drift).max()) <= GOAL and (change <= GOAL or scale == 1e-300):
                return rating, new_C, new_U
            try:
                moved = rating + _newton(teams.mass, drift, slope * self._weights)
            except LinAlgError:
                break
            here, there = np.concatenate([rating, C, U]), np.concatenate([moved, new_C, new_U])
            point = mixing.propose(here, there, change)
            rating, C = point[:size], point[size : 2 * size]
            U = np.maximum(point[2 * size :], new_U / 4)
        raise NoStationaryState(
            f"The equations of tracking were not solved at gamma = {np.max(gamma):g}; take a smaller one, or simulate."
        )

    def _images(self, gamma: Step, restoring: Array, shake: Array) -> tuple[Array, Array]:
        """C and U from the slopes and the shaking of the ratings."""
        V, drive, n = self._form, self._drive, self._period
        if n is None:
            C = gamma * V * drive / (self._rate + gamma * restoring) if V else np.zeros(drive.size)
            return C, (C * drive + gamma * shake / 2 + self._source(gamma)) / restoring
        p, keeps = n * gamma * restoring, math.exp(-self._rate * n)
        if float(np.max(p)) * (1 - 1 / n) >= 2:
            raise NoStationaryState(
                f"Periods of {n} matches rated with gamma = {np.max(gamma):g} overshoot; take a smaller gamma."
            )
        C = keeps * n * gamma * drive * V / (1 - keeps * (1 - p)) if V else np.zeros(drive.size)
        follow = 2 * n * gamma * drive * C * (1 - p + p / n) + n * (n - 1) * (gamma * drive) ** 2 * V
        walk = n * self._dynamics.step**2 if isinstance(self._dynamics, Walk) else 0.0
        return C, (follow + n * gamma**2 * shake + walk) / (p * (2 - p + p / n))

    def _source(self, gamma: Step) -> Step:
        """``s²/2γ`` of a walk: the spread that lag adds."""
        return self._dynamics.step**2 / (2 * gamma) if isinstance(self._dynamics, Walk) else 0.0

    def _means(self, rating: Array, C: Array, U: Array) -> tuple[Array, Array, Array, Array]:
        """Drift of each mean rating, slopes of all pairs, their mean for each team, and the mean square of S − b."""
        i, j = self._rows, self._columns
        noise = PairMeans(self._outcome, rating[i] - rating[j], np.sqrt(U[i] + U[j]))
        square = 1 - self._results.tie - 2 * self._results.product(noise, C[i] + C[j]) + noise.square
        slope = self._matrix(noise.slope)
        drift = self._target - self._opponents(noise.mean, -1)
        return drift, slope, (slope * self._weights).sum(axis=1), self._luck * self._opponents(square)

    def _described(self, gamma: Step, rating: Array, C: Array, U: Array) -> TrackedTeams:
        teams, V = self.teams, self._form
        _, _, restoring, shake = self._means(rating, C, U)
        rating = rating - teams.mean(rating) + teams.mean(teams.theta)
        gap, centred = rating - teams.theta, teams.theta - teams.mean(teams.theta)
        mean_rating = rating - teams.mean(rating)
        between = Moments(*(teams.mean(one) for one in (centred**2, centred * mean_rating, mean_rating**2)))
        lag = self._rate / (self._rate + gamma * restoring) if self._rate else np.zeros(teams.size)
        ratio = self._drive / restoring
        parts = Parts(
            teams.mean(gamma * shake / (2 * restoring)),
            teams.mean(V * lag + self._source(gamma) / restoring),
            teams.mean(gap**2 + V * (1 - ratio) ** 2 * (1 - lag)),
        )
        if self._period is not None:
            # Without luck what is left of U, C and V is lag and bias.
            noise = self._images(gamma, restoring, shake)[1] - self._images(gamma, restoring, 0 * shake)[1]
            bias = teams.mean(gap**2)
            total = bias + V - 2 * teams.mean(C) + teams.mean(U)
            parts = Parts(teams.mean(noise), total - bias - teams.mean(noise), bias)
        return TrackedTeams(rating, C, U, Moments(V, teams.mean(C), teams.mean(U)), between, parts)


def _newton(mass: Array, drift: Array, pairs: Array) -> Array:
    """Shift of the mean ratings that balances the drift, without moving the league as a whole."""
    stiffness = laplacian(pairs) * mass[:, None] + np.multiply.outer(mass, mass) * pairs.sum(axis=1).max()
    return cho_solve(cho_factor((stiffness + stiffness.T) / 2), mass * drift)
