r"""How long ratings take to settle: the slowest mode of ``(L h)_i = Σ_j μ_j b'(R_i − R_j) (h_i − h_j)``.

A disturbance dies out as ``e^{−γ λ₂ t}`` with t in matches per team and λ₂ the smallest eigenvalue of L above zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from kinelo.errors import InputError
from kinelo.model.expectation import Closure, expected_result
from kinelo.model.outcome import Outcome
from kinelo.model.strength import Strength
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array, positive
from kinelo.theory.balance import WavePull, expected_slope
from kinelo.theory.closure import LeagueClosure
from kinelo.theory.fixed_point import few_threads
from kinelo.theory.limit import DENSE_TEAMS, drift_and_slope, stationary
from kinelo.theory.pair_means import FREE_RATE, mass_laplacian
from kinelo.theory.state import Noise, StationaryState
from kinelo.theory.teams import Continuum


@dataclass(frozen=True)
class Relaxation:
    """How fast a league forgets where its ratings started.

    Attributes
    ----------
    gap
        λ₂, the decay rate of the slowest disturbance per match of a team and unit of γ; negative at an unstable
        equilibrium.
    mode
        The slowest disturbance itself, one entry per team, of unit length.
    gamma
        Step size of the system.
    played
        Share of the drawn pairs that play: 1 unless pairing depends on ratings.
    """

    gap: float
    mode: Array = field(repr=False)
    gamma: float
    played: float = 1.0

    def matches_per_team(self, tolerance: float = 0.01) -> float:
        """Matches each team plays until the slowest disturbance is down to ``tolerance`` of its size.

        >>> import kinelo as kn
        >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
        >>> slowest = kn.relaxation(system, kn.theory.Continuum(theta=(4, 10), sigma=1.0))
        >>> round(slowest.gap, 7), round(slowest.matches_per_team(tolerance=0.01))
        (0.1402556, 657)
        """
        if not 0 < positive("tolerance", tolerance) < 1:
            raise InputError(f"tolerance must lie between 0 and 1, not {tolerance:g}.")
        return self.played * math.log(1 / tolerance) / (self.gamma * self.gap) if self.gap > 0 else math.inf


def relaxation(
    system: RatingSystem | Outcome,
    strengths: Strength | Continuum,
    closure: Closure = "exact",
    noise: Noise = "none",
) -> Relaxation:
    """Spectral gap at the stationary state of a league.

    ``noise="gaussian"`` averages over the rating noise at the system's step size, which slows ratings down and rounds
    the edges of a pairing that depends on ratings.

    >>> import kinelo as kn
    >>> system = kn.RatingSystem(kn.Tanh(nu=0.5), gamma=0.05)
    >>> round(kn.relaxation(system, kn.homogeneous(sigma=1.0, teams=20)).gap, 4)
    0.1481
    """
    state = stationary(system, strengths, closure, noise)
    with few_threads(state.teams.size):
        return relaxation_of(state)


def relaxation_of(state: StationaryState) -> Relaxation:
    """Spectral gap at a stationary state that is already known."""
    teams, outcome = state.teams, state.system.outcome
    variance = state.variance if state.variance.any() else None
    played = 1.0
    if not state.system.pairing.constant:
        # How strongly pairs are drawn together and how often they meet.
        if variance is not None:
            U = variance if state.covariance is None else state.covariance
            slope, w = LeagueClosure(state.system, teams, state.closure).meetings(state.rating, U)
        else:
            results = expected_result(outcome, teams.strengths, state.closure)
            _, slope = drift_and_slope(state.system, results, teams.mass, state.rating)
            w = state.system.pairing.w(state.rating[:, None] - state.rating[None, :])
        # No team of a finite league meets itself.
        own = teams.mass**2 * teams.finite
        played = float(teams.mass @ w @ teams.mass - own @ np.diag(w)) / (1 - float(own.sum()))
        gap, mode = _dense_gap(slope, teams.mass)
    elif teams.size <= DENSE_TEAMS:
        gap, mode = _dense_gap(expected_slope(outcome, state.rating, variance), teams.mass)
    else:
        operator = _Laplacian(WavePull(outcome, teams.mass, variance).smoothing(state.rating), teams.mass)
        largest, modes = eigsh(operator, k=1, which="LA", v0=np.linspace(-1.0, 1.0, teams.size))
        gap, mode = operator.top - float(largest[0]), modes[:, 0] / np.sqrt(teams.mass)
    return Relaxation(gap * teams.crowding, mode, state.system.step, played)


def _dense_gap(slope: Array, mass: Array) -> tuple[float, Array]:
    rates, modes = eigh(mass_laplacian(slope, mass))
    moving = np.flatnonzero(np.abs(rates) > FREE_RATE * np.abs(rates).max())
    slowest = int(moving[0])
    return float(rates[slowest]), modes[:, slowest] / np.sqrt(mass)


class _Laplacian(LinearOperator):
    """``c − L`` on disturbances without shift, its largest eigenvalue being c − λ₂."""

    def __init__(self, smooth: Callable[[Array], Array], mass: Array) -> None:
        super().__init__(np.dtype(np.float64), (mass.size, mass.size))
        self._smooth, self._root = smooth, np.sqrt(mass)
        self._diagonal = smooth(np.ones(mass.size))
        self.top = float(self._diagonal.max())

    def _matvec(self, x: Array) -> Array:
        x = np.ravel(x)
        x = x - self._root * (self._root @ x)
        image = (self.top - self._diagonal) * x + self._root * self._smooth(x / self._root)
        return image - self._root * (self._root @ image)
