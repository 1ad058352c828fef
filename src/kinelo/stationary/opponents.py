r"""The opponents of one more team at a finite step size: how much its own rating will fluctuate among theirs.

``v = γ ⟨S² − 2 s E b + E b²⟩ / (2 ⟨E b'⟩)``, the means ⟨·⟩ taken over the opponents, whose ratings are normal.
"""

from __future__ import annotations

import numpy as np

from kinelo.model.expectation import Closure, SpectralNodes, spectral_nodes
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.stationary.population import Population
from kinelo.stationary.waves import normal_waves, square_weight

CHUNK = 4096


class Opponents:
    """A league with the means and variances of its ratings, seen by one more team."""

    def __init__(
        self, system: RatingSystem, teams: Population, closure: Closure, rating: Array, variance: Array
    ) -> None:
        self._system, self._teams, self._closure = system, teams, closure
        self._rating, self._variance = rating, variance

    def variance_of(self, theta: Array, sigma: Array, rating: Array, variance: Array) -> Array:
        """New estimate of the variances of teams with these strengths, mean ratings and present variances."""
        result = np.empty_like(rating)
        nodes, centre = self._rating_nodes(rating, variance)
        waves = normal_waves(self._rating - centre, self._variance, nodes.u)
        sums = self._teams.mass @ waves
        square = square_weight(self._system.outcome, nodes.u) * 2 * nodes.u[0]
        for first in range(0, rating.size, CHUNK):
            part = slice(first, first + CHUNK)
            own = normal_waves(rating[part] - centre, variance[part], nodes.u)
            mean, second = self._results(theta[part], sigma[part])
            score = (own.imag * nodes.sine) @ waves.real.T - (own.real * nodes.sine) @ waves.imag.T
            missing = (own @ (square * sums.conj())).real
            slope = (own @ (nodes.sine * nodes.u * sums.conj())).real
            shake = second + 1 - missing - 2 * (mean * score) @ self._teams.mass
            result[part] = self._system.gamma * shake / (2 * slope)
        return result

    def _rating_nodes(self, rating: Array, variance: Array) -> tuple[SpectralNodes, float]:
        low, high = min(rating.min(), self._rating.min()), max(rating.max(), self._rating.max())
        spread = float(np.sqrt(max(variance.max(), self._variance.max())))
        return spectral_nodes(self._system.outcome, float(high - low) + 12.2 * spread), float(low + high) / 2

    def _results(self, theta: Array, sigma: Array) -> tuple[Array, Array]:
        """Mean result against each opponent, and mean square of the result over all of them."""
        teams, outcome = self._teams, self._system.outcome
        span = float(max(theta.max(), teams.theta.max()) - min(theta.min(), teams.theta.min()))
        nodes = spectral_nodes(outcome, span + 2 * max(6.1 * float(sigma.max()), teams.strengths.reach))
        centre = float(teams.theta.mean())
        own = normal_waves(theta - centre, sigma**2, nodes.u)
        waves = teams.strengths.characteristic_function(nodes.u, centre)
        square = 1 - (own @ (nodes.cosine * (teams.mass @ waves).conj())).real
        if self._closure == "taylor":
            gap = theta[:, None] - teams.theta[None, :]
            curvature = outcome.b_second(gap) * (sigma[:, None] ** 2 + teams.sigma[None, :] ** 2)
            return outcome.b(gap) + curvature / 2, square
        return (own.imag * nodes.sine) @ waves.real.T - (own.real * nodes.sine) @ waves.imag.T, square
