"""Performances of any shape: ``λ = θ + σX`` with X a SciPy distribution, standardised."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinelo.model.digest import law_digest
from kinelo.model.open_outcome import Outcome
from kinelo.model.quantile import sum_of_waves
from kinelo.model.shape import Shape
from kinelo.model.strength import Complex, Strength, spreads
from kinelo.model.validation import Array, team_vector

SMOOTH_LENGTHS = 1.5
"""Finest lengths of an outcome function over which Gauss's rule of ten nodes is exact to twelve digits."""


class Scaled(Strength):
    """``λ = θ + σX``: X has the shape of a SciPy distribution, moved to mean 0 and scaled to variance 1.

    Parameters
    ----------
    distribution
        A SciPy distribution with its parameters, such as ``scipy.stats.t(3)``; its variance must be finite.
    theta
        Mean strengths, one per team.
    sigma
        Standard deviations, common or one per team.
    names
        Names of the teams.

    Examples
    --------
    >>> from scipy import stats
    >>> from kinelo.model.expectation import expected_result
    >>> from kinelo.model.outcome import Tanh
    >>> league = Scaled(stats.t(3), theta=[1.0, 0.0], sigma=1.0)
    >>> expected_result(Tanh(nu=0.5), league)[0, 1].round(6)
    np.float64(0.376871)
    """

    def __init__(
        self,
        distribution: object,
        theta: ArrayLike,
        sigma: ArrayLike,
        *,
        names: Sequence[str] | None = None,
    ) -> None:
        self.shape: Shape = distribution if isinstance(distribution, Shape) else Shape(distribution)
        values = team_vector("theta", theta)
        self.describe(values, spreads(sigma, values), names)
        # Without an outcome in view, as far as two performances can meet.
        self._reach, self._finest = self.shape.furthest(0.0, np.zeros_like), 0.25

    def seen_through(self, outcome: Outcome, span: float, sigma: float) -> Scaled:
        """The same league with performances known as far, and as finely, as results depend on them."""
        widest = max(sigma, float(self.sigma.max()))
        if widest == 0:
            return self
        seen = copy(self)
        seen._reach = self.shape.furthest(span / widest, lambda x: outcome.missing(widest * x))
        seen._finest = SMOOTH_LENGTHS * outcome.finest / widest
        return seen

    @property
    def reach(self) -> float:
        """Distance from θ beyond which performances need not be known."""
        return self._reach * float(self.sigma.max())

    def characteristic_function(self, u: Array, origin: float = 0.0) -> Complex:
        """Return e^{iu(θ − origin)} E e^{iuσX}."""
        return self.waves_of(self.theta, self.sigma, u, origin)

    def waves_of(self, theta: Array, sigma: Array, u: Array, origin: float = 0.0) -> Complex:
        """Characteristic functions of teams with other means and spreads, of the same shape."""
        nodes = self.shape.nodes(self._finest, self._reach)
        spread, which = np.unique(np.broadcast_to(sigma, theta.shape), return_inverse=True)
        shapes = np.array([sum_of_waves(one * nodes.deviation[0], nodes.weight, u) for one in spread])
        return np.exp(1j * np.multiply.outer(theta - origin, u)) * shapes[which.reshape(theta.shape)]

    def reach_of(self, sigma: float) -> float:
        """Reach of teams with this spread."""
        return self._reach * sigma

    def like(self, theta: ArrayLike, sigma: ArrayLike) -> Scaled:
        """Teams of other strengths and the same shape."""
        return Scaled(self.shape, theta, sigma)

    def performances(self, team: NDArray[np.integer], uniforms: Array) -> Array:
        """Return θ + σX by inversion."""
        return self.theta[team] + self.sigma[team] * self.shape.at(uniforms[:, 0])

    def digest(self) -> str:
        """A name for the shape and the strengths."""
        return law_digest((self.shape.digest(), self.theta, self.sigma))

    def __repr__(self) -> str:
        return super().__repr__().replace("Scaled(", f"Scaled({self.shape!r}, ", 1)
