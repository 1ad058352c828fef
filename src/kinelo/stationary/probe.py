r"""One more team: where a team of any strength would settle among the others.

Its rating solves ``Σ_j μ_j b(R − R_j) = t(θ, σ)`` with ``t = Σ_j μ_j s(θ, σ; θ_j, σ_j)``. That gives the map R(θ) between
and beyond the teams of a league, and by implicit differentiation its slope.
"""

from __future__ import annotations

import numpy as np

from kinelo.errors import NoStationaryState
from kinelo.model.expectation import Closure, spectral_nodes
from kinelo.model.outcome import Outcome
from kinelo.model.validation import Array
from kinelo.stationary.population import Population, phi_chunks
from kinelo.stationary.waves import Waves, wave_step


class Field:
    """What a league presents to one more team: the score of a position x with variance v, and its derivatives.

    ``span`` bounds the differences of positions that will be asked for, ``spread`` the noise of either side.
    """

    def __init__(
        self, outcome: Outcome, mass: Array, positions: Array, variances: Array, span: float, spread: float
    ) -> None:
        noisy = variances if variances.any() else None
        waves = Waves(positions, noisy, *wave_step(outcome, span, spread))
        self._centre, self._u = waves.centre, waves.u
        self._amplitude = outcome.sine_weight(waves.u) * waves.step * waves.sums(mass[None])[0].conj()

    def score(self, x: Array, variance: Array | float, derivative: int = 0) -> Array:
        """``Σ_j μ_j E b^{(k)}(x − x_j + noise)`` for k = ``derivative``."""
        u = self._u
        phase = 1j * np.multiply.outer(x - self._centre, u)
        waves = np.exp(phase - np.multiply.outer(np.broadcast_to(variance, np.shape(x)), u**2) / 2)
        return (waves @ (self._amplitude * (1j * u) ** derivative)).imag


def target_score(
    outcome: Outcome, teams: Population, closure: Closure, theta: Array, sigma: float, derivative: int = 0
) -> Array:
    """``t(θ, σ)``, the mean result of a normal team against the league, or its derivative in θ."""
    span = float(max(theta.max(), teams.theta.max()) - min(theta.min(), teams.theta.min()))
    if closure == "exact":
        reach = max(6.1 * sigma, teams.strengths.reach)
        nodes, centre = spectral_nodes(outcome, span + 2 * reach), float(teams.theta.mean())
        waves = np.exp(1j * np.multiply.outer(theta - centre, nodes.u) - (sigma * nodes.u) ** 2 / 2)
        total = np.zeros(theta.shape)
        for part, phi in phi_chunks(teams.strengths, nodes.u, centre):
            weight = nodes.sine[part] * (1j * nodes.u[part]) ** derivative
            total += (waves[..., part] @ (weight * (teams.mass @ phi).conj())).imag
        return total
    zero, second = np.zeros(teams.size), derivative + 2
    plain = Field(outcome, teams.mass, teams.theta, zero, span, 0.0)
    curved = Field(outcome, teams.mass * teams.sigma**2, teams.theta, zero, span, 0.0)
    curvature = sigma**2 * plain.score(theta, 0.0, second) + curved.score(theta, 0.0, second)
    return plain.score(theta, 0.0, derivative) + curvature / 2


def league_field(outcome: Outcome, mass: Array, rating: Array, variance: Array, own: Array | float) -> Field:
    """The field of a league's ratings, wide enough for every team whose rating could settle."""
    spread = float(np.sqrt(max(variance.max(), np.max(own))))
    return Field(outcome, mass, rating, variance, float(np.ptp(rating)) + outcome.saturation, spread)


def settle(outcome: Outcome, mass: Array, rating: Array, variance: Array, target: Array, own: Array | float) -> Array:
    """Position at which one more team scores ``target``, its own rating having variance ``own``: bisection."""
    field = league_field(outcome, mass, rating, variance, own)
    below = np.full(target.shape, rating.min() - outcome.saturation / 2)
    above = np.full(target.shape, rating.max() + outcome.saturation / 2)
    if (target <= field.score(below, own)).any() or (target >= field.score(above, own)).any():
        raise NoStationaryState("A team of this strength wins or loses every match, so its rating never settles.")
    for _ in range(60):
        middle = (below + above) / 2
        short = field.score(middle, own) < target
        below, above = np.where(short, middle, below), np.where(short, above, middle)
    return (below + above) / 2


def probe_rating(
    outcome: Outcome, teams: Population, closure: Closure, rating: Array, theta: Array, sigma: float
) -> Array:
    """Rating R(θ) of one more team where ratings have no noise."""
    target = target_score(outcome, teams, closure, theta, sigma)
    return settle(outcome, teams.mass, rating, np.zeros_like(rating), target, 0.0)


def probe_slope(
    outcome: Outcome, teams: Population, closure: Closure, rating: Array, theta: Array, sigma: float
) -> Array:
    """Slope ``dR/dθ = t'(θ) / Σ_j μ_j b'(R − R_j)`` of the map."""
    own = probe_rating(outcome, teams, closure, rating, theta, sigma)
    field = league_field(outcome, teams.mass, rating, np.zeros_like(rating), 0.0)
    return target_score(outcome, teams, closure, theta, sigma, derivative=1) / field.score(own, 0.0, derivative=1)
