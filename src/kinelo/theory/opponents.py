r"""The opponents of one more team at a finite step size: how much its own rating will fluctuate among theirs.

``v = γ ⟨S² − 2 s E b + E b²⟩ / (2 ⟨E b'⟩)``, the means ⟨·⟩ taken over the opponents, whose ratings are normal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinelo.model.expectation import Closure, spectral_nodes, taylor_result
from kinelo.model.outcome import Outcome
from kinelo.model.spectrum import SpectralNodes
from kinelo.model.strength import normal_waves
from kinelo.model.system import RatingSystem
from kinelo.model.validation import Array
from kinelo.theory.teams import Teams

CHUNK = 4096


class Opponents:
    """A league with the means and variances of its ratings, seen by one more team."""

    def __init__(self, system: RatingSystem, teams: Teams, closure: Closure, rating: Array, variance: Array) -> None:
        self._system, self._teams = system, teams
        self._closure: Closure = closure
        self._rating, self._variance = rating, variance

    def variance_of(self, theta: Array, sigma: Array, rating: Array, variance: Array) -> Array:
        """New estimate of the variances of teams with these strengths, mean ratings and present variances."""
        result = np.empty_like(rating)
        for first in range(0, rating.size, CHUNK):
            part = slice(first, first + CHUNK)
            matchups = results_against(self._system.outcome, self._teams, self._closure, theta[part], sigma[part])
            result[part] = self.variance_given(matchups, rating[part], variance[part])
        return result

    def variance_given(self, matchups: Matchups, rating: Array, variance: Array) -> Array:
        """The same for teams whose results against the opponents are known."""
        nodes, centre = self._rating_nodes(rating, variance)
        waves = normal_waves(self._rating - centre, self._variance, nodes.u)
        own = normal_waves(rating - centre, variance, nodes.u)
        sums = (self._teams.mass @ waves).conj()
        score = (own.imag * nodes.sine) @ waves.real.T - (own.real * nodes.sine) @ waves.imag.T
        slope = (own @ (nodes.sine * nodes.u * sums)).real
        shake = (
            matchups.square + 1 - (own @ (nodes.square * sums)).real - 2 * (matchups.mean * score) @ self._teams.mass
        )
        return self._system.step * shake / (2 * slope)

    def _rating_nodes(self, rating: Array, variance: Array) -> tuple[SpectralNodes, float]:
        low, high = min(rating.min(), self._rating.min()), max(rating.max(), self._rating.max())
        spread = float(np.sqrt(max(variance.max(), self._variance.max())))
        return spectral_nodes(self._system.outcome, float(high - low) + 12.2 * spread), float(low + high) / 2


@dataclass(frozen=True)
class Matchups:
    """Mean result of teams against each opponent, and the mean square of their results over all opponents."""

    mean: Array
    square: Array


def results_against(outcome: Outcome, teams: Teams, closure: Closure, theta: Array, sigma: Array) -> Matchups:
    """Results of further teams of a league's kind against its teams."""
    span = float(max(theta.max(), teams.theta.max()) - min(theta.min(), teams.theta.min()))
    widest = float(sigma.max())
    league = teams.strengths.seen_through(outcome, span, widest)
    nodes = spectral_nodes(outcome, span + 2 * max(league.reach_of(widest), league.reach))
    centre = float(teams.theta.mean())
    own = league.waves_of(theta, sigma, nodes.u, centre)
    waves = league.characteristic_function(nodes.u, centre)
    square = 1 - (own @ (nodes.cosine * (teams.mass @ waves).conj())).real
    if closure == "taylor":
        gap = theta[:, None] - teams.theta[None, :]
        variance = sigma[:, None] ** 2 + teams.sigma[None, :] ** 2
        return Matchups(taylor_result(outcome, gap, variance), square)
    return Matchups((own.imag * nodes.sine) @ waves.real.T - (own.real * nodes.sine) @ waves.imag.T, square)
